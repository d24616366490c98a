/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A second source of looks, where there is no OpenSM: it reads net files, gives the daemon what they show by the one
 * call, plays the switches that get the tables, and judges the files. Threads, clock and folders are real.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/net/netfile.h"
#include "core/net/rates.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/verify.h"
#include "daemon/base/clock.h"
#include "daemon/files/publish.h"
#include "daemon/daemon.h"
#include "tests/unit/support.h"

#define GUID UINT64_C(0x2000)
#define MOST_MS 60000 /* for whatever has to come: a wait that ends when it has */

struct source {
	char directory[64], options[96];
	struct fors_folder folder;
	struct fors_daemon *daemon;
	enum fors_mastership mastership;
	struct fors_lfts *lfts; /* in the switches */
	struct fors_net *net;	/* that was looked at last */
	unsigned sweeps;	/* that were asked for; atomic */
	const char *word; /* a warning that goes with what is observed, NULL: none; so a test sees when it was heeded */
};

static void write_line(void *context, bool is_error, const char *line)
{
	if (is_error && getenv("FORS_TEST_VERBOSE"))
		fprintf(stderr, "%s\n", line);
}

static enum fors_mastership mastership(void *context)
{
	struct source *source = context;

	return __atomic_load_n(&source->mastership, __ATOMIC_RELAXED);
}

static void sweep(void *context)
{
	struct source *source = context;

	__atomic_add_fetch(&source->sweeps, 1, __ATOMIC_RELAXED);
}

static void write_conf(const struct source *source, const char *lines)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/fors.conf", source->directory);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "state_dir = %s/state\n%s", source->directory, lines);
	assert_int_equal(fclose(file), 0);
}

static struct fors_sources sources_of(const struct source *source)
{
	return (struct fors_sources){.options = source->options};
}

/* A daemon in the folder of this source, which may have been another's before. */
static void start(struct source *source)
{
	struct fors_daemon_setup setup = {.log = {.write = write_line},
					  .sources = sources_of(source),
					  .guid = GUID,
					  .source = {.mastership = mastership, .sweep = sweep, .context = source}};
	struct fors_error error;

	assert_int_equal(fors_daemon_start(&setup, &source->daemon, &error), FORS_OK);
}

static struct source *source_new(const char *lines)
{
	struct source *source = calloc(1, sizeof(*source));
	char state[96];
	struct fors_error error;

	assert_non_null(source);
	snprintf(source->directory, sizeof(source->directory), "/tmp/fors-daemon-XXXXXX");
	assert_non_null(mkdtemp(source->directory));
	snprintf(state, sizeof(state), "%s/state", source->directory);
	assert_int_equal(mkdir(state, 0700), 0);
	snprintf(source->options, sizeof(source->options), "fors_config=%s/fors.conf", source->directory);
	assert_int_equal(setenv("OSM_CACHE_DIR", source->directory, 1),
			 0); /* where the state folder is when fors.conf is bad */
	source->mastership = FORS_MASTER_YES;
	write_conf(source, lines);
	assert_int_equal(fors_folder_init(&source->folder, state, GUID, &error), FORS_OK);
	start(source);
	return source;
}

static void stop(struct source *source)
{
	fors_daemon_stop(source->daemon);
	fors_daemon_free(source->daemon);
	source->daemon = NULL;
}

static void source_free(struct source *source)
{
	char command[96];

	stop(source);
	snprintf(command, sizeof(command), "rm -rf %s", source->directory);
	assert_int_equal(system(command), 0);
	fors_folder_clear(&source->folder);
	fors_lfts_free(source->lfts);
	fors_net_free(source->net);
	free(source);
}
FREES(source_free, struct source *)

/* ---- looks ---- */

/* What a program reads that knows the net of a bed from a file only. */
static struct fors_net *read_net(const struct bed *bed)
{
	struct fors_net *net;
	struct fors_error error;
	char *text;
	size_t size;

	assert_int_equal(fors_netfile_write(bed->net, &text, &size, &error), FORS_OK);
	assert_int_equal(fors_netfile_read(text, size, "a net file", &net, NULL, &error), FORS_OK);
	free(text);
	return net;
}

static struct fors_net *copy_net(const struct fors_net *net)
{
	struct fors_net *copy;
	struct fors_error error;

	assert_int_equal(fors_net_copy(net, &copy, &error), FORS_OK);
	return copy;
}

