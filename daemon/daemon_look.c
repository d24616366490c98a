/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one call that makes a look of what a source sees: a net, and tables or none.
 *
 * Without tables fors makes them, learnt places first, and no table leaves unchecked. With tables of fors's own the
 * fabric is looked at again, instead of being remembered from when they were made: a manager may have put tables
 * together itself. Tables of another engine are taken as they are.
 */
#include "daemon_inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/net/others.h"
#include "core/net/partitions.h"
#include "core/planners/routing.h"
#include "daemon/base/clock.h"

/* --- tables to be made ------------------------------------------------------ */

static enum fors_err check_tables(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	double start = fors_clock_exact_ms();
	enum fors_err err = fors_daemon_check(daemon, look, error);

	daemon->check_ms = look->check_ms = fors_clock_exact_ms() - start;
	return err;
}

/* Should entries of jobs make the tables wrong, they go without. */
static enum fors_err check_entries(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	struct fors_lfts *plain;
	enum fors_err err = fors_daemon_add_entries(daemon, look, &plain, error);

	if (!err)
		err = check_tables(daemon, look, error);
	if (err == FORS_ETABLES && plain) {
		fors_daemon_drop_entries(daemon, look, &plain, error->text);
		err = check_tables(daemon, look, error);
	}
	if (look->claim) { /* the rounds are those of the tables without its entries */
		fors_routing_free(NULL, look->rounds);
		look->rounds = NULL;
	}
	fors_lfts_free(plain);
	return err;
}

static enum fors_err fill(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	struct fors_error cut;

	if (fors_fattree_connected(&look->tree, &cut))
		return *daemon->kept.not_three
			       ? fors_fail(error, cut.code, "%.200s; %.280s", cut.text, daemon->kept.not_three)
			       : fors_fail(error, cut.code, "%s", cut.text);
	return fors_routing_make(&look->tree, true, &look->lfts, &look->rounds, error);
}

static enum fors_err make_tables(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_daemon_understand(daemon, look, error);

	if (!err)
		err = fill(daemon, look, error);
	return err ? err : check_entries(daemon, look, error);
}

static enum fors_err look_without(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = daemon->is_short ? fors_fail_memory(error) : make_tables(daemon, look, error);

	daemon->is_short = err == FORS_ENOMEM;
	fors_daemon_note_entries(daemon, err ? NULL : look);
	if (err)
		return err;
	snprintf(look->tables_by, sizeof(look->tables_by), "fors");
	if (look->given)
		fors_look_seal(look);
	return FORS_OK;
}

static void tell_made(struct fors_daemon *daemon, const struct fors_look *look)
{
	char shape[96];

	fors_fattree_shape(&look->tree, shape, sizeof(shape));
	fors_log_info(&daemon->setup.log, "tables of %u switches for %u servers, %s filled in %.3f ms",
		      look->lfts->nswitches, fors_fattree_sum(&look->tree).servers, shape, daemon->tables_ms);
}

uint64_t fors_daemon_made(struct fors_daemon *daemon, struct fors_look *look, double start)
{
	daemon->declined[0] = '\0';
	look->number = ++daemon->tables;
	daemon->tables_ms = look->tables_ms = fors_clock_exact_ms() - start;
	tell_made(daemon, look);
	fors_worker_submit(daemon->worker, look);
	return daemon->tables;
}

/* --- tables that the switches hold ------------------------------------------ */

/*
 * The tables were good when they were made. What the switches hold may be older: OpenSM's unicast cache thinks that
 * nothing goes over a leaf but what is for its own servers, while fors lets some packets turn at a leaf. When that one
 * is lost the source has to have them made anew. What is wrong until then is a warning: nobody can take it back.
 */
static enum fors_err check_installed(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = fors_daemon_check(daemon, look, error);

	if (err != FORS_ETABLES)
		return err;
	fors_warn(&look->warnings, "what the switches hold is not what fors would have them hold: %.240s", error->text);
	look->is_wrong = true;
	return FORS_OK;
}

/*
 * Entries for LIDs that no port has are left out: tables that OpenSM's unicast cache brought back have some of servers
 * that are gone, and whoever reads tables would think them those of another fabric.
 */
static enum fors_err forget_strangers(struct fors_look *look, struct fors_error *error)
{
	struct fors_lfts *lfts = look->lfts;
	bool *is_known = calloc(lfts->nlids + (size_t)1, sizeof(*is_known));

