/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Schedules of version 2: ways as data, there and back in each layout, what both readers say of them, how large they
 * are, and what is refused. (Which damaged files are refused: test_schedule_rules.c.) With the argument `large`, a plan
 * for 11,664 servers is made, written and read as well, which takes some 4 GB and half a minute.
 */
#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/schedule/schedule_file.h"
#include "core/schedule/schedule_header.h"
#include "libforsched/forsched.h"
#include "published.h"
#include "seal.h"

FREES(forsched_close, struct forsched *)

FREES(fors_waylist_free, struct fors_waylist *)

/* ---- ways ---- */

static const uint64_t leaf_guid[3] = {0x30, 0x10, 0x20};

static struct fors_waylist *new_ways(void)
{
	struct fors_waylist *ways;

	assert_int_equal(fors_waylist_new(3, leaf_guid, 6, 2, &ways, NULL), FORS_OK);
	return ways;
}

static void put(struct fors_waylist *ways, uint32_t leaf, uint32_t dst, uint32_t path, const struct fors_way_hop *hop,
		uint32_t nhops, uint8_t top)
{
	assert_int_equal(fors_waylist_put(ways, leaf, dst, path, hop, nhops, top, NULL), FORS_OK);
}

static void ways_share_their_ends(void **state)
{
	struct fors_waylist *ways FREED(fors_waylist_free) = new_ways();
	const struct fors_way_hop by_one[] = {{0x30, 1}, {0x99, 5}, {0x20, 7}},
				  from[] = {{0x10, 2}, {0x99, 5}, {0x20, 0}},
				  other_cable[] = {{0x30, 2}, {0x99, 5}, {0x20, 0}}, inside[] = {{0x20, 3}};
	struct fors_way_hop hop[4];

	put(ways, 0, 4, 0, by_one, 3, 1);
	put(ways, 0, 5, 0, by_one, 3, 1); /* to another server of the same leaf: the same way */
	assert_int_equal(ways->nways, 3);
	assert_int_equal(fors_waylist_find(ways, 0, 4, 0), fors_waylist_find(ways, 0, 5, 0));
	put(ways, 1, 4, 0, from, 3, 1);
	put(ways, 0, 4, 1, other_cable, 3, 1);
	put(ways, 2, 4, 0, inside, 1, 0);
	assert_int_equal(ways->nways, 5); /* the last switch alone was there already */
	assert_int_equal(ways->nswitches, 4);
	fors_waylist_trim(ways); /* puts go on where the index is gone */
	put(ways, 1, 5, 1, from, 3, FORS_WAY_NO_TOP);
	assert_int_equal(ways->nways, 5);
	assert_int_equal(fors_waylist_get(ways, fors_waylist_find(ways, 0, 4, 1), hop, 4), 3);
	assert_true(hop[0].guid == 0x30 && hop[0].port == 2 && hop[1].guid == 0x99 && hop[1].port == 5 &&
		    hop[2].guid == 0x20 && hop[2].port == 0);
	assert_int_equal(fors_waylist_get(ways, fors_waylist_find(ways, 0, 4, 1), hop, 1), 3);
	assert_int_equal(fors_waylist_get(ways, FORS_NONE, hop, 4), 0);
	assert_int_equal(fors_waylist_top(ways, fors_waylist_find(ways, 1, 5, 1)), 0x99);
	assert_int_equal(fors_waylist_top(ways, fors_waylist_find(ways, 2, 4, 0)), 0); /* inside a leaf */
	assert_int_equal(fors_waylist_top(ways, FORS_NONE), 0);
	assert_int_equal(fors_waylist_find(ways, 1, 3, 1), FORS_NONE);
	assert_int_equal(fors_waylist_find(ways, 1, 3, 2), FORS_NONE);
	fors_waylist_free(NULL);
}

