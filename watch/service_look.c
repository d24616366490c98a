/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_look.c - from a reading to a look: with the levels of its paths, if the operator has declared that the tables say
 * where packets go.
 *
 * Adaptive routing is what no reading shows: a switch that has it on picks among several ports, and the table names one. So
 * fors publishes nothing unless the operator says that there is none (adaptive_routing = off), or none on a service level
 * (static_sl = N), which all paths must have then.
 */
#include "service_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"

#define TABLES_BY "the subnet manager" /* nobody tells its engine's name */

void fors_service_forget_levels(struct fors_service *service)
{
	free(service->levels.sl);
	service->levels = (struct told_levels){.sl = NULL};
}

/* ---- levels ---- */

static uint64_t digest_of(const struct fors_levels *levels)
{
	return fors_digest(FORS_DIGEST_EMPTY, levels->lid, levels->nlids * sizeof(*levels->lid));
}

static bool are_told(const struct told_levels *told, const struct fors_levels *levels)
{
	return told->sl && told->nservers == levels->nservers && told->nlids == levels->nlids &&
	       told->lids == digest_of(levels);
}

static enum fors_err ask_levels(struct fors_service *service, struct fors_levels *levels, struct fors_error *error)
{
	size_t size = (size_t)levels->nservers * levels->nlids;
	double start = fors_clock_exact_ms();
	uint64_t refused = fors_mads_counts(service->mads)->refused;
	struct fors_paths paths;
	enum fors_err err;

	fors_service_forget_levels(service);
	err = fors_paths_ask(service->mads, levels, error);
	if (err)
		return err;
	service->levels.sl = malloc(size + 1);
	if (!service->levels.sl)
		return fors_fail_memory(error);
	memcpy(service->levels.sl, levels->sl, size);
	service->levels.refused = fors_mads_counts(service->mads)->refused - refused;
	service->levels.nservers = levels->nservers;
	service->levels.nlids = levels->nlids;
	service->levels.lids = digest_of(levels);
	paths = fors_paths_sum(levels, 0);
	fors_log_info(&service->log,
		      "service levels of %" PRIu64 " of %" PRIu64 " paths told by the subnet administration in %.0f ms",
		      paths.known, paths.count, fors_clock_exact_ms() - start);
	return FORS_OK;
}

/* One level for all that were told: those that were not are taken to have it too, and readers know. */
static void fill_in(const struct fors_paths *paths, struct fors_levels *levels, struct fors_warnings *warnings)
{
	if (!paths->is_one)
		return;
	if (paths->known < paths->count)
		fors_warn(warnings,
			  "service levels: the subnet administration was asked for %" PRIu64 " of %" PRIu64
			  " paths, all of them have %u; the others are taken to have it too",
			  paths->known, paths->count, paths->level);
	free(levels->sl);
	levels->sl = NULL;
	levels->all = paths->level;
}

/* Does the declaration fit what the administration tells? FORS_ENOTAPPL: it does not. */
static enum fors_err judge_levels(const struct fors_settings *settings, const struct fors_paths *paths,
				  struct fors_error *error)
{
	if (settings->is_not_adaptive || !paths->count)
		return FORS_OK;
	if (!paths->known)
		return fors_fail(
			error, FORS_ENOTAPPL,
			"the subnet administration tells no path between servers, so nobody knows their service "
			"levels; is this host in a partition with them?");
	if (!paths->src)
		return FORS_OK;
	return fors_fail(
		error, FORS_ENOTAPPL,
		"static_sl = %u, but the path from LID %u to LID %u has service level %u: an engine that needs it "
		"can deadlock on another one; nothing is published",
		settings->static_sl, paths->src, paths->dst, paths->other);
}

static void warn_of_hidden(const struct fors_service *service, struct fors_warnings *warnings)
{
	if (service->levels.refused)
		fors_warn(warnings,
			  "the subnet administration has no record for %" PRIu64
			  " %s between servers that it was asked for: perhaps partitions (P_Keys) hide servers from "
			  "this host or from each other",
			  service->levels.refused, fors_plural(service->levels.refused, "path", "paths"));
}

static enum fors_err add_levels(struct fors_service *service, struct fors_look *look, struct fors_error *error)
{
	const struct fors_settings *settings = fors_daemon_settings(service->daemon);
	struct fors_paths paths;
	struct fors_levels *levels;
	enum fors_err err = fors_daemon_levels(service->daemon, look, true, &levels, error);

