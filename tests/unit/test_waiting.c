/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whom servers wait for: small cases by hand, ranks, sizes and chunks, and that all ends under each discipline. */
#include "sims.h"

#include <stdlib.h>
#include <string.h>

#include "faults.h"

FREES(fors_sim_result_free, struct fors_sim_result *)

#define ONE (90000 + US) /* a packet over the star, ps */
#define TOKEN 100000

static struct fors_error error;

static struct fors_sim_settings waits(enum fors_wait wait, uint32_t ahead)
{
	struct fors_sim_settings set = sims_plain();

	set.has_barrier = false;
	set.wait = wait;
	set.token = TOKEN;
	set.ahead = ahead;
	return set;
}

/* ---- by hand ---- */

TEST(own_messages)
{
	const struct fors_sim_settings set = waits(FORS_WAIT_OWN, 1);

	/* At the beginning a receiver's token has to come, too. */
	assert_int_equal(sims_star_time("0 1\n", &set), TOKEN + ONE);
	/* Nobody of the second phase has anything to do in the first one. */
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\n", &set), TOKEN + ONE);
	/* 2 has been waiting for 1 since the beginning: its token is there. */
	assert_int_equal(sims_star_time("0 1\nphase\n1 2\n", &set), TOKEN + 2 * ONE);
	/* 0 comes into the second phase when its own message has arrived, and then says so. */
	assert_int_equal(sims_star_time("0 1\nphase\n1 0\n", &set), 2 * (TOKEN + ONE));
	/* 2 may send at once, but 1 receives in the phase before. */
	assert_int_equal(sims_star_time("0 1\nphase\n2 1\n", &set), 2 * (TOKEN + ONE));
}

TEST(tokens_of_who_had_the_link)
{
	const struct fors_sim_settings set = waits(FORS_WAIT_TOKENS, 1);

	assert_int_equal(sims_star_time("0 1\n", &set), ONE);
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\n", &set), ONE);
	/* One link up: no token from oneself. */
	assert_int_equal(sims_star_time("0 1\nphase\n0 2\n", &set), 2 * ONE);
	/* One link down: the token takes its time. */
	assert_int_equal(sims_star_time("0 1\nphase\n2 1\n", &set), 2 * ONE + TOKEN);
	/* The last phase in which somebody had it counts, not the last one. */
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\nphase\n3 1\n", &set), 2 * ONE + TOKEN);
	/* Two had it: the later one. */
	assert_int_equal(sims_star_time("0 2\n1 2\nphase\n3 2\n", &set), 2 * ONE + US - 0 + TOKEN);
}

TEST(a_tree_of_tokens)
{
	struct fors_sim_settings set = waits(FORS_WAIT_TREE, 1);
	const char *three = "0 1\nphase\n2 3\nphase\n0 2\n";

	/* Up from 1 to 0, down from 0 to 2; 2 and 3 had nothing to do, and have said so long ago. */
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\n", &set), 2 * ONE + 2 * TOKEN);
	/* 3 is two tokens below 0. */
	assert_int_equal(sims_star_time("0 1\nphase\n3 2\n", &set), 2 * ONE + 3 * TOKEN);
	/* Up from 3 over 2, down to 0 none. */
	assert_int_equal(sims_star_time("2 3\nphase\n0 1\n", &set), 2 * ONE + 2 * TOKEN);
	assert_int_equal(sims_star_time(three, &set), 3 * ONE + 4 * TOKEN);
	/* Two phases at the beginning; the third when 0 knows that the first is over. */
	set.ahead = 2;
	assert_int_equal(sims_star_time(three, &set), 2 * ONE + TOKEN);
	set.ahead = 3;
	assert_int_equal(sims_star_time("0 1\nphase\n2 3\nphase\n1 2\n", &set), ONE);
	set.token = 0;
	set.ahead = 1;
	assert_int_equal(sims_star_time(three, &set), 3 * ONE);
}

TEST(delays_of_messages)
{
	struct fors_sim_settings set = sims_plain();
	uint64_t time, other;

	set.message_jitter = 0.2;
	time = sims_star_time("0 1\nphase\n1 2\n", &set);
	assert_in_range(time, 2 * ONE, 2 * ONE + 2 * US / 5);
	assert_int_equal(time, sims_star_time("0 1\nphase\n1 2\n", &set));
	set.seed = 7;
	other = sims_star_time("0 1\nphase\n1 2\n", &set);
	assert_int_not_equal(time, other);
	/* The same delay of the same message, whoever waits: that of the first one is all the difference here. */
	set.has_barrier = false;
	time = sims_star_time("0 1\n", &set);
	set.wait = FORS_WAIT_OWN;
	set.token = TOKEN;
	assert_int_equal(sims_star_time("0 1\n", &set), time + TOKEN);
}

