/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * fors-outbox: copies what the state folder has into publish_dir, and runs publish_command, in a process of its own. A process
 * that hangs in the kernel ends at no signal, and no process ends before all of its threads: so opensm has no thread
 * there, but this program, which has none of opensm's files and none of its memory.
 *
 *	fors-outbox STATE_FOLDER PUBLISH_DIR VERSION COMMAND SECONDS SHARED	stdin: a socket to opensm
 *
 * Two threads: the first one copies, and may hang; the other one hears opensm's orders, runs the command, says how it is, and
 * ends the process. It does so when the socket is closed, by opensm or by its end. Where the first thread hangs the process
 * stays until the file system answers; then it must not write over what another opensm of the same state folder has
 * written since, nor may each of these leave another process that hangs. So a new one looks for it, and touches nothing as
 * long as it is there.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "command.h"
#include "copies.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"

#define NAME "fors-outbox"
#define LOOK_MS 20
#define LOOKS 100	  /* at a rival: what is told to end while it writes has two seconds for that */
#define AGAIN_MS 5000	  /* after a failure */
#define PATIENCE_MS 10000 /* how long the command waits for the copies, and the log */
#define LAST_MS 2000	  /* for the folder to answer, and for the command, when opensm ends */
#define LEAST_MS 250	  /* for a command that begins then */
#define TIDY_MS 50	  /* between two slices of names */
#define TIDY_SLICE 32
#define TIDY_AGAIN_MS 3600000

struct program {
	struct fors_copies copies;   /* the first thread's */
	struct fors_command command; /* the other one's */
	const char *state, *dir;     /* as given */
	int name;		     /* a socket, by which another program for this state folder knows this one */
	bool is_first;		     /* there is none of before any more */
	pid_t rival;		     /* the one of before, where it is known */
	unsigned looks;		     /* at the one of before */
	pthread_mutex_t mutex;	     /* guards what follows */
	pthread_cond_t wake;
	struct fors_copier_order order;
	uint64_t orders, passed;	    /* how many came, and how many had come before the last pass */
	uint64_t busy_ms;		    /* since when the first thread is out to file systems; 0: it is not */
	uint64_t hung;			    /* how often it was out for too long */
	bool is_told, is_ending, has_ended; /* there is an order; no more come; the first thread is through */
	bool has_failed, has_complained;
	struct fors_copier_report report;
	/* the first thread's */
	uint64_t served; /* of the orders, by the pass that is under way */
	uint64_t tried_ms, tidy_ms;
	unsigned tidied;
};

/* --- what is said to opensm; with the mutex held ------------------------------ */

