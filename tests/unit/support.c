/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/net/lfts.h"
#include "core/net/tree_net.h"
#include "core/schedule/schedule.h"
#include "core/schedule/verify.h"
#include "core/tables/lanes.h"

uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)((rng_next(rng) >> 32) * n >> 32);
}

/* ---- beds ---- */

static void must(enum fors_err err, const struct fors_error *error, const char *what)
{
	if (err)
		fail_msg("%s: %s: %s", what, fors_strerror(err), error->text);
}

static struct fors_net *net_of(const char *text)
{
	struct fors_error error;
	struct fors_tree_spec spec;
	struct fors_net *net = NULL;

	must(fors_tree_spec_parse(text, &spec, &error), &error, text);
	must(fors_tree_net(&spec, &net, &error), &error, text);
	fors_tree_spec_clear(&spec);
	return net;
}

struct bed *bed_new(const char *spec, unsigned lmc)
{
	struct bed *bed = calloc(1, sizeof(*bed));
	struct fors_error error;

	assert_non_null(bed);
	bed->intact = net_of(spec);
	bed->places = fors_places_new();
	assert_non_null(bed->places);
	must(fors_places_learn(bed->places, bed->intact, NULL, 0, &error), &error, spec);
	must(fors_assign_lids(bed->intact, bed->places, lmc, false, &error), &error, spec);
	bed_restore(bed);
	return bed;
}

static void drop_built(struct bed *bed)
{
	fors_lanes_free(bed->lanes);
	fors_lfts_free(bed->lfts);
	fors_fabric_free(bed->fabric);
	bed->lanes = NULL;
	bed->lfts = NULL;
	bed->fabric = NULL;
}

void bed_free(struct bed *bed)
{
	if (!bed)
		return;
	drop_built(bed);
	fors_places_free(bed->places);
	fors_net_free(bed->net);
	fors_net_free(bed->intact);
	free(bed->participants.guid);
	free(bed);
}

void bed_rebuild(struct bed *bed)
{
	const struct fors_participants *some = bed->participants.guid ? &bed->participants : NULL;
	struct fors_error error;

	drop_built(bed);
	must(fors_fabric_build(bed->net, bed->places, some, &bed->fabric, &error), &error, "fabric");
	must(fors_tables_build(bed->fabric, &bed->lfts, &error), &error, "tables");
	must(fors_lanes_read(bed->fabric, bed->lfts, &bed->lanes, &error), &error, "lanes");
}

void bed_down(struct bed *bed, const char *what)
{
	struct fors_error error;
	char word[FORS_NAME_MAX + 8];
	int used = 0;

	for (; sscanf(what, " %71s%n", word, &used) == 1; what += used)
		must(fors_net_down(bed->intact, bed->net, word, &error), &error, word);
	bed_rebuild(bed);
}

void bed_restore(struct bed *bed)
{
	struct fors_error error;

	fors_net_free(bed->net);
	bed->net = NULL;
	must(fors_net_copy(bed->intact, &bed->net, &error), &error, "copy of the net");
	bed_rebuild(bed);
}

/* ---- who takes part ---- */

static void forget_participants(struct bed *bed)
{
	free(bed->participants.guid);
	bed->participants = (struct fors_participants){NULL, 0};
	bed_rebuild(bed);
}

static void add_participant(struct bed *bed, uint64_t guid)
{
	size_t count = bed->participants.count++;

	bed->participants.guid = realloc(bed->participants.guid, (count + 1) * sizeof(guid));
	assert_non_null(bed->participants.guid);
	bed->participants.guid[count] = guid;
}

void bed_participants(struct bed *bed, const char *places)
{
	unsigned leaf, slot;
	int used = 0;

	forget_participants(bed);
	if (!places)
		return;
	for (; sscanf(places, " %u/%u%n", &leaf, &slot, &used) == 2; places += used)
		add_participant(bed, fors_slot(bed->fabric, leaf, slot)->guid);
	bed_rebuild(bed);
}

void bed_random_participants(struct bed *bed, struct rng *rng, uint32_t count)
{
	forget_participants(bed);
	for (uint32_t s = 0, left = bed->fabric->nservers; s < bed->fabric->nservers; s++, left--)
		if (bed->participants.count < count && rng_below(rng, left) < count - bed->participants.count)
			add_participant(bed, bed->fabric->server[s].guid);
	bed_rebuild(bed);
}

