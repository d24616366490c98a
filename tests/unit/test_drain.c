/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_drain.c - daemon/look/drain.c: what settings take out of a fabric, when held cables may return, and when the tables
 * have to wait for them.
 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "daemon/look/drain.h"
#include "daemon/base/log.h"

/* What the log would hold. */
static char logged[4096];
static unsigned nlogged;

static void note(const char *format, va_list arguments)
{
	size_t length = strlen(logged);

	vsnprintf(logged + length, sizeof(logged) - length, format, arguments);
	length = strlen(logged);
	snprintf(logged + length, sizeof(logged) - length, "\n");
	nlogged++;
}

void fors_log_info(struct fors_log *log, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	note(format, arguments);
	va_end(arguments);
}

void fors_log_error(struct fors_log *log, enum fors_code code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	note(format, arguments);
	va_end(arguments);
}

static void forget_log(void)
{
	logged[0] = '\0';
	nlogged = 0;
}

/* --- what settings ask for -------------------------------------------------- */

TEST(each_wish_is_one)
{
	struct fors_settings settings = {0};

	assert_false(fors_drain_is_wanted(&settings));
	settings.hold_down = 1;
	assert_true(fors_drain_is_wanted(&settings));
	settings = (struct fors_settings){.degraded = FORS_SLOW_DEAD};
	assert_true(fors_drain_is_wanted(&settings));
	settings = (struct fors_settings){.excluded_links = {NULL, 1}};
	assert_true(fors_drain_is_wanted(&settings));
	settings = (struct fors_settings){.excluded_spines = {NULL, 1}};
	assert_true(fors_drain_is_wanted(&settings));
}

static void apply(struct fors_drain *drain, const struct fors_settings *settings, struct bed *bed,
		  struct fors_warnings *warnings)
{
	struct fors_slow slow;

	memset(warnings, 0, sizeof(*warnings));
	assert_int_equal(fors_drain_apply(drain, settings, fors_fattree_of_fabric(bed->fabric), &slow, warnings, NULL),
			 FORS_OK);
}

/* Lists come before degraded cables, and each reason sets aside what is its own. */
TEST(settings_take_out)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	struct fors_settings settings = {0};
	struct fors_warnings warnings;
	struct fors_drain drain CLEARED(fors_drain_clear);

	assert_int_equal(fors_drain_init(&drain, NULL), FORS_OK);
	fors_net_port(bed->net, bed->fabric->leaf[2].node, fors_cable(bed->fabric, 2, 0)->leaf_port)->is_degraded =
		true;
	assert_int_equal(fors_names_add(&settings.excluded_spines, "Spine01", NULL), FORS_OK);
	assert_int_equal(fors_names_add(&settings.excluded_links, "Leaf00[7], Nowhere", NULL), FORS_OK);
	bed_rebuild(bed);
	apply(&drain, &settings, bed, &warnings);
	assert_int_equal(fors_cable(bed->fabric, 0, 1)->drained, FORS_DRAIN_EXCLUDED);
	assert_int_equal(fors_cable(bed->fabric, 0, 2)->drained, FORS_DRAIN_EXCLUDED);
	assert_true(fors_live(bed->fabric, 2, 0));
	assert_int_equal(warnings.count, 1);
	assert_non_null(strstr(warnings.text[0], "exclude_links: "));
	settings.degraded = FORS_SLOW_DEAD;
	bed_rebuild(bed);
	apply(&drain, &settings, bed, &warnings);
	assert_int_equal(fors_cable(bed->fabric, 2, 0)->drained, FORS_DRAIN_DEGRADED);
	assert_false(fors_live(bed->fabric, 2, 0));
	fors_names_clear(&settings.excluded_links);
	fors_names_clear(&settings.excluded_spines);
}

