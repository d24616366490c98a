/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/base/io_thread.c and daemon/base/background.c with threads that are out for as long as a test wants. The clock is the
 * test's own, so patience ends when it says; pause() is linked with --wrap: it tells where a thread that was left stays.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pthread.h>
#include <unistd.h>

#include "daemon/base/background.h"
#include "daemon/base/clock.h"
#include "daemon/base/io_thread.h"
#include "fake_clock.h"
#include "unit.h"

#define LOOKS 20000 /* at something that has to come, a millisecond or more apart */

static atomic_bool is_held, is_out, is_back, is_paused;
static atomic_int nnews;

int __real_pause(void);
int __wrap_pause(void);

int __wrap_pause(void)
{
	atomic_store(&is_paused, true);
	return __real_pause();
}

/* Out to a file system that answers when the test says so. */
static void go(void *context)
{
	(void)context;
	fors_io_begin("/far/away");
	atomic_store(&is_out, true);
	while (atomic_load(&is_held))
		usleep(1000);
	fors_io_end();
	atomic_store(&is_back, true);
}

static int reset(void **state)
{
	atomic_store(&is_held, true);
	atomic_store(&is_out, false);
	atomic_store(&is_back, false);
	atomic_store(&is_paused, false);
	atomic_store(&nnews, 0);
	return 0;
}

static void wait_flag(const atomic_bool *flag)
{
	for (int look = 0; look < LOOKS && !atomic_load(flag); look++)
		usleep(1000);
	assert_true(atomic_load(flag));
}

static struct fors_io_thread *send_out(void)
{
	struct fors_io_thread *io = NULL;

	assert_int_equal(fors_io_thread_start(&io, go, NULL), 0);
	wait_flag(&is_out);
	return io;
}

/* The file system answers as soon as somebody has waited for the thread, looked at it, and waited again. */
static void *answer_later(void *context)
{
	uint64_t before = fake_clock_waits();

	(void)context;
	for (int look = 0; look < LOOKS && fake_clock_waits() < before + 3; look++)
		usleep(1000);
	atomic_store(&is_held, false);
	return NULL;
}

#define CASE(name) TEST(name, reset)

/* However long it was out before: who waits for its end is patient from now on. */
CASE(patience_begins_with_the_waiting)
{
	struct fors_io_thread *io = send_out();
	pthread_t thread;

	fake_clock_advance(100000);
	assert_int_equal(pthread_create(&thread, NULL, answer_later, NULL), 0);
	assert_true(fors_io_thread_end(io, 1000));
	pthread_join(thread, NULL);
	assert_true(atomic_load(&is_back));
}

/* Patience goes by while somebody waits. */
static void *let_time_go_by(void *context)
{
	uint64_t before = fake_clock_waits();

	for (int look = 0; look < LOOKS && fake_clock_waits() < before + 3; look++)
		usleep(1000);
	fake_clock_advance(*(unsigned *)context);
	return NULL;
}

/* Who was left finds what it had borrowed gone: it must not go on. */
CASE(who_was_left_stays_where_it_is)
{
	struct fors_io_thread *io = send_out();
	unsigned patience_ms = 1000;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, let_time_go_by, &patience_ms), 0);
	assert_false(fors_io_thread_end(io, patience_ms));
	pthread_join(thread, NULL);
	atomic_store(&is_held, false);
	for (int look = 0; look < LOOKS && !atomic_load(&is_paused) && !atomic_load(&is_back); look++)
		usleep(1000);
	assert_true(atomic_load(&is_paused));
	assert_false(atomic_load(&is_back));
}

/* --- background ---------------------------------------------------------------- */

static void note_news(void *context)
{
	(void)context;
	atomic_fetch_add(&nnews, 1);
}

static struct fors_background *start(void)
{
	const struct fors_background_setup setup = {.run = go, .news = note_news, .patience_ms = 2000};
	struct fors_background *background = NULL;

	assert_int_equal(fors_background_start(&setup, &background, NULL), FORS_OK);
	return background;
}

static void *exhaust_patience(void *context)
{
	wait_flag(&is_out);
	fake_clock_advance(*(unsigned *)context);
	return NULL;
}

/* Ask for what does not come in time. */
static void ask_late(struct fors_background *background, bool wants_news)
{
	static char task;
	unsigned patience_ms = 2000;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, exhaust_patience, &patience_ms), 0);
	assert_false(fors_background_ask(background, &task, wants_news));
	pthread_join(thread, NULL);
}

static void take_late(struct fors_background *background)
{
	bool is_taken = false;

	atomic_store(&is_held, false);
	for (int look = 0; look < LOOKS && !is_taken; look++) {
		is_taken = fors_background_take(background);
		usleep(1000);
	}
	assert_true(is_taken);
}

/* News of a late task are for who asked for them. */
CASE(no_news_but_for_who_wants_them)
{
	struct fors_background *background = start();

	ask_late(background, true);
	assert_int_equal(atomic_load(&nnews), 0);
	take_late(background);
	assert_int_equal(atomic_load(&nnews), 1);
	reset(NULL);
	ask_late(background, false);
	take_late(background);
	assert_int_equal(atomic_load(&nnews), 0);
	assert_true(fors_background_stop(background));
}

/* Trouble is named with the time when it began, however late somebody asks. */
CASE(trouble_has_the_time_of_its_beginning)
{
	struct fors_background *background = start();
	time_t begin = (time_t)(fors_clock_unix_ms() / 1000);
	char text[400] = "none", expected[100];
	struct tm parts;

	assert_false(fors_background_trouble(background, text, sizeof(text)));
	assert_string_equal(text, "none");
	ask_late(background, false);
	fake_clock_advance(3600000);
	assert_true(fors_background_trouble(background, text, sizeof(text)));
	assert_non_null(gmtime_r(&begin, &parts));
	strftime(expected, sizeof(expected), "/far/away: has not answered since %Y-%m-%d %H:%M:%S UTC", &parts);
	assert_string_equal(text, expected);
	take_late(background);
	assert_true(fors_background_stop(background));
}

/* Time goes by in steps as long as somebody waits. */
static void *let_time_run(void *context)
{
	const atomic_bool *is_over = context;

	while (!atomic_load(is_over)) {
		fake_clock_advance(50);
		usleep(1000);
	}
	return NULL;
}

/* Several that hang, and are told at once, are waited for no longer than one. */
CASE(who_were_dismissed_are_waited_for_together)
{
	struct fors_background *background[4];
	atomic_bool is_over = false;
	pthread_t thread;
	uint64_t begin;

	for (int i = 0; i < 4; i++) {
		background[i] = start();
		atomic_store(&is_out, false);
		ask_late(background[i], false);
	}
	begin = fors_clock_ms();
	for (int i = 0; i < 4; i++)
		fors_background_dismiss(background[i]);
	fors_background_dismiss(NULL);
	assert_int_equal(pthread_create(&thread, NULL, let_time_run, &is_over), 0);
	for (int i = 0; i < 4; i++)
		assert_false(fors_background_stop(background[i]));
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	assert_in_range(fors_clock_ms() - begin, 1000, 2000);
}
