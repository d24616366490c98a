/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deal.c - which switch of a group sends which of its tokens.
 *
 * One member after another, larger ones first, takes its tokens: so many to each receiver, so many in each phase, and one in
 * a cell, which is a lane in a phase. That is a flow from receivers over cells to phases: tokens are taken greedily, then along
 * augmenting paths. What the others could not take later has to be taken now: a cell that has more tokens than there are members
 * left must be one of those taken, and stays so.
 *
 * That looks one member ahead only, so the last ones may find some tokens that none of them can take. Then all is dealt
 * anew, equal members and equal tokens in random order, and the best deal is kept.
 */
#include "deal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

#define MOST_TRIES 200
#define MOST_VAIN 40	      /* in a row */
#define TRIED_TOKENS 1000000u /* of all tries together, and */
#define LEAST_TRIES 8
#define FIRST_TRIES 2
#define MANY_TOKENS 20000
#define FEW_LEFT 6 /* of so many tokens */
#define NONE UINT32_MAX
#define ROOT (NONE - 1) /* where a path begins */

struct work {
	const struct fors_flows_deal *deal;
	uint32_t ncells;
	uint32_t *first;      /* per receiver: its first token; ndests + 1 */
	uint32_t *open;	      /* tokens that nobody has yet, by receiver, from first[] on, */
	uint32_t *end;	      /* and where they end */
	uint32_t *cell_first; /* per cell: its tokens in cell_token[]; ncells + 1 */
	uint32_t *cell_token;
	uint16_t *by;	 /* per token, in this try */
	uint32_t *order; /* tokens, in which they are taken */
	uint16_t *turn;	 /* members, the same */
	/* the member in hand */
	uint16_t *need;	  /* per receiver */
	uint16_t *room;	  /* per phase */
	uint32_t *at;	  /* per cell: the token taken, NONE */
	uint16_t *degree; /* per cell: tokens that nobody has */
	bool *must;	  /* per cell */
	/* a path */
	uint32_t *via;	/* per cell: the token that comes to it, NONE: not seen */
	uint32_t *drop; /* per receiver: the token that it gives up, NONE: not seen */
	uint32_t *from; /* per receiver: the cell for which it does */
	bool *is_open;	/* per phase: seen */
	uint32_t *queue;
	struct fors_random random;
};

static uint32_t cell_of(const struct work *w, uint32_t token)
{
	const struct fors_flows_token *k = &w->deal->token[token];

	return k->t * w->deal->nlanes + k->lane;
}

static uint32_t phase_of(const struct work *w, uint32_t cell)
{
	return cell / w->deal->nlanes;
}

static uint32_t dest_of(const struct work *w, uint32_t token)
{
	return w->deal->token[token].d;
}

/* ---- paths from a receiver that needs a token ---- */

static void clear_paths(struct work *w)
{
	memset(w->via, 0xFF, w->ncells * sizeof(*w->via));
	memset(w->drop, 0xFF, w->deal->ndests * sizeof(*w->drop));
	memset(w->is_open, 0, w->deal->nphases * sizeof(*w->is_open));
}

/* Could a cell be taken as it is? */
static bool is_free(const struct work *w, uint32_t cell)
{
	return w->at[cell] == NONE && w->room[phase_of(w, cell)];
}

/* Cells that a receiver could have a token in; the first one that is free, NONE. */
static uint32_t reach_cells(struct work *w, uint32_t d, uint32_t *end)
{
	for (uint32_t i = w->first[d]; i < w->end[d]; i++) {
		uint32_t k = w->open[i], cell = cell_of(w, k);

		if (w->via[cell] != NONE || w->at[cell] == k)
			continue;
		w->via[cell] = k;
		if (is_free(w, cell))
			return cell;
		w->queue[(*end)++] = cell;
	}
	return NONE;
}

/* A receiver gives up a token, for the sake of a cell, and looks for another: as reach_cells(). */
static uint32_t give_up(struct work *w, uint32_t token, uint32_t cell, uint32_t *end)
{
	uint32_t d = dest_of(w, token);

	if (w->drop[d] != NONE)
		return NONE;
	w->drop[d] = token;
	w->from[d] = cell;
	return reach_cells(w, d, end);
}

