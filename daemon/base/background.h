/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * background.h - work with files that may hang, done in the background: one thread, one task that goes to and fro.
 *
 * OpenSM's sweeper asks, and waits for as long as the thread computes; but when one call to a file system takes longer
 * than FORS_BACKGROUND_PATIENCE_MS it goes on without an answer. Local files answer in microseconds, so nothing but a
 * file system that hangs is ever late. While it does, nobody waits for it again.
 * Threads: all functions but fors_background_start() and fors_background_stop() for one thread, the one that asks.
 */
#ifndef FORS_DAEMON_BASE_BACKGROUND_H
#define FORS_DAEMON_BASE_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_BACKGROUND_PATIENCE_MS 500u

struct fors_background;

struct fors_background_setup {
	void (*run)(void *task);     /* by the thread; goes out to file systems by fors_io_begin() */
	void (*news)(void *context); /* by the thread: a late task is done, and can be taken back. Or NULL */
	void *context;		     /* of news() */
	unsigned patience_ms;	     /* 0: FORS_BACKGROUND_PATIENCE_MS */
};

/* Errors: FORS_ENOMEM. */
enum fors_err fors_background_start(const struct fors_background_setup *setup, struct fors_background **background,
				    struct fors_error *error);

/*
 * Have a task done. True: it is. False: not yet; the task is the thread's until fors_background_take() says otherwise. Not to be
 * called before that. wants_news: news() is called when it is done late.
 */
bool fors_background_ask(struct fors_background *background, void *task, bool wants_news);

/* Is a late task done meanwhile? True: it is the caller's again. */
bool fors_background_take(struct fors_background *background);

/* "PATH: has not answered since TIME", when the thread is out for something. False: it is not, the text stays. */
bool fors_background_trouble(struct fors_background *background, char *text, size_t size);

/* The thread is to end, and nobody waits for it as yet: of several that may hang all are told before the first one is waited for. NULL is allowed. */
void fors_background_dismiss(struct fors_background *background);

/* End the thread; NULL is allowed. False: it hangs, and was left alone; the task stays its own for ever. */
bool fors_background_stop(struct fors_background *background);

#endif
