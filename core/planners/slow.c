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
 * wrong, but for cables at half speed or below without which nothing is slow any more. To drain these never takes longer, and it helps all other traffic. Where some switch would need cables back, a step
 * is tried twice: it keeps those that it needs, which may be the only ones that its few servers use, or all its slow
 * ones, which share the load. What is excluded or held does not come back into use because of a slow cable.
 *
 * All of it follows from the tree alone. There is no clock and no memory of before, so whoever looks at the same tree
 * decides the same, another subnet manager too. The work is bounded: no more than 2 STEPS TRIES trees are looked at.
 */
#include "slow.h"

#include <stdlib.h>
#include <string.h>

#include "core/fabric/drained.h"
#include "core/fabric/speeds.h"
#include "slow_length.h"

#define STEPS 8 /* of speeds; cables faster than the eighth slowest speed are used */
#define TRIES 8 /* of a step: that often leaves may need cables back */
#define NEAR 1e-9
#define ALIKE 0.03 /* the reckoning is that right */
#define HALF 2	   /* as slow as half speed */

/* --- trees of both kinds ------------------------------------------------------------------------------------------ */

/* A tree, the caller's or a copy. */
struct tree {
	struct fors_fabric *fabric; /* one of the two is there */
	struct fors_pods *pods;
	struct fors_cabling cabling;
};

static struct tree tree_of(struct fors_fabric *fabric, struct fors_pods *pods)
{
	return (struct tree){fabric, pods, fabric ? fors_fabric_cabling(fabric) : fors_pods_cabling(pods)};
}

static void tree_free(struct tree *tree)
{
	fors_fabric_free(tree->fabric);
	fors_pods_free(tree->pods);
}

static enum fors_err tree_copy(const struct tree *tree, struct tree *copy, struct fors_error *error)
{
	struct fors_fabric *fabric = NULL;
	struct fors_pods *pods = NULL;
	enum fors_err err = tree->fabric ? fors_fabric_copy(tree->fabric, tree->fabric->net, &fabric, error)
					 : fors_pods_copy(tree->pods, tree->pods->known, tree->pods->now, &pods, error);

	if (!err)
		*copy = tree_of(fabric, pods);
	return err;
}

static enum fors_err take_out(struct tree *tree, struct fors_error *error)
{
	struct fors_warnings ignored = {0};
	bool any;

	return tree->fabric ? fors_drained_apply(tree->fabric, &ignored, error)
			    : fors_drained_take_out(tree->cabling, &any, &ignored, error);
}

/* --- the search --------------------------------------------------------------------------------------------------- */

struct search {
	struct tree tree; /* the caller's */
	const bool *plays;
	uint32_t full;
	double *slowness; /* per cable: above 1 where it is to be decided; else 0 */
	bool *is_needed;  /* per cable: it is to be drained for another reason, and cannot be spared anyhow */
	bool *out, *best; /* per cable: drained in this step, in the best one */
	bool keeps_all;	  /* who needs slow cables keeps all, not only those */
	bool is_back;	  /* somebody keeps slow cables in this step */
	struct fors_slow_length length; /* of the best one */
	struct fors_slow *slow;
};