	if (!is_known)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < look->net->nports; i++) {
		const struct fors_port *port = &look->net->port[i];

		for (uint32_t lid = port->lid; port->lid && lid < lfts->nlids && lid < port->lid + (1u << port->lmc);
		     lid++)
			is_known[lid] = true;
	}
	for (size_t at = 0; at < (size_t)lfts->nswitches * lfts->nlids; at++)
		if (!is_known[at % lfts->nlids])
			lfts->port[at] = FORS_NO_PATH;
	free(is_known);
	return FORS_OK;
}

/* What is kept, and whether homes are to be ranked, follows from good tables only. */
static enum fors_err look_at_ours(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err;

	look->tables_ms = daemon->tables_ms;
	look->check_ms = daemon->check_ms;
	err = fors_daemon_understand(daemon, look, error);
	if (!err && look->given)
		err = forget_strangers(look, error);
	if (!err && look->given)
		fors_look_seal(look);
	fors_daemon_tell_entries(daemon, look);
	if (err || look->kind != FORS_LOOK_INSTALLED)
		return err;
	look->number = daemon->has_made ? daemon->tables : 0;
	fors_daemon_tell_adopted(daemon, look);
	fors_daemon_consider_rehome(daemon, look);
	return check_installed(daemon, look, error);
}

/* What fors.conf asks for, and fors can do with tables of its own only. */
static void warn_of_settings(const struct fors_daemon *daemon, struct fors_look *look)
{
	const struct fors_settings *settings = daemon->settings;

	if (daemon->declined[0])
		fors_warn(&look->warnings, "fors does not route: %s", daemon->declined);
	if (fors_drain_is_wanted(settings) || settings->hold_down)
		fors_warn(&look->warnings, "'%s' routes: nothing is drained, excluded or held down", look->tables_by);
}

static enum fors_err look_at_foreign(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = forget_strangers(look, error);

	warn_of_settings(daemon, look);
	if (!err)
		err = fors_partitions_warn(look->net, fors_settings_participants(daemon->settings), &look->warnings,
					   error);
	return err;
}

/* --- the call ---------------------------------------------------------------- */

/* A word that gets lost is never said again. */
static void warn_of_words(const struct fors_daemon *daemon, struct fors_look *look)
{
	struct fors_looking now = {.interval_ms = 1};

	if (daemon->setup.source.looking)
		daemon->setup.source.looking(daemon->setup.source.context, &now);
	if (!now.interval_ms)
		fors_warn(&look->warnings, "sweep_interval is 0: opensm looks only when a trap tells of a change, so a "
					   "lost trap, or a dead cable of its own, leaves all this as it is");
}

enum fors_err fors_daemon_look(struct fors_daemon *daemon, struct fors_look *look, enum fors_tables_of of,
			       struct fors_error *error)
{
	if (!daemon->settings)
		return fors_fail(error, FORS_EINPUT, "%s", daemon->trouble);
	fors_others_mark(look->net, &daemon->settings->not_hosts);
	warn_of_words(daemon, look);
	switch (of) {
	case FORS_TABLES_NONE:
		return look_without(daemon, look, error);
	case FORS_TABLES_OURS:
		return look_at_ours(daemon, look, error);
	default:
		return look_at_foreign(daemon, look, error);
	}
}

enum fors_err fors_daemon_begin_foreign(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	look->tables_ms = look->check_ms = -1;
	fors_others_mark(look->net, &daemon->settings->not_hosts);
	if (fors_look_take_given(look, fors_settings_participants(daemon->settings), error))
		return FORS_ENOMEM;
	look->given->changes = fors_worker_changes(daemon->worker);
	return FORS_OK;
}

enum fors_err fors_daemon_levels(struct fors_daemon *daemon, struct fors_look *look, bool has_paths,
				 struct fors_levels **levels, struct fors_error *error)
{
	const struct fors_participants *participants = fors_settings_participants(daemon->settings);
	enum fors_err err = fors_levels_new(look->net, participants, has_paths, levels, error);

	if (err == FORS_ELIMIT) {
		fors_warn(&look->warnings, "service levels are not asked of '%s': %s", look->tables_by, error->text);
		*levels = NULL;
		return FORS_OK;
	}
	if (err)
		return err;
	look->given->levels = *levels;
	if (participants && (*levels)->nservers < participants->count)
		fors_warn(&look->warnings, "%zu of the %zu participants are no living server",
			  participants->count - (*levels)->nservers, participants->count);
	return FORS_OK;
}
