/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of core/status/: what is written, and that it can be read back. */
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "core/status/advice.h"
#include "core/status/status.h"
#include "core/status/status_json.h"
#include "core/status/status_metrics.h"
#include "unit.h"

/* 2 leaves x 3 lanes on 3 spines, one cable dead and one that never was; nothing else is looked at. */
struct small {
	struct fors_fabric fabric;
	struct fors_net net;
	struct fors_leaf leaf[2];
	struct fors_spine spine[3];
	struct fors_lane lane[3];
	struct fors_cable cable[6];
	struct fors_slot slot[6];
};

static void make_small(struct small *small)
{
	memset(small, 0, sizeof(*small));
	small->fabric = (struct fors_fabric){
		.net = &small->net,
		.nleaves = 2,
		.nspines = 3,
		.nlanes = 3,
		.nslots = 3,
		.nservers = 6,
		.max_servers = 3,
		.leaf = small->leaf,
		.spine = small->spine,
		.lane = small->lane,
		.cable = small->cable,
		.slot = small->slot,
		.reduction = 1,
		.affected_spines = 1,
	};
	for (int i = 0; i < 2; i++) {
		small->leaf[i].nservers = 3;
		small->leaf[i].node = FORS_NONE; /* the net is empty */
	}
	for (int i = 0; i < 3; i++)
		small->lane[i].spine = (uint16_t)i;
	for (int i = 0; i < 6; i++)
		small->slot[i].node = small->slot[i].server = FORS_NONE;
	for (int i = 0; i < 6; i++)
		small->cable[i] = (struct fors_cable){.state = FORS_CABLE_LIVE, .leaf_port = 4, .spine_port = 1};
	small->cable[0].state = FORS_CABLE_ABSENT;
	small->cable[5] = (struct fors_cable){.state = FORS_CABLE_DEAD, .leaf_port = 6, .spine_port = 2};
	strcpy(small->leaf[1].name, "Leaf01");
	strcpy(small->spine[2].name, "Sp\"ine\xff"); /* quotes and bytes that are no UTF-8 */
}

static json_t *json_of(const struct fors_status *status)
{
	char *text = NULL;
	json_t *object;

	assert_int_equal(fors_status_json(status, &text, NULL), FORS_OK);
	assert_int_equal(text[strlen(text) - 1], '\n');
	object = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_true(json_is_object(object));
	return object;
}

static enum fors_err status_of(struct fors_status *status, const struct fors_fabric *fabric)
{
	const struct fors_fattree tree = fors_fattree_of_fabric(fabric);

	return fors_status_tree(status, &tree, NULL);
}

TEST(unknown_is_null)
{
	static const char *const all[] = {"epoch",
					  "reason",
					  "servers",
					  "leaves",
					  "spines",
					  "pods",
					  "mids",
					  "tops",
					  "f",
					  "affected_spines",
					  "capacity",
					  "phases",
					  "lower_bound",
					  "lump_bound",
					  "tables_bound",
					  "length",
					  "slow_phases",
					  "full_speed_mbits",
					  "cable_flows",
					  "cable_flows_most",
					  "fast_bound",
					  "degraded_choice",
					  "ignored_length",
					  "drained_length",
					  "slow_servers",
					  "lost_servers",
					  "partitioned_pairs",
					  "dead_switches",
					  "flapping_links",
					  "method",
					  "plan_ms",
					  "tables_ms",
					  "unreachable_pairs",
					  "dead_links",
					  "lmc",
					  "lmc_needed",
					  "dead_since_ms",
					  "degraded_links",
					  "excluded_links",
					  "held_links",
					  "held_until_ms",
					  "state_since_ms",
					  "known_until_ms",
					  "tables_by",
					  "check_ms",
					  "ca_ports",
					  "not_participants",
					  "guests",
					  "left_out",
					  "not_hosts",
					  "phases_alone",
					  "repairs",
					  "failover",
					  "demand",
					  "demand_reason",
					  "demand_epoch",
					  "demand_phases",
					  "demand_over_bound",
					  "jobs"};
	struct fors_status status;
	json_t *object;

	fors_status_init(&status);
	object = json_of(&status);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(json_is_null(json_object_get(object, all[i])));
	assert_string_equal(json_string_value(json_object_get(object, "state")), "inactive");
	assert_int_equal(json_array_size(json_object_get(object, "remarks")), 0);
	assert_int_equal(json_object_size(object), sizeof(all) / sizeof(all[0]) + 2);
	json_decref(object);
}