/* ---- another form ---- */

TEST(several_ranks)
{
	struct fors_program *one = sims_text("0 1\n2 3\nphase\n1 0\n", 4), *two = NULL;
	struct fors_sim_settings set = sims_plain();

	assert_int_equal(fors_program_share(one, 2, &two, &error), FORS_OK);
	assert_int_equal(fors_program_nmessages(two), 12);
	assert_true(two->count[0] == 8 && two->count[1] == 4 && two->first[1] == 2 && two->first[2] == 4);
	/* Rank 1 begins with rank 1. */
	assert_true(two->send[2].dst == 1 && two->send[2].local == 1 && two->send[3].local == 0);
	/* Four messages over one cable. */
	assert_int_equal(sims_star_time_of(two, &set), 2 * (90000 + 4 * US));
	set = waits(FORS_WAIT_OWN, 1);
	/* The second token comes in time. */
	assert_int_equal(sims_star_time_of(two, &set), TOKEN + 2 * (90000 + 4 * US));
	fors_program_free(one);
	fors_program_free(two);
}

/* A rank goes on when its own messages are there, though the other ranks of its server are not as far. */
TEST(ranks_wait_for_themselves)
{
	struct fors_program *one = sims_text("0 1\nphase\n1 2\n", 4), *two = NULL;
	struct fors_sim_settings set = waits(FORS_WAIT_OWN, 1);
	uint64_t own;

	assert_int_equal(fors_program_share(one, 2, &two, &error), FORS_OK);
	own = sims_star_time_of(two, &set);
	/* Messages of ranks 0, 1, 0, 1: rank 1's receives are complete with the last one, rank 0's with the one before. */
	assert_int_equal(own, TOKEN + 90000 + 3 * US + 90000 + 4 * US);
	fors_program_free(one);
	fors_program_free(two);
}

TEST(sizes_and_chunks)
{
	struct fors_program *program = sims_text("0 1\nphase\n0 2\n", 4), *cut = NULL;
	struct fors_sim_settings set = sims_plain();
	const uint64_t size[] = {2500, 1000}, chunk[] = {1000, 1000, 1000, 500};
	const uint32_t dst[] = {1, 2, 1, 1};

	program->size = malloc(sizeof(size));
	assert_non_null(program->size);
	memcpy(program->size, size, sizeof(size));
	set.has_barrier = false;
	assert_int_equal(sims_star_time_of(program, &set), 90000 + 35 * US / 10);
	assert_int_equal(fors_program_cut(program, 0, 1000, &cut, &error), FORS_OK);
	assert_int_equal(fors_program_nmessages(cut), 4);
	for (int i = 0; i < 4; i++)
		assert_true(cut->send[i].dst == dst[i] && cut->size[i] == chunk[i] && !cut->send[i].step);
	assert_int_equal(sims_star_time_of(cut, &set), 90000 + 35 * US / 10);
	fors_program_free(cut);
	fors_program_free(program);
}

TEST(lognormal_sizes)
{
	struct fors_program *program = sims_program("linear-shift", 200, 0),
			    *other = sims_program("linear-shift", 200, 0);
	size_t n = fors_program_nmessages(program);
	double sum = 0;

	assert_int_equal(fors_program_vary(program, 0.5, 10000, 3, &error), FORS_OK);
	assert_int_equal(fors_program_vary(other, 0.5, 10000, 3, &error), FORS_OK);
	assert_memory_equal(program->size, other->size, n * sizeof(*program->size));
	for (size_t i = 0; i < n; i++)
		sum += (double)program->size[i] / (double)n;
	assert_true(sum > 9800 && sum < 10200);
	assert_int_equal(fors_program_vary(other, 0.5, 10000, 4, &error), FORS_OK);
	assert_memory_not_equal(program->size, other->size, n * sizeof(*program->size));
	fors_program_free(program);
	fors_program_free(other);
}

/* ---- all of them ---- */

