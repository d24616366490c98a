/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holdings_borrow.c - jobs for which no lanes are left borrow from others.
 *
 * A job without entries sends as the tables have it anyway, over lanes of all others, and slows them all down. So it becomes the
 * borrower of one of them, its lender: all floors are shared out again as if both were one job, with the servers of both. The two
 * meet, and no one else meets them. The smallest job without entries goes to the smallest of the others, since both together
 * get what one job gets.
 *
 * The lanes are the lender's. The borrower's bound is 0, as that of any job without lanes of its own, though it has entries.
 */
#include "holdings_inside.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BORROWERS 4
#define BORROW_PART 2 /* of the usual work has the search with one more borrower */

/* The jobs as they are shared out: lenders have the servers of their borrowers. */
struct party {
	const struct fors_holdings_task *task;
	struct fors_joblist list;
	uint32_t **servers; /* per job: its array, owned; NULL: that of the task's list */
};

static bool is_wanted(const struct party *p, uint32_t job)
{
	const struct fors_entries_task task = {.list = &p->list, .has_exclusive = p->task->has_exclusive};

	return fors_entries_wanted(&task, job);
}

static uint32_t count_left(const struct party *p, const struct fors_holdings *holdings)
{
	uint32_t n = 0;

	for (uint32_t j = 0; j < p->list.count; j++)
		n += is_wanted(p, j) && !holdings->bound[j];
	return n;
}

/* The smallest job but `not_this`, of those that `left` has no entries for, or (NULL) of all; FORS_NO_JOB. */
static uint32_t smallest(const struct party *p, const struct fors_holdings *left, uint32_t not_this)
{
	uint32_t best = FORS_NO_JOB;

	for (uint32_t j = 0; j < p->list.count; j++)
		if (j != not_this && is_wanted(p, j) && !(left && left->bound[j]) &&
		    (best == FORS_NO_JOB || p->list.job[j].count < p->list.job[best].count))
			best = j;
	return best;
}

static void seat(const struct party *p, struct fors_jobentry *lender, uint32_t server)
{
	const struct fors_server *all = p->task->floors->floor[0]->server;

	if (!lender->count || all[lender->server[lender->count - 1]].leaf != all[server].leaf)
		lender->nleaves++;
	lender->server[lender->count++] = server;
}

/* The servers of the borrower are the lender's, in the order of servers. */
static bool merge(struct party *p, uint32_t borrower, uint32_t lender)
{
	struct fors_jobentry *to = &p->list.job[lender], *from = &p->list.job[borrower], one = *to, two = *from;
	uint32_t *made = malloc(((size_t)one.count + two.count) * sizeof(*made));

	if (!made)
		return false;
	to->server = made;
	to->count = to->nleaves = from->count = from->nleaves = 0;
	for (uint32_t i = 0, k = 0; i < one.count || k < two.count;)
		seat(p, to,
		     k == two.count || (i < one.count && one.server[i] < two.server[k]) ? one.server[i++]
											: two.server[k++]);
	free(p->servers[lender]);
	p->servers[lender] = made;
	return true;
}

/* One more borrower, if that leaves fewer jobs without entries; *is_better: it does. */
static enum fors_err take_one(struct party *p, struct fors_holdings *holdings, bool *is_better,
			      struct fors_error *error)
{
	uint32_t left = count_left(p, holdings), borrower = smallest(p, holdings, FORS_NO_JOB),
		 lender = smallest(p, NULL, borrower);
	struct fors_holdings_task task = *p->task;
	struct fors_holdings made;
	enum fors_err err;

	*is_better = false;
	if (lender == FORS_NO_JOB)
		return FORS_OK;
	if (!merge(p, borrower, lender))
		return fors_fail_memory(error);
	task.list = &p->list;
	task.owners_work /= BORROW_PART;
	task.entries_work /= BORROW_PART;
	err = fors_holdings_share(&task, &made, error);
	if (err)
		return err;
	*is_better = count_left(p, &made) < left;
	fors_holdings_clear(*is_better ? holdings : &made);
	if (*is_better)
		*holdings = made;
	return FORS_OK;
}

/* ---- what is left to a lender ---- */

/* Flows on each cable of the floors, up and down: row[floor][direction * nleaves * nlanes + leaf * nlanes + lane]. */
struct loads {
	const struct fors_floors *floors;
	const struct fors_holdings *holdings;
	uint32_t **row;
	uint32_t most;
};

static void add(struct loads *l, uint32_t floor, bool is_down, uint32_t leaf, uint32_t lane, uint32_t n)
{
	const struct fors_fabric *f = l->floors->floor[floor];
	uint32_t *row = &l->row[floor][((is_down ? f->nleaves : 0) + leaf) * f->nlanes + lane];

	*row += n;
	l->most = *row > l->most ? *row : l->most;
}

