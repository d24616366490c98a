/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * child.c - the program has a process group of its own, so that all of it can be killed, and dies with its parent. Both
 * its outputs are read at the same time: who reads one after the other waits for ever for a program that fills the other.
 */
#define _GNU_SOURCE /* pipe2() */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/clock.h"

#define OUTPUT_MAX ((size_t)256 << 20)

/* One of its outputs. */
struct stream {
	int fd; /* -1: at its end */
	char *text;
	size_t size, room;
};

struct child {
	pid_t pid;
	struct stream out, err;
};

/* --- start and end ---------------------------------------------------------------------------------------------- */

/* In the new process. Does not return. */
static void become(const char *const *argv, int out, int err, pid_t parent)
{
	int nothing = open("/dev/null", O_RDONLY);

	if (!setpgid(0, 0) && !prctl(PR_SET_PDEATHSIG, SIGKILL) && getppid() == parent && nothing >= 0 &&
	    dup2(nothing, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0)
		execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "%s\n", strerror(errno));
	_exit(127);
}

static enum fors_err start(const char *const *argv, struct child *child, struct fors_error *error)
{
	int out[2], err[2];
	pid_t parent = getpid();

	if (pipe2(out, O_CLOEXEC))
		return fors_fail(error, FORS_EIO, "%s cannot be started: %s", argv[0], strerror(errno));
	if (pipe2(err, O_CLOEXEC)) {
		close(out[0]);
		close(out[1]);
		return fors_fail(error, FORS_EIO, "%s cannot be started: %s", argv[0], strerror(errno));
	}
	child->pid = fork();
	if (!child->pid)
		become(argv, out[1], err[1], parent);
	if (child->pid > 0)
		setpgid(child->pid, child->pid); /* whichever of the two comes first */
	close(out[1]);
	close(err[1]);
	child->out = (struct stream){.fd = out[0]};
	child->err = (struct stream){.fd = err[0]};
	if (child->pid < 0)
		return fors_fail(error, FORS_EIO, "%s cannot be started: %s", argv[0], strerror(errno));
	return FORS_OK;
}

/* What it started may live on, and hold the pipes: nothing of it is to be left. */
static int end(struct child *child)
{
	int status = 0;

	if (child->pid > 0) {
		kill(-child->pid, SIGKILL);
		while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (child->out.fd >= 0)
		close(child->out.fd);
	if (child->err.fd >= 0)
		close(child->err.fd);
	return status;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static bool make_room(struct stream *stream)
{
	size_t room = stream->room ? stream->room * 2 : 65536;
	char *more;

	if (stream->size + 1 < stream->room)
		return true;
	more = realloc(stream->text, room);
	if (!more)
		return false;
	stream->text = more;
	stream->room = room;
	return true;
}

static enum fors_err read_some(struct stream *stream, const char *name, struct fors_error *error)
{
	ssize_t n;

	if (!make_room(stream))
		return fors_fail_memory(error);
	n = read(stream->fd, stream->text + stream->size, stream->room - stream->size - 1);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return FORS_OK;
	if (n > 0)
		stream->size += (size_t)n;
	stream->text[stream->size] = '\0';
	if (n <= 0) {
		close(stream->fd);
		stream->fd = -1;
	}
	return stream->size < OUTPUT_MAX ? FORS_OK : fors_fail(error, FORS_EIO, "%s prints without end", name);
}

static enum fors_err read_all(struct child *child, const char *name, double deadline, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && (child->out.fd >= 0 || child->err.fd >= 0)) {
		struct pollfd fds[2] = {{.fd = child->out.fd, .events = POLLIN},
					{.fd = child->err.fd, .events = POLLIN}};
		double left = deadline - cli_now_ms();

		if (left <= 0)
			return fors_fail(error, FORS_ETIMEOUT, "%s does not answer", name);
		if (poll(fds, 2, left > 1000 ? 1000 : (int)left + 1) <= 0)
			continue;
		if (fds[0].revents)
			err = read_some(&child->out, name, error);
		if (fds[1].revents && !err)
			err = read_some(&child->err, name, error);
	}
	return err;
}

/* Both outputs are closed; the process itself may still be there. */
static enum fors_err wait_for_end(struct child *child, const char *name, double deadline, int *status,
				  struct fors_error *error)
{
	for (;;) {
		pid_t pid = waitpid(child->pid, status, WNOHANG);

		if (pid == child->pid)
			break;
		if (pid < 0 && errno != EINTR)
			return fors_fail(error, FORS_EIO, "%s: %s", name, strerror(errno));
		if (cli_now_ms() >= deadline)
			return fors_fail(error, FORS_ETIMEOUT, "%s does not end", name);
		poll(NULL, 0, 5);
	}
	kill(-child->pid, SIGKILL); /* what it left behind */
	child->pid = 0;
	return FORS_OK;
}

static enum fors_err judge(const struct child *child, const char *name, int status, struct fors_error *error)
{
	const char *why = child->err.text ? child->err.text : "";

	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return FORS_OK;
	if (WIFSIGNALED(status))
		return fors_fail(error, FORS_EIO, "%s died of signal %d", name, WTERMSIG(status));
	return fors_fail(error, FORS_EIO, "%s failed with exit code %d%s%.*s", name, WEXITSTATUS(status),
			 *why ? ": " : "", (int)strcspn(why, "\n"), why);
}

enum fors_err slurm_run(const char *const *argv, double deadline, char **text, size_t *size, struct fors_error *error)
{
	struct child child = {.out = {.fd = -1}, .err = {.fd = -1}};
	int status = 0;
	enum fors_err err = start(argv, &child, error);

	if (!err)
		err = read_all(&child, argv[0], deadline, error);
	if (!err)
		err = wait_for_end(&child, argv[0], deadline, &status, error);
	if (!err)
		err = judge(&child, argv[0], status, error);
	end(&child);
	free(child.err.text);
	if (err) {
		free(child.out.text);
	} else {
		*text = child.out.text;
		*size = child.out.size;
	}
	return err;
}