static void many_ways(void **state)
{
	struct fors_waylist *ways FREED(fors_waylist_free) = new_ways();
	struct fors_way_hop hop[3] = {{0x30, 1}, {0, 1}, {0x20, 0}};

	for (uint32_t i = 0; i < 60000; i++) { /* each switch twice, over another port */
		hop[0].port = (uint8_t)(1 + i % 2);
		hop[1].guid = 1000 + i / 2;
		put(ways, 0, 4, 0, hop, 3, 1);
	}
	assert_int_equal(ways->nswitches, 30000 + 2 + 1);
	assert_int_equal(ways->nways, 60000 + 30000 + 1);
	fors_waylist_trim(ways);
	put(ways, 0, 5, 0, hop, 3, 1);
	assert_int_equal(ways->nways, 60000 + 30000 + 1);
}

static void impossible_ways(void **state)
{
	struct fors_waylist *ways = new_ways();
	const struct fors_way_hop elsewhere[] = {{0x10, 1}, {0x20, 0}}, no_port[] = {{0x30, 0}, {0x20, 0}};
	struct fors_way_hop ring[FORS_WAY_MAX + 1];

	for (uint32_t i = 0; i <= FORS_WAY_MAX; i++)
		ring[i] = (struct fors_way_hop){0x30 + i, 1};
	assert_int_equal(fors_waylist_put(ways, 0, 4, 0, elsewhere, 2, 0, NULL), FORS_EINPUT);
	assert_int_equal(fors_waylist_put(ways, 0, 4, 0, no_port, 2, 0, NULL), FORS_EINPUT);
	assert_int_equal(fors_waylist_put(ways, 0, 4, 0, ring, FORS_WAY_MAX + 1, 0, NULL), FORS_EINPUT);
	assert_int_equal(fors_waylist_put(ways, 0, 4, 0, ring, 0, 0, NULL), FORS_EINPUT);
	assert_int_equal(ways->nways, 0);
	put(ways, 0, 4, 0, ring, FORS_WAY_MAX, 3);
	assert_int_equal(fors_waylist_get(ways, fors_waylist_find(ways, 0, 4, 0), NULL, 0), FORS_WAY_MAX);
	fors_waylist_free(ways);
	assert_int_equal(fors_waylist_new(40000, NULL, 40000, 1, &ways, NULL), FORS_ELIMIT);
}

/* ---- there and back ---- */

static void assert_same_way(const struct fors_schedule *a, const struct fors_schedule *b, uint32_t s,
			    struct fors_cell cell)
{
	struct fors_way_hop one[8], two[8];
	uint32_t way_a = fors_schedule_way(a, s, cell), way_b = fors_schedule_way(b, s, cell);
	uint32_t n = a->ways ? fors_waylist_get(a->ways, way_a, one, 8) : 0;

	assert_int_equal(b->ways ? fors_waylist_get(b->ways, way_b, two, 8) : 0, n);
	for (uint32_t i = 0; i < n; i++)
		assert_true(one[i].guid == two[i].guid && one[i].port == two[i].port);
	if (n)
		assert_true(fors_waylist_top(a->ways, way_a) == fors_waylist_top(b->ways, way_b));
}

static void assert_same(const struct fors_schedule *a, const struct fors_schedule *b)
{
	assert_true(a->epoch == b->epoch && a->fabric_epoch == b->fabric_epoch && a->fingerprint == b->fingerprint);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->nservers, b->nservers);
	assert_int_equal(a->nphases, b->nphases);
	for (uint32_t s = 0; s < a->nservers; s++)
		for (uint32_t phase = 0; phase < a->nphases; phase++) {
			struct fors_cell one = fors_schedule_flow(a, s, phase), two = fors_schedule_flow(b, s, phase);

			assert_true(one.dst == two.dst && one.path == two.path && two.lane == FORS_NO_LANE);
			if (one.dst == FORS_IDLE)
				continue;
			assert_same_way(a, b, s, one);
			assert_int_equal(fors_schedule_sl(a, s, one.dst), fors_schedule_sl(b, s, one.dst));
		}
}

/* A link has one number, wherever it is met: this is the link of each number that was seen. */
#define SEEN 65536
static struct forsched_hop link_seen[SEEN];

