/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_status.c - `fors status`: what is broken, and what does it cost?
 *
 * A state folder belongs to one running OpenSM port. What is read of it: status.json (what fors says), schedule
 * (what applications follow; it has to be the one that the status speaks of) and heartbeat (is anybody still
 * standing behind it?). A fors that died leaves "active" behind, so a stale heartbeat is no good state; and one from
 * the future, by more than clocks of two hosts differ, is a stale one, since nobody can tell how old it is.
 */
#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/json.h"
#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_format.h"
#include "core/status/advice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_JOBS 50 /* that are listed */

/* The heartbeat. */
struct beat {
	bool is_there;
	bool is_understood; /* else it has no age */
	double age;	    /* seconds; negative: it is in the future */
};

/* What one state folder says. */
struct folder {
	const char *path;
	bool is_verbose; /* each step of a failover is told */
	struct fors_status status;
	int64_t schedule_epoch; /* of the file `schedule`, FORS_UNKNOWN: there is none */
	bool is_withdrawn;
	struct beat beat;
};

/* Has fors been taken out here, for good? Then nobody misses a heartbeat. */
static bool has_left(const struct folder *folder)
{
	return folder->status.state == FORS_INACTIVE && !strcmp(folder->status.reason, FORS_REASON_LEFT);
}

