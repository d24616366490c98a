/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "drain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "core/planners/slow.h"
#include "core/base/text.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"
#include "daemon/base/log.h"

#define LOGGED_LINKS 16
#define FLAPPING 6 /* changes in an hour */

enum fors_err fors_drain_init(struct fors_drain *drain, struct fors_error *error)
{
	*drain = (struct fors_drain){
		.holddown = fors_holddown_new(), .told_links = FORS_DIGEST_EMPTY, .told_warnings = FORS_DIGEST_EMPTY};
	return drain->holddown ? FORS_OK : fors_fail_memory(error);
}

void fors_drain_clear(struct fors_drain *drain)
{
	fors_holddown_free(drain->holddown);
	drain->holddown = NULL;
}

bool fors_drain_is_wanted(const struct fors_settings *settings)
{
	return settings->degraded == FORS_SLOW_DEAD || settings->hold_down || settings->excluded_links.count ||
	       settings->excluded_spines.count;
}

enum fors_err fors_drain_look(struct fors_drain *drain, const struct fors_settings *settings, struct fors_fattree tree,
			      bool may_release, uint64_t *held_until_ms, struct fors_error *error)
{
	const struct fors_moment now = {fors_clock_ms(), fors_clock_unix_ms()};
	uint64_t hold_ms = settings->hold_down * 1000ull;
	enum fors_err err = fors_holddown_look(drain->holddown, tree, now, error);

	if (err)
		return err;
	/* Without hold_down what has just come is not held: OpenSM's unicast cache may never ask for tables again. */
	if (may_release || (!hold_ms && !drain->due_ms))
		fors_holddown_release(drain->holddown, now.ms, hold_ms);
	drain->due_ms = fors_holddown_due(drain->holddown, hold_ms);
	if (drain->due_ms)
		*held_until_ms = now.unix_ms + (drain->due_ms > now.ms ? drain->due_ms - now.ms : 0);
	return FORS_OK;
}

enum fors_err fors_drain_flaps(const struct fors_drain *drain, struct fors_fattree tree, struct fors_flap **flap,
			       uint32_t *count, struct fors_error *error)
{
	struct fors_flap *found = calloc(tree.nslots + (size_t)1, sizeof(*found));
	uint32_t nfound = 0;

	if (!found)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < tree.nslots; i++)
		nfound += fors_holddown_host(drain->holddown, tree, i, &found[nfound]) &&
			  (found[nfound].is_held || found[nfound].changes >= FLAPPING);
	*flap = found;
	*count = nfound;
	return FORS_OK;
}

/* Is this host alive, and shall it wait? */
static bool waits(struct fors_fattree tree, const struct fors_flap *flap, struct fors_fattree_slot *stand)
{
	return flap->is_held && tree.kind->slot(&tree, flap->slot, stand) && stand->plays;
}

enum fors_err fors_drain_others(struct fors_fattree tree, const struct fors_flap *flap, uint32_t count,
				struct fors_participants *others, struct fors_error *error)
{
	struct fors_fattree_slot stand;
	uint32_t at = 0, nwaiting = 0;

	others->count = 0;
	others->guid = calloc(tree.nslots + (size_t)1, sizeof(*others->guid));
	if (!others->guid)
		return fors_fail_memory(error);
	for (uint32_t i = 0; i < tree.nslots; i++) {
		for (; at < count && flap[at].slot < i; at++)
			;
		if (at < count && flap[at].slot == i && waits(tree, &flap[at], &stand))
			nwaiting++;
		else if (tree.kind->slot(&tree, i, &stand) && (stand.plays || stand.is_missed))
			others->guid[others->count++] = stand.plays ? stand.guid : stand.seen;
	}
	if (nwaiting)
		return FORS_OK;
	free(others->guid);
	others->guid = NULL;
	return FORS_OK;
}

/* What fors.conf names. The first reason that marks a cable stays. */
static void mark_excluded(const struct fors_settings *settings, struct fors_fattree tree,
			  struct fors_warnings *warnings)
{
	fors_drained_spines(tree, &settings->excluded_spines, "exclude_spines", warnings);
	fors_drained_links(tree, &settings->excluded_links, "exclude_links", warnings);
}

/* Held cables carry nothing, so what slow ones cost is decided without them; those that count as dead come first. */
static void mark_held(const struct fors_drain *drain, const struct fors_settings *settings, struct fors_fattree tree)
{
	if (settings->degraded == FORS_SLOW_DEAD)
		fors_drained_degraded(tree);
	fors_holddown_mark(drain->holddown, tree);
}

/* Tables that fors did not make for this sweep have all cables in them: nothing is chosen then. */
static enum fors_slow_how how_of(const struct fors_drain *drain, const struct fors_settings *settings)
{
	return settings->degraded == FORS_SLOW_AUTO && drain->is_given ? FORS_SLOW_IGNORE : settings->degraded;
}

