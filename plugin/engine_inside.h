/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_inside.h - what the files of the engine share. All in the sweeper's thread.
 */
#ifndef FORS_PLUGIN_ENGINE_INSIDE_H
#define FORS_PLUGIN_ENGINE_INSIDE_H

#include "engine.h"

/* Are the tables ours, as far as any engine's? Under OpenSM's lock. */
bool fors_engine_is_routing(const struct fors_engine *engine);

/* Where OpenSM says that the settings come from; strings are OpenSM's. */
struct fors_sources fors_engine_sources(const struct osm_opensm *osm);

/* --- engine_over.c --- */

/* Are the tables another engine's, and a schedule is wanted over them? By the sweeper; no lock is needed. */
bool fors_engine_is_foreign(const struct fors_engine *engine);

/*
 * Begin a look at another engine's tables, whose net and tables have just been copied; from now on changes are
 * watched. Under the same hold of OpenSM's lock as that. Errors: FORS_ENOMEM.
 */
enum fors_err fors_engine_begin_over(struct fors_engine *engine, struct fors_look *look, struct fors_error *error);
/* Complete it: service levels, warnings. Without OpenSM's lock. Errors: FORS_ENOMEM. */
enum fors_err fors_engine_end_over(struct fors_engine *engine, struct fors_look *look, struct fors_error *error);

/* --- engine_early.c --- */

/* Are all ports of the look active that flows of a plan may pass, and were before this sweep? With OpenSM's lock. */
bool fors_engine_is_active(const struct fors_engine *engine, const struct fors_look *look);

/*
 * Why the switches do not have what this sweep sends them, or the sweep has met errors; NULL: they do. With OpenSM's
 * lock.
 */
const char *fors_engine_incomplete(const struct osm_opensm *osm);

/* --- engine_shadow.c --- */

/* A sweep or a reroute is complete, and fors only looks on. Without OpenSM's lock. */
void fors_engine_glance(struct fors_engine *engine);
/* The routing callback of a shadow that is named in routing_engine: < 0, the next engine of the list shall try. */
int fors_engine_decline_shadow(struct fors_engine *engine);

/* --- engine_route.c --- */

/* ucast_build_fwd_tables of OpenSM; context is the engine. 0: done; < 0: the next engine of the list shall try. */
int fors_engine_build_tables(void *context);

#endif