TEST(fabric_fills_numbers_and_links)
{
	struct fors_status status CLEARED(fors_status_clear);
	struct small small;
	json_t *object, *link;

	make_small(&small);
	fors_status_init(&status);
	assert_int_equal(status_of(&status, &small.fabric), FORS_OK);
	assert_int_equal(status_of(&status, &small.fabric), FORS_OK); /* twice leaks nothing */
	object = json_of(&status);
	assert_int_equal(json_integer_value(json_object_get(object, "servers")), 6);
	assert_int_equal(json_integer_value(json_object_get(object, "capacity")), 2);
	assert_int_equal(json_array_size(json_object_get(object, "dead_links")), 1);
	link = json_array_get(json_object_get(object, "dead_links"), 0);
	assert_string_equal(json_string_value(json_object_get(link, "a")), "Leaf01");
	assert_string_equal(json_string_value(json_object_get(link, "b")), "Sp\"ine?");
	assert_int_equal(json_integer_value(json_object_get(link, "a_port")), 6);
	assert_int_equal(json_integer_value(json_object_get(link, "b_port")), 2);
	json_decref(object);
}

TEST(uneven_leaves_have_no_capacity)
{
	struct fors_status status CLEARED(fors_status_clear);
	struct small small;

	make_small(&small);
	small.leaf[0].nservers = 2;
	fors_status_init(&status);
	assert_int_equal(status_of(&status, &small.fabric), FORS_OK);
	assert_int_equal(status.capacity, FORS_UNKNOWN);
}

TEST(schedule_fills_epoch_and_method)
{
	struct fors_schedule schedule = {.epoch = 7, .nphases = 20, .method = "exact"};
	struct fors_status status;

	fors_status_init(&status);
	fors_status_schedule(&status, &schedule);
	assert_int_equal(status.epoch, 7);
	assert_int_equal(status.phases, 20);
	assert_string_equal(status.method, "exact");
	schedule.epoch = (uint64_t)INT64_MAX + 17; /* JSON has no such numbers */
	fors_status_schedule(&status, &schedule);
	assert_int_equal(status.epoch, FORS_UNKNOWN);
	schedule = (struct fors_schedule){.epoch = 8, .reason = "a leaf is cut off"};
	fors_status_schedule(&status, &schedule);
	assert_int_equal(status.phases, FORS_UNKNOWN);
	assert_string_equal(status.reason, "a leaf is cut off");
}

static void fill(struct fors_status *status)
{
	fors_status_init(status);
	status->state = FORS_FAILED;
	strcpy(status->reason, "a \"quoted\" \\ reason\nwith \xc3\xa9");
	strcpy(status->method, "ro\"unds");
	status->epoch = 1763689123456;
	status->servers = 360;
	status->leaves = 18;
	status->f = 0;
	status->plan_ms = 34.1234;
	status->dead_links = (struct fors_links){calloc(1, sizeof(struct fors_link)), 1};
	status->held_links = (struct fors_links){calloc(1, sizeof(struct fors_link)), 1};
	*status->held_links.link =
		(struct fors_link){"Leaf01", "Spine00", 21, 2, true, FORS_UNKNOWN, false, "1xSDR", 7, "", false};
	status->lost_servers = (struct fors_links){calloc(2, sizeof(struct fors_link)), 2};
	status->lost_servers.link[0] =
		(struct fors_link){.a = "Leaf03", .b = "0x0002c90300000305", .a_port = 6, .host = "Node03-05"};
	status->dead_switches = (struct fors_dead_switches){calloc(1, sizeof(struct fors_dead_switch)), 1};
	*status->dead_switches.one =
		(struct fors_dead_switch){.name = "Leaf03", .level = "leaf", .cables = 20, .servers = 19};
	status->flapping_links = (struct fors_links){calloc(1, sizeof(struct fors_link)), 1};
	*status->flapping_links.link = (struct fors_link){.a = "Leaf07", .b = "Spine02", .a_port = 23, .changes = 12};
	status->lost_servers.link[1] = (struct fors_link){.a = "Leaf03", .a_port = 7};
	fors_warn(&status->warnings, "what\a");
	*status->dead_links.link =
		(struct fors_link){"Leaf00", "Spine00", 21, 255, false, 1763689120000, false, "", 0, "", false};
}

