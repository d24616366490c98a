/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_kept.c - the kept order between state folder and sweeps, without OpenSM; its log is a stub. */
#include "support.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "daemon/look/kept.h"
#include "daemon/base/io_thread.h"
#include "daemon/base/log.h"
#include "fake_clock.h"
#include "faults.h"

static char logged[4096]; /* all lines of the log, one after another */

static void say(const char *format, va_list values)
{
	size_t used = strlen(logged);

	vsnprintf(logged + used, sizeof(logged) - used, format, values);
	strncat(logged, "\n", sizeof(logged) - strlen(logged) - 1);
}

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	say(format, values);
	va_end(values);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	va_list values;
	size_t used = strlen(logged);

	snprintf(logged + used, sizeof(logged) - used, "F%03d ", code);
	va_start(values, format);
	say(format, values);
	va_end(values);
}

/* Reading hangs while the test wants it to, and takes longer than anybody waits. */
static atomic_bool is_hanging, is_short; /* of memory */
static atomic_uint news;

enum fors_err __real_fors_published(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
				    size_t *size, struct fors_error *error);
enum fors_err __wrap_fors_published(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
				    size_t *size, struct fors_error *error);

enum fors_err __wrap_fors_published(const struct fors_folder *folder, const char *name, size_t max_size, void **bytes,
				    size_t *size, struct fors_error *error)
{
	fors_io_begin(folder->parent);
	if (atomic_load(&is_hanging))
		fake_clock_advance(100000);
	while (atomic_load(&is_hanging))
		usleep(1000);
	fors_io_end();
	if (atomic_load(&is_short))
		return fors_fail_memory(error);
	return __real_fors_published(folder, name, max_size, bytes, size, error);
}

static void note_news(void *context)
{
	atomic_fetch_add(&news, 1);
}

struct ground {
	char parent[64];
	struct fors_folder folder;
	struct fors_kept kept;
	struct bed *bed;
};

static void open_kept(struct ground *g)
{
	const struct fors_kept_setup setup = {.folder = &g->folder, .news = note_news};

	logged[0] = '\0';
	assert_int_equal(fors_kept_open(&g->kept, &setup, NULL), FORS_OK);
}

static int set_up(void **state)
{
	struct ground *g = calloc(1, sizeof(*g));

	snprintf(g->parent, sizeof(g->parent), "/tmp/fors-kept-XXXXXX");
	assert_non_null(mkdtemp(g->parent));
	assert_int_equal(fors_folder_init(&g->folder, g->parent, 0x1234, NULL), FORS_OK);
	g->bed = bed_new("FT(2;3,3)", 0);
	open_kept(g);
	*state = g;
	return 0;
}

static int tear_down(void **state)
{
	struct ground *g FREED(free) = *state;
	char command[128];

	atomic_store(&is_hanging, false); /* when a test ends early */
	atomic_store(&is_short, false);
	fors_kept_close(&g->kept);
	fors_folder_clear(&g->folder);
	bed_free(g->bed);
	snprintf(command, sizeof(command), "rm -rf %s", g->parent);
	assert_int_equal(system(command), 0);
	return 0;
}

static void write_file(struct ground *g, const char *name, const char *text)
{
	assert_int_equal(fors_publish(&g->folder, name, text, strlen(text), false, NULL), FORS_OK);
}

/* A sweep that fors routes; what has changed is written, as the worker would. True: it has. */
static bool sweep(struct ground *g)
{
	char *text;
	size_t size;
	bool is_changed;

	logged[0] = '\0';
	fors_kept_begin(&g->kept);
	assert_int_equal(fors_kept_learn(&g->kept, g->bed->net, NULL, 0, NULL), FORS_OK);
	fors_kept_forget(&g->kept);
	fors_kept_accept(&g->kept);
	fors_kept_end(&g->kept);
	is_changed = fors_kept_changed(&g->kept, &text, &size);
	if (is_changed) {
		assert_int_equal(fors_publish(&g->folder, "places", text, size, false, NULL), FORS_OK);
		free(text);
	}
	return is_changed;
}

static void restart(struct ground *g)
{
	fors_kept_close(&g->kept);
	open_kept(g);
}