/* What does not fit into the socket is lost: the next message has the same report, or a newer one. */
static void send_message(struct program *program, struct fors_copier_message *message)
{
	message->report = program->report;
	send(STDIN_FILENO, message, sizeof(*message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say(struct program *program, unsigned code, const char *line)
{
	struct fors_copier_message message = {.code = code};

	snprintf(message.line, sizeof(message.line), "%s", line);
	send_message(program, &message);
}

/* Writing fails (why) or works: said once each. */
static void complain(struct program *program, const char *why)
{
	struct fors_copier_report *report = &program->report;
	char line[FORS_ERROR_TEXT + 60];
	bool is_new = program->has_complained != (why != NULL);

	if (is_new)
		snprintf(report->trouble, sizeof(report->trouble), "%.255s", why ? why : "");
	program->has_complained = why;
	if (!is_new)
		return;
	snprintf(line, sizeof(line), "%s (the state folder is not affected)", why ? why : "");
	say(program, why ? FORS_F_COPY : 0, why ? line : "publish_dir can be written again");
}

/* For the first thread, which has not got the mutex. */
static void say_of_copies(void *context, unsigned code, const char *line)
{
	struct program *program = context;

	pthread_mutex_lock(&program->mutex);
	say(program, code, line);
	pthread_mutex_unlock(&program->mutex);
}

static void tell_news(void *context, const char *job, uint64_t epoch)
{
	struct program *program = context;
	struct fors_copier_message message = {.later = epoch};

	snprintf(message.job, sizeof(message.job), "%s", job);
	pthread_mutex_lock(&program->mutex);
	send_message(program, &message);
	pthread_mutex_unlock(&program->mutex);
}

/* --- a program of before ------------------------------------------------------ */

/* Who has the name; 0: it is somebody's who should not, or gone by now. */
static pid_t holder_of(const struct sockaddr_un *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who = {.pid = 0};
	socklen_t size = sizeof(who);

	if (fd < 0 || connect(fd, (const struct sockaddr *)name, sizeof(*name)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) || who.uid != geteuid())
		who.pid = 0;
	if (fd >= 0)
		close(fd);
	return who.pid;
}

/*
 * The process for this state folder that was here before and is not gone; 0: none, and from now on it is this one. It is known by a
 * socket with an abstract name, which the kernel keeps until all of the process is gone.
 */
static pid_t find_rival(struct program *program)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	if (program->is_first)
		return 0;
	snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, NAME "-%u-%016" PRIx64, (unsigned)geteuid(),
		 fors_digest(FORS_DIGEST_EMPTY, program->state, strlen(program->state)));
	program->is_first = !bind(program->name, (const struct sockaddr *)&name, sizeof(name)) || errno != EADDRINUSE;
	if (program->is_first)
		listen(program->name, 64);
	else if (!program->rival)
		program->rival = holder_of(&name);
	return program->is_first ? 0 : program->rival;
}

static pid_t ask_rival(struct program *program)
{
	pid_t rival;

	while ((rival = find_rival(program)) && program->looks++ < LOOKS)
		fors_clock_pause(LOOK_MS);
	return rival;
}

/* --- the thread that copies; the mutex is held before and after ---------------- */

static void go_out(struct program *program)
{
	program->busy_ms = fors_clock_ms();
	pthread_mutex_unlock(&program->mutex);
}

static void come_back(struct program *program)
{
	struct fors_copier_report *report = &program->report;
	const struct fors_copies *copies = &program->copies;

	pthread_mutex_lock(&program->mutex);
	program->busy_ms = 0;
	report->seen = copies->seen;
	report->failures = copies->failures + program->hung;
	report->copied = copies->copied;
	report->copied_ms = copies->copied_ms;
	report->is_held_elsewhere = copies->is_held_elsewhere;
}

/* One more job is copied: the folder answers. What is new, of the fabric first of all, does not wait for hundreds of jobs. */
static bool is_overtaken(void *context)
{
	struct program *program = context;
	bool is_it;

	pthread_mutex_lock(&program->mutex);
	program->busy_ms = fors_clock_ms();
	is_it = program->orders != program->served;
	pthread_mutex_unlock(&program->mutex);
	return is_it;
}

static void pass(struct program *program)
{
	const struct fors_copier_order order = program->order;
	struct fors_error error;
	enum fors_err err = FORS_OK;
	pid_t rival;

	program->served = program->orders;
	go_out(program);
	rival = ask_rival(program);
	if (rival)
		err = fors_fail(&error, FORS_EIO,
				"%s: not touched while the helper of before, process %d, hangs in a file system",
				program->dir, (int)rival);
	else
		err = fors_copies_pass(&program->copies, &order, &error);
	program->copies.failures += rival != 0;
	come_back(program);
	if (err || !program->copies.is_cut)
		program->passed = program->served;
	program->tried_ms = fors_clock_ms();
	program->has_failed = err;
	complain(program, err ? error.text : NULL);
	say(program, 0, "");
}

static void sync_copies(struct program *program)
{
	struct fors_error error;
	enum fors_err err;

	go_out(program);
	err = fors_copies_sync(&program->copies, &error);
	come_back(program);
	program->has_failed = err;
	if (err)
		complain(program, error.text);
}

/* Between two folders that others may have left: what is new goes first. */
static bool may_go_on(void *context)
{
	struct program *program = context;
	bool may;

	if (++program->tidied % TIDY_SLICE == 0)
		fors_clock_pause(TIDY_MS);
	pthread_mutex_lock(&program->mutex);
	program->busy_ms = 0;
	if (program->orders != program->passed)
		pass(program);
	may = program->order.may_tidy && !program->is_ending && !program->copies.is_held_elsewhere &&
	      !program->has_failed;
	go_out(program);
	return may;
}

static void tidy(struct program *program)
{
	program->tidy_ms = fors_clock_ms() + TIDY_AGAIN_MS;
	go_out(program);
	fors_copies_tidy(&program->copies, may_go_on, program);
	come_back(program);
}

/* Nothing new has come for a second. */
static void idle(struct program *program)
{
	if (program->copies.is_shared || (program->has_failed && fors_clock_ms() >= program->tried_ms + AGAIN_MS))
		pass(program);
	if (!program->has_failed && !program->copies.is_held_elsewhere)
		sync_copies(program);
	if (!program->order.may_tidy)
		program->tidy_ms = 0;
	else if (!program->has_failed && !program->copies.is_held_elsewhere && fors_clock_ms() >= program->tidy_ms)
		tidy(program);
}

static void copy(struct program *program)
{
	uint64_t quiet_ms = 0;

	pthread_mutex_lock(&program->mutex);
	while (*program->dir && (!program->is_ending || program->orders != program->passed)) {
		if (program->orders != program->passed) {
			pass(program);
			quiet_ms = fors_clock_ms() + 1000;
		} else if (program->is_told && fors_clock_ms() >= quiet_ms) {
			idle(program);
			quiet_ms = fors_clock_ms() + 1000;
		} else {
			fors_clock_wait(&program->wake, &program->mutex, fors_clock_ms() + 1000);
		}
	}
	if (*program->dir && program->is_told && !program->has_failed)
		sync_copies(program);
	program->has_ended = true;
	while (true)
		pthread_cond_wait(&program->wake, &program->mutex); /* the other one ends the process */
}

/* --- the thread that listens --------------------------------------------------- */

/* The publication that waits for its command. */
struct waiting {
	uint64_t since_ms; /* 0: none waits */
	uint64_t orders;   /* how many had come by then */
};

/* Take all orders; with the mutex held. */
static void hear(struct program *program, struct waiting *waiting)
{
	struct fors_copier_order order;
	ssize_t n;

	while ((n = recv(STDIN_FILENO, &order, sizeof(order), MSG_DONTWAIT)) == (ssize_t)sizeof(order)) {
		if (!program->is_told) {
			program->report.ran = order.ran;
			program->report.copied = program->copies.copied = order.copied;
		}
		program->is_told = true;
		program->order = order;
		program->orders++;
		if (!waiting->since_ms && order.publication > program->report.ran)
			*waiting = (struct waiting){fors_clock_ms(), program->orders};
		pthread_cond_signal(&program->wake);
	}
	if (n >= 0 || (errno != EAGAIN && errno != EINTR))
		program->is_ending = true;
	if (program->is_ending)
		pthread_cond_signal(&program->wake);
}

/* It takes too long: said once; with the mutex held. */
static void watch_folder(struct program *program)
{
	char why[FORS_ERROR_TEXT];

	if (!program->busy_ms || fors_clock_ms() < program->busy_ms + PATIENCE_MS || program->has_complained)
		return;
	snprintf(why, sizeof(why), "publish_dir %.200s: has not answered for %d s; process %d hangs there",
		 program->dir, PATIENCE_MS / 1000, (int)getpid());
	program->hung++;
	program->report.failures++;
	complain(program, why);
}

/* Start the command when the copies are made, or cannot be, or take too long; with the mutex held. */
static void run_command(struct program *program, struct waiting *waiting, bool is_last)
{
	const struct fors_copier_order order = program->order;
	struct fors_copier_report *report = &program->report;
	const bool is_copied = !*program->dir || program->passed >= waiting->orders || program->has_ended;

	if (!waiting->since_ms || !(is_copied || is_last || fors_clock_ms() >= waiting->since_ms + PATIENCE_MS))
		return;
	if (*program->command.line && !fors_command_may(&program->command))
		return;
	waiting->since_ms = 0;
	report->ran = order.publication;
	if (!*program->command.line)
		return;
	pthread_mutex_unlock(&program->mutex);
	if (fors_command_start(&program->command, order.epoch, order.status)) {
		report->ran_epoch = order.epoch;
		report->ran_ms = fors_clock_exact_ms();
	}
	pthread_mutex_lock(&program->mutex);
	say(program, 0, "");
}

static void look_at_command(struct program *program)
{
	pthread_mutex_unlock(&program->mutex);
	fors_command_look(&program->command);
	pthread_mutex_lock(&program->mutex);
}

/* Until when a change may be waited for. */
static uint64_t next_look(const struct program *program, const struct waiting *waiting)
{
	if (waiting->since_ms || program->is_ending)
		return fors_clock_ms() + 5;
	return fors_clock_ms() + (program->command.is_running ? LOOK_MS : 1000);
}

/* Opensm ends: the copies have two seconds, less what it has waited for them; and so has the command. */
static void finish(struct program *program, struct waiting *waiting)
{
	const uint64_t now = fors_clock_ms(), last = now + LAST_MS;
	const uint64_t until = program->busy_ms && program->busy_ms + LAST_MS <= now ? now : last;

	while (!program->has_ended && fors_clock_ms() < until) {
		run_command(program, waiting, false);
		fors_clock_wait(&program->wake, &program->mutex, fors_clock_ms() + 5);
		look_at_command(program);
	}
	do {
		run_command(program, waiting, true);
		fors_command_hurry(&program->command,
				   last > fors_clock_ms() + LEAST_MS ? last : fors_clock_ms() + LEAST_MS);
		look_at_command(program);
		fors_clock_wait(&program->wake, &program->mutex, fors_clock_ms() + LOOK_MS);
	} while (program->command.is_running || (waiting->since_ms && fors_command_may(&program->command)));
	if (waiting->since_ms && *program->command.line)
		say(program, FORS_F_COMMAND, "publish_command is not run for the last publication, since opensm ends");
}

static void *listen_to_opensm(void *context)
{
	struct program *program = context;
	struct waiting waiting = {.since_ms = 0};

	pthread_mutex_lock(&program->mutex);
	while (!program->is_ending) {
		struct pollfd news = {.fd = STDIN_FILENO, .events = POLLIN};
		const uint64_t until = next_look(program, &waiting);

		pthread_mutex_unlock(&program->mutex);
		fors_clock_poll(&news, 1, until);
		pthread_mutex_lock(&program->mutex);
		hear(program, &waiting);
		watch_folder(program);
		run_command(program, &waiting, false);
		look_at_command(program);
	}
	finish(program, &waiting);
	close(STDIN_FILENO); /* opensm sees that, though this process should hang */
	_exit(0);
}

/* Whoever ends opensm ends us by that: what is on its way shall still arrive. */
static void ignore_signals(void)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
}