	if (err || (!levels && settings->is_not_adaptive))
		return err;
	if (!levels)
		return fors_fail(
			error, FORS_ENOTAPPL,
			"static_sl = %u, but there are more than %u paths between servers: too many to ask the "
			"subnet administration whether they have this service level; nothing is published",
			settings->static_sl, FORS_LEVELS_MAX);
	if (are_told(&service->levels, levels))
		memcpy(levels->sl, service->levels.sl, (size_t)levels->nservers * levels->nlids);
	else
		err = ask_levels(service, levels, error);
	if (err)
		return err;
	warn_of_hidden(service, &look->warnings);
	paths = fors_paths_sum(levels, settings->static_sl);
	err = judge_levels(settings, &paths, error);
	if (!err)
		fill_in(&paths, levels, &look->warnings);
	return err;
}

/* ---- looks ---- */

static enum fors_err check_declared(struct fors_service *service, struct fors_error *error)
{
	const struct fors_settings *settings = fors_daemon_settings(service->daemon);

	if (!settings)
		return fors_fail(error, FORS_ENOTAPPL, "%s", fors_daemon_trouble(service->daemon));
	service->is_holder = fors_daemon_is_holder(service->daemon);
	if (!service->is_holder)
		return fors_fail(error, FORS_ENOTAPPL,
				 "another fors watch publishes in %s; this one stands by, and goes on when the "
				 "heartbeat there has stopped for ten seconds",
				 settings->publish_dir ? settings->publish_dir : "publish_dir");
	if (settings->is_not_adaptive || settings->static_sl != FORS_NOT_DECLARED)
		return FORS_OK;
	return fors_fail(
		error, FORS_ENOTAPPL,
		"nothing is published, for tables do not show adaptive routing: declare static_sl = N, a service "
		"level without it, or adaptive_routing = off (fors.conf(5))");
}

static void warn_of_routers(struct fors_look *look)
{
	unsigned count = 0;

	for (uint32_t node = 0; node < look->net->nnodes; node++)
		count += look->net->node[node].type == FORS_ROUTER;
	if (count)
		fors_warn(
			&look->warnings,
			"%u %s to other subnets: the schedule has the servers of this subnet only, and LIDs of routers "
			"are not planned for",
			count, fors_plural(count, "router leads", "routers lead"));
}

static enum fors_err fill_look(struct fors_service *service, struct fors_look *look, struct fors_error *error)
{
	enum fors_err err = check_declared(service, error);

	snprintf(look->tables_by, sizeof(look->tables_by), TABLES_BY);
	if (!err)
		err = fors_net_copy(service->shown.net, &look->net, error);
	if (err)
		return err;
	look->lfts = fors_lfts_copy(service->shown.lfts);
	if (!look->lfts)
		return fors_fail_memory(error);
	err = fors_daemon_begin_foreign(service->daemon, look, error);
	if (!err)
		err = fors_daemon_look(service->daemon, look, FORS_TABLES_FOREIGN, error);
	if (!err)
		err = add_levels(service, look, error);
	if (!err)
		warn_of_routers(look);
	if (!err && !service->is_confirmed)
		fors_warn(
			&look->warnings,
			"unconfirmed: the tables were read while the subnet manager sent nothing; a second reading follows "
			"within two seconds");
	return err;
}

static void refuse(struct fors_service *service, struct fors_look *look, const char *reason)
{
	look->kind = FORS_LOOK_DECLINED;
	snprintf(look->reason, sizeof(look->reason), "%s", reason);
	if (strcmp(service->refused, reason) != 0)
		fors_log_info(&service->log, "%s", reason);
	snprintf(service->refused, sizeof(service->refused), "%s", reason);
}

enum fors_err fors_service_hand_in(struct fors_service *service, struct fors_error *error)
{
	struct fors_look *look;
	enum fors_err err;

	fors_daemon_reload(service->daemon, &service->sources);
	look = fors_daemon_new_look(service->daemon, FORS_LOOK_INSTALLED);
	err = look ? fill_look(service, look, error) : fors_fail_memory(error);
	if (err == FORS_ECANCELLED || err == FORS_EIO || err == FORS_ENOMEM) {
		fors_look_free(look);
		fors_daemon_end_sweep(service->daemon);
		return err;
	}
	if (err)
		refuse(service, look, error->text);
	else
		service->refused[0] = '\0';
	fors_daemon_end_sweep(service->daemon);
	fors_daemon_submit(service->daemon, look);
	fors_daemon_note_sweep(service->daemon, FORS_SWEEP_ENDS);
	return FORS_OK;
}

void fors_service_decline(struct fors_service *service, const char *reason)
{
	struct fors_look *look = fors_daemon_new_look(service->daemon, FORS_LOOK_DECLINED);

	if (!look)
		return; /* the next reading tries again */
	refuse(service, look, reason);
	fors_daemon_end_sweep(service->daemon);
	fors_daemon_submit(service->daemon, look);
}
