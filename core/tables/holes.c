/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holes.c - LIDs without a path, and what to mend: see holes.h.
 *
 * Two switches are joined if going up from both, over cables that packets get through, leads to a common switch. Where
 * they are not, a dead cable can join them only if its lower end is above one of the two, and something above its upper
 * end is above the other. So what is above both is found once, and each dead cable is asked for its upper end alone.
 */
#include "holes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what would join two switches ------------------------------------------------------------------------------- */

/* What is above two switches that nothing joins, as sets of switches, and room for what is above a third. */
struct sets {
	const struct fors_fattree *tree;
	uint32_t gone; /* this switch counts as alive, with all its cables; FORS_NONE: none does */
	bool *above[2], *more;
};

static bool passes(const struct sets *s, const struct fors_fattree_cable *cable)
{
	return fors_fattree_passes(cable) ||
	       (s->gone != FORS_NONE && (cable->low == s->gone || cable->high == s->gone));
}

/* All that going up from a switch leads to, itself too, becomes true in set[]. At most three levels deep. */
static void climb(const struct sets *s, uint32_t from, bool *set)
{
	uint32_t count, first = s->tree->kind->above(s->tree, from, &count);
	struct fors_fattree_cable cable;

	set[from] = true;
	for (uint32_t i = first; i < first + count; i++)
		if (s->tree->kind->get(s->tree, i, &cable) && cable.low == from && !set[cable.high] &&
		    passes(s, &cable))
			climb(s, cable.high, set);
}

static bool meet(const struct sets *s, const bool *a, const bool *b)
{
	for (uint32_t i = 0; i < s->tree->nswitches; i++)
		if (a[i] && b[i])
			return true;
	return false;
}

/* Would this dead cable join the two? */
static bool joins(const struct sets *s, const struct fors_fattree_cable *cable)
{
	bool is_below_one = s->above[0][cable->low], is_below_other = s->above[1][cable->low];

	if (fors_fattree_passes(cable) || (!is_below_one && !is_below_other))
		return false;
	memset(s->more, 0, s->tree->nswitches * sizeof(*s->more));
	climb(s, cable->high, s->more);
	return (is_below_one && meet(s, s->more, s->above[1])) || (is_below_other && meet(s, s->more, s->above[0]));
}

static uint32_t find_cable(const struct sets *s)
{
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < s->tree->ncables; i++)
		if (s->tree->kind->get(s->tree, i, &cable) && joins(s, &cable))
			return i;
	return FORS_NONE;
}

static void climb_both(struct sets *s, uint32_t from, uint32_t to)
{
	memset(s->above[0], 0, 2 * s->tree->nswitches * sizeof(bool));
	climb(s, from, s->above[0]);
	climb(s, to, s->above[1]);
}

/* Which switches have a cable that packets get through, in more[]. */
static void find_living(const struct sets *s)
{
	struct fors_fattree_cable cable;

	memset(s->more, 0, s->tree->nswitches * sizeof(*s->more));
	for (uint32_t i = 0; i < s->tree->ncables; i++)
		if (s->tree->kind->get(s->tree, i, &cable) && fors_fattree_passes(&cable))
			s->more[cable.low] = s->more[cable.high] = true;
}

/* The switch that is gone, and would join the two with all its cables. */
static uint32_t find_gone(struct sets *s, uint32_t from, uint32_t to)
{
	find_living(s);
	for (uint32_t number = 0; number < s->tree->nswitches; number++) {
		if (s->more[number])
			continue;
		s->gone = number;
		climb_both(s, from, to);
		if (meet(s, s->above[0], s->above[1]))
			return number;
	}
	return FORS_NONE;
}

enum fors_err fors_holes_cure(const struct fors_fattree *tree, uint32_t from, uint32_t to, uint32_t *cable,
			      uint32_t *gone, struct fors_error *error)
{
	bool *room = calloc(3 * (size_t)tree->nswitches + 1, sizeof(*room));
	struct sets s = {tree, FORS_NONE, {room, room + tree->nswitches}, room + 2 * (size_t)tree->nswitches};

	if (!room)
		return fors_fail_memory(error);
	climb_both(&s, from, to);
	*cable = find_cable(&s);
	*gone = *cable == FORS_NONE ? find_gone(&s, from, to) : FORS_NONE;
	free(room);
	return FORS_OK;
}

