/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * open.c - a link that becomes busy closes all ways over it. When it becomes free they are open again, though another link of theirs may be busy: who takes
 * a way asks all of its links.
 */
#include "open.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CELLS (1u << 23) /* 128 MiB */

/* Go over all ways by switch and word; with cells[] they are written, else begin[link + 1] counts them. */
struct pass {
	const struct fors_demand_problem *problem;
	struct fors_demand_open *open;
	uint32_t *last; /* per link: the newest cell's word, UINT32_MAX */
	uint32_t *used; /* per link: cells */
};

static void add(struct pass *pass, uint32_t link, uint32_t word, uint64_t receiver)
{
	struct fors_demand_open *open = pass->open;

	if (pass->last[link] != word) {
		pass->last[link] = word;
		if (open->cell)
			open->cell[open->begin[link] + pass->used[link]] = (struct fors_demand_open_cell){0, word};
		pass->used[link]++;
	}
	if (open->cell)
		open->cell[open->begin[link] + pass->used[link] - 1].receivers |= receiver;
}

static void go_over(struct pass *pass)
{
	const struct fors_demand_problem *p = pass->problem;
	const struct fors_flows_problem *ways = &p->routed->problem;

	memset(pass->last, 0xFF, p->nlinks * sizeof(*pass->last));
	memset(pass->used, 0, p->nlinks * sizeof(*pass->used));
	for (uint32_t sw = 0; sw < p->nswitches; sw++)
		for (uint32_t d = 0; d < p->nservers; d++) {
			uint32_t way = sw * ways->ndests + d, word = sw * pass->open->nwords + d / 64;

			for (uint32_t i = ways->begin[way]; p->exists[way] && i < ways->begin[way + 1]; i++)
				add(pass, ways->link[i], word, UINT64_C(1) << d % 64);
		}
}

/* False: out of memory. */
static bool make_cells(struct pass *pass)
{
	struct fors_demand_open *open = pass->open;
	uint64_t sum = 0;

	go_over(pass);
	for (uint32_t i = 0; i < open->nlinks; i++)
		sum += pass->used[i];
	if (sum > MOST_CELLS)
		return true;
	open->begin = malloc((open->nlinks + (size_t)1) * sizeof(*open->begin));
	open->cell = malloc((sum + 1) * sizeof(*open->cell));
	if (!open->begin || !open->cell)
		return false;
	open->begin[0] = 0;
	for (uint32_t i = 0; i < open->nlinks; i++)
		open->begin[i + 1] = open->begin[i] + pass->used[i];
	go_over(pass);
	return true;
}

bool fors_demand_open_make(const struct fors_demand_problem *problem, struct fors_demand_open *open)
{
	struct pass pass = {problem, open, malloc((problem->nlinks + (size_t)1) * sizeof(*pass.last)),
			    malloc((problem->nlinks + (size_t)1) * sizeof(*pass.used))};
	bool is_good = pass.last && pass.used;

	*open = (struct fors_demand_open){
		.nswitches = problem->nswitches, .nwords = (problem->nservers + 63) / 64, .nlinks = problem->nlinks};
	open->open = malloc(((size_t)open->nswitches * open->nwords + 1) * sizeof(*open->open));
	is_good = is_good && open->open && (problem->npaths > 1 || make_cells(&pass));
	free(pass.last);
	free(pass.used);
	if (is_good)
		fors_demand_open_all(open);
	return is_good;
}

void fors_demand_open_clear(struct fors_demand_open *open)
{
	free(open->open);
	free(open->begin);
	free(open->cell);
	*open = (struct fors_demand_open){0};
}

void fors_demand_open_all(struct fors_demand_open *open)
{
	memset(open->open, 0xFF, (size_t)open->nswitches * open->nwords * sizeof(*open->open));
}

void fors_demand_open_link(struct fors_demand_open *open, uint32_t link, bool is_free)
{
	uint32_t end = open->begin ? open->begin[link + 1] : 0;

	for (uint32_t i = open->begin ? open->begin[link] : 0; i < end; i++) {
		const struct fors_demand_open_cell *cell = &open->cell[i];

		open->open[cell->word] =
			is_free ? open->open[cell->word] | cell->receivers : open->open[cell->word] & ~cell->receivers;
	}
}
