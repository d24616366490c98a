/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of core/status/history.c: causes, the last thousand, and texts that are no history.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status/history.h"
#include "unit.h"

static struct fors_link links[] = {
	{.a = "Leaf00", .b = "Spine01", .a_port = 5, .b_port = 1},
	{.a = "Leaf00", .b = "Spine02", .a_port = 6, .b_port = 1},
	{.a = "Leaf03", .b = "Spine02", .a_port = 6, .b_port = 4},
};

static struct fors_status status_of(size_t ndead, int64_t phases)
{
	struct fors_status status;

	fors_status_init(&status);
	status.dead_links = (struct fors_links){links, ndead};
	status.epoch = 1000 + phases;
	status.phases = phases ? phases : FORS_UNKNOWN;
	strcpy(status.method, "rounds");
	return status;
}

static void assert_cause(const struct fors_status *before, const struct fors_status *now, const char *cause)
{
	struct fors_event event;

	fors_event_tell(before, now, &event);
	assert_string_equal(event.cause, cause);
	assert_int_equal(event.epoch, now->epoch);
}

TEST(causes)
{
	struct fors_status healthy = status_of(0, 16), one = status_of(1, 16), all = status_of(3, 24),
			   withdrawn = status_of(1, 0);
	struct fors_dead_switch leaf = {.name = "Leaf00", .level = "leaf", .cables = 2, .servers = 4};
	struct fors_event event;

	strcpy(withdrawn.reason, "a new plan");
	assert_cause(NULL, &healthy, "planned");
	assert_cause(&healthy, &healthy, "published again");
	assert_cause(&healthy, &one, "1 cable died: Leaf00[5] - Spine01[1]");
	assert_cause(&one, &healthy, "1 cable came back: Leaf00[5] - Spine01[1]");
	assert_cause(&healthy, &all, "3 cables died: Leaf00[5] - Spine01[1], Leaf00[6] - Spine02[1], ...");
	assert_cause(&healthy, &withdrawn, "a new plan; 1 cable died: Leaf00[5] - Spine01[1]");
	assert_cause(&withdrawn, &one, "planned");
	one.failover.epoch = one.epoch;
	one.failover.ms[FORS_STEP_PUBLISHED] = 96.4;
	assert_cause(&withdrawn, &one, "planned; readers had the schedule after 96 ms");
	one.failover.epoch--; /* that was another one */
	healthy.servers = 16;
	one.servers = 15;
	assert_cause(&healthy, &one, "1 cable died: Leaf00[5] - Spine01[1]; 15 servers, there were 16");
	healthy.servers = one.servers = FORS_UNKNOWN;
	all.dead_switches = (struct fors_dead_switches){&leaf, 1};
	assert_cause(&healthy, &all, "Leaf00 died (leaf, 2 cables, 4 servers); 1 cable died: Leaf03[6] - Spine02[4]");
	assert_cause(&all, &healthy,
		     "Leaf00 came back (leaf, 2 cables, 4 servers); 1 cable came back: Leaf03[6] - Spine02[4]");
	assert_cause(&all, &one,
		     "Leaf00 came back (leaf, 2 cables, 4 servers); 1 cable came back: Leaf03[6] - Spine02[4]");
	leaf = (struct fors_dead_switch){.name = "Spine02", .level = "spine", .cables = 2};
	assert_cause(&healthy, &all, "Spine02 died (spine, 2 cables); 1 cable died: Leaf00[5] - Spine01[1]");
	fors_event_tell(NULL, &withdrawn, &event);
	assert_int_equal(event.phases, 0);
	assert_string_equal(event.method, "-");
}

/* Names of any length do not run over the end. */
TEST(long_causes_are_cut)
{
	struct fors_status healthy = status_of(0, 16), all = status_of(0, 0);
	struct fors_link named[3];
	struct fors_event event;

	memset(named, 0, sizeof(named));
	for (int i = 0; i < 3; i++) {
		memset(named[i].a, 'a', FORS_NAME_MAX);
		memset(named[i].b, 'b' + i, FORS_NAME_MAX);
	}
	all.dead_links = all.excluded_links = all.held_links = (struct fors_links){named, 3};
	memset(all.reason, 'r', sizeof(all.reason) - 1);
	fors_event_tell(&healthy, &all, &event);
	assert_int_equal(strlen(event.cause), sizeof(event.cause) - 1);
}

TEST(the_last_thousand_stay)
{
	struct fors_event event = {.phases = 7, .method = "exact"}, *list;
	struct fors_error error;
	char *text = NULL, *longer;
	size_t count;

	for (unsigned i = 1; i <= FORS_HISTORY_MAX + 30; i++) {
		event.epoch = i;
		event.unix_ms = 5000 + i;
		snprintf(event.cause, sizeof(event.cause), "cause\t%u\n", i); /* control characters do not come in */
		assert_int_equal(fors_history_add(text, &event, &longer, NULL), FORS_OK);
		free(text);
		text = longer;
	}
	if (fors_history_parse(text, "history", &list, &count, &error))
		fail_msg("%s", error.text);
	assert_int_equal(count, FORS_HISTORY_MAX);
	assert_int_equal(list[0].epoch, 31);
	assert_int_equal(list[count - 1].epoch, FORS_HISTORY_MAX + 30);
	assert_int_equal(list[count - 1].unix_ms, 5000 + FORS_HISTORY_MAX + 30);
	assert_int_equal(list[5].phases, 7);
	assert_string_equal(list[0].method, "exact");
	assert_string_equal(list[0].cause, "cause 31 ");
	assert_true(strlen(text) < FORS_HISTORY_BYTES);
	free(list);
	free(text);
}

TEST(what_is_no_history_is_said)
{
	static const struct {
		const char *text, *said;
	} bad[] = {
		{"", "history: this is no history of fors"},
		{"fors history 2\n", "history: this is no history of fors"},
		{"fors history 1\n5\t6\t7\trounds\n", "history:2: the history is damaged: this line is no epoch"},
		{"fors history 1\n5\t6\t7\trounds\tyes\n5\t6\t-7\trounds\tno\n",
		 "history:3: the history is damaged: this line is no epoch"},
		{"fors history 1\n5\t6\t7\trounds\tcut", "history:2: the history is damaged: this line is no epoch"},
		{"fors history 1\n99999999999999999999\t6\t7\ta\tb\n",
		 "history:2: the history is damaged: this line is no epoch"},
		{"fors history 1\n5\t6\t7\ta-name-that-is-too-long\tb\n",
		 "history:2: the history is damaged: this line is no epoch"},
		{"fors history 1\n5\t6\t7\ta\t\033[31m\n", "history:2: the history is damaged: this line is no epoch"},
		{"fors history 1\n5", "history:2: the history is damaged: this line is no epoch"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fors_event *list = NULL;
		struct fors_error error;
		size_t count;

		assert_int_equal(fors_history_parse(bad[i].text, "history", &list, &count, &error), FORS_EINPUT);
		assert_string_equal(error.text, bad[i].said);
		assert_null(list);
	}
}
