/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * levels.h - the service level of each path between servers, as the engine that routes gave it.
 *
 * Tables of dfsssp, lash, nue or torus-2QoS can deadlock unless each packet has the service level that the engine keeps
 * for its path. Only OpenSM's thread may ask the engine; what it says is kept here, for the worker to read.
 * Thread rules: one thread fills them, then any number of readers.
 */
#ifndef FORS_DAEMON_LOOK_LEVELS_H
#define FORS_DAEMON_LOOK_LEVELS_H

#include "core/net/net.h"

#define FORS_LEVELS_MAX (4u << 20) /* paths that are asked for, at most: 2,048 servers, about two seconds of calls */

struct fors_levels {
	uint32_t nservers, nlids; /* servers, and LIDs of all of them together */
	uint32_t *server_of;	  /* [lid], lid_end of them: the server that has it; FORS_NONE: none */
	uint32_t *column_of;	  /* [lid]: number among the LIDs of servers */
	uint16_t *lid;		  /* [column] */
	uint16_t *base;		  /* [server]: base LID */
	uint32_t lid_end;
	uint8_t all; /* the level of every path, where `sl` is NULL */
	uint8_t *sl; /* [server * nlids + column]: from the server to the LID */
};

/*
 * For the CA ports of `net` that have a LID, a cable, and take part (NULL: all do), all paths at level 0, in *levels,
 * owned by the caller. has_paths: there is a level for each path. Errors: FORS_ENOMEM, FORS_ELIMIT (more than
 * FORS_LEVELS_MAX paths).
 */
enum fors_err fors_levels_new(const struct fors_net *net, const struct fors_participants *participants, bool has_paths,
			      struct fors_levels **levels, struct fors_error *error);
void fors_levels_free(struct fors_levels *levels);

/*
 * The level from a LID to another, as struct fors_over_task wants it: `levels` is a struct fors_levels, or NULL.
 * FORS_NO_SL: not known. Which of its LIDs the sender uses makes no difference: the tables look at the destination only.
 */
uint8_t fors_levels_find(void *levels, uint32_t src_lid, uint32_t dst_lid);

/* The digest of what came before and all levels; NULL is allowed. */
uint64_t fors_levels_digest(uint64_t before, const struct fors_levels *levels);

#endif
