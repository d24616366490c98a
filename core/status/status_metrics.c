/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_metrics.c - the status as metrics, for Prometheus (node_exporter's textfile collector).
 *
 * One gauge per key of the table (status_keys.h) that has a help text; links also one sample each, with both ends as labels.
 * What is unknown is absent: a scraper must be able to tell "no dead link" from "nobody has looked". A key in
 * milliseconds is a metric in seconds, and is called so: plan_ms becomes fors_plan_duration_seconds, state_since_ms,
 * which is a point in time, fors_state_since_timestamp_seconds.
 */
#include "status_metrics.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "core/base/text.h"
#include "status_keys.h"

/* A text that grows, and the fabric that all its samples are of. */
struct page {
	struct fors_buffer buffer;
	const char *fabric;
	bool is_shadow;
};

/* --- texts of labels ------------------------------------------------------------------------------------------- */

/* name="text": quotes and backslashes escaped; what is no UTF-8, for which a scraper refuses the whole file, is a '?'. */
static void label(struct page *page, const char *name, const char *text)
{
	fors_buffer_print(&page->buffer, "%s=\"", name);
	while (*text) {
		size_t size = fors_utf8_length(text, strlen(text));

		if (*text == '"' || *text == '\\')
			fors_buffer_print(&page->buffer, "\\%c", *text);
		else if (*text == '\n')
			fors_buffer_print(&page->buffer, " ");
		else if (size)
			fors_buffer_print(&page->buffer, "%.*s", (int)size, text);
		else
			fors_buffer_print(&page->buffer, "?");
		text += size ? size : 1;
	}
	fors_buffer_print(&page->buffer, "\"");
}

/* --- samples --------------------------------------------------------------------------------------------------- */

static void head(struct page *page, const char *name, const char *type, const char *help)
{
	fors_buffer_print(&page->buffer, "# HELP fors_%s %s\n# TYPE fors_%s %s\n", name, help, name, type);
}

/* The begin of a sample, up to its last label. */
static void begin(struct page *page, const char *name)
{
	fors_buffer_print(&page->buffer, "fors_%s{", name);
	label(page, "fabric", page->fabric);
	if (page->is_shadow)
		fors_buffer_print(&page->buffer, ",mode=\"shadow\"");
}

static void begin_with(struct page *page, const char *name, const char *label_name, const char *text)
{
	begin(page, name);
	fors_buffer_print(&page->buffer, ",");
	label(page, label_name, text);
}

static void end(struct page *page, int decimals, double value)
{
	fors_buffer_print(&page->buffer, "} %.*f\n", decimals, value);
}

static void gauge(struct page *page, const char *name, const char *help, int decimals, double value)
{
	head(page, name, "gauge", help);
	begin(page, name);
	end(page, decimals, value);
}

static void counter(struct page *page, const char *name, const char *help, uint64_t value)
{
	head(page, name, "counter", help);
	begin(page, name);
	fors_buffer_print(&page->buffer, "} %" PRIu64 "\n", value);
}

/* --- the facts ------------------------------------------------------------------------------------------------- */

/* State sets are written whole, as Prometheus recommends, so that an old state does not linger. */
static void put_states(struct page *page, const struct fors_status *status, const struct fors_key *key)
{
	head(page, key->name, "gauge", key->help);
	for (int i = 0; i < FORS_NSTATES; i++) {
		if (i == FORS_SHADOW && !page->is_shadow)
			continue;
		begin_with(page, key->name, key->name, fors_state_name((enum fors_state)i));
		end(page, 0, i == (int)status->state);
	}
}

static void put_text(struct page *page, const struct fors_key *key, const char *text)
{
	if (!key->help || !*text)
		return;
	head(page, key->name, "gauge", key->help);
	begin_with(page, key->name, key->name, text);
	end(page, 0, 1);
}

/* plan_ms -> plan<suffix>: a key in milliseconds under the name of a metric in seconds. */
static void put_seconds(struct page *page, const struct fors_key *key, const char *suffix, double ms)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s%s", (int)(strlen(key->name) - strlen("_ms")), key->name, suffix);
	gauge(page, name, key->help, key->kind == FORS_KEY_MS ? 6 : 3, ms / 1000);
}

