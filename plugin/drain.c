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
			      struct fors_cabling cabling, bool may_release, uint64_t *held_until_ms,
			      struct fors_error *error)
{
	const struct fors_moment now = {fors_clock_ms(), fors_clock_unix_ms()};
	uint64_t hold_ms = settings->hold_down * 1000ull;
	enum fors_err err = fors_watch_look(drain->watch, cabling, now, error);

	if (err)
		return err;
	/* Without hold_down what has just come is not held: OpenSM's unicast cache may never ask for tables again. */
	if (may_release || (!hold_ms && !drain->due_ms))
		fors_watch_release(drain->watch, now.ms, hold_ms);
	drain->due_ms = fors_watch_due(drain->watch, hold_ms);
	if (drain->due_ms)
		*held_until_ms = now.unix_ms + (drain->due_ms > now.ms ? drain->due_ms - now.ms : 0);
	return FORS_OK;
}

/* The first reason that marks a cable stays. */
static void mark(const struct fors_drain *drain, const struct fors_settings *settings, struct fors_cabling cabling,
		 bool with_held, struct fors_warnings *warnings)
{
	fors_drained_spines(cabling, &settings->excluded_spines, "exclude_spines", warnings);
	fors_drained_links(cabling, &settings->excluded_links, "exclude_links", warnings);
	if (settings->degraded_is_dead)
		fors_drained_degraded(cabling);
	if (with_held)
		fors_watch_mark(drain->watch, cabling);
}

enum fors_err fors_drain_apply(const struct fors_drain *drain, const struct fors_settings *settings,
			       struct fors_fabric *fabric, bool with_held, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	mark(drain, settings, fors_fabric_cabling(fabric), with_held, warnings);
	return fors_drained_apply(fabric, warnings, error);
}

enum fors_err fors_drain_apply_pods(const struct fors_drain *drain, const struct fors_settings *settings,
				    struct fors_pods *pods, struct fors_warnings *warnings, struct fors_error *error)
{
	bool any;

	mark(drain, settings, fors_pods_cabling(pods), true, warnings);
	return fors_drained_take_out(fors_pods_cabling(pods), &any, warnings, error);
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

static bool is_worth_telling(const struct fors_plugged *cable)
{
	return cable->drained || cable->is_degraded;
}

static uint64_t digest_links(const struct fors_cabling *c)
{
	uint64_t digest = FORS_DIGEST_EMPTY;
	struct fors_plugged cable;

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

static void tell_link(struct osm_log *log, const struct fors_cabling *c, const struct fors_plugged *cable)
{
	bool is_used = cable->state == FORS_CABLE_LIVE;

	fors_log_info(log, "link %s[%u] - %s[%u] %s%s%s%s: %s", c->kind->at(c, cable->low).name, cable->low_port,
		      c->kind->at(c, cable->high).name, cable->high_port, cable->drained ? "is " : "",
		      fors_drained_name(cable->drained), cable->drained == FORS_DRAIN_DEGRADED ? "," : "",
		      cable->is_degraded ? " runs below full width or speed" : "",
		      is_used ? cable->drained ? "it has to stay in use" : "it is used as any other"
			      : "no traffic between servers goes over it");
}

static void tell_links(struct osm_log *log, const struct fors_cabling *c)
{
	struct fors_plugged cable;
	uint32_t found = 0;

	for (uint32_t i = 0; i < c->ncables; i++)
		if (c->kind->get(c, i, &cable) && is_worth_telling(&cable) && found++ < LOGGED_LINKS)
			tell_link(log, c, &cable);
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

void fors_drain_tell(struct fors_drain *drain, struct osm_log *log, struct fors_cabling cabling,
		     const struct fors_warnings *warnings)
{
	if (fors_digest_changed(&drain->told_links, digest_links(&cabling)))
		tell_links(log, &cabling);
	if (fors_digest_changed(&drain->told_warnings, digest_warnings(warnings)))
		tell_warnings(log, warnings);
}