static void assert_links(const struct forsched *theirs, uint32_t s, uint32_t phase, const struct forsched_flow *flow,
			 const struct forsched_hop *hop, uint32_t nhops)
{
	struct forsched_server from, to;
	uint32_t link[8], n = 99;
	bool is_inside = flow->to == FORSCHED_NOBODY;

	assert_int_equal(forsched_server(theirs, s, &from), FORSCHED_OK);
	if (!is_inside && !forsched_server(theirs, flow->to, &to))
		is_inside = from.leaf == to.leaf;
	if (!is_inside && !nhops) {
		assert_int_equal(forsched_links(theirs, s, phase, link, 8, &n, NULL), FORSCHED_ENOTFOUND);
		return;
	}
	assert_int_equal(forsched_links(theirs, s, phase, link, 8, &n, NULL), FORSCHED_OK);
	assert_int_equal(n, is_inside ? 0 : nhops - 1);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(link[i] < SEEN);
		if (!link_seen[link[i]].guid)
			link_seen[link[i]] = hop[i];
		assert_true(link_seen[link[i]].guid == hop[i].guid && link_seen[link[i]].port == hop[i].port);
	}
}

/* What applications are told is what the schedule says. */
static void assert_told(const struct fors_schedule *schedule, struct bytes bytes)
{
	struct forsched *theirs FREED(forsched_close) = NULL;
	struct forsched_more more;
	struct forsched_error error;

	if (forsched_open_memory(bytes.data, bytes.size, "memory", &theirs, &error) || forsched_check(theirs, &error))
		fail_msg("%s", error.text);
	memset(link_seen, 0, sizeof(link_seen));
	forsched_more(theirs, &more);
	assert_string_equal(more.job, schedule->name);
	assert_int_equal(more.fabric_epoch, schedule->fabric_epoch ? schedule->fabric_epoch : schedule->epoch);
	assert_int_equal(more.version, 2);
	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
			uint32_t way = fors_schedule_way(schedule, s, cell), n;
			struct fors_way_hop wanted[8];
			struct forsched_hop hop[8];
			struct forsched_flow flow;
			uint8_t sl;

			assert_int_equal(forsched_flow(theirs, s, phase, &flow), FORSCHED_OK);
			assert_int_equal(forsched_sl(theirs, s, phase, &sl), FORSCHED_OK);
			assert_int_equal(forsched_way(theirs, s, phase, hop, 8, &n, &error), FORSCHED_OK);
			assert_int_equal(flow.to, cell.dst == FORS_IDLE ? FORSCHED_NOBODY : cell.dst);
			assert_int_equal(sl, cell.dst == FORS_IDLE ? FORSCHED_NO_SL
								   : fors_schedule_sl(schedule, s, cell.dst));
			assert_true(flow.spine == (schedule->ways ? fors_waylist_top(schedule->ways, way) : 0));
			assert_int_equal(n, schedule->ways ? fors_waylist_get(schedule->ways, way, wanted, 8) : 0);
			for (uint32_t i = 0; i < n; i++)
				assert_true(hop[i].guid == wanted[i].guid && hop[i].port == wanted[i].port);
			assert_links(theirs, s, phase, &flow, hop, n);
		}
	assert_int_equal(forsched_way(theirs, schedule->nservers, 0, NULL, 0, &(uint32_t){0}, NULL),
			 schedule->nphases ? FORSCHED_ERANGE : FORSCHED_EWITHDRAWN);
}

static uint32_t layout_of(struct bytes bytes)
{
	struct fors_schedule_header header;

	assert_int_equal(fors_schedule_header_read(bytes.data, bytes.size, bytes.size, "file", &header, NULL), FORS_OK);
	assert_int_equal(header.shape.version, 2);
	return header.shape.layout;
}

static void there_and_back(const char *spec, unsigned lmc, const char *method, unsigned more, uint32_t layout)
{
	struct bed *bed FREED(bed_free) = bed_new(spec, lmc);
	struct fors_schedule *plan = published_plan(bed, method, 7), *read;
	struct bytes bytes, again;

	published_add(bed, plan, more);
	bytes = published_encode(plan);
	assert_int_equal(layout_of(bytes), layout);
	read = published_decode(bytes);
	assert_same(plan, read);
	assert_told(plan, bytes);
	again = published_encode(read);
	assert_int_equal(again.size, bytes.size);
	assert_memory_equal(again.data, bytes.data, bytes.size);
	fors_schedule_free(read);
	fors_schedule_free(plan);
	free(again.data);
	free(bytes.data);
}