/* ---- random failures ---- */

struct alive {
	uint32_t leaf, lane;
};

static bool share_spine(const struct fors_fabric *fabric, const bool *up, uint32_t a, uint32_t b)
{
	for (uint32_t j = 0; j < fabric->nlanes; j++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (fabric->lane[j].spine == fabric->lane[k].spine && up[a * fabric->nlanes + j] &&
			    up[b * fabric->nlanes + k])
				return true;
	return false;
}

static bool leaf_connected(const struct fors_fabric *fabric, const bool *up, uint32_t a)
{
	for (uint32_t b = 0; b < fabric->nleaves; b++)
		if (b != a && fabric->leaf[a].nservers && fabric->leaf[b].nservers && !share_spine(fabric, up, a, b))
			return false;
	return true;
}

static void cut(struct bed *bed, const struct alive *cable)
{
	const struct fors_fabric *fabric = bed->fabric;

	fors_net_disconnect(bed->net, fabric->leaf[cable->leaf].node,
			    fors_cable(fabric, cable->leaf, cable->lane)->leaf_port);
}

static uint32_t list_alive(const struct fors_fabric *fabric, struct alive *list, bool *up)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < fabric->nleaves; a++)
		for (uint32_t k = 0; k < fabric->nlanes; k++)
			if (fors_live(fabric, a, k)) {
				up[a * fabric->nlanes + k] = true;
				list[n++] = (struct alive){a, k};
			}
	return n;
}

uint32_t bed_random_failures(struct bed *bed, struct rng *rng, uint32_t count)
{
	const struct fors_fabric *fabric = bed->fabric;
	size_t room = (size_t)fabric->nleaves * fabric->nlanes + 1;
	struct alive *list = calloc(room, sizeof(*list));
	bool *up = calloc(room, sizeof(*up));
	uint32_t n, done = 0;

	assert_non_null(list);
	assert_non_null(up);
	n = list_alive(fabric, list, up);
	while (done < count && n > 0) {
		uint32_t pick = rng_below(rng, n);
		struct alive cable = list[pick];
		bool *is_up = &up[cable.leaf * fabric->nlanes + cable.lane];

		list[pick] = list[--n];
		*is_up = false;
		if (leaf_connected(fabric, up, cable.leaf)) {
			cut(bed, &cable);
			done++;
		} else {
			*is_up = true;
		}
	}
	free(list);
	free(up);
	bed_rebuild(bed);
	return done;
}

/* ---- another order ---- */

/* Node `from` of `net`, and its ports' LIDs, once more in `copy`. */
static uint32_t copy_node(const struct fors_net *net, uint32_t from, struct fors_net *copy)
{
	const struct fors_node *node = &net->node[from];
	struct fors_error error;
	uint32_t index;

	must(fors_net_add_node(copy, node->type, node->nports, node->guid, node->id, node->desc, &index, &error),
	     &error, node->id);
	for (unsigned port = 0; port <= node->nports; port++) {
		struct fors_port *to = fors_net_port(copy, index, port);

		*to = *fors_net_port(net, from, port);
		to->peer = FORS_NONE;
	}
	return index;
}

static void copy_cables(const struct fors_net *net, const uint32_t *now, struct fors_net *copy)
{
	struct fors_error error;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			const struct fors_port *port = fors_net_port(net, node, p);

			if (port->peer != FORS_NONE && fors_net_port(copy, now[node], p)->peer == FORS_NONE)
				must(fors_net_connect(copy, now[node], p, now[port->peer], port->peer_port, &error),
				     &error, net->node[node].id);
		}
	must(fors_net_index(copy, &error), &error, "shuffled net");
}

static struct fors_net *shuffled(const struct fors_net *net, struct rng *rng)
{
	uint32_t *order = calloc(net->nnodes, sizeof(*order)), *now = calloc(net->nnodes, sizeof(*now));
	struct fors_net *copy = fors_net_new();

