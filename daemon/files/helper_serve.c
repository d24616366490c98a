/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: each request is one of the publisher's functions (publish.h), and what decides is on the other side. So a
 * helper that comes back after hours does no more than what it was in the middle of: what opensm thinks then has another
 * epoch, and comes as a request of its own.
 *
 * Names of job folders are told in slices, by a handle that is kept only while a list is being read: who has the folder open
 * keeps its file system from being unmounted.
 */
#include "config.h"

#include "helper_serve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/jobs/joblist.h"
#include "helper_wire.h"
#include "holder.h"
#include "publish_inside.h"

#define LOOKS_PER_SLICE 256 /* names that are no job's count too */

struct service {
	int fd;
	char *dir;
	pid_t (*rival)(void *context);
	void *context;
	DIR *jobs;		/* being listed, or NULL */
	enum fors_jobkind kind; /* of what is in it; jobs may have demands */
	struct fors_holder holder;
};

/* False: nobody is there any more. */
static bool receive(int fd, void *bytes, size_t size)
{
	for (char *at = bytes; size;) {
		ssize_t n = recv(fd, at, size, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		size -= (size_t)n;
	}
	return true;
}

static bool answer(int fd, const struct fors_helper_answer *answer)
{
	const char *at = (const char *)answer;

	for (size_t left = sizeof(*answer); left;) {
		ssize_t n = send(fd, at, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		left -= (size_t)n;
	}
	return true;
}

/* Bytes that there is no memory for. */
static bool skip(int fd, uint64_t size)
{
	char waste[4096];

	for (; size; size -= size < sizeof(waste) ? size : sizeof(waste))
		if (!receive(fd, waste, size < sizeof(waste) ? (size_t)size : sizeof(waste)))
			return false;
	return true;
}

/* --- lists ------------------------------------------------------------------ */

static void end_list(struct service *service)
{
	if (service->jobs)
		closedir(service->jobs);
	service->jobs = NULL;
}

/* Jobs come first, each with its demand, then demands. No folder has none. */
static void begin_list(struct service *service, const struct fors_folder *folder, enum fors_jobkind kind)
{
	struct fors_error why;
	int at = fors_folder_open(folder, false, &why), jobs;

	end_list(service);
	service->kind = kind;
	if (at < 0)
		return;
	jobs = openat(at, kind == FORS_KIND_JOB ? "jobs" : "demand", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(at);
	service->jobs = jobs < 0 ? NULL : fdopendir(jobs);
	if (jobs >= 0 && !service->jobs)
		close(jobs);
	if (!service->jobs && kind == FORS_KIND_JOB)
		begin_list(service, folder, FORS_KIND_DEMAND);
}

static void take_entry(const struct service *service, const char *name, struct fors_helper_answer *answer)
{
	int at = dirfd(service->jobs);

	answer->nnames += fors_jobfolder_at(at, name, service->kind, answer->job[answer->nnames]);
	if (service->kind == FORS_KIND_JOB)
		answer->nnames += fors_jobfolder_at(at, name, FORS_KIND_JOBDEMAND, answer->job[answer->nnames]);
}

static void list_slice(struct service *service, const struct fors_folder *folder, struct fors_helper_answer *answer)
{
	for (int look = 0; service->jobs && look < LOOKS_PER_SLICE && answer->nnames + 1 < FORS_HELPER_NAMES; look++) {
		const struct dirent *entry = readdir(service->jobs);

		if (entry) {
			take_entry(service, entry->d_name, answer);
			continue;
		}
		end_list(service);
		if (service->kind == FORS_KIND_JOB)
			begin_list(service, folder, FORS_KIND_DEMAND);
	}
	answer->has_more = service->jobs != NULL;
}

/* --- requests --------------------------------------------------------------- */

static struct fors_folder folder_of(const struct service *service, const struct fors_helper_request *request)
{
	struct fors_folder folder = {.parent = service->dir};

	memcpy(folder.tag, request->tag, sizeof(folder.tag));
	memcpy(folder.job, request->job, sizeof(folder.job));
	return folder;
}

static enum fors_err hold(struct service *service, const struct fors_folder *folder, struct fors_helper_answer *answer)
{
	bool is_ours = false;
	enum fors_err err = fors_hold(&service->holder, folder, &is_ours, &answer->error);

	answer->is_ours = is_ours;
	return err;
}

/* The same as a call of publish.h, with its error. */
static void do_request(struct service *service, const struct fors_helper_request *request, const void *bytes,
		       struct fors_helper_answer *answer)
{
	const struct fors_folder folder = folder_of(service, request);
	struct fors_error *error = &answer->error;

	switch (request->what) {
	case FORS_HELPER_PUBLISH:
		error->code = fors_publish(&folder, request->name, bytes, request->size, request->flag, error);
		break;
	case FORS_HELPER_SYNC:
		error->code = fors_publish_sync(&folder, request->name, error);
		break;
	case FORS_HELPER_HEAD:
		error->code = fors_published_head(&folder, request->name, &answer->head, error);
		break;
	case FORS_HELPER_REMOVE_JOB:
		error->code = fors_publish_remove_job(&folder, error);
		break;
	case FORS_HELPER_HOLD:
		error->code = hold(service, &folder, answer);
		break;
	default:
		if (request->flag)
			begin_list(service, &folder, FORS_KIND_JOB);
		list_slice(service, &folder, answer);
	}
}

/* Texts that end where they have to, and no word of another version. */
static bool is_good(const struct fors_helper_request *request)
{
	return request->word == FORS_HELPER_WORD && request->what <= FORS_HELPER_LIST &&
	       request->size <= FORS_HELPER_MOST_BYTES && memchr(request->tag, 0, sizeof(request->tag)) &&
	       memchr(request->job, 0, sizeof(request->job)) && memchr(request->name, 0, sizeof(request->name));
}

/* One request and its answer. 1: done; 0: nobody is there any more; -1: it is none. */
static int serve_one(struct service *service)
{
	struct fors_helper_answer made = {.word = FORS_HELPER_WORD, .error = {.code = FORS_OK}};
	struct fors_helper_request request;
	void *bytes;
	bool is_there;
	pid_t rival;

	if (!receive(service->fd, &request, sizeof(request)))
		return 0;
	if (!is_good(&request))
		return -1;
	bytes = malloc(request.size + 1);
	is_there = bytes ? receive(service->fd, bytes, request.size) : skip(service->fd, request.size);
	rival = is_there ? service->rival(service->context) : 0;
	if (rival)
		fors_fail(&made.error, FORS_EIO,
			  "%s: not touched while the helper of before, process %d, hangs in a file system",
			  service->dir, (int)rival);
	else if (!bytes)
		fors_fail_memory(&made.error);
	else if (is_there)
		do_request(service, &request, bytes, &made);
	free(bytes);
	return is_there && answer(service->fd, &made);
}

int fors_helper_serve(int fd, const char *dir, pid_t (*rival)(void *context), void *context)
{
	struct service service = {.fd = fd, .dir = strdup(dir), .rival = rival, .context = context};
	int is_served = service.dir ? 1 : 0;

	while (is_served > 0)
		is_served = serve_one(&service);
	end_list(&service);
	free(service.dir);
	return is_served;
}