static uint32_t lanes(const struct ground *g)
{
	return fors_places_size(g->kept.places).lanes;
}

static void a_spine_dies(struct ground *g)
{
	uint32_t node = g->bed->fabric->spine[1].node;

	bed_down(g->bed, "Spine01");
	g->bed->net->node[node].guid = 0xdead; /* OpenSM would not see it any more */
	assert_int_equal(fors_net_index(g->bed->net, NULL), FORS_OK);
}

#define CASE(name) TEST(name, set_up, tear_down)

CASE(written_only_when_something_changed)
{
	struct ground *g = *state;

	assert_true(sweep(g));
	assert_false(sweep(g));
	restart(g);
	assert_string_equal(logged, "");
	assert_true(sweep(g)); /* once: the worker writes it again when somebody removes it */
	assert_false(sweep(g));
	a_spine_dies(g);
	assert_true(sweep(g)); /* its place is now one of the dead */
	restart(g);
	assert_true(sweep(g));
	assert_false(sweep(g));
	assert_int_equal(lanes(g), 3);
}

/* As long as nothing changes no sweep takes memory that it does not give back. */
CASE(a_sweep_keeps_no_memory)
{
	struct ground *g = *state;
	int64_t live;

	assert_true(sweep(g));
	assert_false(sweep(g));
	live = faults_live();
	for (int i = 0; i < 3; i++)
		assert_false(sweep(g));
	for (int look = 0; look < 20000 && faults_live() != live; look++) /* the other thread still writes */
		usleep(1000);
	assert_int_equal(faults_live(), live);
}

CASE(a_cleared_folder_is_filled_again)
{
	struct ground *g = *state;

	assert_true(sweep(g));
	assert_int_equal(fors_publish_remove(&g->folder, "places", NULL), FORS_OK);
	assert_true(sweep(g));
	assert_true(fors_publish_has(&g->folder, "places"));
}

/* An upgrade: the text of the version before is read, said to be, and written as of today. */
CASE(the_version_before_is_taken_up)
{
	struct ground *g = *state;
	size_t size, former_size;
	char *text, *former;

	assert_true(sweep(g));
	assert_int_equal(fors_places_encode(g->kept.places, &text, &size, NULL), FORS_OK);
	former = former_places(text, "fors-places 2", &former_size);
	write_file(g, "places", former);
	restart(g);
	assert_non_null(strstr(logged, "earlier version of fors wrote is read"));
	assert_int_equal(lanes(g), 3);
	assert_true(sweep(g));
	assert_null(strstr(logged, "F012"));
	free(text);
	free(former);
}

CASE(bad_files_are_put_away)
{
	struct ground *g = *state;
	char path[128];

	write_file(g, "places", "fors-places 9\n");
	restart(g);
	assert_non_null(strstr(logged, "F012 places:1: a kept order of version 9"));
	assert_non_null(strstr(logged, "it is now called places.bad-"));
	assert_false(fors_publish_has(&g->folder, "places"));
	snprintf(path, sizeof(path), "%s/%s/places", g->parent, g->folder.name);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	restart(g);
	assert_non_null(strstr(logged, "F012"));
	assert_int_equal(mkdir(path, 0755), 0);
	restart(g);
	assert_non_null(strstr(logged, "F012"));
	assert_true(sweep(g));
}

static void wait_for_news(unsigned before)
{
	for (int look = 0; look < 20000 && atomic_load(&news) == before; look++)
		usleep(1000);
	assert_int_not_equal(atomic_load(&news), before);
}

/*
 * The folder hangs when opensm starts: the order is learnt, is not written over the one that could not be read, and is
 * replaced by that one when the folder answers.
 */
