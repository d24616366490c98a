/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow.c - which slow cables are better drained.
 *
 * A cable that is drained costs phases, one that is slow costs time in each phase that has a flow over it. Which is
 * worse is a question of numbers: a leaf with an uplink to spare loses nothing by draining one at a quarter of its
 * speed, while with it nearly every phase takes four times as long; a leaf with two uplinks out of three at half speed
 * takes three times as long without them, and twice as long with them.
 *
 * So the exchange is reckoned (slow_length.c) with none of them drained, with the slowest, with those and the next
 * slowest, and so on down to all, and the least time wins. To have more phases it must win by more than the reckoning is
 * wrong, but for cables at half speed or below without which nothing is slow any more. To drain these never takes
 * longer, and it helps all other traffic. A switch that would need cables back keeps those that it needs.
 * What is excluded or held does not come back into use because of a slow cable.
 *
 * All of it follows from the tree alone. There is no clock and no memory of before, so whoever looks at the same tree
 * decides the same, another subnet manager too. The work is bounded: no more than STEPS TRIES trees are looked at.
 */
#include "slow.h"

#include <stdlib.h>
#include <string.h>

#include "core/net/rates.h"
#include "core/fabric/drained.h"
#include "core/fabric/fattree.h"
#include "bound.h"
#include "pods/route.h"
#include "slow_length.h"

#define STEPS 8 /* of speeds; cables faster than the eighth slowest speed are used */
#define TRIES 8 /* of a step: that often leaves may need cables back */
#define NEAR 1e-9
#define ALIKE 0.03 /* the reckoning is that right */
#define HALF 2	   /* as slow as half speed */

/* --- the search --------------------------------------------------------------------------------------------------- */

struct search {
	struct fors_fattree tree; /* the caller's */
	uint32_t full;
	double *slowness; /* per cable: above 1 where it is to be decided; else 0 */
	bool *is_needed;  /* per cable: it is to be drained for another reason, and cannot be spared anyhow */
	bool *out, *best; /* per cable: drained in this step, in the best one */
	bool is_back;	  /* somebody keeps slow cables in this step */
	struct fors_slow_length length; /* of the best one */
	struct fors_slow *slow;
};

static bool search_alloc(struct search *s)
{
	size_t n = s->tree.ncables + (size_t)1;

	s->slowness = calloc(n, sizeof(*s->slowness));
	s->is_needed = calloc(n, sizeof(*s->is_needed));
	s->out = calloc(n, sizeof(*s->out));
	s->best = calloc(n, sizeof(*s->best));
	return s->slowness && s->is_needed && s->out && s->best;
}

static void search_free(struct search *s)
{
	free(s->slowness);
	free(s->is_needed);
	free(s->out);
	free(s->best);
}

static void find_slow(struct search *s)
{
	const struct fors_fattree *c = &s->tree;
	struct fors_fattree_cable cable;

	for (uint32_t i = 0; i < c->ncables; i++) {
		double slowness;

		if (!c->kind->get(c, i, &cable) || cable.state != FORS_CABLE_LIVE ||
		    (cable.drained && cable.drained != FORS_DRAIN_DEGRADED))
			continue;
		slowness = fors_speeds_plugged(c, &cable, s->full);
		s->slowness[i] = slowness > 1 ? slowness : 0;
		s->slow->ncables += slowness > 1;
	}
}

static void mark_as(struct fors_fattree *tree, uint32_t number, enum fors_drain_reason reason)
{
	struct fors_fattree_cable cable;

	tree->kind->get(tree, number, &cable);
	cable.drained = reason;
	tree->kind->put(tree, number, &cable);
}

/* The tree without what is out, in *tried, to be freed on FORS_OK. */
static enum fors_err without(const struct search *s, struct fors_fattree *tried, struct fors_error *error)
{
	struct fors_warnings ignored = {0};
	enum fors_err err = fors_fattree_copy(&s->tree, s->tree.net, tried, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < s->tree.ncables; i++)
		if (s->slowness[i] > 1)
			mark_as(tried, i, s->out[i] ? FORS_DRAIN_DEGRADED : FORS_DRAIN_NOT);
	err = fors_drained_apply(*tried, &ignored, error);
	if (err)
		fors_fattree_free(tried);
	return err;
}