TEST(json_comes_back)
{
	struct fors_status status, back;
	char *text = NULL, *again = NULL;

	fill(&status);
	status.length = 1380.5;
	status.slow_phases = 340;
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_int_equal(fors_status_parse(text, "x", &back, NULL), FORS_OK);
	assert_int_equal(back.state, FORS_FAILED);
	assert_int_equal(back.epoch, 1763689123456);
	assert_int_equal(back.f, 0);
	assert_int_equal(back.phases, FORS_UNKNOWN);
	assert_true(back.plan_ms == 34.123);
	assert_int_equal(back.dead_links.link->b_port, 255);
	assert_int_equal(back.dead_links.link->since_ms, 1763689120000);
	assert_int_equal(back.held_links.count, 1);
	assert_true(back.held_links.link->is_used && back.held_links.link->since_ms == FORS_UNKNOWN);
	assert_false(back.held_links.link->is_planned);
	assert_string_equal(back.held_links.link->rate, "1xSDR");
	assert_true(back.length == 1380.5 && back.slow_phases == 340 && back.drained_length < 0);
	assert_int_equal(back.lost_servers.count, 2);
	assert_string_equal(back.lost_servers.link[1].a, "Leaf03");
	assert_int_equal(back.lost_servers.link[1].a_port, 7);
	assert_string_equal(back.lost_servers.link[0].b, "0x0002c90300000305");
	assert_string_equal(back.lost_servers.link[0].host, "Node03-05");
	assert_int_equal(back.dead_switches.count, 1);
	assert_string_equal(back.dead_switches.one->name, "Leaf03");
	assert_string_equal(back.dead_switches.one->level, "leaf");
	assert_int_equal(back.dead_switches.one->cables, 20);
	assert_int_equal(back.dead_switches.one->servers, 19);
	assert_int_equal(back.flapping_links.count, 1);
	assert_int_equal(back.flapping_links.link->changes, 12);
	assert_string_equal(back.lost_servers.link[1].b, "");
	assert_int_equal(back.warnings.count, 1);
	assert_string_equal(back.warnings.text[0], "what?");
	assert_string_equal(back.reason, "a \"quoted\" \\ reason?with \xc3\xa9"); /* no control characters */
	strcpy(back.reason, status.reason);
	strcpy(back.warnings.text[0], status.warnings.text[0]);
	assert_int_equal(fors_status_json(&back, &again, NULL), FORS_OK);
	assert_string_equal(text, again);
	free(text);
	free(again);
	fors_status_clear(&status);
	fors_status_clear(&back);
}

/* Shares are of time, never above 1, and not known without a schedule. */
TEST(share_of_full_speed)
{
	struct fors_status status;

	fors_status_init(&status);
	assert_true(fors_status_share(&status) < 0);
	status.servers = 360;
	assert_true(fors_status_share(&status) < 0);
	status.phases = 360;
	assert_true(fors_status_share(&status) == 1); /* of a status that knows nothing of speeds */
	status.phases = 400;
	assert_true(fors_status_share(&status) == 0.9);
	status.length = 720;
	assert_true(fors_status_share(&status) == 0.5);
	status.servers = 1000;
	assert_true(fors_status_share(&status) == 1);
}

/* Bytes that are no UTF-8, down to the least of them. */
TEST(bytes_become_question_marks)
{
	struct fors_status status CLEARED(fors_status_clear);
	char *text FREED(free) = NULL;

	fors_status_init(&status);
	snprintf(status.reason, sizeof(status.reason), "a\x7f\x80\xff");
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_non_null(strstr(text, "a\x7f??"));
}

TEST(bad_json_is_refused)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"state\": 3}",
		"{\"state\": \"great\"}",
		"{\"state\": \"active\", \"f\": \"2\"}",
		"{\"state\": \"active\", \"phases\": -4}",
		"{\"state\": \"active\", \"phases\": 1.5}",
		"{\"state\": \"active\", \"plan_ms\": []}",
		"{\"state\": \"active\", \"dead_links\": 3}",
		"{\"state\": \"active\", \"dead_links\": [{\"a\": \"x\"}]}",
		"{\"state\": \"active\", \"dead_since_ms\": [3]}",
		"{\"state\": \"active\", \"remarks\": [3]}",
		"{\"state\": \"active\", \"held_links\": [{\"a\": \"x\", \"a_port\": 9, \"b\": \"y\", \"b_port\": 1, "
		"\"since_ms\": -1}]}",
		"{\"state\": \"active\", \"reason\": 3}",
		"{\"state\": \"active\", \"dead_links\": [{\"a\": \"x\", \"a_port\": 999, \"b\": \"y\", \"b_port\": 1}]}",
	};
	struct fors_status status;
	struct fors_error error;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(fors_status_parse(bad[i], "f.json", &status, &error), FORS_EINPUT);
		assert_non_null(strstr(error.text, "f.json"));
	}
	assert_int_equal(fors_status_parse("{\"state\": \"active\", \"f\": null, \"new\": 1}", "x", &status, &error),
			 FORS_OK);
}

static const char *next_of(const struct fors_status *status)
{
	static char text[512];

	fors_status_next(status, 1000000, text, sizeof(text));
	return text;
}