/* --- in words ------------------------------------------------------------------------------------------------------ */

/* The tree's number of a node, FORS_NONE: it has no place. */
static uint32_t number_of(const struct fors_fattree *tree, uint32_t node)
{
	for (uint32_t number = 0; number < tree->nswitches; number++)
		if (tree->kind->at(tree, number).node == node)
			return number;
	return FORS_NONE;
}

static void say_cable(const struct fors_fattree *tree, uint32_t i, char *text, size_t room)
{
	struct fors_fattree_cable cable;

	tree->kind->get(tree, i, &cable);
	snprintf(text, room, "; mend %s[%u] - %s[%u]", tree->kind->at(tree, cable.low).name, cable.low_port,
		 tree->kind->at(tree, cable.high).name, cable.high_port);
}

static bool has_dead(const struct fors_fattree *tree)
{
	struct fors_fattree_cable cable;
	bool has = false;

	for (uint32_t i = 0; !has && i < tree->ncables; i++)
		has = tree->kind->get(tree, i, &cable) && cable.state == FORS_CABLE_DEAD;
	return has;
}

/* What to mend for the first of the holes, empty: not known. Errors: FORS_ENOMEM. */
static enum fors_err say_cure(const struct fors_switches *switches, const struct fors_hole *hole,
			      const struct fors_fattree *tree, char *text, size_t room, struct fors_error *error)
{
	uint32_t from = tree ? number_of(tree, switches->all[hole->from].node) : FORS_NONE;
	uint32_t to = tree ? number_of(tree, switches->all[hole->to].node) : FORS_NONE;
	uint32_t cable = FORS_NONE, gone = FORS_NONE;
	enum fors_err err = FORS_OK;

	*text = '\0';
	if (from == FORS_NONE || to == FORS_NONE)
		return FORS_OK;
	err = fors_holes_cure(tree, from, to, &cable, &gone, error);
	if (cable != FORS_NONE)
		say_cable(tree, cable, text, room);
	else if (gone != FORS_NONE)
		snprintf(text, room, "; mend %s", tree->kind->at(tree, gone).name);
	else
		snprintf(text, room, "; %s",
			 has_dead(tree) ? "mending one of the dead cables does not suffice"
					: "no cable is dead: no way up, then down leads there");
	return err;
}

/* "Leaf05 (and 3 more)"; in text[room]. */
static const char *say_some(const struct fors_switches *switches, uint32_t at, uint32_t count, char *text, size_t room)
{
	const char *name = fors_switches_name(switches, at);

	if (count > 1)
		snprintf(text, room, "%s (and %u more)", name, count - 1);
	else
		snprintf(text, room, "%s", name);
	return text;
}

enum fors_err fors_holes_warn(const struct fors_switches *switches, const struct fors_reach *reach,
			      const struct fors_fattree *tree, struct fors_warnings *warnings, struct fors_error *error)
{
	const struct fors_hole *manage = &reach->to_switches, *hosts = &reach->to_hosts;
	const struct fors_hole *hostless = &reach->hostless;
	char from[96], to[96], cure[160];
	enum fors_err err = FORS_OK;

	if (hostless->entries)
		fors_warn(warnings, "%s, without hosts, gets to %s no way up, then down",
			  say_some(switches, hostless->from, hostless->nfrom, from, sizeof(from)),
			  say_some(switches, hostless->to, hostless->nto, to, sizeof(to)));

	if (hosts->entries)
		err = say_cure(switches, hosts, tree, cure, sizeof(cure), error);
	if (!err && hosts->entries)
		fors_warn(warnings,
			  "hosts below %s cannot send to hosts below %s: any way round could close a credit loop (%u "
			  "entries without a path)%s",
			  say_some(switches, hosts->from, hosts->nfrom, from, sizeof(from)),
			  say_some(switches, hosts->to, hosts->nto, to, sizeof(to)), hosts->entries, cure);
	if (!err && manage->entries)
		err = say_cure(switches, manage, tree, cure, sizeof(cure), error);
	if (!err && manage->entries)
		fors_warn(warnings, "hosts below %s cannot query the management port of %s by LID%s%s",
			  say_some(switches, manage->from, manage->nfrom, from, sizeof(from)),
			  say_some(switches, manage->to, manage->nto, to, sizeof(to)),
			  hosts->entries ? "" : "; servers are not affected", cure);
	return err;
}
