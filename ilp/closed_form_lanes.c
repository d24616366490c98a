/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * closed_form_lanes.c - which lane each number of the closed form takes: good[n mod B], with small path indices.
 *
 * Any B lanes that live at every leaf will do, in any order. But flow n needs the path index of its receiver d that
 * leads over good[n mod B], by design (good[n mod B] - g(d)) mod S, and path indices cost LIDs. Number class
 * j = n mod B only meets labels r with r = j mod gcd(M0, B), so good[] is chosen (a bipartite matching) such that the
 * largest path index is small: on a healthy fabric with S = M0, label and home lane coincide, and the plan needs base
 * LIDs only.
 */
#include "closed_form_work.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/divisor.h"
#include "core/tables/home.h"

static bool good_everywhere(const struct fors_form *form, uint32_t lane)
{
	for (uint32_t a = 0; a < form->m1; a++)
		if (!fors_live(form->fabric, form->leaf[a], lane))
			return false;
	return true;
}

/* ---- good lanes: classes to lanes, with small path indices ---- */

struct lanes {
	const struct fors_form *form;
	uint32_t nclasses; /* gcd(M0, B): classes that meet the same labels */
	uint32_t ngood;
	uint8_t *lane;	    /* ngood: the good lanes */
	uint8_t *need;	    /* nclasses x ngood: largest home path index */
	uint32_t *class_of; /* ngood: class that has the lane, FORS_NONE */
	bool *visited;	    /* ngood */
	uint32_t allowed;   /* path indices below this */
};

static void find_need(struct lanes *lanes)
{
	const struct fors_form *form = lanes->form;
	const struct fors_fabric *fabric = form->fabric;

	for (uint32_t label = 0; label < form->m0; label++)
		for (uint32_t a = 0; a < form->m1; a++) {
			uint32_t d = fabric->leaf[form->leaf[a]].first_server + form->rank_of[label];
			uint32_t home = fors_home_lane(fabric, form->leaf[a], fabric->server[d].slot, 0);
			uint8_t *need = lanes->need + (size_t)(label % lanes->nclasses) * lanes->ngood;

			for (uint32_t k = 0; k < lanes->ngood; k++) {
				uint32_t lane = lanes->lane[k];
				uint32_t index = fors_home_index(fabric->nlanes, home, lane);

				if (index > need[k])
					need[k] = (uint8_t)index;
			}
		}
}

/* Give `class` a lane, moving others (Kuhn's algorithm; depth at most the number of lanes). */
static bool seat(struct lanes *lanes, uint32_t class)
{
	const uint8_t *need = lanes->need + (size_t)(class % lanes->nclasses) * lanes->ngood;

	for (uint32_t k = 0; k < lanes->ngood; k++) {
		if (need[k] >= lanes->allowed || lanes->visited[k])
			continue;
		lanes->visited[k] = true;
		if (lanes->class_of[k] == FORS_NONE || seat(lanes, lanes->class_of[k])) {
			lanes->class_of[k] = class;
			return true;
		}
	}
	return false;
}

static bool seat_all(struct lanes *lanes)
{
	memset(lanes->class_of, 0xff, lanes->ngood * sizeof(*lanes->class_of));
	for (uint32_t c = 0; c < lanes->form->b; c++) {
		memset(lanes->visited, 0, lanes->ngood);
		if (!seat(lanes, c))
			return false;
	}
	return true;
}

/* Try LMC 0, 1, ...: at 8 every lane is allowed, so one of them fits. */
static void seat_cheaply(struct lanes *lanes, struct fors_form *form)
{
	form->lmc_needed = 0;
	for (;; form->lmc_needed++) {
		lanes->allowed = fors_home_nindices(form->lmc_needed);
		if (seat_all(lanes))
			break;
	}
	for (uint32_t k = 0; k < lanes->ngood; k++)
		if (lanes->class_of[k] != FORS_NONE)
			form->good[lanes->class_of[k]] = lanes->lane[k];
}

static enum fors_err too_few_lanes(const struct fors_form *form, uint32_t ngood, struct fors_error *error)
{
	return fors_fail(error, FORS_ENOTAPPL,
			 "closed-form: %u lanes live at all leaves with servers, it needs %u (%u servers per leaf, "
			 "bandwidth reduction %u)",
			 ngood, form->b, form->m0, form->f);
}

enum fors_err fors_form_choose_lanes(struct fors_form *form, struct fors_error *error)
{
	uint32_t room = form->fabric->nlanes, step = fors_divisor(form->m0, form->b);
	struct lanes lanes = {.form = form, .nclasses = step};
	enum fors_err err;

	lanes.lane = calloc(room + 1, 1);
	lanes.need = calloc((size_t)step * room + 1, 1);
	lanes.class_of = calloc(room + 1, sizeof(*lanes.class_of));
	lanes.visited = calloc(room + 1, sizeof(*lanes.visited));
	if (!lanes.lane || !lanes.need || !lanes.class_of || !lanes.visited) {
		err = fors_fail_memory(error);
		goto out;
	}
	for (uint32_t lane = 0; lane < room; lane++)
		if (good_everywhere(form, lane))
			lanes.lane[lanes.ngood++] = (uint8_t)lane;
	err = lanes.ngood < form->b ? too_few_lanes(form, lanes.ngood, error) : FORS_OK;
	if (!err) {
		find_need(&lanes);
		seat_cheaply(&lanes, form);
	}
out:
	free(lanes.lane);
	free(lanes.need);
	free(lanes.class_of);
	free(lanes.visited);
	return err;
}