/* n flows from a leaf, or pod, of a floor to a server elsewhere; the spine that they go over. */
static uint32_t add_flows(struct loads *l, uint32_t floor, uint32_t leaf, uint32_t d, uint32_t n)
{
	const struct fors_fabric *f = l->floors->floor[floor];
	const struct fors_entries *entries = &l->holdings->entries[floor];
	uint32_t up = entries->up[(size_t)leaf * f->nservers + d], spine = f->lane[up].spine;

	add(l, floor, false, leaf, up, n);
	add(l, floor, true, f->server[d].leaf, entries->down[(size_t)spine * f->nservers + d], n);
	return spine;
}

/* All that n servers of the job at the leaf send. */
static void add_leaf(struct loads *l, const struct fors_jobentry *job, uint32_t leaf, uint32_t n)
{
	const struct fors_fabric *first = l->floors->floor[0];
	uint32_t pod = fors_floors_pod(l->floors, leaf);

	for (uint32_t i = 0; i < job->count; i++) {
		uint32_t d = job->server[i], home = first->server[d].leaf;

		if (home != leaf) {
			uint32_t plane = add_flows(l, 0, leaf, d, n);

			if (fors_floors_pod(l->floors, home) != pod)
				add_flows(l, plane + 1, pod, d, n);
		}
	}
}

static bool alloc_loads(struct loads *l)
{
	l->row = calloc(l->floors->count, sizeof(*l->row));
	for (uint32_t f = 0; l->row && f < l->floors->count; f++) {
		const struct fors_fabric *floor = l->floors->floor[f];

		l->row[f] = calloc((size_t)2 * floor->nleaves * floor->nlanes + 1, sizeof(**l->row));
		if (!l->row[f])
			return false;
	}
	return l->row;
}

static void free_loads(struct loads *l)
{
	for (uint32_t f = 0; l->row && f < l->floors->count; f++)
		free(l->row[f]);
	free(l->row);
}

/* The bound of a lender, without its borrowers. */
static enum fors_err bound_lender(const struct fors_floors *floors, const struct fors_jobentry *job,
				  const struct fors_holdings *holdings, uint32_t *bound, struct fors_error *error)
{
	struct loads l = {.floors = floors, .holdings = holdings, .most = job->count};
	const struct fors_server *all = floors->floor[0]->server;
	bool is_good = alloc_loads(&l);

	for (uint32_t i = 0, n = 1; is_good && i < job->count; i++, n++)
		if (i + 1 == job->count || all[job->server[i + 1]].leaf != all[job->server[i]].leaf) {
			add_leaf(&l, job, all[job->server[i]].leaf, n);
			n = 0;
		}
	free_loads(&l);
	if (!is_good)
		return fors_fail_memory(error);
	*bound = l.most;
	return FORS_OK;
}

static enum fors_err bound_lenders(const struct party *p, struct fors_holdings *holdings, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; !err && j < p->list.count; j++)
		if (p->servers[j] && p->list.job[j].count && holdings->bound[j])
			err = bound_lender(p->task->floors, &p->task->list->job[j], holdings, &holdings->bound[j],
					   error);
	return err;
}

/* ---- all of it ---- */

static bool alloc(struct party *p)
{
	const struct fors_joblist *list = p->task->list;

	p->list = *list;
	p->list.job = malloc((list->count + (size_t)1) * sizeof(*p->list.job));
	p->servers = calloc(list->count + (size_t)1, sizeof(*p->servers));
	if (!p->list.job || !p->servers)
		return false;
	if (list->count)
		memcpy(p->list.job, list->job, list->count * sizeof(*p->list.job));
	return true;
}

static void release(struct party *p)
{
	for (uint32_t j = 0; p->servers && j < p->list.count; j++)
		free(p->servers[j]);
	free(p->servers);
	free(p->list.job);
}

static enum fors_err take_borrowers(const struct fors_holdings_task *task, struct fors_holdings *holdings,
				    struct fors_error *error)
{
	struct party p = {.task = task};
	enum fors_err err = alloc(&p) ? FORS_OK : fors_fail_memory(error);
	bool is_better = true;

	for (int i = 0; !err && is_better && i < MOST_BORROWERS && count_left(&p, holdings); i++)
		err = take_one(&p, holdings, &is_better, error);
	if (!err)
		err = bound_lenders(&p, holdings, error);
	release(&p);
	return err;
}

enum fors_err fors_holdings_find(const struct fors_holdings_task *task, struct fors_holdings *holdings,
				 struct fors_error *error)
{
	struct fors_holdings made;
	enum fors_err err = fors_holdings_share(task, &made, error);

	if (err)
		return err;
	if (task->floors->pods && !fors_holdings_is_short(task) && !(task->cancelled && task->cancelled(task->context)))
		err = take_borrowers(task, &made, error);
	if (err)
		fors_holdings_clear(&made);
	else
		*holdings = made;
	return err;
}
