/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The readers of files, each fed with arbitrary bytes; what they accept goes on to what comes after
 * them, as far as it is small. Nothing is expected but that they come back: the sanitizers watch.
 */
#include "config.h"

#include "targets.h"

#include "model_targets.h"
#include "simulate_target.h"
#include "watch_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "core/base/guidlist.h"
#include "core/fabric/lids.h"
#include "core/demand/check.h"
#include "core/demand/demand_file.h"
#include "core/demand/pack.h"
#include "core/fabric/places.h"
#include "core/net/counters.h"
#include "core/net/lftfile.h"
#include "core/net/lfts.h"
#include "core/net/netfile.h"
#include "core/fabric/places_file.h"
#include "core/planners/planner.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_header.h"
#include "core/status/status.h"
#include "core/status/status_json.h"
#include "core/net/spec.h"
#include "core/net/tree_net.h"
#include "core/tables/lanes.h"
#include "core/tables/tables.h"
#include "core/schedule/verify.h"
#include "libforsched/forsched.h"
#include "daemon/settings/settings.h"
#include "tests/unit/seal.h"

#define SMALL_NODES 200	 /* larger nets are only read */
#define SMALL_SERVERS 64 /* more servers are not planned for */

/* The text with an end, for readers of strings. */
static char *terminated(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* A published plan that its own tables refute would be the worst of bugs. */
static void check_plan(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
		       const struct fors_schedule *schedule)
{
	struct fors_verdict verdict;
	struct fors_error error;

	if (fors_verify(fabric->net, lfts, schedule, NULL, NULL, &verdict, &error) == FORS_OK && !verdict.is_good)
		abort();
}

static void plan(const struct fors_fabric *fabric, const struct fors_lfts *lfts)
{
	struct fors_schedule *schedule = NULL;
	struct fors_lanes *lanes = NULL;
	struct fors_error error;

	if (fabric->nservers > SMALL_SERVERS || fors_lanes_read(fabric, lfts, &lanes, &error) != FORS_OK)
		return;
	const struct fors_task task = {.fabric = fabric, .lanes = lanes, .threads = 1};
	if (fors_plan(&task, "auto", &schedule, &error) == FORS_OK)
		check_plan(fabric, lfts, schedule);
	fors_schedule_free(schedule);
	fors_lanes_free(lanes);
}

static void route(const struct fors_net *net, const struct fors_places *places)
{
	struct fors_fabric *fabric = NULL;
	struct fors_lfts *lfts = NULL;
	struct fors_error error;

	if (fors_fabric_build(net, places, NULL, &fabric, &error) == FORS_OK &&
	    fors_tables_build(fabric, &lfts, &error) == FORS_OK)
		plan(fabric, lfts);
	fors_lfts_free(lfts);
	fors_fabric_free(fabric);
}

static void use_net(struct fors_net *net)
{
	struct fors_places *places = fors_places_new();
	struct fors_error error;

	if (places && net->nnodes <= SMALL_NODES && fors_places_learn(places, net, NULL, 0, &error) == FORS_OK &&
	    fors_assign_lids(net, places, 1, true, &error) == FORS_OK)
		route(net, places);
	fors_places_free(places);
}

static bool fuzz_netfile(const uint8_t *data, size_t size)
{
	struct fors_warnings warnings = {0};
	struct fors_net *net = NULL;
	struct fors_error error;
	char *text = NULL;
	size_t length;

	if (fors_netfile_read((const char *)data, size, "fuzz", &net, &warnings, &error) != FORS_OK)
		return false;
	if (fors_netfile_write(net, &text, &length, &error) == FORS_OK)
		free(text);
	use_net(net);
	fors_net_free(net);
	return true;
}

/* A healthy FT(2;3,3) with its tables and plan: what foreign tables and schedules are held against. */
struct ground {
	struct fors_net *net;
	struct fors_places *places;
	struct fors_fabric *fabric;
	struct fors_lfts *lfts;
	struct fors_lanes *lanes;
	struct fors_schedule *schedule;
};

static bool make_ground(struct ground *g)
{
	struct fors_tree_spec spec = {0};
	bool is_good = fors_tree_spec_parse("FT(2;3,3)", &spec, NULL) == FORS_OK &&
		       fors_tree_net(&spec, &g->net, NULL) == FORS_OK;

	fors_tree_spec_clear(&spec);
	g->places = fors_places_new();
	if (!is_good || !g->places || fors_places_learn(g->places, g->net, NULL, 0, NULL) ||
	    fors_assign_lids(g->net, g->places, 2, false, NULL) ||
	    fors_fabric_build(g->net, g->places, NULL, &g->fabric, NULL) ||
	    fors_tables_build(g->fabric, &g->lfts, NULL) || fors_lanes_read(g->fabric, g->lfts, &g->lanes, NULL))
		return false;
	const struct fors_task task = {.fabric = g->fabric, .lanes = g->lanes};
	return fors_plan(&task, "closed-form", &g->schedule, NULL) == FORS_OK;
}

static const struct ground *ground(void)
{
	static struct ground made;

	if (!made.schedule && !make_ground(&made))
		abort();
	return &made;
}

/* The verifier takes any tables and any schedule. */
static void verify(const struct fors_lfts *lfts, const struct fors_schedule *schedule)
{
	struct fors_verdict verdict;
	struct fors_error error;

	fors_verify(ground()->net, lfts, schedule, NULL, NULL, &verdict, &error);
}

static bool fuzz_lftfile(const uint8_t *data, size_t size)
{
	struct fors_lfts *lfts = NULL;
	struct fors_lanes *lanes = NULL;
	struct fors_error error;

	if (fors_lftfile_read((const char *)data, size, "fuzz", &lfts, &error) != FORS_OK)
		return false;
	verify(lfts, ground()->schedule);
	if (fors_lanes_read(ground()->fabric, lfts, &lanes, &error) == FORS_OK)
		fors_lanes_free(lanes);
	fors_lfts_free(lfts);
	return true;
}

static bool fuzz_counters(const uint8_t *data, size_t size)
{
	struct fors_counters *counters = NULL;
	struct fors_error error;
	uint32_t nforeign;

	if (fors_counters_read((const char *)data, size, "fuzz", ground()->net, &counters, &nforeign, &error) !=
	    FORS_OK)
		return false;
	for (uint32_t i = 0; i < ground()->net->nports; i++)
		(void)fors_counters_sum(&counters[i]);
	free(counters);
	return true;
}

static bool fuzz_guidlist(const uint8_t *data, size_t size)
{
	uint64_t *guid = NULL;
	size_t count;
	struct fors_error error;

	if (fors_guidlist_read((const char *)data, size, "fuzz", &guid, &count, &error) != FORS_OK)
		return false;
	free(guid);
	return true;
}

/* A file of these bytes that needs no name in any folder; its descriptor. */
static int memory_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

/* fors.conf; a path in it is followed, so there are seeds with none but files that do not exist. */
static bool fuzz_settings(const uint8_t *data, size_t size)
{
	int fd = memory_file(data, size);
	struct fors_settings *settings = NULL;
	struct fors_error error;
	char options[64];
	bool is_good;

	snprintf(options, sizeof(options), "fors_config=/proc/self/fd/%d", fd);
	const struct fors_sources sources = {.options = options};
	is_good = fors_settings_load(&sources, &settings, &error) == FORS_OK;
	if (is_good)
		fors_settings_free(settings);
	close(fd);
	return is_good;
}

static bool fuzz_schedule(const uint8_t *data, size_t size)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	void *bytes = NULL;
	size_t length;

	if (fors_schedule_decode(data, size, "fuzz", &schedule, &error) != FORS_OK)
		return false;
	for (uint32_t s = 0; s < schedule->nservers && s < SMALL_SERVERS; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++)
			fors_schedule_flow(schedule, s, phase);
	if (schedule->nservers <= SMALL_SERVERS)
		verify(ground()->lfts, schedule);
	if (fors_schedule_encode(schedule, &bytes, &length, &error) == FORS_OK)
		free(bytes);
	fors_schedule_free(schedule);
	return true;
}

