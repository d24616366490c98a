/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jobs_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "daemon/base/background.h"
#include "daemon/base/conf.h"
#include "daemon/files/input.h"
#include "daemon/base/io_thread.h"

#define MOST_MB 16u

/* What is asked of the thread, and what it found. */
struct errand {
	char path[FORS_CONF_LINE_MAX];
	struct fors_stamps stamps; /* of the text that was handed out last; none: there was none */
	struct stat before;	   /* the file of that text; st_ino 0: none */
	struct stat doubted;	   /* what was found last and not believed; st_ino 0: none */
	enum fors_jobs_news news;
	char *text; /* owned; of FORS_JOBS_NEW */
	size_t size;
	struct fors_error error;
};

struct fors_jobs_file {
	struct fors_background *background;
	struct errand *errand; /* the thread's while it is away: is_away */
	bool is_away;
	bool is_void; /* forget what the errand brings */
};

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Is it another file than was opened, or not the same any more? */
static bool has_changed(const char *path, const struct stat *read)
{
	struct stat now;
	bool is_there;

	fors_io_begin(path);
	is_there = !stat(path, &now);
	fors_io_end();
	return !is_there || !is_same(&now, read);
}

/* May it be half of a file? */
static bool is_doubtful(const struct errand *errand, const char *text, const struct stat *info)
{
	const struct stat *before = &errand->before;
	bool is_in_place = before->st_ino == info->st_ino && before->st_dev == info->st_dev && !is_same(before, info);

	return (is_in_place || !info->st_size || text[info->st_size - 1] != '\n') && !is_same(&errand->doubted, info);
}

static void read_file(struct errand *errand)
{
	struct fors_stamps stamps = {.count = 0};
	struct stat info;
	char *text;

	errand->news = FORS_JOBS_BAD;
	if (fors_input_read(errand->path, MOST_MB, &info, &text, &stamps, &errand->error)) {
		fors_stamps_clear(&errand->stamps); /* what comes back is news */
		return;
	}
	errand->news = FORS_JOBS_SAME;
	if (has_changed(errand->path, &info) || is_doubtful(errand, text, &info)) {
		errand->doubted = info;
		fors_stamps_clear(&stamps);
		free(text);
		return;
	}
	fors_stamps_clear(&errand->stamps);
	errand->stamps = stamps;
	errand->before = errand->doubted = info;
	errand->news = FORS_JOBS_NEW;
	errand->text = text;
	errand->size = (size_t)info.st_size;
}

static void run(void *task)
{
	struct errand *errand = task;

	errand->news = FORS_JOBS_SAME;
	if (!errand->stamps.count || !fors_stamps_hold(&errand->stamps))
		read_file(errand);
}

static void forget(struct errand *errand)
{
	fors_stamps_clear(&errand->stamps);
	errand->before.st_ino = errand->doubted.st_ino = 0;
}

static enum fors_err start(struct fors_jobs_file **file, struct fors_error *error)
{
	const struct fors_background_setup setup = {.run = run};
	struct fors_jobs_file *made = calloc(1, sizeof(*made));
	enum fors_err err;

	if (made)
		made->errand = calloc(1, sizeof(*made->errand));
	if (!made || !made->errand) {
		free(made);
		return fors_fail_memory(error);
	}
	err = fors_background_start(&setup, &made->background, error);
	if (err) {
		free(made->errand);
		free(made);
		return err;
	}
	*file = made;
	return FORS_OK;
}

/* Nobody wants what the errand brings. */
static void discard(struct fors_jobs_file *file)
{
	if (file->errand->news == FORS_JOBS_NEW)
		free(file->errand->text);
	file->errand->text = NULL;
	file->is_void = false;
	forget(file->errand);
}

bool fors_jobs_file_is_free(struct fors_jobs_file *file, const char *path)
{
	if (file->is_away && strcmp(file->errand->path, path) != 0 && fors_background_take(file->background)) {
		file->is_away = false;
		discard(file);
	}
	return !file->is_away || !strcmp(file->errand->path, path);
}

enum fors_err fors_jobs_file_have(struct fors_jobs_file **file, const char *path, struct fors_error *error)
{
	if (*file && !fors_jobs_file_is_free(*file, path)) {
		fors_jobs_file_stop(*file);
		*file = NULL;
	}
	return *file ? FORS_OK : start(file, error);
}

/* The errand is back: what it found, unless nobody wants it any more. */
static enum fors_jobs_news take(struct fors_jobs_file *file, const char *path, char **text, size_t *size,
				struct fors_error *error)
{
	struct errand *errand = file->errand;
	enum fors_jobs_news news = errand->news;

	if (file->is_void || strcmp(errand->path, path) != 0) {
		discard(file);
		news = FORS_JOBS_SAME;
	}
	if (news == FORS_JOBS_NEW) {
		*text = errand->text;
		*size = errand->size;
	} else if (news == FORS_JOBS_BAD) {
		*error = errand->error;
	}
	errand->text = NULL;
	return news;
}

enum fors_jobs_news fors_jobs_file_look(struct fors_jobs_file *file, const char *path, char **text, size_t *size,
					struct fors_error *error)
{
	struct errand *errand = file->errand;

	if (file->is_away) {
		file->is_away = !fors_background_take(file->background);
		if (!file->is_away && errand->news == FORS_JOBS_SAME)
			fors_stamps_clear(
				&errand->stamps); /* who was told that it does not answer is told that it does: by the text */
	} else {
		if (strcmp(errand->path, path) != 0)
			forget(errand);
		snprintf(errand->path, sizeof(errand->path), "%s", path);
		file->is_away = !fors_background_ask(file->background, errand, false);
	}
	if (!file->is_away)
		return take(file, path, text, size, error);
	error->code = FORS_EIO;
	if (!fors_background_trouble(file->background, error->text, sizeof(error->text)))
		snprintf(error->text, sizeof(error->text), "%.300s: does not answer", path);
	return FORS_JOBS_LATE;
}

void fors_jobs_file_forget(struct fors_jobs_file *file)
{
	if (file->is_away)
		file->is_void = true;
	else
		forget(file->errand);
}

void fors_jobs_file_dismiss(struct fors_jobs_file *file)
{
	if (file)
		fors_background_dismiss(file->background);
}

void fors_jobs_file_stop(struct fors_jobs_file *file)
{
	if (!file)
		return;
	if (fors_background_stop(file->background)) {
		if (file->errand->news == FORS_JOBS_NEW)
			free(file->errand->text);
		forget(file->errand);
		free(file->errand);
	}
	free(file);
}