/* Is this cable back in use, because of what is out? */
static bool is_called_back(const struct search *s, const struct fors_fattree *tried, uint32_t i)
{
	struct fors_fattree_cable cable;

	return tried->kind->get(tried, i, &cable) && cable.drained && cable.state == FORS_CABLE_LIVE &&
	       !s->is_needed[i];
}

/* A cable that is needed is kept; one that was not out, with all slow ones of its lower switch; where it has none, all there are. */
static void keep_with(struct search *s, uint32_t needed)
{
	const struct fors_fattree *c = &s->tree;
	struct fors_fattree_cable cable, at;
	bool any = false;

	s->is_back = true;
	if (s->out[needed]) {
		s->out[needed] = false;
		return;
	}
	c->kind->get(c, needed, &at);
	for (uint32_t i = 0; i < c->ncables; i++)
		if (s->out[i] && c->kind->get(c, i, &cable) && cable.low == at.low) {
			s->out[i] = false;
			any = true;
		}
	if (!any)
		memset(s->out, 0, c->ncables * sizeof(*s->out));
}

/* Keep what is needed; true: something is, and was not kept before. */
static bool keep_needed(struct search *s, const struct fors_fattree *tried)
{
	bool any = false;

	for (uint32_t i = 0; i < s->tree.ncables; i++)
		if (is_called_back(s, tried, i)) {
			keep_with(s, i);
			any = true;
		}
	return any;
}

/* The length without what is out, and is not needed; negative: none was found. */
static enum fors_err try_out(struct search *s, struct fors_slow_length *length, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*length = (struct fors_slow_length){.length = -1};
	for (unsigned i = 0; !err && i < TRIES; i++) {
		struct fors_fattree tried;
		bool is_found = false;

		err = without(s, &tried, error);
		if (err)
			return err;
		is_found = !keep_needed(s, &tried);
		if (is_found)
			err = fors_slow_length(&tried, s->full, length, error);
		fors_fattree_free(&tried);
		if (is_found)
			return err;
	}
	return err;
}

/* With nothing out: what is needed of what is drained for other reasons, and the length. */
static enum fors_err try_all_in(struct search *s, struct fors_error *error)
{
	struct fors_slow_length length;
	struct fors_fattree tried;
	enum fors_err err = without(s, &tried, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < s->tree.ncables; i++)
		s->is_needed[i] = is_called_back(s, &tried, i);
	err = fors_slow_length(&tried, s->full, &length, error);
	fors_fattree_free(&tried);
	if (!err)
		s->length = length;
	if (!err)
		s->slow->ignored = length.length;
	return err;
}

/* The next speed up from those as slow as `above`, as a slowness; 0: there is none. */
static double next_step(const struct search *s, double above)
{
	double next = 0;

	for (uint32_t i = 0; i < s->tree.ncables; i++)
		if (s->slowness[i] < above && s->slowness[i] > next)
			next = s->slowness[i];
	return next;
}

/* Without more phases to drain is never worse; more of them have to be worth it. */
static bool is_better(const struct search *s, const struct fors_slow_length *length, double step)
{
	bool may_be_alike =
		(!length->is_slow && step >= HALF - NEAR) || (!s->is_back && length->phases <= s->length.phases);

	if (length->length < 0)
		return false;
	return length->length <= s->length.length * (may_be_alike ? 1 + NEAR : 1 - ALIKE);
}

/* Drain all as slow as this, but for those that are kept. */
static enum fors_err try_step(struct search *s, double step, struct fors_error *error)
{
	uint32_t ncables = s->tree.ncables;
	struct fors_slow_length length;
	enum fors_err err;

	s->is_back = false;
	for (uint32_t i = 0; i < ncables; i++)
		s->out[i] = s->slowness[i] >= step;
	err = try_out(s, &length, error);
	if (err)
		return err;
	s->slow->drained = s->is_back ? -1 : length.length; /* of the last step: of all */
	if (is_better(s, &length, step)) {
		s->length = length;
		memcpy(s->best, s->out, ncables * sizeof(*s->best));
	}
	return FORS_OK;
}

static enum fors_err find_best(struct search *s, struct fors_error *error)
{
	double step = next_step(s, 1e300);
	enum fors_err err = try_all_in(s, error);