/* A target behind the checksums, which chance does not get right. */
static bool with_seal(bool (*target)(const uint8_t *, size_t), const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	bool is_good;

	if (!copy)
		abort();
	memcpy(copy, data, size);
	seal(copy, size);
	is_good = target(copy, size);
	free(copy);
	return is_good;
}

/* Only the header, from its own bytes. The reader of the whole file has to agree: both ways, as far as the header goes. */
static bool read_header(const uint8_t *data, size_t size)
{
	size_t have = size < FORS_SCHEDULE_HEADER_BYTES ? size : FORS_SCHEDULE_HEADER_BYTES;
	uint8_t *alone = malloc(have ? have : 1);
	struct fors_schedule_header header;
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	bool is_good;

	if (!alone)
		abort();
	if (have)
		memcpy(alone, data, have);
	is_good = fors_schedule_header_read(alone, have, size, "fuzz", &header, &error) == FORS_OK;
	free(alone);
	if (is_good && header.shape.end != size)
		abort();
	if (fors_schedule_decode(data, size, "fuzz", &schedule, &error) == FORS_OK &&
	    (!is_good || header.epoch != schedule->epoch || header.shape.nservers != schedule->nservers))
		abort();
	fors_schedule_free(schedule);
	return is_good;
}

/* As it is, and with a right checksum, which chance does not get right. */
static bool fuzz_header(const uint8_t *data, size_t size)
{
	with_seal(read_header, data, size);
	return read_header(data, size);
}

