/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namebook_inside.h - the inside of struct fors_namebook, for namebook*.c only.
 * Thread rules: those of namebook.h.
 */
#ifndef FORS_CORE_NET_NAMEBOOK_INSIDE_H
#define FORS_CORE_NET_NAMEBOOK_INSIDE_H

#include "namebook.h"

/* Where a node was plugged in when it was there last. */
struct name_place {
	uint64_t sw; /* node GUID of the switch, 0: never seen */
	uint8_t port;
};

struct name_entry {
	char name[FORS_NAME_MAX + 1];
	uint64_t guid;	    /* of the owner: node GUID, or a port GUID until it is seen */
	uint64_t port_guid; /* of its first port with a cable, 0: not known */
	struct name_place place;
	uint32_t turn; /* the larger, the later the owner was called so, among its names */
};

struct fors_namebook {
	struct name_entry *entry; /* by name, each once */
	uint32_t count, room;
	uint64_t reference; /* digest of the reference whose names were taken, 0: none */
};

/* Add a name that the book does not have, at the end, out of order. Errors: FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err name_append(struct fors_namebook *book, const struct name_entry *entry, struct fors_error *error);
/* After additions. */
void name_sort(struct fors_namebook *book);

#endif
