/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: opensm runs as root, so a user who could slip a symbolic link into the
 * state folder must gain nothing. All is done relative to directory handles that were
 * opened with O_NOFOLLOW, the temporary file with O_EXCL; and a state folder that a user could change, or a
 * folder above it, is not used at all (trust.c).
 */
#include "config.h"

#include "publish_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/jobs/joblist.h"
#include "daemon/base/io_thread.h"
#include "trust.h"

enum fors_err fors_folder_init(struct fors_folder *folder, const char *state_dir, uint64_t port_guid,
			       struct fors_error *error)
{
	const char *cache = getenv("OSM_CACHE_DIR");
	char *parent = NULL;

	if (state_dir)
		parent = strdup(state_dir);
	else if (asprintf(&parent, "%s/fors", cache && *cache ? cache : "/var/cache/opensm") < 0)
		parent = NULL;
	if (!parent)
		return fors_fail_memory(error);
	folder->parent = parent;
	snprintf(folder->name, sizeof(folder->name), "0x%016" PRIx64, port_guid);
	folder->tag[0] = folder->job[0] = '\0';
	folder->is_shadow = false;
	return FORS_OK;
}

void fors_folder_clear(struct fors_folder *folder)
{
	free(folder->parent);
	folder->parent = NULL;
}

static const char marks[] = {[FORS_KIND_DEMAND] = '+', [FORS_KIND_JOBDEMAND] = '='};

enum fors_jobkind fors_jobkind(const char *job)
{
	return *job == marks[FORS_KIND_DEMAND]	    ? FORS_KIND_DEMAND
	       : *job == marks[FORS_KIND_JOBDEMAND] ? FORS_KIND_JOBDEMAND
						    : FORS_KIND_JOB;
}

#define MOST_PARTS 4

/* The folders that lead to that of a job or a demand, and it; returns how many. */
static unsigned parts_of(const struct fors_folder *folder, const char *part[MOST_PARTS])
{
	enum fors_jobkind kind = fors_jobkind(folder->job);
	const char *name = folder->job + (kind != FORS_KIND_JOB);
	unsigned n = 0;

	if (*folder->job && kind != FORS_KIND_DEMAND) {
		part[n++] = "jobs";
		part[n++] = name;
	}
	if (kind != FORS_KIND_JOB) {
		part[n++] = "demand";
		part[n++] = name;
	}
	return n;
}

void fors_folder_path(const struct fors_folder *folder, const char *name, char path[FORS_ERROR_TEXT])
{
	const char *part[MOST_PARTS];
	char below[4 * sizeof(folder->job)] = "";
	size_t end = 0;

	for (unsigned i = 0, n = parts_of(folder, part); i < n; i++)
		end += (size_t)snprintf(below + end, sizeof(below) - end, "%s/", part[i]);
	snprintf(path, FORS_ERROR_TEXT, "%s/%s%s%s%s%s", folder->parent, folder->name, *folder->name ? "/" : "",
		 folder->is_shadow ? "shadow/" : "", below, name);
}

static enum fors_err fail_file(const struct fors_folder *folder, const char *name, const char *step,
			       struct fors_error *error)
{
	int number = errno;
	char path[FORS_ERROR_TEXT];

	fors_folder_path(folder, name, path);
	return fors_fail(error, FORS_EIO, "%.300s: %s: %s", path, step, strerror(number));
}