/* A sweep's first half: tables of this net, on their way. The number of them; 0: declined. */
static uint64_t route(struct source *source, const struct bed *bed)
{
	double began = fors_clock_exact_ms();
	struct fors_sources sources = sources_of(source);
	struct fors_error error;
	struct fors_look *look;
	enum fors_err err;

	fors_daemon_note_sweep(source->daemon, FORS_SWEEP_BEGINS);
	fors_daemon_reload(source->daemon, &sources);
	look = fors_daemon_new_look(source->daemon, FORS_LOOK_ROUTED);
	assert_non_null(look);
	fors_net_free(source->net);
	source->net = read_net(bed);
	look->net = copy_net(source->net);
	err = fors_daemon_look(source->daemon, look, FORS_TABLES_NONE, &error);
	if (err) {
		fors_daemon_decline(source->daemon, look, fors_code_of(err), error.text);
		return 0;
	}
	fors_lfts_free(source->lfts);
	source->lfts = fors_lfts_copy(look->lfts);
	assert_non_null(source->lfts);
	return fors_daemon_made(source->daemon, look, began);
}

/* Its second half: the switches hold the tables. */
static void observe(struct source *source, enum fors_tables_of of, const char *trouble)
{
	struct fors_look *look = fors_daemon_new_look(source->daemon, FORS_LOOK_INSTALLED);
	struct fors_error error;

	assert_non_null(look);
	look->net = copy_net(source->net);
	look->lfts = fors_lfts_copy(source->lfts);
	snprintf(look->tables_by, sizeof(look->tables_by), "%s", of == FORS_TABLES_OURS ? "fors" : "minhop");
	if (trouble) {
		look->kind = FORS_LOOK_INCOMPLETE;
		snprintf(look->reason, sizeof(look->reason), "%s", trouble);
	}
	if (source->word)
		fors_warn(&look->warnings, "%s", source->word);
	if (of == FORS_TABLES_FOREIGN)
		assert_int_equal(fors_daemon_begin_foreign(source->daemon, look, &error), FORS_OK);
	assert_int_equal(fors_daemon_look(source->daemon, look, of, &error), FORS_OK);
	fors_daemon_end_sweep(source->daemon);
	fors_daemon_submit(source->daemon, look);
	fors_daemon_note_sweep(source->daemon, FORS_SWEEP_ENDS);
}

static void look_at(struct source *source, const struct bed *bed)
{
	assert_true(route(source, bed));
	observe(source, FORS_TABLES_OURS, NULL);
}

/* ---- files ---- */

/* The schedule that readers have; NULL: none. */
static struct fors_schedule *published(const struct source *source)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	void *bytes;
	size_t size;

	assert_int_equal(fors_published(&source->folder, "schedule", 1u << 30, &bytes, &size, &error), FORS_OK);
	if (bytes)
		assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, &error), FORS_OK);
	free(bytes);
	return schedule;
}

/* Wait for an epoch above `after`, of a plan or of none; the schedule, the caller's. */
static struct fors_schedule *await(const struct source *source, uint64_t after, bool has_plan)
{
	for (unsigned ms = 0; ms < MOST_MS; ms += 5) {
		struct fors_schedule *schedule = published(source);

		if (schedule && schedule->epoch > after && (schedule->nphases > 0) == has_plan)
			return schedule;
		fors_schedule_free(schedule);
		usleep(5000);
	}
	fail_msg("no schedule after epoch %llu", (unsigned long long)after);
	return NULL;
}

/* Is it right over the tables in the switches? Its epoch; it is gone then. */
static uint64_t judge(const struct source *source, struct fors_schedule *schedule)
{
	uint64_t epoch = schedule->epoch;
	struct fors_error error;
	bool is_right = false;

	assert_int_equal(fors_verify_holds(source->net, source->lfts, schedule, 1, NULL, NULL, &is_right, &error),
			 FORS_OK);
	assert_true(is_right);
	fors_schedule_free(schedule);
	return epoch;
}

static char *status(const struct source *source)
{
	struct fors_error error;
	void *bytes;
	size_t size;

	assert_int_equal(fors_published(&source->folder, "status.json", 1u << 20, &bytes, &size, &error), FORS_OK);
	return bytes;
}

static void await_status(const struct source *source, const char *text)
{
	for (unsigned ms = 0; ms < MOST_MS; ms += 5) {
		char *json = status(source);
		bool is_there = json && strstr(json, text);

		free(json);
		if (is_there)
			return;
		usleep(5000);
	}
	fail_msg("the status never says %s", text);
}

/* ---- tests ---- */

#define TREE "FT(2;4,4)"

static const struct {
	const char *spec, *down[2];
} trees[] = {{TREE, {"Leaf00[5]", "Spine01"}}, {"XGFT(3;2,2,2;1,2,2)", {"Leaf00[3]", "Spine01"}}};

