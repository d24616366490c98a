/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: what is said goes over a socket that never blocks, so all waiting is done in one place, pause_for(), and that
 * asks its owner whether to go on. Where an exchange breaks off, the rest of it would be taken for the next
 * answer: so then the socket is closed, the helper killed, and the next request is a new helper's. One that does
 * not end by that hangs in the kernel, and nothing is started beside it.
 */
#include "config.h"

#include "helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "epoch.h"

#define LOOK_MS 10
#define LOOKS_POLITE 50 /* at a helper that was told to end */
#define LOOKS_KILLED 20
#define NO_BELL_MS 100

void fors_helper_init(struct fors_helper *helper)
{
	helper->fd = -1;
	helper->dir = NULL;
	helper->child = (struct fors_child){.pid = 0, .fd = -1};
}

bool fors_helper_answers(const struct fors_helper *helper)
{
	return helper->fd >= 0;
}

/* --- its life --------------------------------------------------------------- */

static bool is_gone(struct fors_helper *helper, int looks)
{
	if (!helper->child.pid)
		return true;
	while (!fors_helper_gone(&helper->child)) {
		if (looks-- <= 0)
			return false;
		fors_clock_pause(LOOK_MS);
	}
	fors_child_close(&helper->child);
	helper->child.pid = 0;
	return true;
}

/* An end without patience: an exchange broke off. */
static void break_off(struct fors_helper *helper)
{
	if (helper->fd >= 0)
		close(helper->fd);
	helper->fd = -1;
	if (is_gone(helper, 0))
		return;
	fors_helper_kill(&helper->child);
	is_gone(helper, LOOKS_KILLED);
}

pid_t fors_helper_end(struct fors_helper *helper)
{
	const bool was_left = helper->fd < 0;

	if (!was_left)
		close(helper->fd);
	helper->fd = -1;
	if (!is_gone(helper, was_left ? 0 : LOOKS_POLITE))
		break_off(helper);
	return helper->child.pid;
}

void fors_helper_clear(struct fors_helper *helper)
{
	fors_helper_end(helper);
	fors_child_close(&helper->child);
	free(helper->dir);
	helper->dir = NULL;
}

/* A helper for this folder. Errors: FORS_EIO, FORS_ENOMEM. */
static enum fors_err have_helper(struct fors_helper *helper, const char *dir, struct fors_error *error)
{
	char *copy;
	enum fors_err err;

	if (helper->fd >= 0 && !strcmp(helper->dir, dir))
		return FORS_OK;
	if (helper->fd >= 0)
		fors_helper_end(helper);
	if (!is_gone(helper, 0))
		return fors_fail(error, FORS_EIO,
				 "publish_dir %s: waits, since the helper program, process %d, hangs in %s", dir,
				 (int)helper->child.pid, helper->dir);
	copy = strdup(dir);
	if (!copy)
		return fors_fail_memory(error);
	err = fors_helper_spawn(helper->state, dir, &helper->fd, &helper->child, error);
	if (err) {
		free(copy);
		return err;
	}
	free(helper->dir);
	helper->dir = copy;
	return FORS_OK;
}

/* --- an exchange ------------------------------------------------------------ */

struct exchange {
	struct fors_helper *helper;
	uint64_t since;
};

/* Wait until the socket is ready for `events`, or the owner has changed his mind. False: no longer. */
static bool pause_for(struct exchange *exchange, short events)
{
	struct fors_helper *helper = exchange->helper;
	struct pollfd news[] = {{.fd = helper->fd, .events = events}, {.fd = helper->bell, .events = POLLIN}};
	uint64_t now = fors_clock_ms(), until = helper->until(helper->context, exchange->since);
	eventfd_t rung;

	if (now >= until)
		return false;
	if (helper->bell < 0 && until > now + NO_BELL_MS)
		until = now + NO_BELL_MS;
	fors_clock_poll(news, 2, until);
	if (news[1].revents)
		eventfd_read(helper->bell, &rung);
	return true;
}

/* False with errno 0: not any longer; or the socket's. */
static bool is_over(struct exchange *exchange, ssize_t n, short events)
{
	if (!n)
		errno = ECONNRESET;
	if (n > 0 || (n < 0 && errno == EINTR))
		return false;
	if (!n || (errno != EAGAIN && errno != EWOULDBLOCK))
		return true;
	if (pause_for(exchange, events))
		return false;
	errno = 0;
	return true;
}