static int open_directory(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void close_kept(int fd)
{
	int saved = errno;

	close(fd);
	errno = saved;
}

/* A folder in one that is open, made when `make` is set. -1 and errno. */
static int enter_below(int at, const char *name, bool make)
{
	int fd = open_directory(at, name);

	if (fd >= 0 || errno != ENOENT || !make || mkdirat(at, name, 0755))
		return fd;
	fd = open_directory(at, name);
	if (fd >= 0)
		fchmod(fd, 0755); /* whatever the umask is */
	return fd;
}

bool fors_jobfolder(const char *name, enum fors_jobkind kind, char job[64])
{
	size_t length = strlen(name);
	bool is_marked = kind != FORS_KIND_JOB;

	if (!fors_jobname_is_good((struct fors_span){name, name + length}) ||
	    length > (is_marked ? FORS_DEMANDNAME_ROOM - 2 : 63))
		return false;
	*job = marks[kind];
	memcpy(job + is_marked, name, length + 1);
	return true;
}

bool fors_jobfolder_at(int folder, const char *name, enum fors_jobkind kind, char job[64])
{
	char path[256];
	struct stat info;

	if (!fors_jobfolder(name, kind, job))
		return false;
	snprintf(path, sizeof(path), "%.63s/demand/%.63s", name, name);
	return kind != FORS_KIND_JOBDEMAND || !fstatat(folder, path, &info, AT_SYMLINK_NOFOLLOW);
}

bool fors_demandname(const char *path, char name[FORS_DEMANDNAME_ROOM])
{
	const char *base = strrchr(path, '/'), *end;

	base = base ? base + 1 : path;
	end = strrchr(base, '.');
	if (!end || end == base)
		end = base + strlen(base);
	if (!fors_jobname_is_good((struct fors_span){base, end}) || end - base > FORS_DEMANDNAME_ROOM - 2)
		return false;
	snprintf(name, FORS_DEMANDNAME_ROOM, "%c%.*s", marks[FORS_KIND_DEMAND], (int)(end - base), base);
	return true;
}

/* From the handle of a folder, which is closed, to that of the last one of these. -1 and errno. */
static int enter_parts(int at, const char *const *part, unsigned n, bool make)
{
	for (unsigned i = 0; i < n && at >= 0; i++) {
		int outer = at;

		at = enter_below(outer, part[i], make);
		close_kept(outer);
	}
	return at;
}

/* From the handle of a folder, which is closed, to that of the job's folder in it. -1 and errno. */
static int enter_job(int at, const struct fors_folder *folder, bool make)
{
	const char *part[MOST_PARTS];

	return enter_parts(at, part, parts_of(folder, part), make);
}

/* From the handle of a folder, which is closed, to that of the shadow in it. -1 and errno. */
static int enter_shadow(int at, const struct fors_folder *folder, bool make)
{
	int fd;

	if (at < 0 || !folder->is_shadow)
		return at;
	fd = enter_below(at, "shadow", make);
	close_kept(at);
	return fd;
}

/* As fors_folder_open(), but for the job. */
static int open_outer(const struct fors_folder *folder, bool make, struct fors_error *why)
{
	int parent, fd;

	if (!*folder->name)
		return open_directory(AT_FDCWD, folder->parent);
	parent = fors_trust_open(folder->parent, make, why);
	if (parent < 0)
		return -1;
	fd = fors_trust_enter(parent, folder->name, make, why);
	close_kept(parent);
	return fd;
}

int fors_folder_open(const struct fors_folder *folder, bool make, struct fors_error *why)
{
	return enter_job(enter_shadow(open_outer(folder, make, why), folder, make), folder, make);
}

/* A new, empty file; one that a crash left behind is removed first. */
static int create_file(int folder, const char *name)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(folder, name, flags, 0644);

	if (fd < 0 && errno == EEXIST && !unlinkat(folder, name, 0))
		fd = openat(folder, name, flags, 0644);
	return fd;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Fill, sync and close fd; the name of the step that failed, or NULL. errno is kept. */
static const char *fill_file(int fd, const void *bytes, size_t size, bool is_durable)
{
	const char *failed = NULL;
	int saved;

	if (fchmod(fd, 0644)) /* whatever the umask is */
		failed = "cannot set its mode";
	else if (write_all(fd, bytes, size))
		failed = "cannot be written";
	else if (is_durable && fsync(fd))
		failed = "cannot be synced";
	saved = errno;
	if (close(fd) && !failed)
		return "cannot be closed";
	errno = saved;
	return failed;
}

struct fors_temporary fors_temporary_of(const char *name, const char *tag)
{
	struct fors_temporary made;

	snprintf(made.name, sizeof(made.name), ".%s%s.new", name, tag);
	return made;
}

/* The step that failed, or NULL: then no temporary file stays. errno is kept. */
static const char *undo(int folder, const char *temporary, const char *failed)
{
	int saved = errno;

	if (failed)
		unlinkat(folder, temporary, 0);
	errno = saved;
	return failed;
}

const char *fors_temporary_write(int folder, const char *temporary, const void *bytes, size_t size, bool is_durable)
{
	int fd = create_file(folder, temporary);

	if (fd < 0)
		return "no temporary file";
	return undo(folder, temporary, fill_file(fd, bytes, size, is_durable));
}

/* Write under a temporary name and rename; the name of the step that failed, or NULL. */
static const char *replace_file(int folder, const char *name, const char *tag, const void *bytes, size_t size,
				bool is_durable)
{
	struct fors_temporary temporary = fors_temporary_of(name, tag);
	const char *failed = fors_temporary_write(folder, temporary.name, bytes, size, is_durable);

	if (failed)
		return fors_spare_use(folder, name, bytes, size) ? NULL : failed;
	failed = fors_spare_make(folder, name, bytes, size, size);
	if (failed)
		return undo(folder, temporary.name, failed);
	if (renameat(folder, temporary.name, folder, name))
		return undo(folder, temporary.name, "cannot be renamed");
	return is_durable && fsync(folder) ? "its folder cannot be synced" : NULL;
}

static enum fors_err write_file(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
				bool is_durable, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	struct fors_error why = {.code = FORS_OK};
	const char *failed;
	int fd = fors_folder_open(folder, true, &why);

	if (fd < 0 && why.code)
		return fors_fail(error, why.code, "the state folder is not used: %s", why.text);
	if (fd < 0)
		return fail_file(folder, "", "the folder cannot be opened", error);
	failed = replace_file(fd, name, folder->tag, bytes, size, is_durable);
	if (failed)
		err = fail_file(folder, name, failed, error);
	close(fd);
	return err;
}

enum fors_err fors_publish(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
			   bool is_durable, struct fors_error *error)
{
	enum fors_err err;

	fors_io_begin(folder->parent);
	err = write_file(folder, name, bytes, size, is_durable, error);
	fors_io_end();
	return err;
}

void *fors_read_bytes(int fd, size_t size)
{
	char *bytes = malloc(size + 1);
	size_t done = 0;

	while (bytes && done < size) {
		ssize_t n = read(fd, bytes + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			if (!n)
				errno = EIO;
			free(bytes);
			return NULL;
		}
		done += (size_t)n;
	}
	if (bytes)
		bytes[size] = '\0';
	return bytes;
}

/* A handle of the file, or -1 and errno; a folder that is not there, or none of ours, has no files. */
static int open_published(const struct fors_folder *folder, const char *name)
{
	struct fors_error why;
	int at = fors_folder_open(folder, false, &why);
	int fd, saved;

	if (at < 0) {
		errno = ENOENT;
		return -1;
	}
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	saved = errno;
	close(at);
	errno = saved;
	return fd;
}

static enum fors_err read_file(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
			       size_t *size, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	struct stat info;
	void *found = NULL;
	int fd = open_published(folder, name);

	if (fd < 0 && errno != ENOENT)
		return fail_file(folder, name, "cannot be opened", error);
	if (fd >= 0) {
		if (fstat(fd, &info) || !S_ISREG(info.st_mode) || (uint64_t)info.st_size > max_size)
			err = fors_fail(error, FORS_EIO, "%s/%s/%s: not a regular file of at most %zu bytes",
					folder->parent, folder->name, name, max_size);
		else if (!(found = fors_read_bytes(fd, (size_t)info.st_size)))
			err = errno == ENOMEM ? fors_fail_memory(error)
					      : fail_file(folder, name, "cannot be read", error);
		close(fd);
	}
	if (!err) {
		*bytes = found;
		*size = found ? (size_t)info.st_size : 0;
	}
	return err;
}

/* Errors of open() that last: whoever put this there, it is nothing that was published. */
static bool is_misfit(int number)
{
	return number == ELOOP || number == EACCES || number == EPERM || number == ENXIO;
}

static enum fors_err fail_misfit(const struct fors_folder *folder, const char *name, struct fors_error *error)
{
	char path[FORS_ERROR_TEXT];

	fors_folder_path(folder, name, path);
	return fors_fail(error, FORS_EINPUT, "%s: not a regular file", path);
}

/* Fill head->bytes from fd, as far as the file goes. -1 and errno. */
static int read_head(int fd, struct fors_head *head)
{
	while (head->size < sizeof(head->bytes)) {
		ssize_t n = read(fd, head->bytes + head->size, sizeof(head->bytes) - head->size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return (int)n;
		head->size += (size_t)n;
	}
	return 0;
}

enum fors_err fors_published_head(const struct fors_folder *folder, const char *name, struct fors_head *head,
				  struct fors_error *error)
{
	struct fors_head found = {.is_there = false};
	enum fors_err err = FORS_OK;
	struct stat info;
	int fd;

	fors_io_begin(folder->parent);
	fd = open_published(folder, name);
	found.is_there = fd >= 0;
	if (fd < 0 && errno != ENOENT) {
		err = is_misfit(errno) ? FORS_EINPUT : FORS_EIO;
		fail_file(folder, name, "cannot be opened", error);
	}
	if (fd >= 0) {
		if (fstat(fd, &info) || (S_ISREG(info.st_mode) && read_head(fd, &found)))
			err = fail_file(folder, name, "cannot be read", error);
		else if (!S_ISREG(info.st_mode))
			err = fail_misfit(folder, name, error);
		close(fd);
		found.file_size = err ? 0 : (uint64_t)info.st_size;
	}
	fors_io_end();
	if (!err)
		*head = found;
	return err;
}

enum fors_err fors_published(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
			     size_t *size, struct fors_error *error)
{
	enum fors_err err;

	fors_io_begin(folder->parent);
	err = read_file(folder, name, max_size, bytes, size, error);
	fors_io_end();
	return err;
}

int fors_folder_enter(const struct fors_folder *folder, bool make)
{
	struct fors_error why;

	fors_io_begin(folder->parent);
	return fors_folder_open(folder, make, &why);
}

void fors_folder_leave(int at)
{
	if (at >= 0)
		close(at);
	fors_io_end();
}

bool fors_publish_has(const struct fors_folder *folder, const char *name)
{
	struct stat info;
	int at = fors_folder_enter(folder, false);
	bool is_there = at >= 0 && !fstatat(at, name, &info, AT_SYMLINK_NOFOLLOW);

	fors_folder_leave(at);
	return is_there;
}

static enum fors_err sync_file(const struct fors_folder *folder, int at, const char *name, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? FORS_OK : fail_file(folder, name, "cannot be opened", error);
	if (fsync(fd))
		err = fail_file(folder, name, "cannot be synced", error);
	else if (fsync(at))
		err = fail_file(folder, name, "its folder cannot be synced", error);
	close(fd);
	return err;
}

enum fors_err fors_publish_sync(const struct fors_folder *folder, const char *name, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	int at = fors_folder_enter(folder, false);

	if (at >= 0)
		err = sync_file(folder, at, name, error);
	if (at >= 0 && !err && !strcmp(name, "schedule"))
		err = sync_file(folder, at, FORS_SPARE, error);
	fors_folder_leave(at);
	return err;
}

enum fors_err fors_publish_rename(const struct fors_folder *folder, const char *from, const char *to,
				  struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	int at = fors_folder_enter(folder, false);

	if (at < 0)
		err = fail_file(folder, from, "the folder cannot be opened", error);
	else if (renameat(at, from, at, to))
		err = fail_file(folder, from, "cannot be renamed", error);
	fors_folder_leave(at);
	return err;
}

enum fors_err fors_publish_remove(const struct fors_folder *folder, const char *name, struct fors_error *error)
{
	enum fors_err err = FORS_OK;
	int at = fors_folder_enter(folder, false);

	if (at < 0)
		err = fail_file(folder, name, "the folder cannot be opened", error);
	else if (unlinkat(at, name, 0) && errno != ENOENT)
		err = fail_file(folder, name, "cannot be removed", error);
	fors_folder_leave(at);
	return err;
}

/* --- folders of jobs ---------------------------------------------------------- */

/* Takes the handle. */
static void list_names(int fd, enum fors_jobkind kind, void (*take)(void *context, const char *name), void *context)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	char job[64];

	if (!dir) {
		close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (fors_jobfolder_at(dirfd(dir), entry->d_name, kind, job))
			take(context, job);
	closedir(dir);
}

enum fors_err fors_publish_list_jobs(const struct fors_folder *folder, enum fors_jobkind kind,
				     void (*take)(void *context, const char *name), void *context,
				     struct fors_error *error)
{
	const char *name = kind == FORS_KIND_DEMAND ? "demand" : "jobs";
	int at = fors_folder_enter(folder, false), jobs;
	enum fors_err err = FORS_OK;

	jobs = at < 0 ? -1 : open_directory(at, name);
	if (jobs >= 0)
		list_names(jobs, kind, take, context);
	else if (errno != ENOENT)
		err = fail_file(folder, name, "cannot be opened", error);
	if (err && at >= 0)
		error->code = err = FORS_EINPUT;
	fors_folder_leave(at);
	return err;
}

/* What was published in the folder `name`, then it. -1 and errno. */
static int remove_leaf(int at, const char *name, const char *tag)
{
	char temporary[64];
	int fd = open_directory(at, name);

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	snprintf(temporary, sizeof(temporary), ".schedule%s.new", tag);
	unlinkat(fd, temporary, 0);
	unlinkat(fd, FORS_SPARE, 0);
	unlinkat(fd, "schedule", 0);
	close(fd);
	return unlinkat(at, name, AT_REMOVEDIR);
}

/* The demand of the job `name`, whose folder is in `jobs`. What stays is seen when that is removed. */
static void remove_demand(int jobs, const char *name, const char *tag)
{
	int job = open_directory(jobs, name), demand = job < 0 ? -1 : open_directory(job, "demand");

	if (demand >= 0) {
		remove_leaf(demand, name, tag);
		close(demand);
		unlinkat(job, "demand", AT_REMOVEDIR);
	}
	if (job >= 0)
		close(job);
}

/* From the handle of `jobs` or `demand`. -1 and errno. */
static int remove_job(int jobs, const struct fors_folder *folder)
{
	enum fors_jobkind kind = fors_jobkind(folder->job);
	const char *name = folder->job + (kind != FORS_KIND_JOB);

	if (kind != FORS_KIND_DEMAND)
		remove_demand(jobs, name, folder->tag);
	if (kind != FORS_KIND_JOBDEMAND)
		return remove_leaf(jobs, name, folder->tag);
	return unlinkat(jobs, name, AT_REMOVEDIR) && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST ? -1 : 0;
}

enum fors_err fors_publish_remove_job(const struct fors_folder *folder, struct fors_error *error)
{
	const char *part[MOST_PARTS];
	struct fors_error why;
	enum fors_err err = FORS_OK;
	int at, jobs;

	parts_of(folder, part);
	fors_io_begin(folder->parent);
	at = open_outer(folder, false, &why);
	jobs = at < 0 ? -1 : open_directory(at, part[0]);
	if (jobs >= 0 && remove_job(jobs, folder))
		err = fail_file(folder, "", "cannot be removed", error);
	if (jobs >= 0)
		close(jobs);
	fors_folder_leave(at);
	return err;
}
