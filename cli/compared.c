/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compared.c - what the text of a fabric may lack.
 *
 * A text shows what lives. Which cables are dead, only --down, --reference and --state can say; without them siblings are
 * compared (core/fabric/missing.h), and what comes of that is called missing, not dead.
 */
#include "cli/compared.h"

#include <stdlib.h>

#define LISTED 10 /* missing cables */

enum fors_err cli_compare(const struct cli_source *source, const struct fors_fattree *tree,
			  struct cli_compared *compared, struct fors_error *error)
{
	*compared = (struct cli_compared){.is_done = source->fabric && !source->reference && !source->state};
	if (!compared->is_done)
		return FORS_OK;
	return fors_missing_list(tree, &compared->missing, &compared->nmissing, &compared->unclear, error);
}

void cli_compared_clear(struct cli_compared *compared)
{
	free(compared->missing);
	*compared = (struct cli_compared){.nmissing = 0};
}

static void print_count(uint32_t cables)
{
	if (cables)
		printf("%u cable%s", cables, cables == 1 ? "" : "s");
	else
		printf("no cable");
}

/* "the other 17 leaves", "16 of the other 17 leaves of its pod" */
static void print_siblings(const struct fors_fattree *tree, const struct fors_missing *missing)
{
	bool is_leaf = missing->low < tree->nleaves;

	if (missing->agree < missing->siblings)
		printf("%u of ", missing->agree);
	printf("the other %u %s", missing->siblings, is_leaf ? "leaves" : "middle switches");
	if (tree->pods)
		printf(is_leaf ? " of its pod" : " of its plane");
}

static void print_missing(const struct fors_fattree *tree, const struct fors_missing *missing)
{
	printf("%s has ", tree->kind->at(tree, missing->low).name);
	print_count(missing->has);
	printf(" to %s, ", tree->kind->at(tree, missing->high).name);
	print_siblings(tree, missing);
	if (missing->wanted == 1)
		printf(" do");
	else
		printf(" have %u", missing->wanted);
	printf(" (dead, or never there)\n");
}

/* Where siblings differ and too few agree, nothing is known: that is no good news. */
static void print_unclear(const struct cli_compared *compared, const struct fors_fattree *tree)
{
	printf("%-*sunclear between %s: fewer than three of four pairs of them have equally many cables; --reference tells\n",
	       CLI_LABEL, compared->nmissing ? "" : "missing",
	       compared->unclear > 1 ? "middle switches and tops"
	       : tree->pods	     ? "leaves and middle switches"
				     : "leaves and spines");
}

static void print_rows(const struct cli_compared *compared, const struct fors_fattree *tree)
{
	if (!compared->nmissing && !compared->unclear)
		printf("%-*snothing by comparison; no reference: a fault common to all leaves cannot be seen\n",
		       CLI_LABEL, "missing");
	for (uint32_t i = 0; i < compared->nmissing && i < LISTED; i++) {
		printf("%-*s", CLI_LABEL, i ? "" : "missing");
		printf("%s", i ? "" : "by comparison: ");
		print_missing(tree, &compared->missing[i]);
	}
	if (compared->nmissing > LISTED)
		printf("%*sand %u more\n", CLI_LABEL, "", compared->nmissing - LISTED);
	if (compared->unclear)
		print_unclear(compared, tree);
}

void cli_compared_print(const struct cli_compared *compared, const struct fors_fattree *tree,
			const struct fors_status *status)
{
	if (!compared->is_done || status->dead_links.count)
		cli_print_dead_links(status);
	if (compared->is_done)
		print_rows(compared, tree);
}
