/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sides.h - which switches are leaves and which are spines.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_SIDES_H
#define FORS_CORE_FABRIC_SIDES_H

#include "fabric.h"

enum fors_side {
	FORS_SIDE_NONE,
	FORS_SIDE_LEAF,
	FORS_SIDE_SPINE,
	FORS_SIDE_STUB, /* a switch with CAs that hangs below one leaf: it has no place, and counts for nothing */
};

/*
 * The side of every node of `net` (indexed) in side[net->nnodes], the caller's. Nodes that are
 * no switches, and lone switches without any cable, have FORS_SIDE_NONE. See
 * fors_places_learn() for what decides.
 * Errors: FORS_ENOTREE (names a cable between two leaves, two spines or two trees), FORS_ENOMEM;
 * what side[] holds then is undefined.
 */
enum fors_err fors_sides(const struct fors_net *net, const struct fors_places *places, const uint64_t *root_guids,
			 size_t nroots, uint8_t *side, struct fors_error *error);

#endif
