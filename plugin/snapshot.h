/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * snapshot.h - OpenSM's subnet object, copied into types of the core.
 *
 * All functions need OpenSM's lock, shared at least, and copy deeply: nothing that they
 * return points into OpenSM. A fabric of 360 servers takes well below a millisecond.
 */
#ifndef FORS_PLUGIN_SNAPSHOT_H
#define FORS_PLUGIN_SNAPSHOT_H

#include "core/net/lfts.h"
#include "core/tables/tables.h"

struct osm_subn;

/*
 * The net (indexed) as OpenSM routes it: cables that OpenSM holds unhealthy are absent.
 * Owned by the caller. Errors: FORS_ENOMEM, FORS_EINPUT (two ports with one GUID), FORS_ELIMIT.
 */
enum fors_err fors_snapshot_net(const struct osm_subn *subn, struct fors_net **net, struct fors_error *error);

/* The ports that run a subnet manager, as one number: another one when another manager starts, or one ends. */
uint64_t fors_snapshot_managers(const struct osm_subn *subn);

/*
 * The tables that the switches hold, as far as they confirmed them to OpenSM; as many LIDs
 * as the net has. Owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err fors_snapshot_tables(const struct osm_subn *subn, const struct fors_net *net, struct fors_lfts **lfts,
				   struct fors_error *error);

/*
 * A switch that does not hold yet what the routing engine wants it to hold: its
 * description (borrowed from OpenSM), or NULL when all do.
 */
const char *fors_snapshot_late_switch(const struct osm_subn *subn);

/* The digest of all tables that fors_snapshot_tables() would show, and of a name; never 0. */
uint64_t fors_snapshot_digest(const struct osm_subn *subn, const char *name);

/* Put lfts into the new_lft of each switch; LIDs that are not in lfts keep what OpenSM has preset. */
void fors_snapshot_store(struct osm_subn *subn, const struct fors_lfts *lfts);

#endif
