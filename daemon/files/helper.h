/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helper.h - publish_dir by way of a helper program, which may hang there: opensm's thread waits for as long as it likes,
 * and leaves it. Functions of publish.h, with the same meanings, for folders without a name.
 *
 * There is one helper at a time. One that was left and is still there, in a file system that hangs, keeps the next
 * from being started. Threads: one, which is that of the outbox.
 */
#ifndef FORS_DAEMON_FILES_HELPER_H
#define FORS_DAEMON_FILES_HELPER_H

#include "core/schedule/schedule_header.h"
#include "child.h"
#include "helper_wire.h"
#include "publish.h"

struct fors_helper {
	const char *state; /* path of the state folder, by which one helper knows another; borrowed */
	/*
	 * Until when an answer that was asked for at `since` shall be waited for, by fors_clock_ms(); asked again then, and when
	 * `bell` rings. A time that is past: no longer.
	 */
	uint64_t (*until)(void *context, uint64_t since);
	void *context;
	int bell; /* an eventfd, read here; -1: there is none */
	/* its own */
	int fd;			 /* the socket; -1: there is no helper */
	char *dir;		 /* that it serves, owned */
	struct fors_child child; /* with fd -1: one that was left and is not gone; pid 0: none */
};

/* No helper yet. */
void fors_helper_init(struct fors_helper *helper);

/*
 * Tell the helper to end, and wait a moment; what hangs is killed and left. The pid of one that is left, 0: none. It may be
 * used again.
 */
pid_t fors_helper_end(struct fors_helper *helper);
/* Free what it has. */
void fors_helper_clear(struct fors_helper *helper);

/* Is there a helper that answers? After an error that is no: not the file was wrong. */
bool fors_helper_answers(const struct fors_helper *helper);

/* Errors of all of them: FORS_EIO also where no helper can be started, it has ended, or is not waited for any longer. */
enum fors_err fors_helper_publish(struct fors_helper *helper, const struct fors_folder *folder, const char *name,
				  const void *bytes, size_t size, bool is_durable, struct fors_error *error);
enum fors_err fors_helper_sync(struct fors_helper *helper, const struct fors_folder *folder, const char *name,
			       struct fors_error *error);
enum fors_err fors_helper_remove_job(struct fors_helper *helper, const struct fors_folder *folder,
				     struct fors_error *error);
/* As fors_hold(), of a folder for which the helper has been there since it was asked first. */
enum fors_err fors_helper_hold(struct fors_helper *helper, const struct fors_folder *folder, bool *is_ours,
			       struct fors_error *error);
/* As fors_epoch_of_schedule(). */
enum fors_err fors_helper_epoch(struct fors_helper *helper, const struct fors_folder *folder,
				struct fors_schedule_header *header, bool *is_there, struct fors_error *error);

/* Each `job` (publish.h) that has a folder there, of all kinds, a few in each call; what is no name of one is left out. */
struct fors_helper_names {
	uint32_t count;
	bool has_more;
	char name[FORS_HELPER_NAMES][64];
};

enum fors_err fors_helper_list(struct fors_helper *helper, const struct fors_folder *folder, bool from_begin,
			       struct fors_helper_names *names, struct fors_error *error);

/*
 * helper_spawn.c, of which tests have their own: start the program; *fd is the socket to it. Errors: FORS_EIO (what cannot
 * be started), FORS_ENOMEM.
 */
enum fors_err fors_helper_spawn(const char *state, const char *dir, int *fd, struct fors_child *child,
				struct fors_error *error);
/* Send it SIGKILL. */
void fors_helper_kill(struct fors_child *child);
/* Is it gone? Never waits. */
bool fors_helper_gone(struct fors_child *child);

#endif
