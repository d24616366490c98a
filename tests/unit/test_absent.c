/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* test_absent.c - the warning about participants that are listed and not there. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/look/absent.h"

/* All servers of the bed, last first, and among and behind them `nabsent` that are not there. */
static struct fors_participants list_of(const struct bed *bed, unsigned nabsent)
{
	const struct fors_fabric *fabric = bed->fabric;
	struct fors_participants list = {calloc(fabric->nservers + nabsent, sizeof(uint64_t)), 0};

	for (uint32_t s = fabric->nservers; s-- > 0;) { /* no order that anybody could rely on */
		list.guid[list.count++] = fabric->server[s].guid;
		if (s % 2 && nabsent)
			list.guid[list.count++] = 0xabc0 + nabsent--;
	}
	while (nabsent)
		list.guid[list.count++] = 0xabc0 + nabsent--;
	return list;
}

TEST(absent_are_counted_and_the_first_is_named)
{
	struct bed *bed FREED(bed_free) = bed_new("FT(2;4,3)", 0);
	const struct fors_fattree tree = fors_fattree_of_fabric(bed->fabric);

	for (unsigned nabsent = 0; nabsent < 20; nabsent++) {
		struct fors_participants list = list_of(bed, nabsent);
		struct fors_warnings warnings = {.count = 0};
		char wanted[80];

		assert_int_equal(fors_absent_warn(&list, "list", &tree, &warnings, NULL), FORS_OK);
		assert_int_equal(warnings.count, nabsent > 0);
		snprintf(wanted, sizeof(wanted), "list: %u of its %zu GUIDs", nabsent, list.count);
		assert_true(!nabsent || strstr(warnings.text[0], wanted));
		snprintf(wanted, sizeof(wanted), "0x%016x", 0xabc0 + nabsent);
		assert_true(!nabsent || strstr(warnings.text[0], wanted));
		free(list.guid);
	}
}

TEST(nobody_listed_and_nobody_there)
{
	const struct fors_participants one = {(uint64_t[]){7}, 1};
	const struct fors_fabric empty = {.nservers = 0};
	const struct fors_fattree tree = fors_fattree_of_fabric(&empty);
	struct fors_warnings warnings = {.count = 0};

	assert_int_equal(fors_absent_warn(NULL, "list", &tree, &warnings, NULL), FORS_OK);
	assert_int_equal(warnings.count, 0);
	assert_int_equal(fors_absent_warn(&one, "list", &tree, &warnings, NULL), FORS_OK);
	assert_non_null(strstr(warnings.text[0], "1 of its 1"));
}