/* Others of a cell's phase, which is full, give theirs up: as reach_cells(). */
static uint32_t open_phase(struct work *w, uint32_t cell, uint32_t *end)
{
	uint32_t t = phase_of(w, cell), found = NONE;

	if (w->is_open[t])
		return NONE;
	w->is_open[t] = true;
	for (uint32_t c = t * w->deal->nlanes; found == NONE && c < (t + 1) * w->deal->nlanes; c++)
		if (w->at[c] != NONE && !w->must[c])
			found = give_up(w, w->at[c], cell, end);
	return found;
}

/* Write a path that ends in a free cell, back to the receiver where it began. */
static void write_path(struct work *w, uint32_t cell, uint32_t root)
{
	w->room[phase_of(w, cell)]--;
	for (;;) {
		uint32_t token = w->via[cell], d = dest_of(w, token);

		w->at[cell] = token;
		if (d == root)
			break;
		if (cell_of(w, w->drop[d]) != w->from[d])
			w->at[cell_of(w, w->drop[d])] = NONE;
		cell = w->from[d];
	}
	w->need[root]--;
}

/* One token more for a receiver; false: there is no way past what was seen before in this pass. */
static bool augment(struct work *w, uint32_t root)
{
	uint32_t end = 0, found;

	w->drop[root] = ROOT;
	found = reach_cells(w, root, &end);
	for (uint32_t i = 0; found == NONE && i < end; i++) {
		uint32_t cell = w->queue[i];

		if (w->at[cell] != NONE)
			found = give_up(w, w->at[cell], cell, &end);
		else
			found = open_phase(w, cell, &end);
	}
	if (found != NONE)
		write_path(w, found, root);
	return found != NONE;
}

/* ---- cells that must be taken ---- */

static void take(struct work *w, uint32_t token)
{
	w->at[cell_of(w, token)] = token;
	w->need[dest_of(w, token)]--;
	w->room[w->deal->token[token].t]--;
}

static void put_back(struct work *w, uint32_t token)
{
	w->at[cell_of(w, token)] = NONE;
	w->need[dest_of(w, token)]++;
	w->room[w->deal->token[token].t]++;
}

/* Room in a phase, at the cost of a cell that need not be taken; false: there is none. */
static bool make_room(struct work *w, uint32_t t)
{
	for (uint32_t c = t * w->deal->nlanes; !w->room[t] && c < (t + 1) * w->deal->nlanes; c++)
		if (w->at[c] != NONE && !w->must[c])
			put_back(w, w->at[c]);
	return w->room[t];
}

/* A cell takes a token, whose receiver gave up one in the cell before, which takes another one, and so on. */
static void hand_on(struct work *w, uint32_t cell, uint32_t token)
{
	for (;;) {
		w->at[cell] = token;
		if (w->via[cell] == ROOT)
			return;
		token = w->via[cell];
		cell = cell_of(w, token);
	}
}

/* Could a cell take this token, its receiver needing one, or giving up one that need not be taken? Then that is done. */
static bool try_token(struct work *w, uint32_t cell, uint32_t token, uint32_t *end)
{
	uint32_t d = dest_of(w, token);

	if (w->need[d]) {
		w->need[d]--;
		hand_on(w, cell, token);
		return true;
	}
	if (w->drop[d] != NONE)
		return false;
	w->drop[d] = ROOT; /* seen */
	for (uint32_t i = w->first[d]; i < w->end[d]; i++) {
		uint32_t k = w->open[i], other = cell_of(w, k);

		if (w->at[other] != k || w->via[other] != NONE)
			continue;
		if (!w->must[other]) {
			w->at[other] = NONE;
			w->room[phase_of(w, other)]++;
			hand_on(w, cell, token);
			return true;
		}
		w->via[other] = token;
		w->queue[(*end)++] = other;
	}
	return false;
}

/* A token for a cell that must be taken; false: there is none past what was seen before in this pass. */
static bool cover(struct work *w, uint32_t root)
{
	uint32_t end = 1;

	if (w->via[root] != NONE || !make_room(w, phase_of(w, root)))
		return false;
	w->via[root] = ROOT;
	w->queue[0] = root;
	for (uint32_t i = 0; i < end; i++) {
		uint32_t cell = w->queue[i];

		for (uint32_t k = w->cell_first[cell]; k < w->cell_first[cell + 1]; k++) {
			uint32_t token = w->cell_token[k];

			if (w->by[token] != FORS_FLOWS_UNDEALT || w->at[cell] == token ||
			    !try_token(w, cell, token, &end))
				continue;
			w->room[phase_of(w, root)]--;
			return true;
		}
	}
	return false;
}