static void all_layouts(void **state)
{
	there_and_back("FT(2;4,3)", 2, "exact", PUBLISHED_WAYS | PUBLISHED_SLS | PUBLISHED_NAME, FORS_SF_UNITS);
	there_and_back("FT(2;4,3;servers=3)", 3, "exact", PUBLISHED_WAYS | PUBLISHED_HALF, FORS_SF_UNITS);
	there_and_back("FT(2;4,3)", 2, "exact", PUBLISHED_WAYS | PUBLISHED_MIXED_SLS, FORS_SF_DENSE);
	there_and_back("FT(2;4,3)", 2, "exact", PUBLISHED_SLS | PUBLISHED_DENSE, FORS_SF_DENSE);
	there_and_back("FT(2;4,4;cables=2)", 0, "rounds", PUBLISHED_WAYS | PUBLISHED_SLS, FORS_SF_ROUNDS);
	there_and_back("FT(2;4,4)", 0, "rounds", PUBLISHED_NAME, FORS_SF_ROUNDS);
	there_and_back("FT(2;4,4)", 1, "rounds", PUBLISHED_WAYS | PUBLISHED_MIXED_SLS, FORS_SF_DENSE);
	there_and_back("FT(2;1,1)", 0, "rounds", PUBLISHED_WAYS | PUBLISHED_NAME, FORS_SF_ROUNDS);
}

/* One flow on a higher or a lower level than the others of its unit: no unit can say that. */
static void one_flow_on_another_level(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);

	for (int is_higher = 0; is_higher < 2; is_higher++)
		for (uint32_t s = 0; s < 4; s += 3) { /* the first and the last server of a leaf */
			struct fors_schedule *plan = published_plan(bed, "closed-form", 7), *read;
			struct bytes bytes;

			published_add(bed, plan, PUBLISHED_SLS);
			memset(plan->sl, 5, 12 * 12);
			plan->sl[s * 12 + 9] = is_higher ? 6 : 4;
			bytes = published_encode(plan);
			assert_int_equal(layout_of(bytes), FORS_SF_DENSE);
			read = published_decode(bytes);
			assert_same(plan, read);
			fors_schedule_free(read);
			fors_schedule_free(plan);
			free(bytes.data);
		}
}

/* Ways put in another order, with some that no flow takes: the same bytes. */
static void order_does_not_matter(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	struct fors_schedule *plan FREED(fors_schedule_free) = published_plan(bed, "exact", 7);
	struct fors_waylist *ways, *other;
	struct fors_way_hop hop[8];
	struct bytes one, two;

	published_add(bed, plan, PUBLISHED_WAYS);
	one = published_encode(plan);
	ways = plan->ways;
	assert_int_equal(fors_waylist_new(3, ways->guid, 12, 5, &other, NULL), FORS_OK);
	hop[0] = (struct fors_way_hop){ways->guid[2], 77};
	hop[1] = (struct fors_way_hop){1, 77}; /* by a switch that no flow meets */
	hop[2] = (struct fors_way_hop){ways->guid[0], 0};
	put(other, 2, 0, 4, hop, 3, 1);
	for (uint32_t i = 3 * 12 * 4; i-- > 0;)
		if (ways->of[i] != FORS_NONE) {
			uint32_t n = fors_waylist_get(ways, ways->of[i], hop, 8);

			put(other, i / 48, i / 4 % 12, i % 4, hop, n, 1);
		}
	plan->ways = other;
	two = published_encode(plan);
	assert_int_equal(one.size, two.size);
	assert_memory_equal(one.data, two.data, one.size);
	fors_waylist_free(ways);
	free(one.data);
	free(two.data);
}

