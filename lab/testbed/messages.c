/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

static unsigned char byte_of(int from, int to, int at)
{
	return (unsigned char)(from * 31 + to * 17 + at * 7);
}

struct side lay_out(MPI_Comm comm, bytes_function *bytes, const void *what, bool is_sender)
{
	struct side side = {0};
	int mine, size;

	MPI_Comm_rank(comm, &mine);
	MPI_Comm_size(comm, &size);
	side.counts = calloc((size_t)size, sizeof(int));
	side.displacements = calloc((size_t)size, sizeof(int));
	for (int i = 0; i < size; i++) {
		side.counts[i] = is_sender ? bytes(what, mine, i) : bytes(what, i, mine);
		side.displacements[i] = side.bytes;
		side.bytes += side.counts[i];
	}
	side.buffer = calloc((size_t)side.bytes + 1, 1);
	for (int i = 0; is_sender && i < size; i++)
		for (int k = 0; k < side.counts[i]; k++)
			side.buffer[side.displacements[i] + k] = byte_of(mine, i, k);
	return side;
}

void free_side(struct side *side)
{
	free(side->counts);
	free(side->displacements);
	free(side->buffer);
}

long take_wrong(const struct side *recv, MPI_Comm comm)
{
	long wrong = 0;
	int mine, size;

	MPI_Comm_rank(comm, &mine);
	MPI_Comm_size(comm, &size);
	for (int i = 0; i < size; i++)
		for (int k = 0; k < recv->counts[i]; k++)
			wrong += recv->buffer[recv->displacements[i] + k] != byte_of(i, mine, k);
	memset(recv->buffer, 0, (size_t)recv->bytes);
	return wrong;
}