/* Cables go and come back: each state has a plan that is right over its tables, and the first tables come back. */
TEST(cuts_and_returns)
{
	for (unsigned t = 0; t < 2; t++) {
		struct source *source FREED(source_free) = source_new("");
		struct bed *bed FREED(bed_free) = bed_new(trees[t].spec, 0);
		struct fors_lfts *first FREED(fors_lfts_free) = NULL;
		uint64_t epoch;

		look_at(source, bed);
		epoch = judge(source, await(source, 0, true));
		first = fors_lfts_copy(source->lfts);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(
				fors_net_down(bed->intact, bed->net, trees[t].down[i], &(struct fors_error){0}),
				FORS_OK);
			look_at(source, bed);
			epoch = judge(source, await(source, epoch, true));
			await_status(source, "\"repairs\": {"); /* found by another thread, and said later */
		}
		fors_net_free(bed->net);
		bed->net = copy_net(bed->intact);
		look_at(source, bed);
		judge(source, await(source, epoch, true));
		assert_memory_equal(first->port, source->lfts->port, (size_t)first->nswitches * first->nlids);
	}
}

/* A sweep that met errors publishes nothing new; the next one that met none does. */
TEST(errors_of_a_sweep)
{
	struct source *source FREED(source_free) = source_new("");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 0);
	uint64_t epoch;

	look_at(source, bed);
	epoch = judge(source, await(source, 0, true));
	await_status(source, "\"length\": 16.0");
	bed_down(bed, "Spine02");
	assert_true(route(source, bed));
	observe(source, FORS_TABLES_OURS, "a switch did not answer");
	await_status(source, "a switch did not answer");
	observe(source, FORS_TABLES_OURS, NULL);
	judge(source, await(source, epoch, true));
}

/* Another source takes over the folder: same order, same tables, a larger epoch. */
TEST(takeover)
{
	struct source *source FREED(source_free) = source_new("");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 1);
	struct fors_lfts *first FREED(fors_lfts_free) = NULL;
	uint64_t epoch;

	look_at(source, bed);
	epoch = judge(source, await(source, 0, true));
	bed_down(bed, "Leaf01[6]");
	look_at(source, bed);
	epoch = judge(source, await(source, epoch, true));
	first = fors_lfts_copy(source->lfts);
	stop(source);
	start(source);
	look_at(source, bed);
	epoch = judge(source, await(source, epoch, true));
	assert_memory_equal(first->port, source->lfts->port, (size_t)first->nswitches * first->nlids);
	__atomic_store_n(&source->mastership, FORS_MASTER_NO, __ATOMIC_RELAXED);
	await_status(source, "is not the master");
}

/* Servers that are gone are named, by a daemon too that never saw them: on two levels, and on three. */
TEST(lost_servers_have_names)
{
	for (unsigned t = 0; t < 2; t++) {
		struct source *source FREED(source_free) = source_new("");
		struct bed *bed FREED(bed_free) = bed_new(trees[t].spec, 0);

		look_at(source, bed);
		judge(source, await(source, 0, true));
		bed_down(bed, "Leaf02");
		look_at(source, bed);
		await_status(source, "\"name\": \"Node02-01\"");
		stop(source);
		start(source);
		look_at(source, bed);
		await_status(source, "\"name\": \"Node02-01\"");
	}
}

/* Leaves that reach each other no more are declined, and what was published is withdrawn. */
TEST(a_fabric_in_two)
{
	struct source *source FREED(source_free) = source_new("");
	struct bed *bed FREED(bed_free) = bed_new("FT(2;2,2)", 0);
	uint64_t epoch;

	look_at(source, bed);
	epoch = judge(source, await(source, 0, true));
	assert_int_equal(fors_net_down(bed->intact, bed->net, "Leaf00[3]", &(struct fors_error){0}), FORS_OK);
	assert_int_equal(fors_net_down(bed->intact, bed->net, "Leaf01[4]", &(struct fors_error){0}), FORS_OK);
	assert_int_equal(route(source, bed), 0);
	fors_daemon_end_sweep(source->daemon);
	fors_schedule_free(await(source, epoch, false));
}

/* Tables that somebody else made are planned over as they are, and withdrawn when they change. */
TEST(tables_of_others)
{
	struct source *source FREED(source_free) = source_new("schedule_over = any\n");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 0);
	uint64_t epoch;

	source->net = read_net(bed);
	source->lfts = fors_lfts_copy(bed->lfts);
	observe(source, FORS_TABLES_FOREIGN, NULL);
	epoch = judge(source, await(source, 0, true));
	fors_daemon_note_change(source->daemon, "seen by a test");
	fors_schedule_free(await(source, epoch, false));
	observe(source, FORS_TABLES_FOREIGN, NULL);
	judge(source, await(source, epoch, true));
}