/* A plan over lanes is of version 1, also when the fabric's epoch is set; a name makes it none of version 1. */
static void versions(void **state)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	struct fors_schedule *plan = published_plan(bed, "exact", 7), *withdrawn, *read;
	struct bytes bytes = published_encode(plan);
	struct fors_error error;
	struct forsched *theirs;
	struct forsched_hop hop;
	uint8_t sl = 3;
	uint32_t n = 3;
	void *data;
	size_t size;

	plan->fabric_epoch = 3;
	assert_int_equal(fors_schedule_encode(plan, &data, &size, NULL), FORS_OK);
	assert_memory_equal(data, bytes.data, size);
	free(data);
	assert_int_equal(bytes.data[12], 1);
	assert_int_equal(forsched_open_memory(bytes.data, bytes.size, "one", &theirs, NULL), FORSCHED_OK);
	assert_int_equal(forsched_sl(theirs, 0, 1, &sl), FORSCHED_OK);
	assert_int_equal(sl, FORSCHED_NO_SL);
	assert_int_equal(forsched_way(theirs, 0, 1, &hop, 1, &n, NULL), FORSCHED_OK);
	assert_int_equal(n, 0);
	forsched_close(theirs);
	strcpy(plan->name, "job");
	assert_int_equal(fors_schedule_encode(plan, &data, &size, &error), FORS_EINPUT);
	assert_non_null(strstr(error.text, "a plan over lanes"));
	fors_schedule_free(plan);
	free(bytes.data);
	assert_int_equal(fors_schedule_withdrawn(9, "the job ended", &withdrawn, NULL), FORS_OK);
	strcpy(withdrawn->name, "job");
	bytes = published_bytes(withdrawn);
	assert_int_equal(bytes.size, 408);
	read = published_decode(bytes);
	assert_string_equal(read->name, "job");
	assert_string_equal(read->reason, "the job ended");
	assert_told(read, bytes);
	fors_schedule_free(read);
	free(bytes.data);
}

/*
 * Who knows version 1 alone reads magic, byte order and version where they always were, before it believes anything
 * else: fors 0.1 and libforsched.so.0 then say that this is version 2 and that they know version 1.
 */
static void old_readers_see_the_version(void **state)
{
	struct bytes bytes CLEARED(bytes_clear) = published_spec_2("FT(2;3,2)", 0, "closed-form", 1, PUBLISHED_NAME);

	assert_true(bytes.size >= 272);
	assert_memory_equal(bytes.data, "FORSschd\4\3\2\1\2\0\0\0", 16);
}

/* ---- threads ---- */

struct asker {
	const struct forsched *schedule;
	uint32_t first;
	uint64_t sum;
};

/* All rows and ways, beginning somewhere else than the others. */
static void *ask(void *context)
{
	struct asker *asker = context;
	uint32_t n = forsched_nservers(asker->schedule);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t phase = 0; phase < forsched_nphases(asker->schedule); phase++) {
			struct forsched_hop hop[3] = {{.guid = 0}};
			uint32_t s = (asker->first + i) % n, nhops;
			uint8_t sl;

			if (forsched_way(asker->schedule, s, phase, hop, 3, &nhops, NULL) ||
			    forsched_sl(asker->schedule, s, phase, &sl))
				return NULL;
			asker->sum += hop[nhops > 1].guid * (phase + 1) + sl;
		}
	return asker;
}

static void threads_ask_at_once(void **state)
{
	struct bytes bytes CLEARED(bytes_clear) =
		published_spec_2("FT(2;6,6)", 0, "rounds", 1, PUBLISHED_WAYS | PUBLISHED_SLS);
	struct asker asker[6];
	struct forsched *schedule FREED(forsched_close) = NULL;
	pthread_t thread[6];

	assert_int_equal(forsched_open_memory(bytes.data, bytes.size, "memory", &schedule, NULL), FORSCHED_OK);
	for (uint32_t i = 0; i < 6; i++) {
		asker[i] = (struct asker){.schedule = schedule, .first = i * 5};
		assert_int_equal(pthread_create(&thread[i], NULL, ask, &asker[i]), 0);
	}
	for (uint32_t i = 0; i < 6; i++) {
		void *result;

		assert_int_equal(pthread_join(thread[i], &result), 0);
		assert_non_null(result);
		assert_true(asker[i].sum == asker[0].sum);
	}
}

/* ---- sizes ---- */