TEST(next_says_what_to_do)
{
	struct fors_link link[2] = {{"Leaf00", "Spine01", 21, 1, false, FORS_UNKNOWN, false, "", 0, "", false},
				    {"Leaf01", "Spine01", 21, 2, false, 5, false, "", 0, "", false}};
	struct fors_dead_switch gone = {.name = "Leaf01", .level = "leaf", .cables = 1, .servers = 3};
	struct fors_status status;

	fors_status_init(&status);
	assert_non_null(strstr(next_of(&status), "see the reason"));
	status.state = FORS_PLANNING;
	assert_non_null(strstr(next_of(&status), "planning"));
	status.state_since_ms = 1000000 - 59000;
	assert_non_null(strstr(next_of(&status), "planning"));
	status.state_since_ms = 1000000 - 61000;
	assert_non_null(strstr(next_of(&status), "ERR in opensm's log"));
	status.state = FORS_FAILED;
	assert_non_null(strstr(next_of(&status), "see the reason"));
	status.state = FORS_ACTIVE;
	assert_string_equal(next_of(&status), "nothing to do");
	status.excluded_links = (struct fors_links){link, 1};
	assert_non_null(strstr(next_of(&status), "take Leaf00[21] - Spine01[1] out of fors.conf"));
	status.degraded_links = (struct fors_links){link, 2};
	assert_non_null(strstr(next_of(&status), "replace 2 links"));
	status.dead_links = (struct fors_links){link, 1};
	assert_string_equal(next_of(&status), "mend: Leaf00[21] - Spine01[1]");
	status.dead_links.count = 2;
	status.dead_switches = (struct fors_dead_switches){&gone, 1};
	assert_string_equal(next_of(&status), "mend: Leaf01, Leaf00[21] - Spine01[1]");
	strcpy(gone.name, "Spine01");
	gone.servers = 0;
	assert_string_equal(next_of(&status), "mend: Spine01");
	status.flapping_links = (struct fors_links){link, 1};
	assert_string_equal(next_of(&status), "exclude Leaf00[21] - Spine01[1], then mend: it comes and goes");
	status.flapping_links.count = 0;
	status.held_links = (struct fors_links){link, 1};
	status.held_until_ms = 1011001;
	assert_string_equal(next_of(&status), "link Leaf00[21] - Spine01[1] returns in 12 s");
	status.held_links.count = 2;
	assert_string_equal(next_of(&status), "2 links return, the first in 12 s");
	status.held_until_ms = 900000;
	assert_string_equal(next_of(&status), "2 links return, the first with the next sweep");
}

/* What gives most back comes first, as in the rows of "mend first"; servers that are lost come before all of it. */
TEST(next_agrees_with_the_repairs)
{
	struct fors_link link[3] = {{.a = "Leaf00", .b = "Spine00", .a_port = 20, .b_port = 1},
				    {.a = "Leaf00", .b = "Spine01", .a_port = 21, .b_port = 1},
				    {.a = "Leaf01", .b = "Spine02", .a_port = 22, .b_port = 2, .rate = "1xSDR"}};
	struct fors_link lost = {.a = "Leaf02", .a_port = 3, .host = "Node07"};
	struct fors_link slow = {
		.a = "Leaf02", .b = "Node09", .a_port = 4, .b_port = 1, .rate = "1xSDR", .is_degraded = true};
	struct fors_dead_switch gone = {.name = "Spine05", .level = "spine", .cables = 2};
	struct fors_status status;

	fors_status_init(&status);
	status.state = FORS_ACTIVE;
	status.dead_links = (struct fors_links){link, 2};
	status.degraded_links = (struct fors_links){&link[2], 1};
	status.dead_switches = (struct fors_dead_switches){&gone, 1};
	assert_string_equal(next_of(&status), "mend: Spine05, Leaf00[20] - Spine00[1], Leaf00[21] - Spine01[1]");
	status.repairs = (struct fors_gains){.is_known = true, .count = 2, .gain = {{link[1], 10}, {link[2], 11}}};
	assert_string_equal(next_of(&status), "mend: Leaf00[21] - Spine01[1], Spine05, Leaf00[20] - Spine00[1]");
	status.repairs.gain[0].link = link[2];
	status.repairs.gain[1].link = link[1];
	assert_string_equal(next_of(&status), "reseat or replace Leaf01[22] - Spine02[2]: below full width or speed");
	status.lost_servers = (struct fors_links){&lost, 1};
	assert_string_equal(next_of(&status), "see to Node07 at Leaf02[3]: it is lost; then reseat or replace "
					      "Leaf01[22] - Spine02[2]: below full width or speed");
	status.repairs.count = 0;
	strcpy(gone.name, "Leaf02");
	gone.servers = 1;
	assert_string_equal(next_of(&status), "mend: Leaf02, Leaf00[20] - Spine00[1], Leaf00[21] - Spine01[1]");
	fors_status_init(&status);
	status.state = FORS_ACTIVE;
	status.slow_servers = (struct fors_links){&slow, 1};
	assert_non_null(strstr(next_of(&status), "participants_file = FILE in fors.conf leaves it out"));
	status.dead_links = (struct fors_links){link, 1};
	assert_non_null(strstr(next_of(&status), "participants_file = FILE in fors.conf leaves it out"));
	assert_non_null(strstr(next_of(&status), "--format participants` without Node09"));
	fors_status_init(&status);
	status.state = FORS_INACTIVE;
	strcpy(status.reason, FORS_REASON_BLIND "opensm's sweeps are switched off: type sweep on at its console");
	assert_string_equal(next_of(&status),
			    "opensm: type sweep on at its console; until opensm sweeps again nothing is repaired");
	strcpy(status.reason, FORS_REASON_BLIND "opensm has broken off a sweep (is its port up, its cable alive?)");
	assert_string_equal(next_of(&status),
			    "see to opensm's port and its cable; until opensm sweeps again nothing is repaired");
}

