/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "drain.h"

#include <inttypes.h>
#include <string.h>

#include "core/tables/home.h"
#include "clock.h"
#include "digest.h"
#include "log.h"

#define LOGGED_LINKS 16

enum fors_err fors_drain_init(struct fors_drain *drain, struct fors_error *error)
{
	*drain = (struct fors_drain){
		.watch = fors_watch_new(), .told_links = FORS_DIGEST_EMPTY, .told_warnings = FORS_DIGEST_EMPTY};
	return drain->watch ? FORS_OK : fors_fail_memory(error);
}

void fors_drain_clear(struct fors_drain *drain)
{
	fors_watch_free(drain->watch);
	drain->watch = NULL;
}

bool fors_drain_is_wanted(const struct fors_settings *settings)
{
	return settings->degraded_is_dead || settings->hold_down || settings->excluded_links.count ||
	       settings->excluded_spines.count;
}

enum fors_err fors_drain_look(struct fors_drain *drain, const struct fors_settings *settings,
			      struct fors_fabric *fabric, bool may_release, struct fors_error *error)
{
	const struct fors_moment now = {fors_clock_ms(), fors_clock_unix_ms()};
	uint64_t hold_ms = settings->hold_down * 1000ull;
	enum fors_err err = fors_watch_look(drain->watch, fabric, now, error);

	if (err)
		return err;
	/* Without hold_down what has just come is not held: OpenSM's unicast cache may never ask for tables again. */
	if (may_release || (!hold_ms && !drain->due_ms))
		fors_watch_release(drain->watch, now.ms, hold_ms);
	drain->due_ms = fors_watch_due(drain->watch, hold_ms);
	if (drain->due_ms)
		fabric->held_until_ms = now.unix_ms + (drain->due_ms > now.ms ? drain->due_ms - now.ms : 0);
	return FORS_OK;
}

enum fors_err fors_drain_apply(const struct fors_drain *drain, const struct fors_settings *settings,
			       struct fors_fabric *fabric, bool with_held, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	fors_drained_spines(fabric, &settings->excluded_spines, "exclude_spines", warnings);
	fors_drained_links(fabric, &settings->excluded_links, "exclude_links", warnings);
	if (settings->degraded_is_dead)
		fors_drained_degraded(fabric);
	if (with_held)
		fors_watch_mark(drain->watch, fabric);
	return fors_drained_apply(fabric, warnings, error);
}

bool fors_drain_tables_first(const struct fors_settings *settings, const struct fors_fabric *fabric)
{
	size_t nslots = (size_t)fabric->nleaves * fabric->nslots;

	if (!strcmp(settings->method, "rounds") ||
	    !strcmp(settings->method, "flows")) /* which go by the tables at any LMC */
		return false;
	for (size_t i = 0; i < nslots; i++)
		if (fabric->slot[i].lid && !fors_home_has_all(fabric->nlanes, fabric->slot[i].lmc))
			return false;
	return true;
}

/* --- the log -------------------------------------------------------------- */

static bool is_worth_telling(const struct fors_cable *cable)
{
	return cable->drained || cable->is_degraded;
}

static uint64_t digest_links(const struct fors_fabric *fabric)
{
	uint64_t digest = FORS_DIGEST_EMPTY;

	for (uint32_t i = 0; i < fabric->nleaves * fabric->nlanes; i++) {
		const struct fors_cable *cable = &fabric->cable[i];
		const uint32_t told[] = {i, cable->state, cable->drained, cable->is_degraded};

		if (is_worth_telling(cable))
			digest = fors_digest(digest, told, sizeof(told));
	}
	return digest;
}

static void tell_link(struct osm_log *log, const struct fors_fabric *fabric, uint32_t leaf, uint32_t lane)
{
	const struct fors_cable *cable = fors_cable(fabric, leaf, lane);
	bool is_used = cable->state == FORS_CABLE_LIVE;

	fors_log_info(log, "link %s[%u] - %s[%u] %s%s%s%s: %s", fabric->leaf[leaf].name, cable->leaf_port,
		      fabric->spine[fabric->lane[lane].spine].name, cable->spine_port, cable->drained ? "is " : "",
		      fors_drained_name(cable->drained), cable->drained == FORS_DRAIN_DEGRADED ? "," : "",
		      cable->is_degraded ? " runs below full width or speed" : "",
		      is_used ? cable->drained ? "it has to stay in use" : "it is used as any other"
			      : "no traffic between servers goes over it");
}

static void tell_links(struct osm_log *log, const struct fors_fabric *fabric)
{
	uint32_t found = 0;

	for (uint32_t leaf = 0; leaf < fabric->nleaves; leaf++) {
		for (uint32_t lane = 0; lane < fabric->nlanes; lane++) {
			if (is_worth_telling(fors_cable(fabric, leaf, lane)) && found++ < LOGGED_LINKS)
				tell_link(log, fabric, leaf, lane);
		}
	}
	if (found > LOGGED_LINKS)
		fors_log_info(log, "and %u more such links; status.json lists all", found - LOGGED_LINKS);
	if (!found)
		fors_log_info(log, "no link is excluded, degraded or held any more");
}

static void tell_warnings(struct osm_log *log, const struct fors_warnings *warnings)
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

void fors_drain_tell(struct fors_drain *drain, struct osm_log *log, const struct fors_fabric *fabric,
		     const struct fors_warnings *warnings)
{
	if (fors_digest_changed(&drain->told_links, digest_links(fabric)))
		tell_links(log, fabric);
	if (fors_digest_changed(&drain->told_warnings, digest_warnings(warnings)))
		tell_warnings(log, warnings);
}
