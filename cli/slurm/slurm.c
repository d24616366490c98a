/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slurm.c - ask squeue, write the file when something has changed, and wait for the plan.
 *
 * Several may do so at the same time: Slurm starts its prologue for several jobs at once, beside a poller. Whoever asks holds
 * a lock from before it asks until it has written, so what was asked for later is never overwritten by what was asked for
 * earlier. The lock is a file beside the output (the output itself is replaced), and its time of change is when squeue
 * last answered.
 *
 * When squeue does not answer, the file stays: jobs that run go on running, and their plans stay right.
 */
#include "slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/clock.h"
#include "cli/slurm/child.h"
#include "cli/slurm/jobsfile.h"
#include "cli/slurm/lock.h"
#include "libforsched/forsched.h"
#include "core/base/text.h"

#define TIMEOUT_S 10  /* of --timeout, when it is missing */
#define WORDS_MAX 60  /* of --squeue */
#define REMIND_S 3600 /* a poller says again that squeue does not answer */

struct follower {
	const struct cli_settings *settings;
	const struct cli_slurm *slurm;
	struct slurm_names names;
	struct slurm_marking marking;
	char *command;			 /* a copy of --squeue, cut into words */
	const char *word[WORDS_MAX + 8]; /* of it; room for options */
	size_t nwords;
	uint64_t job;	  /* whose plan is waited for, 0: nobody's */
	bool is_listed;	  /* it is in the file */
	uint64_t epoch;	  /* a newer one than this */
	double failed_ms; /* since when squeue fails, cli_now_ms(); 0: it does not */
	double said_ms;	  /* when that was said last */
	uint32_t nleft_out;
	uint32_t nbad; /* jobs whose text is not understood */
};

/* --- when squeue answered ---------------------------------------------------------------------------------------- */

/* When squeue answered last, as text; "" : never, or nobody knows. */
static void say_last(int fd, char *text, size_t room)
{
	struct stat st;
	struct tm tm;

	*text = '\0';
	if (!fstat(fd, &st) && st.st_size && gmtime_r(&st.st_mtime, &tm))
		strftime(text, room, "%Y-%m-%d %H:%M:%S UTC", &tm);
}

/* It answered now. A byte in the file says that it ever did. */
static void note_answer(int fd)
{
	if (pwrite(fd, "\n", 1, 0) == 1)
		futimens(fd, NULL);
}

/* --- asking ----------------------------------------------------------------------------------------------------- */

