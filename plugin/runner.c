/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: one thread that does nothing but start a child and watch it. It looks every few milliseconds
 * instead of waiting for SIGCHLD, because signals belong to OpenSM; and it asks for its own child only, so that
 * nobody else's is reaped. posix_spawn() and not fork(): a copy of a daemon with threads may do next to nothing.
 */
#include "config.h"

#include "runner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "thread.h"

#define LOOK_MS 20
#define GRACE_MS 2000 /* from SIGTERM to SIGKILL, and for the last command when opensm ends */
#define PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* An errand of our own. */
struct copy {
	char *command;
	char *variable[FORS_RUNNER_VARIABLES + 2]; /* PATH first, NULL last */
	unsigned seconds;
};

struct fors_runner {
	struct osm_log *log;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t wake;
	struct copy *waiting; /* owned, or NULL */
	uint64_t stop_ms;     /* when all must have ended; 0: go on */
	bool has_complained;  /* the thread's own */
};

static void free_copy(struct copy *copy)
{
	if (!copy)
		return;
	for (size_t i = 0; copy->variable[i]; i++)
		free(copy->variable[i]);
	free(copy->command);
	free(copy);
}

static struct copy *copy_errand(const struct fors_errand *errand)
{
	struct copy *copy = calloc(1, sizeof(*copy));
	bool is_good;

	if (!copy)
		return NULL;
	copy->seconds = errand->seconds;
	copy->command = strdup(errand->command);
	copy->variable[0] = strdup(PATH);
	is_good = copy->command && copy->variable[0];
	for (size_t i = 0; is_good && i < FORS_RUNNER_VARIABLES && errand->variable[i]; i++) {
		copy->variable[i + 1] = strdup(errand->variable[i]);
		is_good = copy->variable[i + 1];
	}
	if (is_good)
		return copy;
	free_copy(copy);
	return NULL;
}

/* --- the child ------------------------------------------------------------ */

/* Nothing that OpenSM has open goes to the child: not its log, not the device. 0, or an errno. */
static int close_others(posix_spawn_file_actions_t *actions)
{
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
	return posix_spawn_file_actions_addclosefrom_np(actions, 3);
#else
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *entry;
	int failed = list ? 0 : errno;

	while (!failed && (entry = readdir(list)))
		if (atoi(entry->d_name) > 2 && atoi(entry->d_name) != dirfd(list))
			failed = posix_spawn_file_actions_addclose(actions, atoi(entry->d_name));
	if (list)
		closedir(list);
	return failed;
#endif
}