static bool put(struct exchange *exchange, const void *bytes, size_t size)
{
	for (const char *at = bytes; size;) {
		ssize_t n = send(exchange->helper->fd, at, size, MSG_NOSIGNAL);

		if (is_over(exchange, n, POLLOUT))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool get(struct exchange *exchange, void *bytes, size_t size)
{
	for (char *at = bytes; size;) {
		ssize_t n = recv(exchange->helper->fd, at, size, 0);

		if (is_over(exchange, n, POLLIN))
			return false;
		at += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* The exchange broke off, with errno. */
static enum fors_err fail_exchange(struct fors_helper *helper, int number, struct fors_error *error)
{
	pid_t pid = helper->child.pid;

	is_gone(helper, number ? LOOKS_KILLED : 0);
	int status = helper->child.status;

	break_off(helper);
	if (!number)
		return fors_fail(error, FORS_EIO, "publish_dir %s: does not answer; process %d hangs there",
				 helper->dir, (int)pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return fors_fail(
			error, FORS_EIO,
			"publish_dir %s: the helper program is of another version than who calls it; restart opensm, or fors watch",
			helper->dir);
	return fors_fail(error, FORS_EIO, "publish_dir %s: the helper program, process %d, has ended", helper->dir,
			 (int)pid);
}

/* Ask, and have the answer. The error of the answer becomes this one's. */
static enum fors_err ask(struct fors_helper *helper, const struct fors_folder *folder,
			 struct fors_helper_request *request, const void *bytes, struct fors_helper_answer *answer,
			 struct fors_error *error)
{
	struct exchange exchange = {.helper = helper, .since = fors_clock_ms()};
	enum fors_err err = have_helper(helper, folder->parent, error);

	if (err)
		return err;
	request->word = FORS_HELPER_WORD;
	memcpy(request->tag, folder->tag, sizeof(request->tag));
	memcpy(request->job, folder->job, sizeof(request->job));
	if (!put(&exchange, request, sizeof(*request)) || !put(&exchange, bytes, request->size) ||
	    !get(&exchange, answer, sizeof(*answer)))
		return fail_exchange(helper, errno, error);
	if (answer->word != FORS_HELPER_WORD)
		return fail_exchange(helper, EPROTO, error);
	answer->error.text[sizeof(answer->error.text) - 1] = '\0';
	if (answer->error.code && error)
		*error = answer->error;
	return answer->error.code;
}

/* --- functions of publish.h --------------------------------------------------- */

static enum fors_err ask_simply(struct fors_helper *helper, const struct fors_folder *folder,
				enum fors_helper_what what, const char *name, struct fors_error *error)
{
	struct fors_helper_request request = {.what = what};
	struct fors_helper_answer answer;

	snprintf(request.name, sizeof(request.name), "%s", name);
	return ask(helper, folder, &request, NULL, &answer, error);
}

enum fors_err fors_helper_publish(struct fors_helper *helper, const struct fors_folder *folder, const char *name,
				  const void *bytes, size_t size, bool is_durable, struct fors_error *error)
{
	struct fors_helper_request request = {.what = FORS_HELPER_PUBLISH, .flag = is_durable, .size = size};
	struct fors_helper_answer answer;

	if (size > FORS_HELPER_MOST_BYTES)
		return fors_fail(error, FORS_EIO, "%s/%s: has %zu bytes, too many", folder->parent, name, size);
	snprintf(request.name, sizeof(request.name), "%s", name);
	return ask(helper, folder, &request, bytes, &answer, error);
}

enum fors_err fors_helper_sync(struct fors_helper *helper, const struct fors_folder *folder, const char *name,
			       struct fors_error *error)
{
	return ask_simply(helper, folder, FORS_HELPER_SYNC, name, error);
}

enum fors_err fors_helper_remove_job(struct fors_helper *helper, const struct fors_folder *folder,
				     struct fors_error *error)
{
	return ask_simply(helper, folder, FORS_HELPER_REMOVE_JOB, "", error);
}

enum fors_err fors_helper_hold(struct fors_helper *helper, const struct fors_folder *folder, bool *is_ours,
			       struct fors_error *error)
{
	struct fors_helper_request request = {.what = FORS_HELPER_HOLD};
	struct fors_helper_answer answer;
	enum fors_err err = ask(helper, folder, &request, NULL, &answer, error);

	if (!err)
		*is_ours = answer.is_ours;
	return err;
}

enum fors_err fors_helper_epoch(struct fors_helper *helper, const struct fors_folder *folder,
				struct fors_schedule_header *header, bool *is_there, struct fors_error *error)
{
	struct fors_helper_request request = {.what = FORS_HELPER_HEAD, .name = "schedule"};
	struct fors_helper_answer answer;
	enum fors_err err = ask(helper, folder, &request, NULL, &answer, error);

	return err ? err : fors_epoch_of_head(folder, &answer.head, header, is_there, error);
}

enum fors_err fors_helper_list(struct fors_helper *helper, const struct fors_folder *folder, bool from_begin,
			       struct fors_helper_names *names, struct fors_error *error)
{
	struct fors_helper_request request = {.what = FORS_HELPER_LIST, .flag = from_begin};
	struct fors_helper_answer answer;
	enum fors_err err = ask(helper, folder, &request, NULL, &answer, error);

	if (err)
		return err;
	names->count = answer.nnames < FORS_HELPER_NAMES ? answer.nnames : FORS_HELPER_NAMES;
	names->has_more = answer.has_more;
	memcpy(names->name, answer.job, sizeof(names->name));
	return FORS_OK;
}