static bool fuzz_sealed(const uint8_t *data, size_t size)
{
	return with_seal(fuzz_schedule, data, size);
}

/* Of version 2: the way, its topmost switch and the service level of a flow. */
static void compare_way(const struct fors_schedule *schedule, const struct forsched *theirs, uint32_t s, uint32_t phase,
			struct fors_cell cell)
{
	uint32_t way = fors_schedule_way(schedule, s, cell), n = 0;
	struct fors_way_hop wanted[FORS_WAY_MAX];
	struct forsched_hop hop[FORS_WAY_MAX];
	struct forsched_flow flow;
	uint8_t sl;

	if (forsched_sl(theirs, s, phase, &sl) || sl != fors_schedule_sl(schedule, s, cell.dst))
		abort();
	if (forsched_way(theirs, s, phase, hop, FORS_WAY_MAX, &n, NULL) || forsched_flow(theirs, s, phase, &flow))
		abort();
	if (!schedule->ways)
		return;
	if (n != fors_waylist_get(schedule->ways, way, wanted, FORS_WAY_MAX) ||
	    flow.spine != fors_waylist_top(schedule->ways, way))
		abort();
	for (uint32_t i = 0; i < n; i++)
		if (hop[i].guid != wanted[i].guid || hop[i].port != wanted[i].port)
			abort();
}

/* What applications read. It has to say what the core's reader says. */
static void compare_flow(const struct fors_schedule *schedule, const struct forsched *theirs, uint32_t s,
			 uint32_t phase)
{
	struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
	struct forsched_flow flow;

	if (forsched_flow(theirs, s, phase, &flow))
		abort();
	if (cell.dst == FORS_IDLE ? flow.to != FORSCHED_NOBODY : flow.to != cell.dst || flow.path != cell.path)
		abort();
	if (cell.dst != FORS_IDLE)
		compare_way(schedule, theirs, s, phase, cell);
}

static void compare(const struct fors_schedule *schedule, const struct forsched *theirs)
{
	if (schedule->nservers != forsched_nservers(theirs) || schedule->nphases != forsched_nphases(theirs))
		abort();
	for (uint32_t s = 0; s < schedule->nservers && s < SMALL_SERVERS; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++)
			compare_flow(schedule, theirs, s, phase);
}