/* Nor of one that is not the master: what it withdrew then is no matter of its own. */
static bool is_standby(const struct folder *folder)
{
	return folder->status.state == FORS_INACTIVE && !strcmp(folder->status.reason, FORS_REASON_STANDBY);
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* There need not be a schedule, but when there is one, it has to be readable. */
static int read_epoch(struct folder *folder)
{
	struct fors_schedule *schedule = NULL;
	int code = cli_use_in(folder->path, "schedule", false, cli_schedule_reader, &schedule);

	folder->schedule_epoch = schedule ? (int64_t)schedule->epoch : FORS_UNKNOWN;
	folder->is_withdrawn = schedule && !schedule->nphases;
	fors_schedule_free(schedule);
	return code;
}

/* Digits that are a number of 64 bits, nothing before them; *text moves behind them. */
static bool take_number(const char **text, uint64_t *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* Text "<Unix time in ms> <epoch>\n". One that cannot be understood is there, and stale. */
static enum fors_err parse_heartbeat(const char *text, size_t size, const char *path, void *context,
				     struct fors_error *error)
{
	struct beat *beat = context;
	uint64_t unix_ms = 0, epoch;

	beat->is_there = true;
	beat->is_understood =
		take_number(&text, &unix_ms) && *text++ == ' ' && take_number(&text, &epoch) && strcmp(text, "\n") == 0;
	beat->age = ((double)cli_unix_ms() - (double)unix_ms) / 1000;
	return FORS_OK;
}

static int read_folder(const char *path, bool is_verbose, struct folder *folder)
{
	int code;

	*folder = (struct folder){.path = path, .is_verbose = is_verbose};
	fors_status_init(&folder->status);
	code = cli_read_status(path, &folder->status);
	if (!code)
		code = read_epoch(folder);
	if (code || has_left(folder) || is_standby(folder))
		return code;
	return cli_use_in(path, "heartbeat", false, parse_heartbeat, &folder->beat);
}

/* --- judging -------------------------------------------------------------------------------------------------- */

/* Does the heartbeat come from a clock that does not fit this one? */
static bool is_ahead(const struct beat *beat)
{
	return beat->is_there && beat->is_understood && beat->age * 1000 < -FORS_SF_SKEW_MS;
}

static bool is_stale(const struct beat *beat)
{
	return is_ahead(beat) || (beat->is_there && (!beat->is_understood || beat->age * 1000 > FORS_SF_STALE_MS));
}

/* Why the state is not to be trusted, NULL: it is. */
static const char *find_doubt(const struct folder *folder)
{
	if (is_ahead(&folder->beat))
		return "the heartbeat is in the future: a clock was wrong when it was written, or this host's is now, so "
		       "nobody can tell whether a subnet manager still stands behind this";
	if (folder->beat.is_there && !folder->beat.is_understood)
		return "the heartbeat cannot be understood: does a subnet manager stand behind this?";
	if (is_stale(&folder->beat))
		return "the heartbeat is old: no subnet manager stands behind this any more; the schedule stays right "
		       "until a link changes. Has opensm ended, did an update of OpenSM refuse fors "
		       "(\"version mismatch\" in its log), or can opensm not write here (ERR F010 or F016 in "
		       "its log)?";
	if (folder->status.state != FORS_ACTIVE)
		return NULL;
	if (!strncmp(folder->status.warnings.text[0], FORS_REMARK_UNWRITTEN, strlen(FORS_REMARK_UNWRITTEN)))
		return "a folder of fors's files cannot be written, see the warning";
	if (!folder->beat.is_there)
		return "active, but there is no heartbeat: does a subnet manager stand behind this?";
	if (folder->schedule_epoch < 0)
		return "active, but there is no schedule";
	if (folder->is_withdrawn && !folder->status.jobs.is_known)
		return "active, but the schedule is withdrawn: the status could not be written (ERR F010 in opensm's log: is "
		       "there no room here?), or comes in a moment";
	if (folder->schedule_epoch != folder->status.epoch)
		return "status and schedule are of different epochs (just being replaced?)";
	return NULL;
}

static int judge(const struct folder *folder)
{
	bool is_good =
		has_left(folder) || is_standby(folder) || (folder->status.state == FORS_ACTIVE && !find_doubt(folder));

	return is_good ? CLI_GOOD : CLI_NO;
}

/* --- for people ----------------------------------------------------------------------------------------------- */

/* In shadow mode nothing is published: no schedule, no heartbeat. What there is, is as old as the last sweep. */
static void print_shadow(const struct folder *folder)
{
	const struct fors_shadow_facts *facts = &folder->status.shadow;

	printf("%sshadow%s      %s\n", cli_colour(CLI_BOLD), cli_colour(CLI_PLAIN), folder->path);
	printf("mode        fors looks on, and changes nothing%s%s\n", *folder->status.reason ? ": " : "",
	       folder->status.reason);
	printf("tables      by %s\n", *folder->status.tables_by ? folder->status.tables_by : "another engine");
	if (facts->looked_ms >= 0) {
		printf("sweeps      %lld looked at", (long long)facts->sweeps);
		if (facts->skipped > 0)
			printf(", %lld left out, which came too fast", (long long)facts->skipped);
		printf("; the last one ");
		cli_print_age(cli_age((uint64_t)facts->looked_ms));
		printf(" ago\n");
	}
	if (*facts->trouble)
		printf("%*sno schedule over these tables: %s\n", CLI_BELOW, "", facts->trouble);
}

/* "stale for 3 h; before, it was active": for how long it is stale nobody knows, where the heartbeat has no age. */
static void print_state_name(const struct folder *folder)
{
	const char *name = fors_state_name(folder->status.state);

	if (!is_stale(&folder->beat)) {
		printf("%s%s", name, cli_colour(CLI_PLAIN));
		return;
	}
	printf("stale%s", cli_colour(CLI_PLAIN));
	if (folder->beat.is_understood && !is_ahead(&folder->beat)) {
		printf(" for ");
		cli_print_age(folder->beat.age);
	}
	printf("; before, it was %s", name);
}

/* A manager that has ended left what it knew. */
static void print_known(const struct fors_status *status)
{
	if (status->known_until_ms < 0)
		return;
	printf("%*swhat follows was known ", CLI_BELOW, "");
	cli_print_age(cli_age((uint64_t)status->known_until_ms));
	printf(" ago; nobody has looked since\n");
}

static void print_state(const struct folder *folder)
{
	const struct fors_status *status = &folder->status;
	const char *doubt = find_doubt(folder);
	enum cli_colour colour = doubt || status->state == FORS_PLANNING ? CLI_YELLOW
				 : status->state == FORS_ACTIVE		 ? CLI_GREEN
									 : CLI_RED;

	printf("%s%s%s\n", cli_colour(CLI_BOLD), folder->path, cli_colour(CLI_PLAIN));
	printf("state       %s", cli_colour(colour));
	print_state_name(folder);
	if (status->state_since_ms >= 0 && !is_stale(&folder->beat)) {
		printf(" for ");
		cli_print_age(cli_age((uint64_t)status->state_since_ms));
	}
	if (*status->reason)
		printf(": %s", status->reason);
	if (doubt)
		printf("\n%*s%sdoubtful%s: %s", CLI_BELOW, "", cli_colour(CLI_YELLOW), cli_colour(CLI_PLAIN), doubt);
	printf("\n");
	print_known(status);
}

/* With a path index for every lane the lower bound is reached. */
static void print_lmc(const struct fors_status *status)
{
	if (status->lmc_needed > 0 && status->lower_bound > 0 && status->lower_bound < status->phases)
		printf("%*sLMC %lld would allow %lld phases, %lld fewer\n", CLI_BELOW, "",
		       (long long)status->lmc_needed, (long long)status->lower_bound,
		       (long long)(status->phases - status->lower_bound));
	else if (status->lmc_needed > 0)
		printf("%*sLMC %lld would allow fewer phases\n", CLI_BELOW, "", (long long)status->lmc_needed);
}

/* The speed is that of the servers that are left. */
static void print_lost_share(const struct fors_status *status)
{
	long long lost = (long long)status->lost_servers.count;

	printf(" for %lld of %lld servers; %lld server%s lost\n", (long long)status->servers,
	       (long long)status->servers + lost, lost, lost == 1 ? " is" : "s are");
}

/* In shadow mode: what the present engine gives, without a schedule and with one. What follows is of fors. */
static void print_today(const struct fors_status *status)
{
	const struct fors_shadow_facts *facts = &status->shadow;
	bool has_shift = facts->present_shift >= 0, has_plan = facts->present_phases > 0 && status->servers > 0;

	if (status->state != FORS_SHADOW || (!has_shift && !has_plan))
		return;
	printf("today       ");
	if (has_shift)
		printf("%.1f %% of full without a schedule%s", 100 * facts->present_shift, has_plan ? "; " : "");
	if (has_plan)
		printf("%.1f %%%s with a schedule over these tables, %lld %s",
		       100 * (double)status->servers / (double)facts->present_phases, has_shift ? "" : " of full",
		       (long long)facts->present_phases, fors_plural(facts->present_phases, "phase", "phases"));
	printf("\n");
}

/* What the failures cost: phases beyond one per server, and time beyond that of phases at full speed. */
static void print_cost(const struct fors_status *status)
{
	double speed = 100 * fors_status_share(status);

	if (speed < 0)
		return;
	printf("%-*s%.1f %% of full", CLI_LABEL, status->state == FORS_SHADOW ? "with fors" : "speed", speed);
	if (status->lost_servers.count)
		print_lost_share(status);
	else if (speed <= 99.95)
		printf("; %.1f %% is lost\n", 100 - speed);
	else
		printf("; nothing is lost\n");
	cli_print_slow(status);
	print_lmc(status);
}

static void print_epoch(const struct fors_status *status)
{
	double age;

	if (status->epoch < 0)
		return;
	printf("epoch       %lld", (long long)status->epoch);
	age = cli_age((uint64_t)status->epoch);
	if (age < 1e9) { /* epochs are times, unless somebody's clock was odd */
		printf(", published ");
		cli_print_age(age);
		printf(" ago");
	}
	printf("\n");
}

/* Links that live, but are in some way special, and what could not be done about them. */
static void print_special_links(const struct fors_status *status)
{
	cli_print_flapping(status);
	cli_print_links("degraded", status, &status->degraded_links, true);
	cli_print_slow_servers(status);
	cli_print_links("excluded", status, &status->excluded_links, true);
	cli_print_links("held", status, &status->held_links, true);
	cli_print_warnings(&status->warnings);
}

static void print_next(const struct folder *folder)
{
	char text[512];

	fors_status_next(&folder->status, cli_unix_ms(), text, sizeof(text));
	if (is_ahead(&folder->beat))
		snprintf(text, sizeof(text), "set the clocks right, or start opensm with fors again");
	else if (is_stale(&folder->beat))
		snprintf(text, sizeof(text), "start opensm with fors again");
	else if (find_doubt(folder) && !strcmp(text, "nothing to do"))
		snprintf(text, sizeof(text), "see why the state is doubtful: what stands here may be old");
	printf("%-*s%s\n", CLI_LABEL, "next", text);
}

/* The last word of a shadow. */
static void print_switching(const struct fors_status *status)
{
	char text[1024];

	fors_shadow_tell(status, text, sizeof(text));
	printf("%-*s%s\n", CLI_LABEL, "switched on", text);
}

static void print_beat(const struct beat *beat)
{
	if (!beat->is_there)
		return;
	printf("heartbeat   ");
	if (!beat->is_understood) {
		printf("cannot be understood\n");
		return;
	}
	cli_print_age(is_ahead(beat) ? -beat->age : beat->age > 0 ? beat->age : 0);
	printf(is_ahead(beat) ? " in the future\n" : " ago\n");
}

/* What is otherwise where fors does not route. */
static void print_engine(const struct fors_status *status)
{
	if (!fors_status_is_foreign(status))
		return;
	if (status->servers >= 0)
		printf("fabric      %lld %s\n", (long long)status->servers,
		       fors_plural(status->servers, "server", "servers"));
	printf("tables      by %s, not by fors: no link is drained, excluded or held down\n", status->tables_by);
	if (status->leaves < 0) /* else they come with the links */
		cli_print_warnings(&status->warnings);
}

static void print_job_number(int64_t number)
{
	if (number < 0)
		printf(" %6s", "-");
	else
		printf(" %6lld", (long long)number);
}

static void print_job_demand(const struct fors_jobstat *job)
{
	if (!*job->demand)
		return;
	printf("%*s  demand %s: ", CLI_BELOW, "", job->demand);
	if (job->demand_phases > 0)
		printf("%" PRId64 " %s, %.3f of the bound%s", job->demand_phases,
		       fors_plural((uint64_t)job->demand_phases, "phase", "phases"), job->demand_over_bound,
		       *job->demand_reason ? "; " : "");
	printf("%s\n", job->demand_reason);
}

static void print_job(const struct fors_jobstat *job)
{
	printf("%*s%-20s %-9s", CLI_BELOW, "", job->name, fors_jobstate_name(job->state));
	print_job_number(job->servers);
	print_job_number(job->lanes);
	print_job_number(job->phases);
	print_job_number(job->alone_bound);
	printf("  %-5s", *job->whose ? job->whose : "-");
	if (job->path_index >= 0)
		printf(" path index %" PRId64 "%s", job->path_index, *job->reason ? ";" : "");
	printf("%s%s", *job->reason ? " " : "", job->reason);
	if (job->expected_phases > 0)
		printf(" (%" PRId64 " %s expected)", job->expected_phases,
		       fors_plural((uint64_t)job->expected_phases, "phase", "phases"));
	printf("\n");
	print_job_demand(job);
}

/* The demand of fors.conf, beside the exchange of all. */
static void print_demand(const struct fors_status *status)
{
	if (!*status->demand)
		return;
	if (*status->demand_reason)
		printf("demand      %s has no schedule: %s\n", status->demand, status->demand_reason);
	else
		printf("demand      %s: %" PRId64 " %s, %.3f of the bound, epoch %" PRId64 "\n", status->demand,
		       status->demand_phases, fors_plural((uint64_t)status->demand_phases, "phase", "phases"),
		       status->demand_over_bound, status->demand_epoch);
}

/* Several jobs, each with a schedule of its own: the first of them. */
static void print_jobs(const struct fors_jobstats *jobs)
{
	if (!jobs->is_known)
		return;
	printf("jobs        %zu with a schedule, %zu withdrawn, %zu without one\n",
	       fors_jobstats_in(jobs, FORS_JOB_IS_PLANNED), fors_jobstats_in(jobs, FORS_JOB_IS_WITHDRAWN),
	       fors_jobstats_in(jobs, FORS_JOB_HAS_NONE));
	if (jobs->count)
		printf("%*s%-20s %-9s %6s %6s %6s %6s  %s\n", CLI_BELOW, "", "name", "state", "server", "lanes",
		       "phases", "alone", "over");
	for (size_t i = 0; i < jobs->count && i < MOST_JOBS; i++)
		print_job(&jobs->job[i]);
	if (jobs->count > MOST_JOBS)
		printf("%*sand %zu more: fors status --json\n", CLI_BELOW, "", jobs->count - MOST_JOBS);
}

static void print_numbers(const struct fors_status *status)
{
	print_engine(status);
	if (status->servers >= 0 && status->tops >= 0)
		printf("fabric      %lld %s; three levels: %lld %s in %lld %s, %lld %s, %lld %s\n",
		       (long long)status->servers, fors_plural(status->servers, "server", "servers"),
		       (long long)status->leaves, fors_plural(status->leaves, "leaf", "leaves"),
		       (long long)status->pods, fors_plural(status->pods, "pod", "pods"), (long long)status->mids,
		       fors_plural(status->mids, "middle switch", "middle switches"), (long long)status->tops,
		       fors_plural(status->tops, "top", "tops"));
	else if (status->servers >= 0 && !fors_status_is_foreign(status))
		printf("fabric      %lld %s, %lld %s, %lld %s\n", (long long)status->servers,
		       fors_plural(status->servers, "server", "servers"), (long long)status->leaves,
		       fors_plural(status->leaves, "leaf", "leaves"), (long long)status->spines,
		       fors_plural(status->spines, "spine", "spines"));
	if (status->leaves >= 0) {
		cli_print_lost(status, status->servers + (int64_t)status->lost_servers.count);
		cli_print_dead_links(status);
		print_special_links(status);
	}
	if (status->leaves >= 0)
		cli_print_speeds(status->full_speed_mbits, status->cable_flows, status->cable_flows_most);
	if (status->f > 0)
		printf("uplinks     the worst leaf lacks %lld for its servers\n", (long long)status->f);
	cli_print_ca_ports(status);
	cli_print_not_hosts(status);
	cli_print_alone(status);
	if (status->unreachable_pairs > 0)
		printf("cut off     %lld %s no %s\n", (long long)status->unreachable_pairs,
		       fors_plural(status->unreachable_pairs, "pair of leaves has", "pairs of leaves have"),
		       status->tops >= 0 ? "way to each other" : "common spine");
	print_today(status);
	print_cost(status);
	cli_print_repairs(status);
	if (status->phases > 0) {
		printf("schedule    %s%lld %s", status->state == FORS_SHADOW ? "with fors " : "",
		       (long long)status->phases, fors_plural(status->phases, "phase", "phases"));
		if (status->lower_bound >= 0)
			printf(" (%s %lld)", fors_status_is_foreign(status) ? "bound of these tables" : "lower bound",
			       (long long)status->lower_bound);
		printf(", method %s\n", status->method);
		cli_print_bounds(status);
	}
	print_demand(status);
	print_jobs(&status->jobs);
}

/* One step, with what comes before it; a row of more than five would be none. */
static void print_step(const struct fors_failover *failover, enum fors_step step, int *printed)
{
	if (failover->ms[step] < 0)
		return;
	if (*printed % 5 == 0)
		printf("%s%*s", *printed ? ",\n" : "", CLI_BELOW, "");
	else
		printf(", ");
	printf("%s %.1f", fors_step_name(step), failover->ms[step]);
	++*printed;
}

/* The last one, step by step, from the first that was heard of it. */
static void print_failover(const struct fors_failover *failover, bool is_verbose)
{
	int printed = 0;

	if (failover->epoch < 0)
		return;
	printf("failover    ");
	if (failover->began_ms >= 0) {
		cli_print_age(cli_age((uint64_t)failover->began_ms));
		printf(" ago, ");
	}
	if (failover->ms[FORS_STEP_PUBLISHED] >= 0)
		printf("new schedule after %.1f ms; ", failover->ms[FORS_STEP_PUBLISHED]);
	printf("epoch %lld\n", (long long)failover->epoch);
	for (int i = 0; is_verbose && i < FORS_NSTEPS; i++)
		print_step(failover, (enum fors_step)i, &printed);
	printf(printed ? " ms\n" : "");
}

static void print_rows(const void *context)
{
	const struct folder *folder = context;

	if (folder->status.state == FORS_SHADOW) {
		print_shadow(folder);
		print_numbers(&folder->status);
		print_switching(&folder->status);
		return;
	}
	print_state(folder);
	print_numbers(&folder->status);
	print_epoch(&folder->status);
	print_failover(&folder->status.failover, folder->is_verbose);
	print_beat(&folder->beat);
	print_next(folder);
}

/* --- one folder, or all --------------------------------------------------------------------------------------- */

/* In a list the reader has to see whose status it is. nth: as below. */
static int print_json(const struct folder *folder, int nth)
{
	struct fors_error error = {0};
	json_t *object;
	char *text;

	if (fors_status_to_json(&folder->status, &object, &error))
		return cli_fail(&error);
	if (nth < 0)
		return cli_print_status_keys(object);
	json_object_set_new(object, "state_dir", fors_json_text(folder->path));
	text = cli_json_dump(object, FORS_STATUS_JSON);
	if (text)
		printf("%s%s", nth ? ",\n" : "\n", text);
	free(text);
	return text ? CLI_GOOD : CLI_BAD;
}

/* nth: position in a list, -1 for the only one that was asked for. */
static int show_folder(const char *path, const struct cli_settings *settings, int nth)
{
	struct folder folder;
	int code = read_folder(path, settings->is_verbose, &folder);

	if (!code && !settings->is_json) {
		printf(nth > 0 ? "\n" : "");
		cli_print_page(print_rows, &folder);
	} else if (!code) {
		code = print_json(&folder, nth);
	}
	if (!code)
		code = judge(&folder);
	fors_status_clear(&folder.status);
	return code;
}

static int show_all(const struct cli_folders *folders, const struct cli_settings *settings)
{
	bool is_json = settings->is_json;
	int worst = CLI_GOOD;

	printf(is_json ? "[" : "");
	for (size_t i = 0, shown = 0; i < folders->count; i++) {
		int code = show_folder(folders->path[i], settings, (int)shown);

		shown += code != CLI_BAD;
		if (code > worst)
			worst = code;
	}
	printf(is_json ? "\n]\n" : "");
	return worst;
}

static int show(const char *dir, const struct cli_settings *settings)
{
	struct cli_folders folders;
	int code = cli_folders_find(dir, &folders);

	if (!code)
		code = folders.is_list ? show_all(&folders, settings) : show_folder(folders.path[0], settings, -1);
	cli_folders_clear(&folders);
	return code;
}

/* Again and again: on a terminal in one place, else one below the other. What cannot be read now may be later. */
static int watch(const char *dir, const struct cli_settings *settings)
{
	for (;;) {
		time_t now = time(NULL);
		char date[32] = "";
		struct tm tm;

		if (localtime_r(&now, &tm))
			strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
		printf("%s%s\n", isatty(STDOUT_FILENO) ? "\033[H\033[2J" : "", date);
		show(dir, settings);
		printf("%s", isatty(STDOUT_FILENO) ? "" : "\n");
		if (fflush(stdout))
			return CLI_BAD;
		sleep(settings->watch);
	}
}

static int run(const struct cli_settings *settings, char **operand)
{
	if (settings->watch && settings->is_json)
		return cli_usage_error("--watch is for people, and goes not with --json");
	if (settings->watch && settings->wants_history)
		return cli_usage_error("--watch shows what is, and goes not with --history");
	if (settings->wants_history)
		return cli_show_history(operand[0], settings->is_json);
	return settings->watch ? watch(operand[0], settings) : show(operand[0], settings);
}

const struct cli_command cli_status_command = {
	.id = CLI_CMD_STATUS,
	.name = "status",
	.summary = "Show what is broken and what it costs",
	.usage = "[DIR] [--json | --verbose] [--watch [SECONDS] | --history]",
	.details = "DIR is a state folder, or a folder of them; default: ${OSM_CACHE_DIR:-/var/cache/opensm}/fors.\n"
		   "The exit code is 0 when every folder is active and fresh, or that of a standby.\n",
	.max_operands = 1,
	.run = run,
};
