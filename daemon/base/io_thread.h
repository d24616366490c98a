/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_thread.h - threads that touch file systems, and those who wait for them.
 *
 * A thread that hangs in the kernel cannot be ended. It can be left alone, if it has said that it goes out to a file
 * system: should it ever come back, it finds that it was left, and stays where it is until the process ends, without
 * touching anything again. So who left it may free what the thread had borrowed, but nothing that it owns.
 */
#ifndef FORS_DAEMON_BASE_IO_THREAD_H
#define FORS_DAEMON_BASE_IO_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fors_io_thread;

/* Start a thread that can be left alone, as fors_thread_start(); *io stands for it. 0, or an errno. */
int fors_io_thread_start(struct fors_io_thread **io, void (*run)(void *context), void *context);

/*
 * Wait for the end of the thread, which was told to end; *io is gone then. True: it has ended. False: one call to a
 * file system took longer than patience_ms (of waiting, here), and the thread was left alone.
 */
bool fors_io_thread_end(struct fors_io_thread *io, unsigned patience_ms);

/* By the thread: I go out to a file system for `what`, back again. Threads that were started otherwise may do so too. */
void fors_io_begin(const char *what);
void fors_io_end(void);

/* Since when, by fors_clock_ms(), the thread is out, and for what; 0: it is not. Any thread. */
uint64_t fors_io_thread_since(struct fors_io_thread *io, char *what, size_t size);

#endif