/* Entries for LIDs that nobody has any more, as OpenSM's unicast cache brings them back, make no other tables. */
TEST(entries_of_nobody)
{
	struct source *source FREED(source_free) = source_new("");
	struct bed *bed FREED(bed_free) = bed_new(trees[1].spec, 0);
	struct fors_schedule *schedule FREED(fors_schedule_free) = NULL;
	uint64_t epoch;

	look_at(source, bed);
	epoch = judge(source, await(source, 0, true));
	for (uint32_t row = 0; row < source->lfts->nswitches; row++)
		source->lfts->port[(size_t)row * source->lfts->nlids] = 1; /* LID 0 is nobody's */
	source->word = "the cache was asked";
	observe(source, FORS_TABLES_OURS, NULL);
	await_status(source, source->word);
	schedule = published(source);
	assert_non_null(schedule);
	assert_true(schedule->epoch == epoch && schedule->nphases);
}

/* Without fors.conf the settings of before stay, and the status says so. */
TEST(a_file_that_is_gone)
{
	struct source *source FREED(source_free) = source_new("");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 0);
	char path[96];
	uint64_t epoch;

	look_at(source, bed);
	epoch = judge(source, await(source, 0, true));
	snprintf(path, sizeof(path), "%s/fors.conf", source->directory);
	assert_int_equal(unlink(path), 0);
	bed_down(bed, "Leaf02[7]");
	look_at(source, bed);
	judge(source, await(source, epoch, true));
	await_status(source, "the settings of before stay in force");
}

/* Without good settings nothing is routed, and mended ones need no restart. */
TEST(bad_settings)
{
	struct source *source FREED(source_free) = source_new("no_such_key = 1\n");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 0);

	assert_int_equal(route(source, bed), 0);
	fors_daemon_end_sweep(source->daemon);
	write_conf(source, "# mended\n");
	look_at(source, bed);
}

/* Wait until a file of the shadow has so many lines; its text, the caller's. */
static char *await_lines(const struct source *source, const char *name, unsigned wanted)
{
	for (unsigned ms = 0; ms < MOST_MS; ms += 5) {
		struct fors_folder folder = source->folder;
		struct fors_error error;
		unsigned lines = 0;
		void *text;
		size_t size;

		folder.is_shadow = true;
		assert_int_equal(fors_published(&folder, name, 1u << 20, &text, &size, &error), FORS_OK);
		for (const char *at = text; at && (at = strchr(at, '\n')); at++)
			lines += 1;
		if (lines >= wanted)
			return text;
		free(text);
		usleep(5000);
	}
	fail_msg("%s of the shadow never has %u lines", name, wanted);
	return NULL;
}

/* All servers but the first take part. */
static void write_participants(const struct source *source, const struct bed *bed)
{
	FILE *file;
	char path[96];

	snprintf(path, sizeof(path), "%s/guids", source->directory);
	file = fopen(path, "w");
	assert_non_null(file);
	for (uint32_t s = 1; s < bed->fabric->nservers; s++)
		fprintf(file, "0x%016" PRIx64 "\n", bed->fabric->server[s].guid);
	assert_int_equal(fclose(file), 0);
}

/* All cables have a rate, and that of a leaf's port runs at a quarter. */
static struct fors_net *with_slow(struct fors_net *net, const char *what)
{
	struct fors_port *port, *peer;
	struct fors_error error;
	unsigned number;
	uint32_t node;

	for (uint32_t i = 0; i < net->nports; i++) {
		net->port[i].width = 4;
		net->port[i].speed = FORS_EDR;
	}
	assert_int_equal(fors_net_find(net, what, &node, &number, &error), FORS_OK);
	port = fors_net_port(net, node, number);
	peer = fors_net_port(net, port->peer, port->peer_port);
	port->width = peer->width = 1;
	fors_rates_mark(net);
	return net;
}

/* In shadow mode each sweep is a line of the history, and there is no schedule; fors.conf says who takes part; slow cables are told. */
TEST(a_shadow_has_a_history)
{
	struct source *source FREED(source_free) = source_new("fors_mode = shadow\n");
	struct bed *bed FREED(bed_free) = bed_new(TREE, 0);
	char *text, conf[128];

	stop(source);
	snprintf(conf, sizeof(conf), "fors_mode = shadow\nparticipants_file = %s/guids\n", source->directory);
	write_conf(source, conf);
	write_participants(source, bed);
	start(source);

	assert_true(fors_daemon_is_shadow(source->daemon));
	for (unsigned i = 0; i < 2; i++) {
		struct fors_net *net = i ? with_slow(read_net(bed), "Leaf00[5]") : read_net(bed);

		fors_daemon_glance(source->daemon, net, fors_lfts_copy(bed->lfts), "minhop", NULL);
		text = await_lines(source, "history", i + 2); /* and a head */
		free(text);
	}
	text = await_lines(source, "status.json", 1);
	assert_non_null(strstr(text, "\"servers\": 15,"));
	assert_null(strstr(text, "\"degraded_choice\": null"));
	free(text);
	assert_null(published(source));
}