/* "PARENT/NAME". False: out of memory. */
static bool set_folders(struct program *program)
{
	struct fors_copies *copies = &program->copies;
	char *slash;

	copies->state.parent = strdup(program->state);
	copies->dir.parent = strdup(program->dir);
	slash = copies->state.parent ? strrchr(copies->state.parent, '/') : NULL;
	if (!slash || !copies->dir.parent)
		return false;
	snprintf(copies->state.name, sizeof(copies->state.name), "%s", slash + 1);
	snprintf(copies->dir.tag, sizeof(copies->dir.tag), "%s", slash + 1);
	*slash = '\0';
	return true;
}

int main(int argc, char **argv)
{
	static struct program program;
	struct stat info;
	pthread_t thread;

	if (argc < 4 || fstat(STDIN_FILENO, &info) || !S_ISSOCK(info.st_mode)) {
		fprintf(stderr, NAME ": is started by libfors.so inside opensm, see opensm-fors(8)\n");
		return 2;
	}
	if (argc != 7 || strtoull(argv[3], NULL, 10) != FORS_COPIER_VERSION)
		return 2;
	ignore_signals();
	program.state = argv[1];
	program.dir = argv[2];
	program.command = (struct fors_command){.line = argv[4],
						.state = argv[1],
						.dir = *argv[2] ? argv[2] : NULL,
						.seconds = (unsigned)atoi(argv[5]),
						.say = say_of_copies,
						.context = &program};
	program.copies.is_shared = *argv[6] == '1';
	program.copies.say = say_of_copies;
	program.copies.news = tell_news;
	program.copies.is_overtaken = is_overtaken;
	program.copies.context = &program;
	pthread_mutex_init(&program.mutex, NULL);
	fors_clock_cond(&program.wake);
	program.name = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (program.name < 0 || chdir("/") || !set_folders(&program) ||
	    pthread_create(&thread, NULL, listen_to_opensm, &program))
		return 1;
	copy(&program);
}
