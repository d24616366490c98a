/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publish.h - files in the state folder, written so that a reader sees the old bytes or the new ones.
 *
 * The folder is opened anew for each file: an administrator may move or remake it at any time.
 * Threads: one thread at a time writes to a folder.
 */
#ifndef FORS_DAEMON_FILES_PUBLISH_H
#define FORS_DAEMON_FILES_PUBLISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/*
 * A state folder: <parent>/0x<SM port GUID>. `parent` is made when it is missing, its own parent is not. Without a
 * name it is <parent> itself, which is never made: it may be where a file system is to be mounted.
 */
struct fors_folder {
	char *parent;
	char name[24]; /* "" for none */
	char tag[24];  /* part of temporary names, where several daemons write to one folder; or "" */
	char job[64]; /* what is meant is the folder jobs/<job> in it, made when it is missing; or ""; see enum fors_jobkind */
	bool is_shadow; /* what is meant is the folder `shadow` in it, likewise: see daemon/shadow */
};

/* What a `job` is. Of the last two it begins with a mark, which no name of a job does; `rest` is what follows. */
enum fors_jobkind {
	FORS_KIND_JOB,	     /* jobs/<job> */
	FORS_KIND_DEMAND,    /* +: demand/<rest> */
	FORS_KIND_JOBDEMAND, /* =: of the job <rest>, jobs/<rest>/demand/<rest> */
};

#define FORS_DEMANDNAME_ROOM 64

enum fors_jobkind fors_jobkind(const char *job);

/* Such a name for a demand file: the mark, and the name of the file without folder and ending. False: that is no name of a folder. */
bool fors_demandname(const char *path, char name[FORS_DEMANDNAME_ROOM]);
/*
 * The `job` for a name of a job, or of a demand, in job[64]. False: none of this kind has such a name. Names of demands have at most 62 characters, and
 * so have those of jobs with a demand.
 */
bool fors_jobfolder(const char *name, enum fors_jobkind kind, char job[64]);
/* The same for an entry of a folder, `jobs` or `demand`, that is open. False also when this job has no demand. */
bool fors_jobfolder_at(int folder, const char *name, enum fors_jobkind kind, char job[64]);

/*
 * The folder of an SM port under state_dir; NULL stands for ${OSM_CACHE_DIR:-/var/cache/opensm}/fors.
 * Nothing is made on disk yet. Errors: FORS_ENOMEM.
 */
enum fors_err fors_folder_init(struct fors_folder *folder, const char *state_dir, uint64_t port_guid,
			       struct fors_error *error);
void fors_folder_clear(struct fors_folder *folder);

/* Where a file of the folder is, for messages: cut to what they have room for. */
void fors_folder_path(const struct fors_folder *folder, const char *name, char path[FORS_ERROR_TEXT]);

/*
 * Replace the file `name` in the folder: written to a temporary name, fsynced (unless readers wait for it, or it says
 * nothing after a crash of the machine: is_durable false), renamed, mode 0644. No symbolic link is followed from
 * `parent` on. Before a `schedule` with phases is seen its withdrawal lies ready there, and one that cannot be written
 * is seen by way of that (publish_spare.c). Errors: FORS_EIO (names the step), FORS_EINPUT (a state folder that others than root and we could
 * change: says whose it is, and what to do); the old file stays.
 */
enum fors_err fors_publish(const struct fors_folder *folder, const char *name, const void *bytes, size_t size,
			   bool is_durable, struct fors_error *error);

/*
 * Wait until a file that was published without being durable is on the disk, under its name, and so is what lies ready. One that is gone is no
 * error. Errors: FORS_EIO.
 */
enum fors_err fors_publish_sync(const struct fors_folder *folder, const char *name, struct fors_error *error);

/*
 * The bytes of the file `name`, in *bytes, owned by the caller; NULL when there is no such file, no such folder, or
 * a state folder that others could change.
 * Errors: FORS_EIO (a symbolic link, no regular file, unreadable, larger than max_size), FORS_ENOMEM.
 */
enum fors_err fors_published(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
			     size_t *size, struct fors_error *error);

/* The beginning of a file. */
struct fors_head {
	bool is_there; /* is there such a file? */
	unsigned char bytes[440];
	size_t size;	    /* of these bytes; fewer than there is room for only when the file is as short */
	uint64_t file_size; /* of the whole file */
};

/*
 * The beginning of the file `name`, and no more is read of it: who may write to the folder may have put anything there,
 * of any size. Errors: FORS_EINPUT (a link, no regular file, one that may not be read: it stays so), FORS_EIO (the file
 * system failed, perhaps for now).
 */
enum fors_err fors_published_head(const struct fors_folder *folder, const char *name, struct fors_head *head,
				  struct fors_error *error);

/* `size` bytes of fd with a NUL behind them, owned by the caller; NULL and errno (EIO: there are fewer). */
void *fors_read_bytes(int fd, size_t size);

/* Is there a file of this name in the folder? */
bool fors_publish_has(const struct fors_folder *folder, const char *name);

/* Rename a file of the folder. Errors: FORS_EIO. */
enum fors_err fors_publish_rename(const struct fors_folder *folder, const char *from, const char *to,
				  struct fors_error *error);

/*
 * Call take() for each `job` of this kind in a folder that is no job's. What cannot be read has none. What
 * has no such name (core/jobs/joblist.h) is somebody else's, and left out. Errors: FORS_EIO (the folder cannot be
 * entered), FORS_EINPUT (`jobs`, or `demand`, is in the way).
 */
enum fors_err fors_publish_list_jobs(const struct fors_folder *folder, enum fors_jobkind kind,
				     void (*take)(void *context, const char *name), void *context,
				     struct fors_error *error);

/*
 * Remove a job's or a demand's folder with what was published there, a job's demand too; one that is not there is no error. With a
 * job's demand goes the folder of the job, if that is empty then. Errors: FORS_EIO (also when there is something else in it).
 */
enum fors_err fors_publish_remove_job(const struct fors_folder *folder, struct fors_error *error);

/* Remove a file of the folder; one that is not there is no error. Errors: FORS_EIO. */
enum fors_err fors_publish_remove(const struct fors_folder *folder, const char *name, struct fors_error *error);

#endif