CASE(a_folder_that_hangs_at_the_start)
{
	struct ground *g = *state;
	unsigned before = atomic_load(&news);
	struct fors_places *reference = NULL;
	char *trouble;

	assert_int_equal(fors_places_refer(g->bed->intact, NULL, 0, &reference, NULL), FORS_OK);
	assert_true(sweep(g));
	fors_kept_close(&g->kept);
	a_spine_dies(g);
	atomic_store(&is_hanging, true);
	open_kept(g);
	assert_non_null(strstr(logged, "F020 /tmp/fors-kept-"));
	assert_non_null(strstr(logged, ": has not answered since "));
	trouble = strdup(fors_kept_trouble(&g->kept));
	fake_clock_set(3600000);
	assert_false(sweep(g));
	assert_string_equal(logged, "");
	assert_string_equal(fors_kept_trouble(&g->kept), trouble); /* whatever the Unix clock says now */
	fake_clock_set(-3600000);
	free(trouble);
	assert_int_equal(lanes(g), 2);
	assert_int_equal(fors_kept_refer(&g->kept, reference, NULL), FORS_OK);
	atomic_store(&is_short, true);
	atomic_store(&is_hanging, false);
	wait_for_news(before);
	assert_false(sweep(g)); /* still not read */
	assert_non_null(strstr(logged, "answers again"));
	atomic_store(&is_short, false);
	assert_true(sweep(g));
	assert_null(fors_kept_trouble(&g->kept));
	assert_int_equal(lanes(g), 3);
	assert_int_equal(fors_kept_refer(&g->kept, reference, NULL), FORS_OK); /* what was read knows nothing of it */
	fors_places_free(reference);
	assert_int_equal(atomic_load(&news), before + 1);
}

/* It hangs later: sweeps go on, a request waits. Closed while it hangs, nobody waits for it for ever. */
CASE(a_folder_that_hangs_later)
{
	struct ground *g = *state;
	uint64_t dead = g->bed->fabric->spine[1].guid;
	unsigned before = atomic_load(&news);
	char text[64];

	sweep(g);
	a_spine_dies(g);
	sweep(g);
	snprintf(text, sizeof(text), "0x%llx\n", (unsigned long long)dead);
	write_file(g, "forget", text);
	atomic_store(&is_hanging, true);
	sweep(g);
	assert_non_null(strstr(logged, "F020 "));
	sweep(g);
	assert_string_equal(logged, "");
	assert_int_equal(lanes(g), 3);
	atomic_store(&is_hanging, false);
	wait_for_news(before);
	assert_true(sweep(g));
	assert_int_equal(lanes(g), 2);
	atomic_store(&is_hanging, true);
	sweep(g);
	fake_clock_run(true);
	restart(g);
	fake_clock_run(false);
	atomic_store(&is_hanging, false);
}

CASE(requests_are_followed_once)
{
	struct ground *g = *state;
	uint64_t dead = g->bed->fabric->spine[1].guid, alive = g->bed->fabric->leaf[0].guid;
	char text[64];

	sweep(g);
	a_spine_dies(g);
	sweep(g);
	snprintf(text, sizeof(text), "0x%llx\n0x%llx\n", (unsigned long long)dead, (unsigned long long)alive);
	write_file(g, "forget", text);
	assert_true(sweep(g));
	assert_non_null(strstr(logged, "is forgotten, as requested"));
	assert_non_null(strstr(logged, "F014 "));
	assert_int_equal(lanes(g), 2);
	assert_false(fors_publish_has(&g->folder, "forget"));
	assert_false(sweep(g));
	assert_string_equal(logged, "");
	write_file(g, "forget", "Spine01\n");
	sweep(g);
	assert_non_null(strstr(logged, "F014 forget:1: "));
	assert_false(fors_publish_has(&g->folder, "forget"));
}

CASE(a_request_waits_while_fors_declines)
{
	struct ground *g = *state;
	uint64_t dead = g->bed->fabric->spine[1].guid;
	char text[64];

	sweep(g);
	a_spine_dies(g);
	snprintf(text, sizeof(text), "0x%llx\n", (unsigned long long)dead);
	write_file(g, "forget", text);
	fors_kept_begin(&g->kept);
	assert_int_equal(fors_kept_learn(&g->kept, g->bed->net, NULL, 0, NULL), FORS_OK);
	fors_kept_end(&g->kept);
	assert_true(fors_publish_has(&g->folder, "forget"));
	assert_int_equal(lanes(g), 3);
	sweep(g);
	assert_int_equal(lanes(g), 2);
}