static void put_key(struct page *page, const struct fors_status *status, const struct fors_key *key)
{
	switch (key->kind) {
	case FORS_KEY_NUMBER:
		if (fors_key_number(status, key) >= 0)
			gauge(page, key->name, key->help, 0, (double)fors_key_number(status, key));
		break;
	case FORS_KEY_UNIX_MS:
		if (fors_key_number(status, key) >= 0)
			put_seconds(page, key, "_timestamp_seconds", (double)fors_key_number(status, key));
		break;
	case FORS_KEY_MS:
		if (fors_key_ms(status, key) >= 0)
			put_seconds(page, key, "_duration_seconds", fors_key_ms(status, key));
		break;
	case FORS_KEY_PHASES:
		if (fors_key_ms(status, key) >= 0)
			gauge(page, key->name, key->help, 3, fors_key_ms(status, key));
		break;
	case FORS_KEY_TEXT:
		put_text(page, key, fors_key_member(status, key));
		break;
	case FORS_KEY_WORD:
		put_states(page, status, key);
		break;
	case FORS_KEY_LIST:
		if (status->leaves >= 0)
			gauge(page, key->name, key->help, 0, (double)fors_key_list(status, key).count);
		break;
	case FORS_KEY_WARNINGS:
		gauge(page, key->name, key->help, 0, status->warnings.count);
		break;
	default: /* no fact of one number: see put_failovers(), put_jobs(), put_shadow(), or advice */
		break;
	}
}

/* --- links, one by one ----------------------------------------------------------------------------------------- */

/* The label `why` is left out when it is NULL. */
static void put_links(struct page *page, const char *name, const struct fors_links *links, const char *why)
{
	for (size_t i = 0; i < links->count && i < FORS_METRICS_LINKS; i++) {
		const struct fors_link *link = &links->link[i];

		begin_with(page, name, "leaf", link->a);
		fors_buffer_print(&page->buffer, ",leaf_port=\"%u\",", link->a_port);
		label(page, "spine", link->b);
		fors_buffer_print(&page->buffer, ",spine_port=\"%u\"", link->b_port);
		if (why)
			fors_buffer_print(&page->buffer, ",why=\"%s\"", why);
		end(page, 0, 1);
	}
}

/* Whose cables are counted among the dead ones, too: an alert for the switch is enough. */
static void put_switches(struct page *page, const struct fors_dead_switches *dead)
{
	if (dead->count)
		head(page, "switch_dead", "gauge", "1 for each switch that is gone");
	for (size_t i = 0; i < dead->count && i < FORS_METRICS_LINKS; i++) {
		begin_with(page, "switch_dead", "switch", dead->one[i].name);
		fors_buffer_print(&page->buffer, ",");
		label(page, "level", dead->one[i].level);
		end(page, 0, 1);
	}
}

/* A metric of one list, or of two that `why` tells apart. */
static void put_lists(struct page *page, const char *name, const char *help, const struct fors_links *links,
		      const struct fors_links *held)
{
	if (links->count || (held && held->count))
		head(page, name, "gauge", help);
	put_links(page, name, links, held ? "excluded" : NULL);
	if (held)
		put_links(page, name, held, "held");
}

static void put_all_links(struct page *page, const struct fors_status *status)
{
	put_lists(page, "link_dead", "1 for each dead cable between switches", &status->dead_links, NULL);
	put_lists(page, "link_degraded", "1 for each cable below full width or speed", &status->degraded_links, NULL);
	put_lists(page, "link_flapping", "1 for each cable that died or came back six times or more in the last hour",
		  &status->flapping_links, NULL);
	put_lists(
		page, "link_drained",
		"1 for each living cable that is kept out of the plan: excluded by fors.conf, or held after it came back",
		&status->excluded_links, &status->held_links);
}

/* --- jobs, one by one ------------------------------------------------------------------------------------------ */

/* A number of a job that adds up. */
struct job_metric {
	const char *name, *help;
	size_t offset;
};

static int64_t number_of(const struct fors_jobstat *job, const struct job_metric *metric)
{
	int64_t number = *(const int64_t *)((const char *)job + metric->offset);

	return number > 0 ? number : 0;
}

