/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jobs_replay.c - `fors jobs --replay`: files of jobs from a history of jobs. */
#include "replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/jobs_made.h"
#include "core/base/text.h"
#include "core/jobs/floors.h"

#define SNAPSHOTS 20 /* of --count, when it is missing */

struct replay {
	const struct cli_settings *settings;
	const struct fors_fabric *fabric;
	const uint32_t *pod; /* per leaf; NULL: of two levels */
	int code;	     /* what went wrong with a file, which the user has been told */
	double busy;	     /* servers at work, sum over snapshots */
	struct fors_replayed result;
};

static enum fors_err write_snapshot(void *context, uint32_t number, const char *text, size_t size, uint32_t busy,
				    struct fors_error *error)
{
	struct replay *replay = context;
	char path[CLI_PATH_ROOM], name[32];

	snprintf(name, sizeof(name), "%04u.jobs", number + 1);
	replay->busy += busy;
	if (!cli_make_path(replay->settings->output, name, path) || cli_write_file(path, text, size))
		replay->code = CLI_BAD;
	return replay->code ? fors_fail(error, FORS_EIO, "%s", name) : FORS_OK;
}

static enum fors_err use_history(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct replay *replay = context;
	const struct cli_settings *settings = replay->settings;
	struct fors_records past = {NULL, 0};
	const struct fors_replay task = {.fabric = replay->fabric,
					 .pod = replay->pod,
					 .past = &past,
					 .placement = (enum fors_placement)settings->placement,
					 .seed = settings->seed,
					 .nsnapshots = settings->has_count ? settings->count : SNAPSHOTS,
					 .take = write_snapshot,
					 .context = replay};
	enum fors_err err = fors_records_read(text, size, path, settings->cores ? settings->cores : 1, &past, error);

	if (!err && !past.count)
		err = fors_fail(error, FORS_EINPUT, "%s: no job in it ran", path);
	if (!err)
		err = fors_replay(&task, &replay->result, error);
	free(past.job);
	if (err && replay->code) /* told */
		snprintf(error->text, sizeof(error->text), "%s: the replay is broken off", path);
	return err;
}

static int make_folder(const char *path)
{
	if (!mkdir(path, 0755) || errno == EEXIST)
		return CLI_GOOD;
	cli_error("%s: %s", path, strerror(errno));
	return CLI_BAD;
}

static void tell(const struct replay *replay)
{
	const struct fors_replayed *result = &replay->result;
	uint32_t nservers = replay->fabric->nservers;

	printf("%u %s placed %s, %u left out; %u snapshots in %s", result->nstarted,
	       fors_plural(result->nstarted, "job", "jobs"), cli_placements[replay->settings->placement],
	       result->nleft_out, result->nsnapshots, replay->settings->output);
	if (result->nsnapshots)
		printf(", %.1f %% of %u servers at work",
		       100 * replay->busy / result->nsnapshots / (nservers ? nservers : 1), nservers);
	printf("\n");
}

static int replay_on(const struct cli_settings *settings, const struct fors_fattree *tree)
{
	struct replay replay = {.settings = settings};
	struct fors_floors floors = {0};
	struct fors_error error = {0};
	int code;

	if (fors_floors_make(tree, &floors, &error))
		return cli_fail(&error);
	replay.fabric = floors.floor[0];
	replay.pod = floors.pod;
	code = make_folder(settings->output);
	if (!code)
		code = cli_use_file(settings->replay, use_history, &replay);
	if (!code)
		tell(&replay);
	fors_floors_clear(&floors);
	return code;
}

int cli_replay(const struct cli_settings *settings)
{
	const struct cli_source *source = &settings->source;
	struct cli_fabric made = {0};
	struct cli_site site = {0};
	int code;

	if (!settings->output)
		return cli_usage_error("--replay writes files of jobs: --output-dir DIR is missing");
	code = cli_site_load(source, &site);
	if (!code)
		code = cli_fabric_make(&site, source->has_lmc, source->lmc, source->down, source->ndown, &made);
	if (!code)
		code = cli_jobs_check(&site, &made);
	if (!code)
		code = replay_on(settings, &made.tree);
	cli_fabric_free(&made);
	cli_site_free(&site);
	return code;
}