/* A cable that came back: held while asked for, and due when its time is over by a clock that is read here. */
TEST(returned_cables_are_held)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	struct fors_settings settings = {.hold_down = 3600};
	struct fors_warnings warnings;
	struct fors_drain drain;
	uint64_t held_until_ms = 0;

	assert_int_equal(fors_drain_init(&drain, NULL), FORS_OK);
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), true, &held_until_ms, NULL),
		FORS_OK);
	assert_true(drain.due_ms == 0 && held_until_ms == 0);
	bed_down(bed, "Leaf01[6]");
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), true, &held_until_ms, NULL),
		FORS_OK);
	bed_restore(bed);
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), true, &held_until_ms, NULL),
		FORS_OK);
	assert_true(drain.due_ms > 3600000);
	assert_true(held_until_ms > 1000000000000 + 3600000);
	assert_true(fors_live(bed->fabric, 1, 1));
	apply(&drain, &settings, bed, &warnings);
	assert_int_equal(fors_cable(bed->fabric, 1, 1)->drained, FORS_DRAIN_HELD);
	settings.hold_down = 0;
	bed_rebuild(bed);
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), false, &held_until_ms, NULL),
		FORS_OK);
	assert_true(drain.due_ms > 0); /* no tables are made for this look, so it may not return yet */
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), true, &held_until_ms, NULL),
		FORS_OK);
	assert_true(drain.due_ms == 0);
	bed_down(bed, "Leaf01[6]");
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), false, &held_until_ms, NULL),
		FORS_OK);
	bed_restore(bed);
	assert_int_equal(
		fors_drain_look(&drain, &settings, fors_fattree_of_fabric(bed->fabric), false, &held_until_ms, NULL),
		FORS_OK);
	assert_true(drain.due_ms == 0); /* what was never held need not wait for tables */
	fors_drain_clear(&drain);
}

/* --- the log ----------------------------------------------------------------- */

static void tell(struct fors_drain *drain, struct bed *bed, const struct fors_warnings *warnings)
{
	const struct fors_slow nothing = {.how = FORS_SLOW_AUTO};

	forget_log();
	fors_drain_tell(drain, NULL, fors_fattree_of_fabric(bed->fabric), &nothing, warnings);
}

TEST(only_news_are_told)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 2);
	struct fors_settings settings = {0};
	struct fors_warnings warnings = {0};
	struct fors_drain drain CLEARED(fors_drain_clear) = {0};

	assert_int_equal(fors_drain_init(&drain, NULL), FORS_OK);
	tell(&drain, bed, &warnings);
	assert_int_equal(nlogged, 0);
	assert_int_equal(fors_names_add(&settings.excluded_links, "Leaf00[7], Nowhere", NULL), FORS_OK);
	apply(&drain, &settings, bed, &warnings);
	tell(&drain, bed, &warnings);
	assert_int_equal(nlogged, 2);
	assert_non_null(strstr(logged, "link Leaf00[7] - Spine02[1] is excluded: no traffic between servers"));
	assert_non_null(strstr(logged, "Nowhere"));
	tell(&drain, bed, &warnings);
	assert_int_equal(nlogged, 0);
	bed_rebuild(bed);
	memset(&warnings, 0, sizeof(warnings));
	tell(&drain, bed, &warnings);
	assert_int_equal(nlogged, 1);
	assert_non_null(strstr(logged, "no link is excluded, degraded or held any more"));
	fors_names_clear(&settings.excluded_links);
}

TEST(long_lists_have_an_end)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;20,18)", 0);
	struct fors_warnings warnings = {0};
	struct fors_drain drain = {0};

	for (uint32_t a = 1; a < 18; a++) /* 17 of them, one more than are told */
		mark_drained(bed->fabric, a, 3, FORS_DRAIN_EXCLUDED);
	for (int i = 0; i < FORS_WARNINGS_MAX + 3; i++)
		fors_warn(&warnings, "number %d", i);
	tell(&drain, bed, &warnings);
	assert_int_equal(nlogged, 17 + FORS_WARNINGS_MAX + 1);
	assert_non_null(strstr(logged, "and 1 more such link;"));
	assert_non_null(strstr(logged, "and 3 more"));
	assert_non_null(strstr(logged, "it has to stay in use"));
}