static char *prom(const struct fors_status *status, const char *fabric)
{
	char *text = NULL;

	assert_int_equal(fors_status_prom(status, fabric, &text, NULL), FORS_OK);
	return text;
}

#define HAS(text, line) assert_non_null(strstr(text, "\n" line "\n"))

TEST(metrics_omit_what_is_unknown)
{
	struct fors_status status CLEARED(fors_status_clear);
	char *text;

	fill(&status);
	text = prom(&status, "daq");
	HAS(text, "fors_servers{fabric=\"daq\"} 360");
	HAS(text, "# TYPE fors_servers gauge");
	assert_non_null(strstr(text, "# HELP fors_dead_links "));
	HAS(text, "fors_dead_links{fabric=\"daq\"} 1");
	assert_non_null(strstr(text, "fors_epoch{fabric=\"daq\"} 1763689123456\n"));
	HAS(text, "fors_state{fabric=\"daq\",state=\"failed\"} 1");
	HAS(text, "fors_state{fabric=\"daq\",state=\"active\"} 0");
	HAS(text, "fors_method{fabric=\"daq\",method=\"ro\\\"unds\"} 1");
	assert_null(strstr(text, "phases"));
	assert_null(strstr(text, "throughput"));
	assert_null(strstr(text, "reason"));
	assert_null(strstr(text, "link_degraded"));
	free(text);
	snprintf(status.method, sizeof(status.method), "a\\b\nc");
	text = prom(&status, "");
	HAS(text, "fors_method{fabric=\"\",method=\"a\\\\b c\"} 1");
	free(text);
}

/* Milliseconds are seconds, and called so. */
TEST(metrics_are_in_seconds)
{
	struct fors_status status CLEARED(fors_status_clear);
	char *text;

	fill(&status);
	status.state_since_ms = 1763689123456;
	text = prom(&status, "daq");
	HAS(text, "fors_plan_duration_seconds{fabric=\"daq\"} 0.034123");
	HAS(text, "fors_state_since_timestamp_seconds{fabric=\"daq\"} 1763689123.456");
	assert_null(strstr(text, "_ms"));
	free(text);
}

/* What a manager knew that has ended is in the status, with a time, and no measurement of now. */
TEST(an_end_is_no_measurement)
{
	struct fors_status status;
	char *text;

	fill(&status);
	status.leaves = 18;
	status.held_until_ms = 1763689200000;
	fors_status_end(&status, 1763689130000);
	assert_int_equal(status.state, FORS_INACTIVE);
	assert_int_equal(status.known_until_ms, 1763689130000);
	assert_int_equal(status.held_until_ms, FORS_UNKNOWN);
	assert_int_equal(status.dead_links.count, 1);
	text = prom(&status, "daq");
	HAS(text, "fors_state{fabric=\"daq\",state=\"inactive\"} 1");
	HAS(text, "fors_epoch{fabric=\"daq\"} 1763689123456");
	assert_null(strstr(text, "Leaf00"));
	assert_null(strstr(text, "fors_dead_links"));
	assert_null(strstr(text, "known_until"));
	free(text);
	fors_status_end(&status, 1763689140000); /* of one that saw nothing */
	assert_int_equal(status.known_until_ms, 1763689130000);
	fors_status_clear(&status);
	fors_status_init(&status);
	fors_status_end(&status, 1763689130000);
	assert_int_equal(status.known_until_ms, FORS_UNKNOWN);
	strcpy(status.tables_by, "ftree"); /* over another engine's tables there are no leaves */
	status.servers = 16;
	fors_status_end(&status, 1763689130000);
	assert_int_equal(status.known_until_ms, 1763689130000);
	text = prom(&status, "daq");
	assert_null(strstr(text, "fors_servers"));
	free(text);
}

/* Names that two cables share tell neither of them how long it is dead. */
TEST(only_names_that_are_unique_are_dated)
{
	struct fors_link now[3] = {{.a = "L", .b = "S", .a_port = 1, .b_port = 1, .since_ms = FORS_UNKNOWN},
				   {.a = "L", .b = "S", .a_port = 2, .b_port = 1, .since_ms = FORS_UNKNOWN},
				   {.a = "L", .b = "S", .a_port = 2, .b_port = 1, .since_ms = FORS_UNKNOWN}};
	struct fors_link then[3] = {{.a = "L", .b = "S", .a_port = 3, .b_port = 1, .since_ms = 7},
				    {.a = "L", .b = "S", .a_port = 2, .b_port = 1, .since_ms = 8},
				    {.a = "L", .b = "S", .a_port = 1, .b_port = 1, .since_ms = 9}};
	struct fors_links links = {now, 3}, before = {then, 3};

	fors_links_inherit(&links, &before);
	assert_int_equal(now[0].since_ms, 9);
	assert_int_equal(now[1].since_ms, FORS_UNKNOWN);
	assert_int_equal(now[2].since_ms, FORS_UNKNOWN);
	assert_int_equal(before.count, 1);
	assert_int_equal(before.link[0].a_port, 1);
}