static uint64_t size_of(enum fors_sf_layout layout, uint32_t nservers, uint32_t per_leaf, uint32_t nways)
{
	struct fors_schedule_shape shape = {
		.version = 2,
		.layout = layout,
		.nservers = nservers,
		.nphases = nservers,
		.nleaves = nservers / per_leaf,
		.npaths = 1,
		.parts = layout == FORS_SF_ROUNDS,
		.round_length = layout == FORS_SF_ROUNDS ? per_leaf : 0,
		.nswitches = nservers / per_leaf * 3,
		.nways = nways,
		.nunits = nservers / per_leaf * nservers,
	};

	fors_schedule_find_offsets(&shape);
	return shape.end;
}

/* The numbers that schedule_format.h says: three-level trees, one way per leaf and server, ends shared. */
static void stated_sizes(void **state)
{
	assert_in_range(size_of(FORS_SF_UNITS, 11664, 18, 8190000), 695000000, 705000000);
	assert_in_range(size_of(FORS_SF_ROUNDS, 11664, 18, 8190000), 170000000, 175000000);
	assert_true(size_of(FORS_SF_DENSE, 11664, 18, 8190000) > FORS_SF_MAX_BYTES);
	assert_in_range(size_of(FORS_SF_UNITS, 5832, 18, 2100000), 175000000, 180000000);
	assert_in_range(size_of(FORS_SF_DENSE, 5832, 18, 2100000), 310000000, 320000000);
	assert_true(size_of(FORS_SF_UNITS, 14000, 20, 9800000) < FORS_SF_MAX_BYTES);
}

/* ---- large plans ---- */

static struct fors_schedule *new_plan(uint32_t nleaves, uint32_t per_leaf, uint32_t parts)
{
	uint32_t n = nleaves * per_leaf;
	struct fors_schedule_server *server FREED(free) = calloc(n, sizeof(*server));
	struct fors_schedule *plan;

	assert_non_null(server);
	for (uint32_t s = 0; s < n; s++)
		server[s] = (struct fors_schedule_server){.guid = 0x1000000 + s,
							  .lid = (uint16_t)(s + 1),
							  .leaf = (uint16_t)(s / per_leaf),
							  .rank = (uint16_t)(s % per_leaf),
							  .desc = "server"};
	assert_int_equal(fors_schedule_new_of(server, n, nleaves, n, parts, per_leaf, "test", &plan, NULL), FORS_OK);
	return plan;
}

/* In round r, leaf v sends to leaf v + r; dense: the same, said for each server. */
static struct fors_schedule *large_plan(uint32_t nleaves, uint32_t per_leaf, bool is_dense)
{
	struct fors_schedule *rounds = new_plan(nleaves, per_leaf, 1), *plan;
	size_t ncells = fors_schedule_ncells(rounds);

	for (size_t i = 0; i < ncells; i++) {
		uint32_t v = (uint32_t)(i / rounds->nphases), column = (uint32_t)(i % rounds->nphases);

		rounds->cell[i].dst = (uint16_t)((v + column / per_leaf) % nleaves * per_leaf + column % per_leaf);
	}
	if (!is_dense)
		return rounds;
	plan = new_plan(nleaves, per_leaf, 0);
	for (uint32_t s = 0; s < plan->nservers; s++)
		for (uint32_t phase = 0; phase < plan->nphases; phase++)
			plan->cell[(size_t)s * plan->nphases + phase] = fors_schedule_flow(rounds, s, phase);
	fors_schedule_free(rounds);
	return plan;
}

/* A tree of three levels, D-mod-K: pods of `per_leaf` leaves, as many second-level switches in each. */
static void add_tree(struct fors_schedule *plan, uint32_t per_leaf)
{
	uint64_t *guid FREED(free) = calloc(plan->nleaves, sizeof(*guid));
	uint32_t k = per_leaf;

	assert_non_null(guid);
	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++)
		guid[leaf] = 0x100000 + leaf;
	assert_int_equal(fors_waylist_new(plan->nleaves, guid, plan->nservers, 1, &plan->ways, NULL), FORS_OK);
	for (uint32_t leaf = 0; leaf < plan->nleaves; leaf++)
		for (uint32_t d = 0; d < plan->nservers; d++) {
			uint32_t to = d / k, mid = d % k, top = to % k, pod = leaf / k, pod_to = to / k;
			const struct fors_way_hop up = {guid[leaf], (uint8_t)(k + 1 + mid)},
						  mid_up = {0x200000 + pod * k + mid, (uint8_t)(k + 1 + top)},
						  at_top = {0x300000 + mid * k + top, (uint8_t)(pod_to + 1)},
						  mid_down = {0x200000 + pod_to * k + mid, (uint8_t)(to % k + 1)},
						  last = {guid[to], 0}, far[] = {up, mid_up, at_top, mid_down, last},
						  near[] = {up, mid_down, last};

			if (leaf == to)
				put(plan->ways, leaf, d, 0, &last, 1, FORS_WAY_NO_TOP);
			else if (pod == pod_to)
				put(plan->ways, leaf, d, 0, near, 3, 1);
			else
				put(plan->ways, leaf, d, 0, far, 5, 2);
		}
	fors_waylist_trim(plan->ways);
}

