/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ahead.c - what `fors plan` says beside the plan.
 *
 * A text shows what lives. Which cables are dead, only --down, --reference and --state can say; without them siblings are
 * compared (core/fabric/missing.h), and what comes of that is called missing, not dead.
 *
 * Where one more dead cable costs most follows from a rule (core/fabric/repairs.h). What it costs is planned; where a plan takes
 * long, what it costs at least is all that is said.
 */
#include "cli/ahead.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "core/base/text.h"

#define LISTED 10	   /* missing cables */
#define MOST_SERVERS 4096u /* a plan more for them takes a moment, */
#define MOST_SINGLE 1024u  /* where it is one of single flows */

enum fors_err cli_ahead_look(const struct cli_source *source, const struct fors_fattree *tree, struct cli_ahead *ahead,
			     struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*ahead = (struct cli_ahead){.phases = FORS_UNKNOWN};
	ahead->has_compared = source->fabric && !source->reference && !source->state;
	if (ahead->has_compared)
		err = fors_missing_list(*tree, &ahead->missing, &ahead->nmissing, &ahead->unclear, error);
	return err ? err : fors_narrowest_find(*tree, &ahead->narrowest, error);
}

void cli_ahead_clear(struct cli_ahead *ahead)
{
	free(ahead->missing);
	*ahead = (struct cli_ahead){0};
}

bool cli_ahead_down(const struct cli_source *source, const struct fors_fattree *tree, const struct cli_ahead *ahead,
		    const struct fors_schedule *plan, char *text, const char ***down)
{
	const struct fors_narrowest *n = &ahead->narrowest;
	struct fors_fattree_cable cable;

	if (!plan || !n->is_there || n->is_cut || plan->nservers > (plan->parts ? MOST_SERVERS : MOST_SINGLE))
		return false;
	tree->kind->get(tree, n->cable, &cable);
	snprintf(text, CLI_DOWN_ROOM, "0x%016" PRIx64 "[%u]", tree->kind->at(tree, cable.low).guid, cable.low_port);
	*down = malloc((source->ndown + 1) * sizeof(**down));
	if (!*down)
		return false;
	if (source->ndown)
		memcpy(*down, source->down, source->ndown * sizeof(**down));
	(*down)[source->ndown] = text;
	return true;
}

/* --- what is dead, and what is missing --------------------------------------------------------------------------- */

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
static void print_unclear(const struct cli_ahead *ahead, const struct fors_fattree *tree)
{
	const struct fors_unclear *unclear = &ahead->unclear;

	printf("%-*sunclear at %s", CLI_LABEL, ahead->nmissing ? "" : "missing",
	       tree->kind->at(tree, unclear->high).name);
	if (unclear->count > 1)
		printf(" and %u more", unclear->count - 1);
	printf(": its %u %s differ, and fewer than three of four agree; --reference tells\n", unclear->siblings,
	       unclear->low < tree->nleaves ? "leaves" : "middle switches");
}

static void print_compared(const struct cli_ahead *ahead, const struct fors_fattree *tree)
{
	if (!ahead->nmissing && !ahead->unclear.count)
		printf("%-*snothing by comparison; no reference: a fault common to all leaves cannot be seen\n",
		       CLI_LABEL, "missing");
	for (uint32_t i = 0; i < ahead->nmissing && i < LISTED; i++) {
		printf("%-*s", CLI_LABEL, i ? "" : "missing");
		printf("%s", i ? "" : "by comparison: ");
		print_missing(tree, &ahead->missing[i]);
	}
	if (ahead->nmissing > LISTED)
		printf("%*sand %u more\n", CLI_LABEL, "", ahead->nmissing - LISTED);
	if (ahead->unclear.count)
		print_unclear(ahead, tree);
}

void cli_ahead_print_dead(const struct cli_ahead *ahead, const struct fors_fattree *tree,
			  const struct fors_status *status)
{
	if (!ahead->has_compared || status->dead_links.count)
		cli_print_dead_links(status);
	if (ahead->has_compared)
		print_compared(ahead, tree);
}

/* --- one more ----------------------------------------------------------------------------------------------------- */

static void print_group(const struct fors_fattree *tree, const struct fors_narrowest *n)
{
	struct fors_fattree_cable cable;

	tree->kind->get(tree, n->cable, &cable);
	printf("%s%s", n->is_pod ? "the pod of " : "", tree->kind->at(tree, cable.low).name);
}

static void print_cable(const struct fors_fattree *tree, uint32_t number)
{
	struct fors_fattree_cable cable;

	tree->kind->get(tree, number, &cable);
	printf("%s[%u] - %s[%u]", tree->kind->at(tree, cable.low).name, cable.low_port,
	       tree->kind->at(tree, cable.high).name, cable.high_port);
}

static double percent(const struct fors_fattree *tree, uint64_t phases)
{
	uint32_t servers = fors_fattree_sum(tree).servers;

	return phases > servers ? 100 * (double)servers / (double)phases : 100;
}

static void print_cost(const struct cli_ahead *ahead, const struct fors_fattree *tree)
{
	const struct fors_narrowest *n = &ahead->narrowest;

	if (ahead->phases > 0)
		printf(": %lld %s, %.1f %% of full speed; limit %llu %s, %.1f %%\n", (long long)ahead->phases,
		       fors_plural(ahead->phases, "phase", "phases"), percent(tree, (uint64_t)ahead->phases),
		       (unsigned long long)n->limit, fors_plural(n->limit, "phase", "phases"), percent(tree, n->limit));
	else
		printf(": at least %llu phases, at most %.1f %% of full speed\n", (unsigned long long)n->limit,
		       percent(tree, n->limit));
}

void cli_ahead_print_next(const struct cli_ahead *ahead, const struct fors_fattree *tree)
{
	const struct fors_narrowest *n = &ahead->narrowest;

	if (!n->is_there)
		return;
	printf("%-*sone more dead cable %s ", CLI_LABEL, "next", n->is_cut ? "cuts off" : "costs most at");
	print_group(tree, n);
	printf(" (%u server%s", n->servers, n->servers == 1 ? "" : "s");
	printf(n->is_cut ? "): " : ", %u live uplinks), as ", n->uplinks);
	print_cable(tree, n->cable);
	if (n->is_cut)
		printf(" is the last one upwards\n");
	else
		print_cost(ahead, tree);
}
