/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_rehome.c - when homes are ranked afresh: never sick, never while hosts boot, once an hour, withdrawn first. */
#include "support.h"

#include "daemon/look/rehome.h"

#define START 1000000
#define MINUTE 60000
#define HOUR 3600000

TEST(only_when_it_has_been_quiet)
{
	struct fors_rehome rehome = {0};

	fors_rehome_note(&rehome, 10, START);
	fors_rehome_want(&rehome, true, START);
	assert_int_equal(rehome.due_ms, START + MINUTE);
	assert_false(fors_rehome_is_due(&rehome, START + MINUTE - 1));
	fors_rehome_note(&rehome, 10, START + 30000); /* nobody new */
	fors_rehome_want(&rehome, true, START + 30000);
	assert_int_equal(rehome.due_ms, START + MINUTE);
	fors_rehome_note(&rehome, 11, START + 50000);
	fors_rehome_want(&rehome, true, START + 50000);
	assert_false(fors_rehome_is_due(&rehome, START + MINUTE));
	assert_true(fors_rehome_is_due(&rehome, START + 50000 + MINUTE));
	fors_rehome_want(&rehome, false, START + 50001);
	assert_int_equal(rehome.due_ms, 0);
	assert_false(fors_rehome_is_due(&rehome, START + HOUR));
}

TEST(the_schedule_goes_first)
{
	struct fors_rehome rehome = {0};
	uint64_t now = START + MINUTE;

	fors_rehome_note(&rehome, 10, START);
	fors_rehome_want(&rehome, true, now);
	assert_true(fors_rehome_is_due(&rehome, now));
	assert_false(fors_rehome_may_rank(&rehome, 0));
	fors_rehome_arm(&rehome, 5, now);
	assert_int_equal(rehome.armed, 1);
	assert_int_equal(rehome.due_ms, now + FORS_REHOME_GRACE_MS);
	assert_false(fors_rehome_may_rank(&rehome, 0)); /* not withdrawn yet */
	assert_true(fors_rehome_may_rank(&rehome, 1));
	fors_rehome_want(&rehome, false, now + 1); /* a cable died */
	assert_false(fors_rehome_may_rank(&rehome, 1));
	fors_rehome_want(&rehome, true, now + 2);
	fors_rehome_arm(&rehome, 5, now + 2);
	assert_false(fors_rehome_may_rank(&rehome, 1)); /* that was for the last time */
	assert_true(fors_rehome_may_rank(&rehome, 2));
	fors_rehome_note(&rehome, 12, now + 3); /* somebody came meanwhile */
	fors_rehome_want(&rehome, true, now + 3);
	assert_false(fors_rehome_may_rank(&rehome, 2));
}

TEST(what_moves_nothing_needs_no_withdrawal)
{
	struct fors_rehome rehome = {0};

	fors_rehome_note(&rehome, 10, START);
	fors_rehome_want(&rehome, true, START + MINUTE);
	fors_rehome_arm(&rehome, 0, START + MINUTE);
	assert_int_equal(rehome.armed, 0);
	assert_true(fors_rehome_may_rank(&rehome, 0));
}

TEST(at_most_once_an_hour)
{
	struct fors_rehome rehome = {0};
	uint64_t now = START + MINUTE;

	fors_rehome_note(&rehome, 10, START);
	fors_rehome_want(&rehome, true, now);
	fors_rehome_arm(&rehome, 5, now);
	fors_rehome_done(&rehome, now);
	assert_false(fors_rehome_may_rank(&rehome, 1));
	fors_rehome_note(&rehome, 11, now + MINUTE);
	fors_rehome_want(&rehome, true, now + MINUTE);
	assert_int_equal(rehome.due_ms, now + HOUR);
	assert_false(fors_rehome_is_due(&rehome, now + HOUR - 1));
	assert_true(fors_rehome_is_due(&rehome, now + HOUR));
}

TEST(healthy_is_no_cable_dead_or_slow_or_drained)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;3,3)", 0);
	struct fors_fattree tree = fors_fattree_of_fabric(bed->fabric);
	struct fors_cable *cable = &bed->fabric->cable[4];

	assert_true(fors_rehome_is_healthy(&tree));
	cable->is_degraded = true;
	assert_false(fors_rehome_is_healthy(&tree));
	cable->is_degraded = false;
	cable->drained = FORS_DRAIN_HELD;
	assert_false(fors_rehome_is_healthy(&tree));
	cable->drained = FORS_DRAIN_NOT;
	bed_down(bed, "Leaf01[5]");
	tree = fors_fattree_of_fabric(bed->fabric);
	assert_false(fors_rehome_is_healthy(&tree));
}