/* ---- a member ---- */

/* What a member needs, and the cells; `rest`: how many members come after it. */
static void begin_member(struct work *w, uint32_t member, uint32_t rest)
{
	const struct fors_flows_deal *deal = w->deal;

	memcpy(w->need, deal->wanted + (size_t)member * deal->ndests, deal->ndests * sizeof(*w->need));
	memcpy(w->room, deal->seats + (size_t)member * deal->nphases, deal->nphases * sizeof(*w->room));
	memset(w->at, 0xFF, w->ncells * sizeof(*w->at));
	memset(w->degree, 0, w->ncells * sizeof(*w->degree));
	memcpy(w->end, w->first, deal->ndests * sizeof(*w->end));
	for (uint32_t k = 0; k < deal->ntokens; k++)
		if (w->by[k] == FORS_FLOWS_UNDEALT) {
			w->degree[cell_of(w, k)]++;
			w->open[w->end[dest_of(w, k)]++] = k;
		}
	for (uint32_t c = 0; c < w->ncells; c++)
		w->must[c] = w->degree[c] > rest;
}

/* Tokens of cells that must be taken first, then others, as long as there is room. */
static void take_greedily(struct work *w)
{
	for (unsigned others = 0; others < 2; others++)
		for (uint32_t i = 0; i < w->deal->ntokens; i++) {
			uint32_t k = w->order[i], cell = cell_of(w, k);

			if (w->by[k] == FORS_FLOWS_UNDEALT && w->must[cell] == !others && w->at[cell] == NONE &&
			    w->need[dest_of(w, k)] && w->room[phase_of(w, cell)])
				take(w, k);
		}
}

/* What was seen is not looked at again in a pass; another pass follows as long as one has brought anything. */
static void cover_all(struct work *w)
{
	for (bool is_on = true; is_on;) {
		clear_paths(w);
		is_on = false;
		for (uint32_t c = 0; c < w->ncells; c++)
			is_on |= w->must[c] && w->at[c] == NONE && cover(w, c);
	}
}

static void augment_all(struct work *w)
{
	for (bool is_on = true; is_on;) {
		clear_paths(w);
		is_on = false;
		for (uint32_t d = 0; d < w->deal->ndests; d++)
			is_on |= w->need[d] && augment(w, d);
	}
}

/* How many tokens a member lacks in the end. */
static uint32_t deal_member(struct work *w, uint32_t member, uint32_t rest)
{
	uint32_t lacks = 0;

	begin_member(w, member, rest);
	take_greedily(w);
	cover_all(w);
	augment_all(w);
	for (uint32_t d = 0; d < w->deal->ndests; d++)
		lacks += w->need[d];
	for (uint32_t c = 0; c < w->ncells; c++)
		if (w->at[c] != NONE)
			w->by[w->at[c]] = (uint16_t)member;
	return lacks;
}

/* ---- all of them ---- */

/* Equal members in any order. */
static void mix_members(struct work *w)
{
	const struct fors_flows_deal *deal = w->deal;

	for (uint32_t i = 0; i < deal->nmembers; i++) {
		uint32_t j = fors_random_below(&w->random, i + 1);
		uint16_t member = w->turn[i];

		if (deal->size[member] != deal->size[w->turn[j]])
			continue;
		w->turn[i] = w->turn[j];
		w->turn[j] = member;
	}
}

static uint32_t deal_all(struct work *w)
{
	uint32_t left = 0;

	memset(w->by, 0xFF, w->deal->ntokens * sizeof(*w->by));
	for (uint32_t i = 0; i < w->deal->nmembers; i++)
		left += deal_member(w, w->turn[i], w->deal->nmembers - 1 - i);
	return left;
}

static void keep(const struct work *w)
{
	for (uint32_t k = 0; k < w->deal->ntokens; k++)
		w->deal->token[k].by = w->by[k];
}

/* Is another try worth it? With many tokens, of which many are left, it hardly is. */
static bool is_worth_more(const struct work *w, uint32_t tries, uint32_t left)
{
	uint32_t most = TRIED_TOKENS / (w->deal->ntokens + 1);

	if (!left)
		return false;
	if (tries < FIRST_TRIES)
		return true;
	if (left > w->deal->most_left || (left > FEW_LEFT && w->deal->ntokens > MANY_TOKENS))
		return false;
	return tries < MOST_TRIES && tries < (most < LEAST_TRIES ? LEAST_TRIES : most);
}