/* A sample for each of the first jobs, and one, of no name, for the sum of all others. */
static void put_job_metric(struct page *page, const struct fors_jobstats *jobs, const struct job_metric *metric)
{
	int64_t rest = 0;

	head(page, metric->name, "gauge", metric->help);
	for (size_t i = 0; i < jobs->count; i++) {
		if (i >= FORS_METRICS_JOBS) {
			rest += number_of(&jobs->job[i], metric);
			continue;
		}
		begin_with(page, metric->name, "job", jobs->job[i].name);
		end(page, 0, (double)number_of(&jobs->job[i], metric));
	}
	if (jobs->count > FORS_METRICS_JOBS) {
		begin_with(page, metric->name, "job", "");
		end(page, 0, (double)rest);
	}
}

static void put_job_states(struct page *page, const struct fors_jobstats *jobs)
{
	static const char name[] = "jobs";

	head(page, name, "gauge", "Jobs of the jobs file, by the state of their schedules");
	for (int i = 0; i <= FORS_JOB_HAS_NONE; i++) {
		begin_with(page, name, "state", fors_jobstate_name((enum fors_jobstate)i));
		end(page, 0, (double)fors_jobstats_in(jobs, (enum fors_jobstate)i));
	}
}

/* Nothing is said where no path index belongs to jobs. */
static void put_indexed(struct page *page, const struct fors_jobstats *jobs)
{
	static const char name[] = "jobs_indexed";
	size_t marked = 0, own = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		marked += jobs->job[i].has_index;
		own += jobs->job[i].path_index >= 0 && !strcmp(jobs->job[i].whose, "own");
	}
	if (!marked && !own)
		return;
	head(page, name, "gauge",
	     "Jobs whose schedules go over table entries of their own, for the path index of jobs");
	begin(page, name);
	end(page, 0, (double)own);
}

static void put_jobs(struct page *page, const struct fors_jobstats *jobs)
{
	static const struct job_metric metrics[] = {
		{"job_servers", "Servers of the job", offsetof(struct fors_jobstat, servers)},
		{"job_phases", "Phases of the schedule of the job; 0: it has none",
		 offsetof(struct fors_jobstat, phases)},
		{"job_alone_phases", "Phases that the job would need at least if it had the fabric for itself",
		 offsetof(struct fors_jobstat, alone_bound)},
		{"job_lanes", "Lanes of leaves that the job owns", offsetof(struct fors_jobstat, lanes)},
	};

	if (!jobs->is_known)
		return;
	put_job_states(page, jobs);
	put_indexed(page, jobs);
	for (size_t i = 0; jobs->count && i < sizeof(metrics) / sizeof(metrics[0]); i++)
		put_job_metric(page, jobs, &metrics[i]);
}

/* A number of shadow mode, of the present tables or those of fors; nothing where it is not known. */
static void put_beside(struct page *page, const char *name, const char *help, int decimals, double present, double own)
{
	if (present < 0 && own < 0)
		return;
	head(page, name, "gauge", help);
	if (present >= 0) {
		begin_with(page, name, "tables", "present");
		end(page, decimals, present);
	}
	if (own >= 0) {
		begin_with(page, name, "tables", "fors");
		end(page, decimals, own);
	}
}

static void put_shadow(struct page *page, const struct fors_status *status)
{
	const struct fors_shadow_facts *facts = &status->shadow;

	if (!facts->is_known)
		return;
	if (facts->entries >= 0)
		gauge(page, "shadow_entries", "Entries of the tables that switching fors on would change", 0,
		      (double)facts->entries);
	if (facts->looked_ms >= 0)
		gauge(page, "shadow_looked_timestamp_seconds", "Unix time of the last sweep that the shadow looked at",
		      3, (double)facts->looked_ms / 1000);
	put_beside(page, "shadow_phases", "Phases of a schedule over the present tables, and over those of fors", 0,
		   (double)facts->present_phases, (double)status->phases);
	put_beside(page, "shadow_shift_ratio", "What a linear shift without a schedule gets of full speed", 6,
		   facts->present_shift, facts->own_shift);
}

/* What is left of full speed: one phase for each server is what an intact fabric needs. */
static void put_throughput(struct page *page, const struct fors_status *status)
{
	double share = fors_status_share(status);

	if (share >= 0)
		gauge(page, "throughput_ratio", "Throughput of the published schedule, 1 is that of an intact fabric",
		      6, share);
}

static void put_all(struct page *page, const struct fors_status *status)
{
	for (size_t n = 0; n < fors_status_object.count; n++)
		put_key(page, status, &fors_status_object.key[n]);
	put_shadow(page, status);
	put_throughput(page, status);
	put_switches(page, &status->dead_switches);
	put_all_links(page, status);
	put_jobs(page, &status->jobs);
}

