/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a rank sends and receives in a call, of sizes and bytes that all ranks know: each byte that arrives is compared. */
#ifndef TESTBED_MESSAGES_H
#define TESTBED_MESSAGES_H

#include <mpi.h>
#include <stdbool.h>

/* One rank's messages to all of a communicator, or from all; one behind the other in `buffer`. */
struct side {
	int *counts, *displacements, bytes; /* `bytes`: in all */
	unsigned char *buffer;
};

/* Bytes from one rank of the communicator to another, with what is borrowed in `what`. */
typedef int bytes_function(const void *what, int from, int to);

/* To be freed (free_side()). What is to be sent is filled in. */
struct side lay_out(MPI_Comm comm, bytes_function *bytes, const void *what, bool is_sender);
void free_side(struct side *side);

/* How many of the bytes received are wrong; they are cleared for the next call. */
long take_wrong(const struct side *recv, MPI_Comm comm);

#endif