static bool search_alloc(struct search *s)
{
	size_t n = s->tree.cabling.ncables + (size_t)1;

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
	const struct fors_cabling *c = &s->tree.cabling;
	struct fors_plugged cable;

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

static void mark_as(struct tree *tree, uint32_t number, enum fors_drain_reason reason)
{
	struct fors_plugged cable;

	tree->cabling.kind->get(&tree->cabling, number, &cable);
	cable.drained = reason;
	tree->cabling.kind->put(&tree->cabling, number, &cable);
}

/* The tree without what is out, in *tried, to be freed on FORS_OK. */
static enum fors_err without(const struct search *s, struct tree *tried, struct fors_error *error)
{
	enum fors_err err = tree_copy(&s->tree, tried, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
		if (s->slowness[i] > 1)
			mark_as(tried, i, s->out[i] ? FORS_DRAIN_DEGRADED : FORS_DRAIN_NOT);
	err = take_out(tried, error);
	if (err)
		tree_free(tried);
	return err;
}

/* Is this cable back in use, because of what is out? */
static bool is_called_back(const struct search *s, const struct tree *tried, uint32_t i)
{
	struct fors_plugged cable;

	return tried->cabling.kind->get(&tried->cabling, i, &cable) && cable.drained &&
	       cable.state == FORS_CABLE_LIVE && !s->is_needed[i];
}

/* A cable that is needed is kept, or all slow ones of its lower switch; where it has none, all there are. */
static void keep_with(struct search *s, uint32_t needed)
{
	const struct fors_cabling *c = &s->tree.cabling;
	struct fors_plugged cable, at;
	bool any = false;

	s->is_back = true;
	if (!s->keeps_all && s->out[needed]) {
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
static bool keep_needed(struct search *s, const struct tree *tried)
{
	bool any = false;

	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
		if (is_called_back(s, tried, i)) {
			keep_with(s, i);
			any = true;
		}
	return any;
}

static enum fors_err reckon(const struct search *s, const struct tree *tried, struct fors_slow_length *length,
			    struct fors_error *error)
{
	return tried->fabric ? fors_slow_length(tried->fabric, s->full, length, error)
			     : fors_slow_length_pods(tried->pods, s->plays, s->full, length, error);
}

/* The length without what is out, and is not needed; negative: none was found. */
static enum fors_err try_out(struct search *s, struct fors_slow_length *length, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	*length = (struct fors_slow_length){.length = -1};
	for (unsigned i = 0; !err && i < TRIES; i++) {
		struct tree tried;
		bool is_settled = false;

		err = without(s, &tried, error);
		if (err)
			return err;
		is_settled = !keep_needed(s, &tried);
		if (is_settled)
			err = reckon(s, &tried, length, error);
		tree_free(&tried);
		if (is_settled)
			return err;
	}
	return err;
}

/* With nothing out: what is needed of what is drained for other reasons, and the length. */
static enum fors_err try_all_in(struct search *s, struct fors_error *error)
{
	struct fors_slow_length length;
	struct tree tried;
	enum fors_err err = without(s, &tried, error);

	if (err)
		return err;
	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
		s->is_needed[i] = is_called_back(s, &tried, i);
	err = reckon(s, &tried, &length, error);
	tree_free(&tried);
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

	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
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
	uint32_t ncables = s->tree.cabling.ncables;
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
		s->keeps_all = false;
		err = try_step(s, step, error);
		s->keeps_all = true;
		if (!err && s->is_back)
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
	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
		if (s->best[i]) {
			fors_drained_mark_cable(s->tree.cabling, i, FORS_DRAIN_DEGRADED);
			s->slow->ndrained++;
		}
	s->slow->chosen = s->length.length;
}

static void mark_dead(struct search *s)
{
	for (uint32_t i = 0; i < s->tree.cabling.ncables; i++)
		s->slow->ndrained += s->slowness[i] > 1;
	fors_drained_degraded(s->tree.cabling);
	s->slow->chosen = s->slow->drained;
}

static enum fors_err mark(struct search *s, struct fors_error *error)
{
	enum fors_err err = search_alloc(s) ? FORS_OK : fors_fail_memory(error);

	if (!err)
		find_slow(s);
	if (!err && s->slow->ncables)
		err = find_best(s, error);
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

static enum fors_err run(struct search *s, enum fors_slow_how how, struct fors_slow *slow, struct fors_error *error)
{
	struct fors_slow found = {.how = how, .ignored = -1, .drained = -1, .chosen = -1};
	enum fors_err err;

	s->slow = &found;
	s->length = (struct fors_slow_length){.length = -1};
	err = mark(s, error);
	search_free(s);
	if (!err)
		*slow = found;
	return err;
}

enum fors_err fors_slow_mark(struct fors_fabric *fabric, enum fors_slow_how how, struct fors_slow *slow,
			     struct fors_error *error)
{
	struct search search = {.tree = tree_of(fabric, NULL), .full = fors_speeds_full(fabric)};

	return run(&search, how, slow, error);
}

enum fors_err fors_slow_mark_pods(struct fors_pods *pods, const bool *plays, enum fors_slow_how how,
				  struct fors_slow *slow, struct fors_error *error)
{
	struct search search = {.tree = tree_of(NULL, pods), .plays = plays, .full = fors_rates_full(pods->now)};

	return run(&search, how, slow, error);
}
