/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Homes ranked afresh: what rehome.h asks of the engine. Whether a ranking is wanted, and what it would move, is found out
 * when a sweep has ended, without OpenSM's lock; it is done in a routing callback, whose tables follow at once.
 */
#include "daemon_inside.h"

#include <inttypes.h>

#include "core/base/text.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/planners/routing.h"
#include "daemon/base/clock.h"

/* How many entries differ, of switches that both have. */
static uint64_t count_moved(const struct fors_lfts *before, const struct fors_lfts *after)
{
	uint64_t moved = 0;

	for (uint32_t row = 0; row < after->nswitches; row++) {
		uint32_t old = fors_lfts_row(before, after->guid[row]);

		for (uint32_t lid = 0; old != FORS_NONE && lid < after->nlids; lid++)
			moved += fors_lfts_port(after, row, lid) != fors_lfts_port(before, old, lid);
	}
	return moved;
}

/* With the entries of jobs that the tables of before have, as far as they are right for this tree. */
static enum fors_err add_entries(const struct fors_daemon *daemon, const struct fors_fattree *tree,
				 struct fors_lfts *lfts, struct fors_error *error)
{
	struct fors_floors floors = {0};
	enum fors_err err = daemon->claim ? fors_floors_make(tree, &floors, error) : FORS_OK;

	if (!err && daemon->claim)
		err = fors_claim_write(daemon->claim, &floors, lfts, error);
	fors_floors_clear(&floors);
	return err == FORS_ENOMEM ? err : FORS_OK;
}

/* The entries of the look's tables that change with these places. Errors: FORS_ENOMEM, FORS_ELIMIT. */
static enum fors_err find_moved(const struct fors_daemon *daemon, const struct fors_look *look,
				const struct fors_places *ranked, uint64_t *moved, struct fors_error *error)
{
	struct fors_fattree tree;
	struct fors_pods_route *rounds = NULL;
	struct fors_lfts *lfts = NULL;
	enum fors_err err = fors_daemon_build_tree(daemon, ranked, look->net, &tree, error);

	if (!err)
		err = fors_routing_make(&tree, true, &lfts, &rounds, error);
	if (!err)
		err = add_entries(daemon, &tree, lfts, error);
	if (!err)
		*moved = count_moved(look->lfts, lfts);
	fors_routing_free(lfts, rounds);
	fors_fattree_free(&tree);
	return err;
}

static void tell_wanted(struct fors_daemon *daemon, uint64_t moved)
{
	fors_log_info(&daemon->setup.log,
		      "the homes of %u server ports are about to be ranked afresh, for those that came late: %" PRIu64
		      " entries of the tables change; the schedule is withdrawn first",
		      daemon->rehome.nslots, moved);
}

/* It is due: ask for a withdrawal, if it would move anything. Errors: as find_moved(). */
static enum fors_err arm(struct fors_daemon *daemon, const struct fors_look *look, const struct fors_places *ranked,
			 uint64_t now, struct fors_error *error)
{
	uint64_t moved, was_armed = daemon->rehome.armed;
	enum fors_err err = find_moved(daemon, look, ranked, &moved, error);

	if (err)
		return err;
	fors_rehome_arm(&daemon->rehome, moved, now);
	if (daemon->rehome.armed && daemon->rehome.armed != was_armed)
		tell_wanted(daemon, moved);
	return FORS_OK;
}

void fors_daemon_consider_rehome(struct fors_daemon *daemon, struct fors_look *look)
{
	struct fors_rehome *rehome = &daemon->rehome;
	uint64_t now = fors_clock_ms();
	struct fors_places *ranked = NULL;
	struct fors_error error;
	bool is_same = true, is_wanted;
	enum fors_err err = FORS_OK;

	fors_rehome_note(rehome, fors_places_size(daemon->kept.places).slots, now);
	is_wanted = !daemon->settings->rehome_never && fors_rehome_is_healthy(&look->tree);
	if (is_wanted)
		err = fors_places_ranked(daemon->kept.places, fors_settings_participants(daemon->settings), &ranked,
					 &is_same, &error);
	fors_rehome_want(rehome, is_wanted && !err && !is_same, now);
	if (ranked && fors_rehome_is_due(rehome, now))
		err = arm(daemon, look, ranked, now, &error);
	if (err)
		fors_log_error(&daemon->setup.log, fors_code_of(err), "homes are not ranked: %s", error.text);
	look->withdrawal = rehome->armed;
	if (rehome->due_ms && (!look->due_ms || rehome->due_ms < look->due_ms))
		look->due_ms = rehome->due_ms;
	fors_places_free(ranked);
}

void fors_daemon_tell_adopted(struct fors_daemon *daemon, const struct fors_look *look)
{
	struct fors_places *before = daemon->kept.replaced;
	struct fors_error error;
	uint64_t moved;

	if (!before)
		return;
	if (find_moved(daemon, look, before, &moved, &error))
		fors_log_info(&daemon->setup.log, "what the reference fabric moves cannot be counted: %s", error.text);
	else
		fors_log_info(&daemon->setup.log, "the reference fabric moves %" PRIu64 " %s of the tables", moved,
			      fors_plural(moved, "entry", "entries"));
	fors_places_free(before);
	daemon->kept.replaced = NULL;
}

bool fors_daemon_rank(struct fors_daemon *daemon, const struct fors_fattree *tree)
{
	struct fors_rehome *rehome = &daemon->rehome;
	struct fors_error error;

	if (daemon->is_shadow || daemon->settings->rehome_never || !fors_rehome_is_healthy(tree) ||
	    daemon->drain.due_ms || !fors_rehome_may_rank(rehome, fors_worker_withdrawn(daemon->worker)))
		return false;
	if (fors_places_rank(daemon->kept.draft, fors_settings_participants(daemon->settings), &error)) {
		fors_log_error(&daemon->setup.log, FORS_F_MEMORY, "homes are not ranked: %s", error.text);
		return false;
	}
	fors_rehome_done(rehome, fors_clock_ms());
	fors_log_info(&daemon->setup.log, "homes of %u server ports are ranked afresh", rehome->nslots);
	return true;
}