static int set_files(posix_spawn_file_actions_t *actions)
{
	int failed = 0;

	for (int fd = 0; fd < 3 && !failed; fd++)
		failed = posix_spawn_file_actions_addopen(actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
	return failed ? failed : close_others(actions);
}

static int set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;
	int failed = posix_spawnattr_setflags(attributes,
					      POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

	sigemptyset(&none);
	sigfillset(&all);
	if (!failed)
		failed = posix_spawnattr_setpgroup(attributes, 0);
	if (!failed)
		failed = posix_spawnattr_setsigmask(attributes, &none);
	return failed ? failed : posix_spawnattr_setsigdefault(attributes, &all);
}

/* The child's pid, which is its process group too, in *pid. 0, or an errno. */
static int spawn(const struct copy *copy, pid_t *pid)
{
	char shell[] = "sh", option[] = "-c";
	char *const argv[] = {shell, option, copy->command, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int failed = posix_spawn_file_actions_init(&actions);

	if (failed)
		return failed;
	failed = posix_spawnattr_init(&attributes);
	if (!failed) {
		failed = set_files(&actions);
		if (!failed)
			failed = set_signals(&attributes);
		if (!failed)
			failed = posix_spawn(pid, "/bin/sh", &actions, &attributes, argv, copy->variable);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

/* --- watching it ---------------------------------------------------------- */

static uint64_t stop_of(struct fors_runner *runner)
{
	uint64_t stop;

	pthread_mutex_lock(&runner->mutex);
	stop = runner->stop_ms;
	pthread_mutex_unlock(&runner->mutex);
	return stop;
}

/* Has the child ended? Its status, or -1 when somebody else reaped it, in *status. */
static bool has_ended(pid_t pid, int *status)
{
	pid_t ended = waitpid(pid, status, WNOHANG);

	if (ended < 0 && errno != EINTR)
		*status = -1;
	return ended == pid || (ended < 0 && errno != EINTR);
}

/* Wait for the child until a time, or until all must have ended. True: it has ended. */
static bool watch(struct fors_runner *runner, pid_t pid, uint64_t until_ms, int *status)
{
	while (!has_ended(pid, status)) {
		uint64_t stop = stop_of(runner), now = fors_clock_ms();

		if (now >= until_ms || (stop && now >= stop))
			return false;
		fors_clock_pause(LOOK_MS);
	}
	return true;
}

static void kill_group(struct fors_runner *runner, pid_t pid, int *status)
{
	uint64_t until = fors_clock_ms() + GRACE_MS;

	kill(-pid, SIGTERM);
	while (!has_ended(pid, status)) {
		if (fors_clock_ms() >= until)
			kill(-pid, SIGKILL);
		fors_clock_pause(LOOK_MS);
	}
	kill(-pid, SIGKILL); /* what the shell left behind */
}

/* Say each failure, and once when it works again. */
static void report(struct fors_runner *runner, const struct copy *copy, bool is_late, int status)
{
	if (is_late)
		fors_log_error(runner->log, FORS_F_COMMAND, "publish_command did not end within %u s and was killed",
			       copy->seconds);
	else if (status > 0 && WIFSIGNALED(status))
		fors_log_error(runner->log, FORS_F_COMMAND, "publish_command was ended by signal %d", WTERMSIG(status));
	else if (status > 0)
		fors_log_error(runner->log, FORS_F_COMMAND, "publish_command ended with exit status %d",
			       WEXITSTATUS(status));
	else if (runner->has_complained)
		fors_log_info(runner->log, "publish_command works again");
	runner->has_complained = is_late || status > 0;
}

static void run_errand(struct fors_runner *runner, const struct copy *copy)
{
	pid_t pid;
	int status = 0, failed = spawn(copy, &pid);
	bool is_late;

	if (failed) {
		fors_log_error(runner->log, FORS_F_COMMAND, "publish_command cannot be started: %s", strerror(failed));
		runner->has_complained = true;
		return;
	}
	is_late = !watch(runner, pid, fors_clock_ms() + copy->seconds * 1000ull, &status);
	if (is_late)
		kill_group(runner, pid, &status);
	report(runner, copy, is_late, status);
}

/* The next errand, owned by the caller; NULL: end. */
static struct copy *next_errand(struct fors_runner *runner)
{
	struct copy *copy;

	pthread_mutex_lock(&runner->mutex);
	while (!runner->waiting && !runner->stop_ms)
		pthread_cond_wait(&runner->wake, &runner->mutex);
	copy = runner->waiting;
	runner->waiting = NULL;
	pthread_mutex_unlock(&runner->mutex);
	return copy;
}

static void *run(void *context)
{
	struct fors_runner *runner = context;
	struct copy *copy;

	while ((copy = next_errand(runner))) {
		run_errand(runner, copy);
		free_copy(copy);
	}
	return NULL;
}

static void free_runner(struct fors_runner *runner)
{
	free_copy(runner->waiting);
	pthread_cond_destroy(&runner->wake);
	pthread_mutex_destroy(&runner->mutex);
	free(runner);
}

enum fors_err fors_runner_start(struct osm_log *log, struct fors_runner **runner, struct fors_error *error)
{
	struct fors_runner *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return fors_fail_memory(error);
	made->log = log;
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	failed = fors_thread_start(&made->thread, run, made);
	if (failed) {
		free_runner(made);
		return fors_fail(error, FORS_ENOMEM, "no thread for publish_command: %s", strerror(failed));
	}
	*runner = made;
	return FORS_OK;
}

enum fors_err fors_runner_run(struct fors_runner *runner, const struct fors_errand *errand, struct fors_error *error)
{
	struct copy *copy = copy_errand(errand), *old;

	if (!copy)
		return fors_fail_memory(error);
	pthread_mutex_lock(&runner->mutex);
	old = runner->waiting;
	runner->waiting = copy;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->mutex);
	free_copy(old);
	return FORS_OK;
}

void fors_runner_stop(struct fors_runner *runner)
{
	if (!runner)
		return;
	pthread_mutex_lock(&runner->mutex);
	runner->stop_ms = fors_clock_ms() + GRACE_MS;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&runner->mutex);
	pthread_join(runner->thread, NULL);
	free_runner(runner);
}