/* True when it opens and all of it is right. */
/* Two readers with one set of rules: what one refuses, the other refuses, unless memory was short. */
static void agree(const struct forsched_error *library, enum fors_err core)
{
	if (library->code != FORSCHED_ENOMEM && core != FORS_ENOMEM &&
	    (library->code == FORSCHED_OK) != (core == FORS_OK))
		abort();
}

static bool open_and_compare(const uint8_t *data, size_t size)
{
	struct fors_schedule *schedule = NULL;
	struct forsched *theirs = NULL;
	struct forsched_error error;
	struct fors_error core_error;
	struct forsched_server server;
	bool is_good;

	if (forsched_open_memory(data, size, "fuzz", &theirs, &error)) {
		agree(&error, fors_schedule_decode(data, size, "fuzz", &schedule, &core_error));
		fors_schedule_free(schedule);
		return false;
	}
	for (uint32_t s = 0; s < forsched_nservers(theirs) && s < SMALL_SERVERS; s++)
		forsched_server(theirs, s, &server);
	error.code = forsched_check(theirs, &error);
	is_good = error.code == FORSCHED_OK;
	agree(&error, fors_schedule_decode(data, size, "fuzz", &schedule, &core_error));
	if (is_good && schedule)
		compare(schedule, theirs);
	fors_schedule_free(schedule);
	forsched_close(theirs);
	return is_good;
}

static bool fuzz_forsched(const uint8_t *data, size_t size)
{
	return with_seal(open_and_compare, data, size);
}

/* The kept order with the last line, the checksum, made right; owned by the caller. */
static char *sealed_places(const uint8_t *data, size_t size, size_t *length)
{
	char *text = malloc(size + 32);
	size_t body = 0;

	if (!text)
		abort();
	memcpy(text, data, size);
	for (size_t i = 0; i + 4 < size; i++)
		if (!memcmp(text + i, "\ncrc", 4))
			body = i + 1;
	if (!body)
		body = size;
	*length = body +
		  (size_t)snprintf(text + body, 32, "crc 0x%08lx\n", crc32_z(0, (const unsigned char *)text, body));
	return text;
}

/* Places of any kind, and then the fabric that is there. */
static void learn_and_route(struct fors_places *places)
{
	struct fors_net *net = NULL;
	struct fors_error error;

	if (fors_net_copy(ground()->net, &net, &error) == FORS_OK &&
	    fors_places_learn(places, net, NULL, 0, &error) == FORS_OK)
		route(net, places);
	fors_net_free(net);
}

static char *encoded_places(const struct fors_places *places, size_t *length)
{
	char *text;

	if (fors_places_encode(places, &text, length, NULL) != FORS_OK)
		abort();
	return text;
}

static bool fuzz_places(const uint8_t *data, size_t size)
{
	struct fors_places *places = NULL;
	struct fors_error error;
	char *text, *again = NULL;
	size_t length, length_again;
	bool is_good;

	if (fors_places_decode((const char *)data, size, "fuzz", &places, &error) == FORS_OK)
		fors_places_free(places);
	text = sealed_places(data, size, &length);
	is_good = fors_places_decode(text, length, "fuzz", &places, &error) == FORS_OK;
	if (is_good) {
		again = encoded_places(places, &length_again);
		if (length != length_again || memcmp(text, again, length) != 0)
			abort();
		learn_and_route(places);
		fors_places_free(places);
	}
	free(again);
	free(text);
	return is_good;
}

/* Small enough to make a net of it each time. */
static bool is_small(const struct fors_spec *spec)
{
	if (spec->is_graph)
		return spec->graph.nswitches < 50 && spec->graph.servers < 20;
	return spec->tree.tree.servers < 100 && spec->tree.tree.cables < 500;
}

static bool fuzz_spec(const uint8_t *data, size_t size)
{
	char *text = terminated(data, size);
	struct fors_net *net = NULL;
	struct fors_spec spec = {0};
	struct fors_error error;
	bool is_good = fors_spec_parse(text, &spec, &error) == FORS_OK;

	if (is_good) {
		if (is_small(&spec) && fors_spec_net(&spec, &net, &error) == FORS_OK)
			use_net(net);
		fors_net_free(net);
		fors_spec_clear(&spec);
	}
	free(text);
	return is_good;
}