static void try_all(struct work *w, uint32_t *left)
{
	*left = NONE;
	for (uint32_t i = 0, vain = 0; is_worth_more(w, i, *left) && vain < MOST_VAIN; i++, vain++) {
		uint32_t now;

		if (i) {
			fors_random_order(&w->random, w->order, w->deal->ntokens);
			mix_members(w);
		}
		now = deal_all(w);
		if (now >= *left)
			continue;
		*left = now;
		vain = 0;
		keep(w);
	}
}

/* Where tokens of receivers and cells begin. */
static void list_tokens(struct work *w)
{
	const struct fors_flows_deal *deal = w->deal;

	for (uint32_t k = 0; k < deal->ntokens; k++) {
		w->order[k] = k;
		w->first[dest_of(w, k) + 1]++;
		w->cell_first[cell_of(w, k) + 1]++;
	}
	for (uint32_t d = 0; d < deal->ndests; d++)
		w->first[d + 1] += w->first[d];
	for (uint32_t c = 0; c < w->ncells; c++)
		w->cell_first[c + 1] += w->cell_first[c];
	for (uint32_t k = deal->ntokens; k-- > 0;)
		w->cell_token[--w->cell_first[cell_of(w, k) + 1]] = k;
	for (uint32_t c = 0; c < w->ncells; c++) /* the ends, which are begins now, one place further on */
		w->cell_first[c] = w->cell_first[c + 1];
	w->cell_first[w->ncells] = deal->ntokens;
	for (uint32_t i = 0; i < deal->nmembers; i++)
		w->turn[i] = deal->order[i];
}

static bool allocate(struct work *w)
{
	size_t dests = w->deal->ndests + (size_t)1, cells = w->ncells + (size_t)1,
	       tokens = w->deal->ntokens + (size_t)1;

	w->first = calloc(dests + 1, sizeof(*w->first));
	w->cell_first = calloc(cells + 1, sizeof(*w->cell_first));
	w->cell_token = malloc(tokens * sizeof(*w->cell_token));
	w->open = malloc(tokens * sizeof(*w->open));
	w->end = malloc(dests * sizeof(*w->end));
	w->by = malloc(tokens * sizeof(*w->by));
	w->order = malloc(tokens * sizeof(*w->order));
	w->turn = malloc((w->deal->nmembers + (size_t)1) * sizeof(*w->turn));
	w->need = malloc(dests * sizeof(*w->need));
	w->room = malloc((w->deal->nphases + (size_t)1) * sizeof(*w->room));
	w->at = malloc(cells * sizeof(*w->at));
	w->degree = malloc(cells * sizeof(*w->degree));
	w->must = malloc(cells * sizeof(*w->must));
	w->via = malloc(cells * sizeof(*w->via));
	w->drop = malloc(dests * sizeof(*w->drop));
	w->from = malloc(dests * sizeof(*w->from));
	w->is_open = malloc((w->deal->nphases + (size_t)1) * sizeof(*w->is_open));
	w->queue = malloc(cells * sizeof(*w->queue));
	return w->first && w->open && w->end && w->cell_first && w->cell_token && w->by && w->order && w->turn &&
	       w->need && w->room && w->at && w->degree && w->must && w->via && w->drop && w->from && w->is_open &&
	       w->queue;
}

static void release(struct work *w)
{
	free(w->first);
	free(w->open);
	free(w->end);
	free(w->cell_first);
	free(w->cell_token);
	free(w->by);
	free(w->order);
	free(w->turn);
	free(w->need);
	free(w->room);
	free(w->at);
	free(w->degree);
	free(w->must);
	free(w->via);
	free(w->drop);
	free(w->from);
	free(w->is_open);
	free(w->queue);
}

enum fors_err fors_flows_deal(const struct fors_flows_deal *deal, uint32_t *left, struct fors_error *error)
{
	struct work w = {.deal = deal, .ncells = deal->nphases * deal->nlanes};
	bool good = allocate(&w);

	if (good) {
		list_tokens(&w);
		try_all(&w, left);
	}
	release(&w);
	return good ? FORS_OK : fors_fail_memory(error);
}