CASE(a_request_that_comes_meanwhile_stays)
{
	struct ground *g = *state;

	sweep(g);
	write_file(g, "forget", "0x99\n");
	fors_kept_begin(&g->kept);
	assert_int_equal(fors_kept_learn(&g->kept, g->bed->net, NULL, 0, NULL), FORS_OK);
	assert_true(fors_kept_forget(&g->kept));
	fors_kept_accept(&g->kept);
	write_file(g, "forget", "0x99\n0x98\n");
	fors_kept_end(&g->kept);
	assert_true(fors_publish_has(&g->folder, "forget"));
	sweep(g);
	assert_false(fors_publish_has(&g->folder, "forget"));
}

CASE(what_is_declined_is_not_learnt)
{
	struct ground *g = *state;
	struct bed *other FREED(bed_free) = bed_new("FT(2;5,4)", 0);

	sweep(g);
	for (uint32_t i = 0; i < other->net->nnodes; i++)
		other->net->node[i].guid += 0x10000000; /* another fabric */
	assert_int_equal(fors_net_index(other->net, NULL), FORS_OK);
	assert_int_equal(fors_kept_learn(&g->kept, other->net, NULL, 0, NULL), FORS_OK);
	fors_kept_end(&g->kept);
	assert_int_equal(lanes(g), 3);
	assert_false(sweep(g));
	fors_net_disconnect(other->net, other->fabric->leaf[0].node, 6);
	fors_net_disconnect(other->net, other->fabric->leaf[1].node, 6);
	assert_int_equal(
		fors_net_connect(other->net, other->fabric->leaf[0].node, 6, other->fabric->leaf[1].node, 6, NULL),
		FORS_OK);
	assert_int_equal(fors_kept_learn(&g->kept, other->net, NULL, 0, NULL), FORS_ENOTREE);
	assert_null(g->kept.draft);
}

CASE(a_reference_is_adopted_once)
{
	struct ground *g = *state;
	struct fors_places *reference = NULL;

	assert_int_equal(fors_places_refer(g->bed->intact, NULL, 0, &reference, NULL), FORS_OK);
	a_spine_dies(g);
	assert_true(sweep(g));
	assert_int_equal(lanes(g), 2);
	assert_int_equal(fors_kept_refer(&g->kept, reference, NULL), FORS_OK);
	assert_non_null(strstr(logged, "reference fabric from now on"));
	assert_true(sweep(g));
	assert_int_equal(lanes(g), 3);
	restart(g);
	assert_int_equal(fors_kept_refer(&g->kept, reference, NULL), FORS_OK);
	assert_string_equal(logged, "");
	assert_true(sweep(g));
	assert_false(sweep(g));
	g->bed->net->node[g->bed->fabric->leaf[0].node].guid = 0xabc; /* a leaf is replaced */
	assert_int_equal(fors_net_index(g->bed->net, NULL), FORS_OK);
	assert_true(sweep(g));
	assert_non_null(strstr(logged, "F013 the reference fabric does not know: leaf Leaf00 (0x0000000000000abc)"));
	assert_false(sweep(g));
	assert_string_equal(logged, "");
	for (uint32_t leaf = 1; leaf < 3; leaf++)
		g->bed->net->node[g->bed->fabric->leaf[leaf].node].guid = 0xabc + leaf;
	assert_int_equal(fors_net_index(g->bed->net, NULL), FORS_OK);
	assert_true(sweep(g));
	assert_non_null(strstr(logged, "(3 differences)"));
	assert_null(strstr(logged, "...")); /* all three are named */
	fors_places_free(reference);
	reference = NULL;
	for (uint32_t leaf = 0; leaf < 3; leaf++)
		g->bed->intact->node[g->bed->fabric->leaf[leaf].node].guid = 0xabc + leaf;
	assert_int_equal(fors_net_index(g->bed->intact, NULL), FORS_OK);
	assert_int_equal(fors_places_refer(g->bed->intact, NULL, 0, &reference, NULL), FORS_OK);
	assert_int_equal(fors_kept_refer(&g->kept, reference, NULL), FORS_OK);
	sweep(g);
	assert_non_null(strstr(logged, "agrees with the reference fabric again")); /* who mended it hears so, once */
	assert_false(sweep(g));
	assert_string_equal(logged, "");
	assert_int_equal(fors_kept_refer(&g->kept, NULL, NULL), FORS_OK);
	assert_true(sweep(g)); /* nothing is the reference's any more */
	fors_places_free(reference);
}