	for (unsigned i = 0; !err && s->length.length >= 0 && step > 1 && i < STEPS; i++) {
		err = try_step(s, step, error);
		step = next_step(s, step);
	}
	if (step > 1)
		s->slow->drained = -1;
	return err;
}

/* --- what is done about it ---------------------------------------------------------------------------------------- */

static void mark_best(struct search *s)
{
	for (uint32_t i = 0; i < s->tree.ncables; i++)
		if (s->best[i]) {
			fors_drained_mark_cable(s->tree, i, FORS_DRAIN_DEGRADED);
			s->slow->ndrained++;
		}
	s->slow->chosen = s->length.length;
}

static void mark_dead(struct search *s)
{
	for (uint32_t i = 0; i < s->tree.ncables; i++)
		s->slow->ndrained += s->slowness[i] > 1;
	fors_drained_degraded(s->tree);
	s->slow->chosen = s->slow->drained;
}

/* --- servers that are slow ---------------------------------------------------------------------------------------- */

/* Who plays and is not slow, by slots, in fast[]; true: some are, and others are slow. */
static bool find_fast(const struct fors_fattree *tree, uint32_t full, bool *fast)
{
	struct fors_fattree_slot stand;
	bool any_slow = false, any = false;

	for (uint32_t i = 0; i < tree->nslots; i++) {
		bool plays = tree->kind->slot(tree, i, &stand) && stand.plays,
		     slow = plays && fors_fattree_is_slow(tree, &stand, full);

		fast[i] = plays && !slow;
		any_slow |= slow;
		any |= fast[i];
	}
	return any && any_slow;
}

/* The bound of the servers of two levels whose slots are marked. */
static enum fors_err bound_fast(const struct fors_fabric *fabric, const bool *fast, uint32_t *bound,
				struct fors_error *error)
{
	uint32_t *server = malloc((fabric->nservers + (size_t)1) * sizeof(*server)), n = 0;
	struct fors_fabric *subset = NULL;
	enum fors_err err = server ? FORS_OK : fors_fail_memory(error);

	for (uint32_t s = 0; server && s < fabric->nservers; s++)
		if (fast[(size_t)fabric->server[s].leaf * fabric->nslots + fabric->server[s].slot])
			server[n++] = s;
	if (!err)
		err = fors_fabric_subset(fabric, server, n, NULL, &subset, error);
	if (!err && !subset->unreachable_pairs)
		err = fors_lower_bound(subset, bound, error);
	fors_fabric_free(subset);
	free(server);
	return err;
}

/* What it would be to leave slow servers out. */
static enum fors_err leave_out(struct search *s, struct fors_error *error)
{
	bool *fast = calloc(s->tree.nslots + (size_t)1, sizeof(*fast));
	uint32_t bound = 0;
	enum fors_err err = fast ? FORS_OK : fors_fail_memory(error);

	if (fast && find_fast(&s->tree, s->full, fast))
		err = s->tree.fabric ? bound_fast(s->tree.fabric, fast, &bound, error)
				     : fors_pods_route_bound(s->tree.pods, fast, &bound, error);
	free(fast);
	if (!err)
		s->slow->fast_bound = bound == UINT32_MAX ? 0 : bound;
	return err;
}

static enum fors_err mark(struct search *s, struct fors_error *error)
{
	enum fors_err err = search_alloc(s) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		find_slow(s);
	if (!err && s->slow->ncables)
		err = find_best(s, error);
	if (!err)
		err = leave_out(s, error);
	if (err)
		return err;
	if (s->slow->how == FORS_SLOW_AUTO)
		mark_best(s);
	else if (s->slow->how == FORS_SLOW_DEAD)
		mark_dead(s);
	else
		s->slow->chosen = s->slow->ignored;
	return FORS_OK;
}

enum fors_err fors_slow_mark(struct fors_fattree tree, enum fors_slow_how how, struct fors_slow *slow,
			     struct fors_error *error)
{
	struct fors_slow found = {.how = how, .ignored = -1, .drained = -1, .chosen = -1};
	struct search search = {.tree = tree,
				.full = fors_fattree_full(&tree),
				.length = (struct fors_slow_length){.length = -1},
				.slow = &found};
	enum fors_err err = mark(&search, error);

	search_free(&search);
	if (!err)
		*slow = found;
	return err;
}