static void run_all(const struct fors_router *router, const struct fors_program *program)
{
	for (int wait = FORS_WAIT_NONE; wait < FORS_NWAITS; wait++)
		for (uint32_t ahead = 1; ahead <= (wait == FORS_WAIT_TREE ? 5 : 1); ahead++) {
			struct fors_sim_settings set = waits((enum fors_wait)wait, ahead);
			struct fors_sim_result *r, *again;

			set.gbits = NULL;
			set.message_jitter = 0.2;
			set.skew = 3 * US;
			r = sims_run(router, program, &set);
			again = sims_run(router, program, &set);
			assert_int_equal(r->ncycle, 0);
			assert_true(r->time == again->time && r->nevents == again->nevents);
			fors_sim_result_free(r);
			fors_sim_result_free(again);
		}
}

TEST(all_ends)
{
	static const char *const patterns[] = {"linear-shift", "all-to-all", "xor", "RANDOM(3)"};
	struct hand star;
	struct fors_router router;

	hand_star(&star, 8);
	router = hand_router(&star);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		for (uint32_t nranks = 1; nranks <= 3; nranks++) {
			struct fors_program *one = sims_program(patterns[i], 8, i), *program = NULL;

			assert_int_equal(fors_program_share(one, nranks, &program, &error), FORS_OK);
			run_all(&router, program);
			assert_int_equal(fors_program_vary(program, 0.7, 3000, i, &error), FORS_OK);
			run_all(&router, program);
			fors_program_free(one);
			fors_program_free(program);
		}
	fors_graph_free(star.graph);
}

/* Who has no way holds up nobody. */
TEST(messages_without_a_way)
{
	struct fors_program *program = sims_text("0 1\n1 0\nphase\n0 3\nphase\n0 1\n", 4);
	struct hand ring;
	struct fors_router router;

	hand_ring(&ring, 4, 1); /* 1 to 0 and 0 to 3 have none */
	router = hand_router(&ring);
	for (int wait = FORS_WAIT_OWN; wait < FORS_NWAITS; wait++) {
		struct fors_sim_settings set = waits((enum fors_wait)wait, 1);
		struct fors_sim_result *r = NULL;

		set.gbits = sims_speeds(ring.graph, 200);
		assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_OK);
		assert_true(r->nbroken == 2 && r->nmessages == 2 && r->sent == r->arrived && !r->ncycle);
		fors_sim_result_free(r);
		free((void *)set.gbits);
	}
	fors_program_free(program);
	fors_graph_free(ring.graph);
}

static enum fors_err reshape_and_run(const struct fors_router *router, const struct fors_program *one, int wait)
{
	struct fors_sim_settings set = waits((enum fors_wait)wait, 2);
	struct fors_program *two = NULL, *cut = NULL;
	struct fors_sim_result *r FREED(fors_sim_result_free) = NULL;
	enum fors_err err = fors_program_share(one, 2, &two, &error);

	if (!err)
		err = fors_program_vary(two, 0.3, 2000, 1, &error);
	if (!err)
		err = fors_program_cut(two, 0, 500, &cut, &error);
	if (!err)
		err = fors_simulate(router, two, &set, &r, &error);
	fors_program_free(two);
	fors_program_free(cut);
	return err;
}

TEST(each_allocation_fails_once)
{
	struct fors_program *one = sims_text("0 1\n1 0\nphase\n0 3\nphase\n0 1\n", 4);
	struct hand star;
	struct fors_router router;

	hand_star(&star, 4);
	router = hand_router(&star);
	for (int wait = FORS_WAIT_OWN; wait < FORS_NWAITS; wait++) {
		bool happened = true;

		for (uint64_t n = 1; happened; n++) {
			int64_t live = faults_live();
			enum fors_err err;

			faults_arm(n, false);
			err = reshape_and_run(&router, one, wait);
			happened = faults_off();
			assert_int_equal(err, happened ? FORS_ENOMEM : FORS_OK);
			assert_int_equal(faults_live(), live);
		}
	}
	fors_program_free(one);
	fors_graph_free(star.graph);
}

TEST(bad_settings)
{
	struct fors_program *program = sims_text("0 1\n", 4);
	struct hand star;
	struct fors_router router;
	struct fors_sim_result *r = NULL;

	hand_star(&star, 4);
	router = hand_router(&star);
	for (int i = 0; i < 3; i++) {
		struct fors_sim_settings set = waits(FORS_WAIT_TREE, i ? 1 : 0);

		set.message_jitter = i == 1 ? -1 : 0;
		set.token = i == 2 ? UINT64_MAX : 0;
		assert_int_equal(fors_simulate(&router, program, &set, &r, &error), FORS_EINPUT);
		assert_null(r);
	}
	fors_program_free(program);
	fors_graph_free(star.graph);
}
