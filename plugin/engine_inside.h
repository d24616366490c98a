/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine_inside.h - what the files of the engine share. All in the sweeper's thread.
 */
#ifndef FORS_PLUGIN_ENGINE_INSIDE_H
#define FORS_PLUGIN_ENGINE_INSIDE_H

#include "engine.h"

/* A job, the spare one when there is no memory for another; NULL: that is gone too. */
struct fors_look *fors_engine_take_job(struct fors_engine *engine, enum fors_look_kind kind);

/* Are the tables ours, as far as any engine's? Under OpenSM's lock. */
bool fors_engine_is_routing(const struct fors_engine *engine);

/* --- engine_over.c --- */

/* Are the tables another engine's, and a schedule is wanted over them? By the sweeper; no lock is needed. */
bool fors_engine_is_over(const struct fors_engine *engine);

/*
 * Begin a job over another engine's tables, whose net and tables have just been copied; from now on changes are
 * watched. Under the same hold of OpenSM's lock as that. Errors: FORS_ENOMEM.
 */
enum fors_err fors_engine_begin_over(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);
/* Complete it: service levels, warnings. Without OpenSM's lock. Errors: FORS_ENOMEM. */
enum fors_err fors_engine_end_over(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/* Entries for LIDs that no port of the job's net has are left out of its tables. Errors: FORS_ENOMEM. */
enum fors_err fors_engine_forget_strangers(struct fors_look *job, struct fors_error *error);

/* --- engine_pods.c: trees of three levels, where job->pods is there --- */

/* Make sense of job->net as the draft has it: job->pods, job->over, warnings. With or without OpenSM's lock. */
enum fors_err fors_engine_understand_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/*
 * Make job->lfts, and do what was requested to be forgotten; the draft is accepted when all leaves reach each other.
 * With OpenSM's lock. Errors: FORS_ENOPATH (which leaves are cut off from each other), FORS_ENOTREE (without what was
 * forgotten), FORS_ENOMEM.
 */
enum fors_err fors_engine_fill_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/* fors_engine_check(), what there is to say in *found. */
enum fors_err fors_engine_check_pods(struct fors_look *job, struct fors_warnings *found, struct fors_error *error);

/* The switches hold job->lfts: complete the job. Without OpenSM's lock. Errors: FORS_ENOMEM. */
enum fors_err fors_engine_end_pods(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/* Say in the log what was filled in, in how many milliseconds. */
void fors_engine_tell_pods(struct fors_engine *engine, const struct fors_look *job, double ms);

/* --- engine_understand.c --- */

/*
 * The fabric that a net shows, with these places and the participants of the settings. Errors of fors_fabric_build().
 */
enum fors_err fors_engine_build_fabric(const struct fors_engine *engine, const struct fors_places *places,
				       const struct fors_net *net, struct fors_fabric **fabric,
				       struct fors_error *error);

/*
 * Make sense of job->net: its fabric, learnt and with drained cables marked, and the settings that a plan needs. With
 * or without OpenSM's lock.
 */
enum fors_err fors_engine_understand(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/* --- engine_check.c --- */

/*
 * Look at job->lfts: both invariants (core/tables/check.h), and where every CA port has gone. What people should know
 * is in job->warnings, and in the log once. With or without OpenSM's lock. Errors: FORS_ETABLES, FORS_ENOMEM.
 */
enum fors_err fors_engine_check(struct fors_engine *engine, struct fors_look *job, struct fors_error *error);

/* --- engine_early.c --- */

/* Are all ports of job->fabric active that flows of a plan may pass, and were before this sweep? With OpenSM's lock. */
bool fors_engine_is_active(const struct fors_engine *engine, const struct fors_look *job);

/*
 * Why the switches do not have what this sweep sends them, or the sweep has met errors; NULL: they do. With OpenSM's
 * lock.
 */
const char *fors_engine_incomplete(const struct osm_opensm *osm);

/* --- engine_entries.c --- */

/*
 * Write what the worker claims for jobs into job->lfts, if anything; job->claim says so, and *plain are the tables as
 * they were, owned by the caller (NULL: nothing was written). With OpenSM's lock. Errors: FORS_ENOMEM.
 */
enum fors_err fors_engine_add_entries(struct fors_engine *engine, struct fors_look *job, struct fors_lfts **plain,
				      struct fors_error *error);
/* These would be wrong: the tables are *plain again, which is the job's then. The log knows why. */
void fors_engine_drop_entries(struct fors_engine *engine, struct fors_look *job, struct fors_lfts **plain,
			      const char *why);
/* The tables of this job (NULL: of nobody) are on their way: what is in them is remembered. */
void fors_engine_note_entries(struct fors_engine *engine, const struct fors_look *job);
/* The job shows what came of them: it says what is in them. */
void fors_engine_tell_entries(const struct fors_engine *engine, struct fors_look *job);

/* --- engine_rehome.c --- */

/*
 * The switches hold the tables of this job: is a ranking wanted, and when? What the worker has to know comes into the
 * job: withdrawal, due_ms. Without OpenSM's lock.
 */
void fors_engine_consider_rehome(struct fors_engine *engine, struct fors_look *job);

/*
 * The same job: say, once, how many entries a new reference fabric has moved from where the order before had them.
 * Nothing was kept before: nothing is said. Without OpenSM's lock.
 */
void fors_engine_tell_adopted(struct fors_engine *engine, const struct fors_look *job);

/*
 * Rank in the draft, if that is due for this fabric, of the draft, nothing drained yet. False: it is not. With
 * OpenSM's lock.
 */
bool fors_engine_rank(struct fors_engine *engine, const struct fors_fabric *fabric);

/* --- engine_route.c --- */

/* ucast_build_fwd_tables of OpenSM; context is the engine. 0: done; < 0: the next engine of the list shall try. */
int fors_engine_build_tables(void *context);

/* --- engine_reload.c --- */

/* Read the settings; those in force stay when the new ones are bad. */
void fors_engine_load_settings(struct fors_engine *engine);

/* Tell the outbox where copies go now. */
void fors_engine_address_outbox(struct fors_engine *engine);

#endif
