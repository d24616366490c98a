/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * publish_inside.h - what the files of publish.c share.
 * Thread rules: those of publish.h.
 */
#ifndef FORS_DAEMON_FILES_PUBLISH_INSIDE_H
#define FORS_DAEMON_FILES_PUBLISH_INSIDE_H

#include "publish.h"

/* The name of a file that is being written. */
struct fors_temporary {
	char name[64];
};

struct fors_temporary fors_temporary_of(const char *name, const char *tag);

/*
 * Write a new file of this temporary name; the name of the step that failed, and errno, or NULL. What fails leaves no file.
 */
const char *fors_temporary_write(int folder, const char *temporary, const void *bytes, size_t size, bool is_durable);

/* --- publish_spare.c: a withdrawal that lies ready, under this name in the folder --- */

#define FORS_SPARE ".schedule.withdrawn"

/*
 * A file `name` of `size` bytes that begins with these is about to be seen: if it is a schedule with phases, have its
 * withdrawal on the disk. The name of the step that failed, and errno, or NULL.
 */
const char *fors_spare_make(int at, const char *name, const void *head, size_t head_size, uint64_t size);

/* These bytes cannot be written to `name`. True: they have its name all the same, by way of the spare. errno is kept. */
bool fors_spare_use(int at, const char *name, const void *bytes, size_t size);

/*
 * A handle of the folder; a state folder is made when `make` is set. -1 and errno, EPERM with *why for a state folder that
 * somebody else could change. Whose publish_dir is, is its readers' business.
 */
int fors_folder_open(const struct fors_folder *folder, bool make, struct fors_error *why);

/* The same by the thread that may hang, for who has no words for why; -1: there is no folder that is used. fors_folder_leave() in any case. */
int fors_folder_enter(const struct fors_folder *folder, bool make);
void fors_folder_leave(int at);

#endif