/* A measurement is of now: what a manager knew that has ended is none. */
static void put_ended(struct page *page, const struct fors_status *status)
{
	struct fors_status bare;

	fors_status_init(&bare);
	bare.state = status->state;
	bare.state_since_ms = status->state_since_ms;
	bare.epoch = status->epoch;
	bare.phases = status->phases;
	memcpy(bare.method, status->method, sizeof(bare.method));
	bare.jobs = status->jobs; /* borrowed */
	put_all(page, &bare);
}

enum fors_err fors_status_prom(const struct fors_status *status, const char *fabric, char **text,
			       struct fors_error *error)
{
	struct page page = {.fabric = fabric, .is_shadow = status->state == FORS_SHADOW};

	if (status->known_until_ms >= 0)
		put_ended(&page, status);
	else
		put_all(&page, status);
	return fors_buffer_finish(&page.buffer, text, NULL, error);
}

/* --- what is counted ------------------------------------------------------------------------------------------- */

static void put_build(struct page *page, const struct fors_counts *counts)
{
	head(page, "build_info", "gauge", "1; the versions of fors and of OpenSM are labels");
	begin_with(page, "build_info", "version", counts->version);
	if (counts->opensm) {
		fors_buffer_print(&page->buffer, ",");
		label(page, "opensm", counts->opensm);
	}
	end(page, 0, 1);
}

static void put_failures(struct page *page, const struct fors_counts *counts)
{
	static const char name[] = "publish_failures_total";

	head(page, name, "counter", "Writes of published files that failed, by folder");
	begin_with(page, name, "folder", "state_dir");
	fors_buffer_print(&page->buffer, "} %" PRIu64 "\n", counts->unwritten);
	begin_with(page, name, "folder", "publish_dir");
	fors_buffer_print(&page->buffer, "} %" PRIu64 "\n", counts->uncopied);
}

static void put_failovers(struct page *page, const struct fors_failovers *failovers)
{
	static const char name[] = "failover_duration_seconds";

	head(page, name, "histogram",
	     "From the first that was heard of a loss to a step of the failover; the step published is the new schedule");
	for (unsigned i = 0; i < FORS_NSTEPS; i++) {
		const char *step = fors_step_name((enum fors_step)i);

		for (unsigned b = 0; b <= FORS_FAILOVER_BUCKETS; b++) {
			begin_with(page, "failover_duration_seconds_bucket", "step", step);
			if (b < FORS_FAILOVER_BUCKETS)
				fors_buffer_print(&page->buffer, ",le=\"%g\"} %" PRIu64 "\n", fors_failover_bound(b),
						  failovers->step[i].bucket[b]);
			else
				fors_buffer_print(&page->buffer, ",le=\"+Inf\"} %" PRIu64 "\n",
						  failovers->step[i].count);
		}
		begin_with(page, "failover_duration_seconds_sum", "step", step);
		end(page, 6, failovers->step[i].sum_ms / 1000);
		begin_with(page, "failover_duration_seconds_count", "step", step);
		fors_buffer_print(&page->buffer, "} %" PRIu64 "\n", failovers->step[i].count);
	}
}

enum fors_err fors_counts_prom(const struct fors_counts *counts, const char *fabric, char **text,
			       struct fors_error *error)
{
	struct page page = {.fabric = fabric, .is_shadow = counts->is_shadow};

	put_build(&page, counts);
	if (counts->beat_ms > 0)
		gauge(&page, "heartbeat_timestamp_seconds",
		      "Unix time when a subnet manager last stood behind what is published", 3,
		      (double)counts->beat_ms / 1000);
	gauge(&page, "has_left", "1: the manager has ended, and is set up to do without fors from now on", 0,
	      counts->has_left);
	counter(&page, "sweeps_total", "Heavy sweeps of OpenSM that came to their end", counts->sweeps);
	counter(&page, "epochs_total", "Schedules that were published or withdrawn", counts->epochs);
	counter(&page, "declines_total", "Sweeps in which fors did not route the fabric", counts->declines);
	put_failures(&page, counts);
	put_failovers(&page, &counts->failovers);
	return fors_buffer_finish(&page.buffer, text, NULL, error);
}