static bool fuzz_status(const uint8_t *data, size_t size)
{
	char *text = terminated(data, size), *again = NULL;
	struct fors_status status;
	struct fors_error error;
	bool is_good = fors_status_parse(text, "fuzz", &status, &error) == FORS_OK;

	if (is_good) {
		if (fors_status_json(&status, &again, &error) == FORS_OK)
			free(again);
		fors_status_clear(&status);
	}
	free(text);
	return is_good;
}

/* Any demand between the servers of the ground: a plan is right, and not below a bound. */
static void plan_demand(const struct fors_flows_routed *routed, const uint64_t *guid, const struct fors_demand *demand)
{
	struct fors_effort effort = {.budget = 2000000};
	struct fors_demand_problem problem;
	struct fors_demand_bound bound;
	struct fors_demand_plan *plan = NULL;
	struct fors_demand_verdict verdict = {0};
	uint32_t fewest;

	if (fors_demand_problem_make(demand, routed, &problem, NULL))
		return;
	if (!fors_demand_bound_of(&problem, &bound, NULL) && !fors_demand_fewest(&problem, &fewest, NULL)) {
		const struct fors_demand_asked asked = {&problem, bound.most, fewest, 0, 0, &effort};

		if (!fors_demand_pack(&asked, &plan, NULL) &&
		    !fors_demand_check(ground()->net, ground()->lfts, guid, demand, plan, &verdict, NULL) &&
		    (!verdict.is_right || fors_demand_plan_length(plan) < asked.bound))
			abort();
	}
	fors_demand_plan_free(plan);
	fors_demand_problem_clear(&problem);
}

static bool fuzz_demand(const uint8_t *data, size_t size)
{
	const struct fors_flows_tables tables = {.net = ground()->net, .lfts = ground()->lfts, .most_paths = 4};
	struct fors_flows_routed *routed = NULL;
	struct fors_demand demand = {0};
	uint64_t guid[9];
	uint32_t node[9], left_out;
	bool is_good;

	if (fors_flows_routed_read(&tables, &routed, NULL) || routed->nservers != 9)
		abort();
	for (uint32_t s = 0; s < 9; s++) {
		guid[s] = routed->server[s].guid;
		node[s] = routed->server[s].node;
	}
	const struct fors_demand_hosts hosts = {ground()->net, guid, node, 9, false, NULL};

	is_good = !fors_demand_read((const char *)data, size, "fuzz", &hosts, &demand, &left_out, NULL, NULL);
	if (is_good)
		plan_demand(routed, guid, &demand);
	fors_demand_clear(&demand);
	fors_flows_routed_free(routed);
	return is_good;
}

/* run.sh reads this list, too. */
#define TARGET(called, ...)                                                                                            \
	{                                                                                                              \
		.name = #called, .run = fuzz_##called, ##__VA_ARGS__                                                   \
	}
const struct fuzz_target fuzz_targets[] = {
	TARGET(netfile),
	TARGET(lftfile),
	TARGET(guidlist),
	TARGET(settings),
	TARGET(schedule),
	TARGET(sealed, .folder = "schedule"),
	TARGET(forsched, .folder = "schedule"),
	TARGET(places),
	TARGET(spec),
	TARGET(status),
	TARGET(tables),
	TARGET(pattern),
	TARGET(blocks),
	TARGET(jobs),
	TARGET(header, .folder = "schedule", .is_part = true),
	TARGET(counters),
	TARGET(simulate),
	TARGET(demand),
#ifdef HAVE_WATCH
	TARGET(watch),
#endif
	{.name = NULL},
};

const struct fuzz_target *fuzz_find(const char *name)
{
	for (const struct fuzz_target *target = fuzz_targets; name && target->name; target++)
		if (!strcmp(target->name, name))
			return target;
	fprintf(stderr, "no fuzz target %s\n", name ? name : "given");
	exit(2);
}