/* Each step comes back as it was, and what was not seen as not seen; odd ones are refused. */
TEST(a_failover_comes_back)
{
	static const char *const odd[] = {
		"{\"state\": \"active\", \"failover\": {\"began_ms\": 5}}",
		"{\"state\": \"active\", \"failover\": {\"epoch\": -1}}",
		"{\"state\": \"active\", \"failover\": {\"epoch\": 1, \"trap_ms\": \"x\"}}",
		"{\"state\": \"active\", \"failover\": {\"epoch\": 1, \"up_ms\": -2}}",
		"{\"state\": \"active\", \"failover\": {\"epoch\": 1, \"began_ms\": -2}}",
		"{\"state\": \"active\", \"failover\": 7}",
	};
	struct fors_status status, back;
	char *text;

	fors_status_init(&status);
	status.failover.epoch = 17;
	status.failover.began_ms = 1763689123456;
	for (int i = 0; i < FORS_NSTEPS; i++)
		if (i != FORS_STEP_COPIED)
			status.failover.ms[i] = 1.5 * i;
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_non_null(strstr(text, "\"copied_ms\": null"));
	assert_non_null(strstr(text, "\"trap_ms\": 0.0"));
	assert_non_null(strstr(text, "\"up_ms\": 18.0"));
	assert_int_equal(fors_status_parse(text, "x", &back, NULL), FORS_OK);
	assert_memory_equal(&back.failover, &status.failover, sizeof(back.failover));
	free(text);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_int_equal(fors_status_parse(odd[i], "x", &back, NULL), FORS_EINPUT);
}

/* Buckets hold what is at most their bound; a step that was not seen is in none. */
TEST(failovers_are_counted)
{
	struct fors_counts counts = {.version = "1", .epochs = 2};
	struct fors_failover failover;
	char *text;

	fors_failover_init(&failover);
	failover.ms[FORS_STEP_PUBLISHED] = 75;
	fors_failovers_add(&counts.failovers, &failover);
	failover.ms[FORS_STEP_PUBLISHED] = 20000;
	failover.ms[FORS_STEP_UP] = 75.001;
	fors_failovers_add(&counts.failovers, &failover);
	assert_int_equal(fors_counts_prom(&counts, "f", &text, NULL), FORS_OK);
	assert_non_null(strstr(text, "# TYPE fors_failover_duration_seconds histogram"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"published\",le=\"0.05\"} 0\n"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"published\",le=\"0.075\"} 1\n"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"published\",le=\"10\"} 1\n"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"published\",le=\"+Inf\"} 2\n"));
	assert_non_null(strstr(text, "_sum{fabric=\"f\",step=\"published\"} 20.075000"));
	assert_non_null(strstr(text, "_count{fabric=\"f\",step=\"published\"} 2\n"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"up\",le=\"0.075\"} 0\n"));
	assert_non_null(strstr(text, "_bucket{fabric=\"f\",step=\"up\",le=\"0.1\"} 1\n"));
	assert_non_null(strstr(text, "_count{fabric=\"f\",step=\"trap\"} 0\n"));
	free(text);
}

TEST(metrics_name_both_ends_of_links)
{
	struct fors_link link[2] = {{"Leaf 0 \"x\"", "Spine\xff", 21, 1, false, 5, false, "", 0, "", false},
				    {"L\xc3\xa9", "S1", 20, 2, true, 5, true, "", 0, "", false}};
	struct fors_status status;
	char *text;

	fors_status_init(&status);
	status.leaves = 2;
	status.dead_links = (struct fors_links){link, 2};
	status.degraded_links = (struct fors_links){link + 1, 1};
	status.excluded_links = (struct fors_links){link + 1, 1};
	status.held_links = (struct fors_links){link, 1};
	text = prom(&status, "d");
	HAS(text,
	    "fors_link_dead{fabric=\"d\",leaf=\"Leaf 0 \\\"x\\\"\",leaf_port=\"21\",spine=\"Spine?\",spine_port=\"1\"} 1");
	HAS(text, "fors_link_dead{fabric=\"d\",leaf=\"L\xc3\xa9\",leaf_port=\"20\",spine=\"S1\",spine_port=\"2\"} 1");
	HAS(text,
	    "fors_link_degraded{fabric=\"d\",leaf=\"L\xc3\xa9\",leaf_port=\"20\",spine=\"S1\",spine_port=\"2\"} 1");
	HAS(text,
	    "fors_link_drained{fabric=\"d\",leaf=\"L\xc3\xa9\",leaf_port=\"20\",spine=\"S1\",spine_port=\"2\",why=\"excluded\"} 1");
	assert_non_null(strstr(text, "spine_port=\"1\",why=\"held\"} 1\n"));
	free(text);
}