static bool cut_command(struct follower *f)
{
	char *rest;

	f->command = strdup(f->slurm->squeue ? f->slurm->squeue : "squeue");
	if (!f->command) {
		cli_error("out of memory");
		return false;
	}
	for (char *word = strtok_r(f->command, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		if (f->nwords == WORDS_MAX) {
			cli_error("--squeue has more than %d words", WORDS_MAX);
			return false;
		}
		f->word[f->nwords++] = word;
	}
	if (!f->nwords)
		cli_usage_error("--squeue names no program");
	return f->nwords > 0;
}

/* What squeue prints with these options more. */
static enum fors_err ask(struct follower *f, const char *const *more, size_t count, double deadline, char **text,
			 size_t *size, struct fors_error *error)
{
	const char **argv = f->word;

	memcpy(argv + f->nwords, more, count * sizeof(*more));
	argv[f->nwords + count] = NULL;
	return slurm_run(argv, deadline, text, size, error);
}

static enum fors_err ask_format(struct follower *f, const char *format, double deadline, struct slurm_text *text,
				struct fors_error *error)
{
	const char *const more[] = {"--all", "-h", "-t", "R,CF", "-o", format};

	return ask(f, more, 6, deadline, &text->text, &text->size, error);
}

/* The jobs, then what users wrote. A squeue that cannot print that is good enough; one that is out of breath is not. */
static enum fors_err ask_squeue(struct follower *f, double deadline, struct slurm_queue *queue,
				struct fors_error *error)
{
	struct slurm_text jobs = {0}, comments = {0};
	struct fors_error ignored;
	enum fors_err err = ask_format(f, SLURM_FORMAT, deadline, &jobs, error), more = FORS_OK;

	if (!err)
		more = ask_format(f, SLURM_COMMENT_FORMAT, deadline, &comments, &ignored);
	if (more == FORS_ETIMEOUT || more == FORS_ENOMEM) {
		err = more;
		*error = ignored;
	}
	if (!err)
		err = slurm_read_lines(jobs, more ? NULL : &comments, &f->marking, queue, error);
	free(jobs.text);
	free(comments.text);
	return err;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

struct content {
	char *text;
	size_t size;
};

static enum fors_err keep(const char *text, size_t size, const char *path, void *context, struct fors_error *error)
{
	struct content *content = context;

	(void)path;
	content->text = malloc(size + 1);
	if (!content->text)
		return fors_fail_memory(error);
	memcpy(content->text, text, size);
	content->size = size;
	return FORS_OK;
}

static struct fors_span span_of(const char *text, size_t size)
{
	return text ? (struct fors_span){text, text + size} : (struct fors_span){"", ""};
}

static bool is_same(struct fors_span a, struct fors_span b)
{
	return a.end - a.at == b.end - b.at && !memcmp(a.at, b.at, (size_t)(a.end - a.at));
}

/* The epoch that the plan of `job` has, 0: there is none. */
static bool plan_path(const struct follower *f, char *path)
{
	char folder[CLI_PATH_ROOM], name[32];

	snprintf(name, sizeof(name), "jobs/%" PRIu64, f->job);
	return cli_make_path(f->slurm->plans, name, folder) && cli_make_path(folder, "schedule", path);
}

static uint64_t epoch_now(const struct follower *f)
{
	char path[CLI_PATH_ROOM];
	struct forsched_watch *watch;
	uint64_t epoch = 0;

	if (!plan_path(f, path) || forsched_watch_open(path, &watch, NULL))
		return 0;
	if (forsched_watch_newest(watch, &epoch, NULL))
		epoch = 0;
	forsched_watch_close(watch);
	return epoch;
}

/* A job whose line changes gets a plan anew; one whose line stays has one, or will have. */
static void note_epoch(struct follower *f, struct fors_span before, struct fors_span after)
{
	struct fors_span was, is;

	if (!f->job || !f->slurm->plans)
		return;
	was = slurm_line_of(before, f->job);
	is = slurm_line_of(after, f->job);
	f->is_listed = !fors_span_is_empty(is);
	f->epoch = is_same(was, is) ? 0 : epoch_now(f);
}

static void tell_left_out(struct follower *f, const struct slurm_written *written)
{
	if (written->nleft_out && written->nleft_out != f->nleft_out)
		cli_error("%u job%s left out, since another job has a host of theirs; first job %" PRIu64
			  ": job %" PRIu64 " has %s",
			  written->nleft_out, written->nleft_out == 1 ? " is" : "s are", written->left_out,
			  written->other, written->host);
	f->nleft_out = written->nleft_out;
}

static void tell_written(const struct follower *f, const struct slurm_written *written)
{
	printf("%s: %u %s, %u of them exclusive", f->slurm->output, written->njobs,
	       fors_plural(written->njobs, "job", "jobs"), written->nexclusive);
	if (written->nindex)
		printf(", %u with the path index of jobs", written->nindex);
	printf("\n");
}

/* What one job's text says costs that job, and is said once. */
static void tell_bad(struct follower *f, const struct slurm_queue *queue)
{
	if (queue->nbad && queue->nbad != f->nbad)
		cli_error("%u job%s left out, or as before, since what squeue says of %s is not understood: %s",
			  queue->nbad, queue->nbad == 1 ? " is" : "s are", queue->nbad == 1 ? "it" : "them",
			  queue->error.text);
	f->nbad = queue->nbad;
}

/* A file is replaced; into a device or a pipe, which somebody may have put in its place, nothing is written. */
static int check_output(const struct follower *f)
{
	struct stat st;

	if (stat(f->slurm->output, &st) || S_ISREG(st.st_mode))
		return CLI_GOOD;
	cli_error("%s: this is no file", f->slurm->output);
	return CLI_BAD;
}

static int replace(struct follower *f, const struct content *before, const struct slurm_written *written)
{
	struct fors_span now = span_of(written->text, written->size), was = span_of(before->text, before->size);
	int code = CLI_GOOD;

	note_epoch(f, was, now);
	if (!before->text || !is_same(was, now)) {
		code = cli_write_locked(f->slurm->output, written->text, written->size);
		if (!code)
			tell_written(f, written);
		fflush(stdout);
	}
	if (!code)
		tell_left_out(f, written);
	return code;
}

static int write_queue(struct follower *f, const struct slurm_queue *queue)
{
	struct slurm_written written = {0};
	struct content before = {0};
	struct fors_error error;
	int code = check_output(f);

	if (!code && cli_is_there(f->slurm->output))
		code = cli_use_file(f->slurm->output, keep, &before);
	if (!code && slurm_write_jobs(queue, &f->names, span_of(before.text, before.size), &written, &error))
		code = cli_fail(&error);
	if (!code)
		code = replace(f, &before, &written);
	free(before.text);
	free(written.text);
	return code;
}

/* --- once ------------------------------------------------------------------------------------------------------- */

static void tell_failure(struct follower *f, int fd, const struct fors_error *error)
{
	double now = cli_now_ms();
	char last[40];

	say_last(fd, last, sizeof(last));
	if (f->failed_ms && now - f->said_ms < REMIND_S * 1e3)
		return;
	cli_error("%s; %s stays as it is; squeue last answered %s", error->text, f->slurm->output,
		  *last ? last : "never");
	f->failed_ms = f->failed_ms ? f->failed_ms : now;
	f->said_ms = now;
}

static int ask_and_write(struct follower *f, int fd, double deadline)
{
	struct slurm_queue queue = {0};
	struct fors_error error;
	int code;

	if (ask_squeue(f, deadline, &queue, &error)) {
		tell_failure(f, fd, &error);
		return CLI_NO;
	}
	code = write_queue(f, &queue);
	if (!code)
		tell_bad(f, &queue);
	slurm_queue_clear(&queue);
	if (code)
		return code;
	note_answer(fd);
	if (f->failed_ms)
		cli_error("squeue answers again, after %.0f seconds", (cli_now_ms() - f->failed_ms) / 1e3);
	f->failed_ms = 0;
	return CLI_GOOD;
}

static int once(struct follower *f)
{
	unsigned seconds = f->settings->has_timeout ? f->settings->timeout : TIMEOUT_S;
	double deadline = cli_now_ms() + seconds * 1e3;
	int fd = slurm_lock(f->slurm->output, deadline), code;

	if (fd < 0)
		return CLI_BAD;
	code = ask_and_write(f, fd, deadline);
	close(fd);
	return code;
}

/* --- the plan --------------------------------------------------------------------------------------------------- */

static int wait_for_plan(const struct follower *f)
{
	char path[CLI_PATH_ROOM];
	struct forsched_watch *watch;
	struct forsched_error error;
	uint64_t epoch = 0;
	enum forsched_err err;

	if (!f->job || !f->is_listed)
		return CLI_GOOD;
	if (!plan_path(f, path))
		return CLI_BAD;
	if (forsched_watch_open(path, &watch, &error)) {
		cli_error("%s", error.text);
		return CLI_BAD;
	}
	err = forsched_watch_wait(watch, f->epoch, (int)f->slurm->wait * 1000, &epoch, &error);
	forsched_watch_close(watch);
	if (!err && epoch > f->epoch)
		return CLI_GOOD;
	cli_error("no plan for job %" PRIu64 " within %u %s: %s", f->job, f->slurm->wait,
		  fors_plural(f->slurm->wait, "second", "seconds"),
		  err ? error.text : "the file has the one of before");
	return CLI_NO;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

/* What is wrong at once, as a folder that is not there, is a mistake; later on a poller goes on, whatever happens. */
static int repeat(struct follower *f)
{
	for (bool is_first = true;; is_first = false) {
		double start = cli_now_ms(), left;
		int code = once(f);

		if (code == CLI_BAD && is_first)
			return code;
		left = f->slurm->interval * 1e3 - (cli_now_ms() - start);
		if (left > 0)
			poll(NULL, 0, (int)left);
	}
}

static enum fors_err read_names(const char *text, size_t size, const char *path, void *names, struct fors_error *error)
{
	return slurm_read_names(text, size, path, names, error);
}

/* What hosts are called in the fabric. */
static int load_names(const struct cli_settings *settings, struct slurm_names *names)
{
	struct fors_net *net = NULL;
	struct fors_error error;
	int code;

	if (settings->slurm.names)
		return cli_use_file(settings->slurm.names, read_names, names);
	if (!settings->source.fabric)
		return CLI_GOOD;
	code = cli_read_net(settings->source.fabric, &net);
	if (!code && slurm_names_of(net, names, &error))
		code = cli_fail(&error);
	fors_net_free(net);
	return code;
}

static int check(const struct cli_settings *settings)
{
	const struct cli_slurm *slurm = &settings->slurm;
	const struct cli_source *source = &settings->source;

	if (!slurm->output)
		return cli_usage_error("--slurm writes a file of jobs: --output FILE is missing");
	if (settings->jobs || settings->replay || source->synthetic || source->ndown || settings->output ||
	    settings->svg)
		return cli_usage_error("--slurm writes a file of jobs and plans nothing: without --jobs, --replay, "
				       "--synthetic, --down, --output-dir and --svg");
	if (source->fabric && slurm->names)
		return cli_usage_error("--fabric and --names both say what hosts are called");
	if (slurm->wait && (!slurm->plans || slurm->interval))
		return cli_usage_error("--wait needs --publish-dir DIR, and no --interval");
	return CLI_GOOD;
}

int slurm_follow(const struct cli_settings *settings)
{
	const char *id = getenv("SLURM_JOB_ID");
	struct follower f = {
		.settings = settings,
		.slurm = &settings->slurm,
		.marking = {settings->slurm.exclusive, (enum slurm_mark)settings->slurm.mark, settings->demand_dir},
	};
	int code = check(settings);

	if (!code)
		code = load_names(settings, &f.names);
	if (!code && !cut_command(&f))
		code = CLI_BAD;
	f.job = id ? strtoull(id, NULL, 10) : 0;
	if (!code)
		code = settings->slurm.interval ? repeat(&f) : once(&f);
	if (!code && settings->slurm.wait)
		code = wait_for_plan(&f);
	free(f.command);
	slurm_names_clear(&f.names);
	return code;
}
