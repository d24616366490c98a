/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * witness.c - arguments of bounds: their lists of links, and their names.
 */
#include "witness.h"

#include <stdlib.h>

void fors_witness_clear(struct fors_witness *witness)
{
	free(witness->link);
	*witness = (struct fors_witness){0};
}

enum fors_err fors_witness_add(struct fors_witness *witness, uint64_t guid, uint32_t port, uint64_t price,
			       struct fors_error *error)
{
	if (witness->nlinks == witness->room) {
		uint32_t room = witness->room ? 2 * witness->room : 16;
		struct fors_witness_link *larger = realloc(witness->link, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		witness->link = larger;
		witness->room = room;
	}
	witness->link[witness->nlinks++] = (struct fors_witness_link){guid, port, price};
	return FORS_OK;
}

const char *fors_argument_name(enum fors_argument by)
{
	static const char *const names[] = {
		[FORS_BY_PORT] = "port", [FORS_BY_CUT] = "cut",	  [FORS_BY_DISTANCE] = "distance",
		[FORS_BY_LUMP] = "lump", [FORS_BY_LAST] = "last", [FORS_BY_LINK] = "link",
		[FORS_BY_WAYS] = "ways",
	};

	return names[by];
}