/* Characters that are no UTF-8 make a scraper refuse the whole file; those that are stay. */
TEST(metrics_are_utf_8)
{
	static const struct {
		const char *bytes, *text;
	} cases[] = {
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xc0\x80", "??"},
		{"\xe0\x80\x80", "???"},
		{"\xed\xa0\x80", "???"},
		{"\xf4\x90\x80\x80", "????"},
		{"\xf0\x80\x80\x80", "????"},
		{"\xe2\x82", "??"},
		{"\xf5\x80\x80\x80", "????"},
		{"a\x80z", "a?z"},
		{"\xe2\x82\xacz\xc3", "\xe2\x82\xacz?"},
		{"\xf0\x9f\x98", "???"},
	};
	struct fors_status status;

	fors_status_init(&status);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char wanted[64], *text = prom(&status, cases[i].bytes);

		snprintf(wanted, sizeof(wanted), "fors_remarks{fabric=\"%s\"} 0\n", cases[i].text);
		assert_non_null(strstr(text, wanted));
		free(text);
	}
}

TEST(throughput_is_servers_by_phases)
{
	struct fors_status status;
	char *text;

	fors_status_init(&status);
	status.servers = 360;
	status.phases = 400;
	text = prom(&status, "d");
	HAS(text, "fors_throughput_ratio{fabric=\"d\"} 0.900000");
	free(text);
	status.phases = 350;
	text = prom(&status, "d");
	HAS(text, "fors_throughput_ratio{fabric=\"d\"} 1.000000");
	free(text);
}

static size_t __attribute__((noinline)) count_of(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		count++;
		text++;
	}
	return count;
}

TEST(links_with_samples_are_bounded)
{
	struct fors_status status CLEARED(fors_status_clear);
	char *text;

	fors_status_init(&status);
	status.leaves = 1;
	status.dead_links = (struct fors_links){calloc(1500, sizeof(struct fors_link)), 1500};
	text = prom(&status, "d");
	HAS(text, "fors_dead_links{fabric=\"d\"} 1500");
	assert_int_equal(count_of(text, "fors_link_dead{"), FORS_METRICS_LINKS);
	free(text);
}

TEST(what_is_counted)
{
	struct fors_counts counts = {.version = "1.2",
				     .beat_ms = 1763689123456,
				     .sweeps = 1,
				     .epochs = 2,
				     .declines = 3,
				     .unwritten = 4,
				     .uncopied = 5};
	char *text;

	assert_int_equal(fors_counts_prom(&counts, "d", &text, NULL), FORS_OK);
	HAS(text, "fors_build_info{fabric=\"d\",version=\"1.2\"} 1");
	HAS(text, "fors_heartbeat_timestamp_seconds{fabric=\"d\"} 1763689123.456");
	HAS(text, "# TYPE fors_sweeps_total counter");
	HAS(text, "fors_sweeps_total{fabric=\"d\"} 1");
	HAS(text, "fors_epochs_total{fabric=\"d\"} 2");
	HAS(text, "fors_declines_total{fabric=\"d\"} 3");
	HAS(text, "fors_publish_failures_total{fabric=\"d\",folder=\"state_dir\"} 4");
	HAS(text, "fors_publish_failures_total{fabric=\"d\",folder=\"publish_dir\"} 5");
	free(text);
	counts = (struct fors_counts){.version = "1.2", .opensm = "OpenSM 3.3.23"};
	assert_int_equal(fors_counts_prom(&counts, "d", &text, NULL), FORS_OK);
	HAS(text, "fors_build_info{fabric=\"d\",version=\"1.2\",opensm=\"OpenSM 3.3.23\"} 1");
	assert_null(strstr(text, "heartbeat"));
	free(text);
}

/* --- several jobs ------------------------------------------------------------------------------------------------ */

static void fill_jobs(struct fors_status *status, size_t count)
{
	fors_status_init(status);
	status->jobs = (struct fors_jobstats){
		.is_known = true, .job = calloc(count + 1, sizeof(*status->jobs.job)), .count = count};
	for (size_t i = 0; i < count; i++) {
		struct fors_jobstat *job = &status->jobs.job[i];

		*job = (struct fors_jobstat){.state = FORS_JOB_IS_PLANNED,
					     .servers = 2,
					     .missing = 0,
					     .leaves = 1,
					     .lanes = 3,
					     .phases = 4,
					     .lower_bound = 4,
					     .alone_bound = 3,
					     .path_index = FORS_UNKNOWN,
					     .epoch = (int64_t)i + 1,
					     .is_exclusive = i % 2};
		snprintf(job->name, sizeof(job->name), "job%zu", i);
		strcpy(job->whose, "own");
	}
}