enum fors_err fors_drain_apply(const struct fors_drain *drain, const struct fors_settings *settings,
			       struct fors_fattree tree, struct fors_slow *slow, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	enum fors_err err;

	mark_excluded(settings, tree, warnings);
	mark_held(drain, settings, tree);
	err = fors_slow_mark(tree, how_of(drain, settings), slow, error);
	slow->how = settings->degraded;
	return err ? err : fors_drained_apply(tree, warnings, error);
}

/* --- the log -------------------------------------------------------------- */

static bool is_worth_telling(const struct fors_fattree_cable *cable)
{
	return cable->drained || cable->is_degraded;
}

static uint64_t digest_links(const struct fors_fattree *c, const struct fors_slow *slow)
{
	const uint32_t choice[] = {slow->how, slow->ndrained};
	uint64_t digest = slow->ncables ? fors_digest(FORS_DIGEST_EMPTY, choice, sizeof(choice)) : FORS_DIGEST_EMPTY;
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < c->ncables; i++) {
		uint32_t told[4];

		if (!c->kind->get(c, i, &cable) || !is_worth_telling(&cable))
			continue;
		told[0] = i;
		told[1] = cable.state;
		told[2] = cable.drained;
		told[3] = cable.is_degraded;
		digest = fors_digest(digest, told, sizeof(told));
	}
	return digest;
}

static void tell_link(struct fors_log *log, const struct fors_fattree *c, const struct fors_fattree_cable *cable)
{
	bool is_used = cable->state == FORS_CABLE_LIVE;

	fors_log_info(log, "link %s[%u] - %s[%u] %s%s%s%s: %s", c->kind->at(c, cable->low).name, cable->low_port,
		      c->kind->at(c, cable->high).name, cable->high_port, cable->drained ? "is " : "",
		      fors_drained_name(cable->drained), cable->drained == FORS_DRAIN_DEGRADED ? "," : "",
		      cable->is_degraded ? " runs below full width or speed" : "",
		      is_used ? cable->drained ? "it has to stay in use" : "it is used as any other"
			      : "no traffic between servers goes over it");
}

/* What is done about slow cables, and what it would be otherwise. */
static void tell_slow(struct fors_log *log, const struct fors_slow *slow)
{
	char choice[24], without[48] = "none can be spared";

	fors_slow_choice(slow, choice, sizeof(choice));
	if (slow->drained >= 0)
		snprintf(without, sizeof(without), "%.1f with none", slow->drained);
	if (*choice)
		fors_log_info(
			log,
			"slow links between switches: degraded_links = %s, %u of %u drained; the exchange takes about "
			"%.1f phases at full speed with all of them in use, %s",
			choice, slow->ndrained, slow->ncables, slow->ignored, without);
}

static void tell_links(struct fors_log *log, const struct fors_fattree *c)
{
	struct fors_fattree_cable cable;
	uint32_t found = 0;

	for (uint32_t i = 0; i < c->ncables; i++)
		if (c->kind->get(c, i, &cable) && is_worth_telling(&cable) && found++ < LOGGED_LINKS)
			tell_link(log, c, &cable);
	if (found > LOGGED_LINKS)
		fors_log_info(log, "and %u more such %s; status.json lists all", found - LOGGED_LINKS,
			      fors_plural(found - LOGGED_LINKS, "link", "links"));
	if (!found)
		fors_log_info(log, "no link is excluded, degraded or held any more");
}

static void tell_warnings(struct fors_log *log, const struct fors_warnings *warnings)
{
	for (unsigned i = 0; i < fors_warnings_kept(warnings); i++)
		fors_log_error(log, FORS_F_DRAIN, "%s", warnings->text[i]);
	if (warnings->count > fors_warnings_kept(warnings))
		fors_log_error(log, FORS_F_DRAIN, "and %u more warnings of this kind",
			       warnings->count - fors_warnings_kept(warnings));
}

static uint64_t digest_warnings(const struct fors_warnings *warnings)
{
	uint64_t digest = FORS_DIGEST_EMPTY;

	for (unsigned i = 0; i < fors_warnings_kept(warnings); i++)
		digest = fors_digest_text(digest, warnings->text[i]);
	return warnings->count ? fors_digest(digest, &warnings->count, sizeof(warnings->count)) : digest;
}

void fors_drain_tell(struct fors_drain *drain, struct fors_log *log, struct fors_fattree tree,
		     const struct fors_slow *slow, const struct fors_warnings *warnings)
{
	if (fors_digest_changed(&drain->told_links, digest_links(&tree, slow))) {
		tell_links(log, &tree);
		tell_slow(log, slow);
	}
	if (fors_digest_changed(&drain->told_warnings, digest_warnings(warnings)))
		tell_warnings(log, warnings);
}
