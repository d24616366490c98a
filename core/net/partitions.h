/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * partitions.h - who may talk with whom.
 *
 * A port takes packets of a partition that it is a member of, and two limited members of one may not talk with each other.
 * So two ports talk if one of them is a full member of a partition that the other is any member of. The memberships of a
 * port are bits of two numbers (struct fors_port), given by who reads the subnet manager's partitions; no text of a fabric
 * has them, and then nothing is said here.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_PARTITIONS_H
#define FORS_CORE_NET_PARTITIONS_H

#include "core/base/warnings.h"
#include "net.h"

#define FORS_PARTITIONS_MAX 64 /* that a port has bits for */

static inline bool fors_ports_talk(const struct fors_port *a, const struct fors_port *b)
{
	return (a->full & (b->full | b->limited)) || (a->limited & b->full);
}

/*
 * Of `count` ports, which are sorted by membership: how many ordered pairs of two of them may not talk. -1: no port has any
 * membership, nothing is known. A warning tells of such pairs (warnings may be NULL).
 */
int64_t fors_partitions_cut(const struct fors_port **list, uint32_t count, struct fors_warnings *warnings);

/*
 * The same warning for a net whose hosts all take part, or those of the list (NULL: all), whatever it looks like. Errors:
 * FORS_ENOMEM.
 */
enum fors_err fors_partitions_warn(const struct fors_net *net, const struct fors_participants *participants,
				   struct fors_warnings *warnings, struct fors_error *error);

#endif