/* What is written is read back; odd values are refused. */
TEST(jobs_there_and_back)
{
	static const char *const bad[] = {"3",
					  "[3]",
					  "[{\"name\": \"a\"}]",
					  "[{\"name\": \"a\", \"state\": \"odd\"}]",
					  "[{\"name\": \"a\", \"state\": \"active\", \"phases\": \"4\"}]",
					  "[{\"name\": \"a\", \"state\": \"active\", \"phases\": -4}]",
					  "[{\"name\": 4, \"state\": \"active\"}]",
					  "[{\"state\": \"active\"}]"};
	struct fors_status status, read;
	char *text, odd[200];

	fill_jobs(&status, 3);
	status.jobs.job[2].state = FORS_JOB_HAS_NONE;
	status.jobs.job[2].phases = FORS_UNKNOWN;
	strcpy(status.jobs.job[2].reason, "no\tway");
	strcpy(status.jobs.job[0].reason, "Z\xc3\xbcrich is cut off");
	strcpy(status.jobs.job[1].reason, "Z\xfcrich is cut off");
	status.jobs.job[0].path_index = FORS_UNKNOWN;
	status.jobs.job[1].path_index = 7;
	status.jobs.job[1].has_index = true;
	strcpy(status.jobs.job[1].demand, "events");
	strcpy(status.jobs.job[1].demand_reason, "a host is left out");
	status.jobs.job[1].demand_epoch = 9;
	status.jobs.job[1].demand_over_bound = 1.25;
	status.jobs.job[2].demand_over_bound = FORS_UNKNOWN;
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_int_equal(fors_status_parse(text, "status", &read, NULL), FORS_OK);
	assert_int_equal(read.jobs.count, 3);
	assert_string_equal(read.jobs.job[1].name, "job1");
	assert_true(read.jobs.job[1].is_exclusive);
	assert_string_equal(read.jobs.job[1].demand, "events");
	assert_string_equal(read.jobs.job[1].demand_reason, "a host is left out");
	assert_true(read.jobs.job[1].demand_epoch == 9 && read.jobs.job[1].demand_over_bound == 1.25);
	assert_true(!*read.jobs.job[2].demand && read.jobs.job[2].demand_over_bound < 0);
	assert_int_equal(read.jobs.job[1].phases, 4);
	assert_true(read.jobs.job[1].has_index && !read.jobs.job[0].has_index);
	assert_int_equal(read.jobs.job[1].path_index, 7);
	assert_int_equal(read.jobs.job[0].path_index, FORS_UNKNOWN);
	assert_int_equal(read.jobs.job[2].state, FORS_JOB_HAS_NONE);
	assert_int_equal(read.jobs.job[2].phases, FORS_UNKNOWN);
	assert_string_equal(read.jobs.job[2].reason, "no?way");
	assert_string_equal(read.jobs.job[0].reason, "Z\xc3\xbcrich is cut off");
	assert_string_equal(read.jobs.job[1].reason, "Z?rich is cut off");
	assert_true(fors_jobstat_ratio(&read.jobs.job[0]) == 0.75);
	assert_true(fors_jobstat_ratio(&read.jobs.job[2]) < 0);
	fors_status_clear(&read);
	fors_status_clear(&status);
	free(text);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(odd, sizeof(odd), "{\"state\": \"active\", \"jobs\": %s}", bad[i]);
		assert_int_equal(fors_status_parse(odd, "status", &read, NULL), FORS_EINPUT);
	}
}

/* Who goes over entries of its own is counted where there are such; a job that has to share is none. */
TEST(jobs_with_an_index_are_counted)
{
	struct fors_status status CLEARED(fors_status_clear);
	char *text;

	fill_jobs(&status, 3);
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	assert_null(strstr(text, "fors_jobs_indexed"));
	free(text);
	for (int i = 0; i < 3; i++) {
		status.jobs.job[i].has_index = true;
		status.jobs.job[i].path_index = i ? 1 : FORS_UNKNOWN;
	}
	strcpy(status.jobs.job[1].whose, "all");
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	assert_non_null(strstr(text, "fors_jobs_indexed{fabric=\"daq\"} 1\n"));
	free(text);
}

/* A hundred jobs have samples of their own, the others one for all of them. */
TEST(jobs_with_samples_are_bounded)
{
	struct fors_status status;
	char *text;

	fill_jobs(&status, 10000);
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	assert_int_equal(count_of(text, "fors_job_phases{"), 101);
	assert_non_null(strstr(text, "fors_job_phases{fabric=\"daq\",job=\"job99\"} 4\n"));
	assert_non_null(strstr(text, "fors_job_phases{fabric=\"daq\",job=\"\"} 39600\n"));
	assert_non_null(strstr(text, "fors_jobs{fabric=\"daq\",state=\"active\"} 10000\n"));
	assert_null(strstr(text, "job100"));
	free(text);
	fors_status_clear(&status);
	fill_jobs(&status, 0);
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	assert_non_null(strstr(text, "fors_jobs{fabric=\"daq\",state=\"active\"} 0\n"));
	assert_null(strstr(text, "fors_job_phases"));
	free(text);
	fors_status_clear(&status);
}