static size_t write_and_read(struct fors_schedule *plan, uint32_t layout)
{
	struct bytes bytes CLEARED(bytes_clear) = published_bytes(plan);
	size_t size = bytes.size;
	struct forsched *theirs FREED(forsched_close) = NULL;
	struct forsched_hop hop[5];
	uint32_t n;

	assert_int_equal(layout_of(bytes), layout);
	fors_schedule_free(published_decode(bytes));
	assert_int_equal(forsched_open_memory(bytes.data, bytes.size, "large", &theirs, NULL), FORSCHED_OK);
	assert_int_equal(forsched_way(theirs, 5, 300, hop, 5, &n, NULL), FORSCHED_OK);
	assert_in_range(n, 1, 5);
	return size;
}

static void thousand_servers(void **state)
{
	struct fors_schedule *plan = large_plan(100, 10, true);

	add_tree(plan, 10);
	assert_in_range(write_and_read(plan, FORS_SF_UNITS), 4000000,
			6200000); /* 4 + 12/10 + about 8/10 bytes per flow */
	plan = large_plan(100, 10, false);
	add_tree(plan, 10);
	assert_in_range(write_and_read(plan, FORS_SF_ROUNDS), 2000000, 2500000);
}

/* What is too large is refused before anything is allocated for it, in words that help. */
static void too_large(void **state)
{
	struct fors_schedule *plan = large_plan(600, 20, false);
	struct fors_error error;
	void *data;
	size_t size;

	strcpy(plan->name, "job");
	plan->is_dense = true;
	assert_int_equal(fors_schedule_encode(plan, &data, &size, &error), FORS_ELIMIT);
	assert_non_null(strstr(error.text, "12000 servers and 12000 phases take"));
	assert_non_null(
		strstr(error.text, "a cell for each flow; a file has at most 1073741824: plan for fewer servers"));
	fors_schedule_free(plan);
	plan = new_plan(1, 23171, 1);
	plan->ways = NULL;
	strcpy(plan->name, "job");
	assert_int_equal(fors_schedule_encode(plan, &data, &size, &error), FORS_ELIMIT);
	assert_non_null(strstr(error.text, "23171 servers on 1 switches"));
	fors_schedule_free(plan);
}

static void large(void **state)
{
	struct fors_schedule *plan = large_plan(648, 18, false);

	add_tree(plan, 18);
	print_message("11,664 servers: %u ways", plan->ways->nways);
	print_message(", rounds %zu bytes", write_and_read(plan, FORS_SF_ROUNDS));
	plan = large_plan(648, 18, true);
	add_tree(plan, 18);
	print_message(", units %zu bytes\n", write_and_read(plan, FORS_SF_UNITS));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ways_share_their_ends),
		cmocka_unit_test(many_ways),
		cmocka_unit_test(impossible_ways),
		cmocka_unit_test(all_layouts),
		cmocka_unit_test(one_flow_on_another_level),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(versions),
		cmocka_unit_test(old_readers_see_the_version),
		cmocka_unit_test(threads_ask_at_once),
		cmocka_unit_test(stated_sizes),
		cmocka_unit_test(thousand_servers),
		cmocka_unit_test(too_large),
	};
	const struct CMUnitTest large_test[] = {cmocka_unit_test(large)};

	if (argc > 1 && !strcmp(argv[1], "large"))
		return cmocka_run_group_tests(large_test, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