	assert_true(order && now && copy);
	for (uint32_t i = 0; i < net->nnodes; i++) {
		uint32_t j = rng_below(rng, i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (uint32_t i = 0; i < net->nnodes; i++)
		now[order[i]] = copy_node(net, order[i], copy);
	copy_cables(net, now, copy);
	free(order);
	free(now);
	return copy;
}

void bed_shuffle(struct bed *bed, struct rng *rng)
{
	struct fors_net *intact = shuffled(bed->intact, rng);
	struct fors_error error;

	fors_net_free(bed->intact);
	bed->intact = intact;
	fors_places_free(bed->places);
	bed->places = fors_places_new();
	assert_non_null(bed->places);
	must(fors_places_learn(bed->places, bed->intact, NULL, 0, &error), &error, "shuffled net");
	bed_restore(bed);
}

struct fors_task bed_task(const struct bed *bed)
{
	return (struct fors_task){.fabric = bed->fabric, .lanes = bed->lanes, .threads = 1};
}

/* ---- the second checker ---- */

struct checker {
	const struct bed *bed;
	const struct fors_schedule *schedule;
	uint8_t *met;		       /* P x P */
	uint8_t *up, *down, *received; /* of one phase: leaf x lane, leaf x lane, server */
	uint64_t nfaults;
	char *text;
	size_t room;
};

static void fault(struct checker *checker, uint32_t phase, uint32_t s, struct fors_cell cell, const char *what)
{
	if (!checker->nfaults++)
		snprintf(checker->text, checker->room, "phase %u, server %u -> %u, path %u, lane %u: %s", phase, s,
			 cell.dst, cell.path, cell.lane, what);
}

/* One flow between two leaves: its lanes are live, the schedule's spine, and free in this phase. */
static void check_lanes(struct checker *checker, uint32_t phase, uint32_t s, struct fors_cell cell)
{
	const struct fors_fabric *fabric = checker->bed->fabric;
	uint32_t a = fabric->server[s].leaf, b = fabric->server[cell.dst].leaf, down;
	uint32_t lid = fabric->server[cell.dst].lid + cell.path;
	uint32_t up = checker->bed->lanes->up[(size_t)a * checker->bed->lanes->nlids + lid];

	if (up == FORS_NO_LANE || cell.lane >= fabric->nlanes) {
		fault(checker, phase, s, cell, "no lane");
		return;
	}
	if (fabric->lane[up].spine != fabric->lane[cell.lane].spine)
		fault(checker, phase, s, cell, "another spine than the table's");
	down = checker->bed->lanes->down[(size_t)fabric->lane[up].spine * checker->bed->lanes->nlids + lid];
	if (down == FORS_NO_LANE || !fors_live(fabric, a, up) || !fors_live(fabric, b, down)) {
		fault(checker, phase, s, cell, "a dead cable");
		return;
	}
	if (checker->up[a * fabric->nlanes + up]++)
		fault(checker, phase, s, cell, "two flows on an uplink");
	if (checker->down[b * fabric->nlanes + down]++)
		fault(checker, phase, s, cell, "two flows on a downlink");
}

static void check_cell(struct checker *checker, uint32_t phase, uint32_t s)
{
	const struct fors_fabric *fabric = checker->bed->fabric;
	struct fors_cell cell = fors_schedule_flow(checker->schedule, s, phase);

	if (cell.dst == FORS_IDLE)
		return;
	if (cell.dst >= fabric->nservers || cell.dst == s || cell.path >> fabric->lmc) {
		fault(checker, phase, s, cell, "receiver or path index out of range");
		return;
	}
	if (checker->met[(size_t)s * fabric->nservers + cell.dst]++)
		fault(checker, phase, s, cell, "met before");
	if (checker->received[cell.dst]++)
		fault(checker, phase, s, cell, "receives twice in this phase");
	if (fabric->server[s].leaf != fabric->server[cell.dst].leaf)
		check_lanes(checker, phase, s, cell);
	else if (cell.lane != FORS_NO_LANE)
		fault(checker, phase, s, cell, "a lane inside a leaf");
}

static void check_phase(struct checker *checker, uint32_t phase)
{
	const struct fors_fabric *fabric = checker->bed->fabric;
	size_t links = (size_t)fabric->nleaves * fabric->nlanes;

	memset(checker->up, 0, links);
	memset(checker->down, 0, links);
	memset(checker->received, 0, fabric->nservers);
	for (uint32_t s = 0; s < fabric->nservers; s++)
		check_cell(checker, phase, s);
}

static void check_same_servers(struct checker *checker)
{
	const struct fors_fabric *fabric = checker->bed->fabric;
	const struct fors_cell none = {0};

	if (checker->schedule->nservers != fabric->nservers || checker->schedule->nphases == 0) {
		fault(checker, 0, 0, none, "not all servers, or no phase");
		return;
	}
	for (uint32_t s = 0; s < fabric->nservers; s++)
		if (checker->schedule->server[s].guid != fabric->server[s].guid ||
		    checker->schedule->server[s].lid != fabric->server[s].lid)
			fault(checker, 0, s, none, "not the fabric's server");
}

uint64_t check_plan(const struct bed *bed, const struct fors_schedule *schedule, char *text, size_t room)
{
	size_t p = bed->fabric->nservers, links = (size_t)bed->fabric->nleaves * bed->fabric->nlanes + 1;
	struct checker checker = {.bed = bed, .schedule = schedule, .text = text, .room = room};

	text[0] = 0;
	checker.met = calloc(p * p + 1, 1);
	checker.received = calloc(p + 1, 1);
	checker.up = calloc(links, 1);
	checker.down = calloc(links, 1);
	assert_true(checker.met && checker.received && checker.up && checker.down);
	check_same_servers(&checker);
	for (uint32_t phase = 0; !checker.nfaults && phase < schedule->nphases; phase++)
		check_phase(&checker, phase);
	for (uint32_t pair = 0; !checker.nfaults && pair < p * p; pair++)
		if (checker.met[pair] != (pair / p != pair % p))
			fault(&checker, 0, (uint32_t)(pair / p), (struct fors_cell){.dst = (uint16_t)(pair % p)},
			      "never meet");
	free(checker.met);
	free(checker.received);
	free(checker.up);
	free(checker.down);
	return checker.nfaults;
}

void assert_plan(const struct bed *bed, const struct fors_schedule *schedule, const char *what)
{
	struct fors_verdict verdict;
	struct fors_error error;
	char text[256];

	if (check_plan(bed, schedule, text, sizeof(text)))
		fail_msg("%s: %s", what, text);
	must(fors_verify(bed->net, bed->lfts, schedule, NULL, NULL, &verdict, &error), &error, what);
	if (!verdict.is_good)
		fail_msg("%s: verifier: %s", what, verdict.text);
	assert_int_equal(verdict.nflows, (uint64_t)schedule->nservers * (schedule->nservers - 1));
}

/* Says stop when it is asked for the count-th time. */
static bool count_down(void *context)
{
	int *left = context;

	return *left > 0 && --*left == 0;
}

int stop_anywhere(const struct bed *bed, const char *method)
{
	struct fors_task task = bed_task(bed);
	enum fors_err err = FORS_ECANCELLED;
	int at = 0;

	task.cancelled = count_down;
	while (err == FORS_ECANCELLED) {
		struct fors_schedule *schedule = NULL;
		struct fors_error error = {.text = ""};
		int left = ++at;

		task.context = &left;
		err = fors_plan(&task, method, &schedule, &error);
		assert_true(err == FORS_OK || (err == FORS_ECANCELLED && !schedule && error.text[0]));
		fors_schedule_free(schedule);
	}
	assert_int_equal(err, FORS_OK);
	return at;
}

char *former_places(const char *text, const char *title, size_t *size)
{
	const char *reference = strchr(text, '\n') + 1, *levels = strstr(text, "levels ");
	const char *rest = strchr(levels, '\n') + 1, *hosts = strstr(rest, "\nhost ");
	const char *end = (hosts ? hosts : strstr(rest, "\ncrc ")) + 1;
	size_t room = strlen(text) + 32;
	char *former = malloc(room);
	int n;

	assert_non_null(former);
	n = snprintf(former, room, "%s\n%.*s%.*s", title, (int)(levels - reference), reference, (int)(end - rest),
		     rest);
	n += snprintf(former + n, room - (size_t)n, "crc 0x%08lx\n",
		      crc32(0, (const unsigned char *)former, (unsigned)n));
	*size = (size_t)n;
	return former;
}
