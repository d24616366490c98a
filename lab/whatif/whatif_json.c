/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whatif_json.c - the failures in order, worst first; for programs, and for the page. */
#include "whatif.h"

#include <stdlib.h>
#include <string.h>

/* --- order ------------------------------------------------------------------------------------------------------ */

struct ranked {
	double throughput, shift;
	uint64_t changed;
	uint32_t number;
};

/* Least throughput first; then what costs more without a plan, then what changes more tables, then as listed. */
static int by_cost(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->throughput != y->throughput)
		return x->throughput < y->throughput ? -1 : 1;
	if (x->shift != y->shift)
		return x->shift < y->shift ? -1 : 1;
	if (x->changed != y->changed)
		return x->changed > y->changed ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void whatif_sort(const struct whatif *whatif, uint32_t *order)
{
	struct ranked *list = malloc(whatif->ncases * sizeof(*list));

	for (uint32_t i = 1; i < whatif->ncases; i++) {
		const struct whatif_result *r = whatif_at(whatif, i, 0);

		order[i - 1] = i;
		if (list)
			list[i - 1] = (struct ranked){r->throughput, r->shift, r->changed, i};
	}
	if (list)
		qsort(list, whatif->ncases - 1, sizeof(*list), by_cost);
	for (uint32_t i = 0; list && i + 1 < whatif->ncases; i++)
		order[i] = list[i].number;
	free(list);
}

/* --- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *result_json(const struct whatif_result *r, bool is_fors, bool is_simulated)
{
	json_t *object = json_pack("{s:f, s:f, s:i, s:I}", "throughput", r->throughput, "shift_throughput", r->shift,
				   "max_link_load", r->max_load, "broken", (json_int_t)r->broken);

	if (object)
		json_object_set_new(object, "phases", json_integer(r->phases));
	if (object && is_simulated)
		json_object_set_new(object, "shift_gbits", json_real(r->shift_gbits));
	if (object && is_simulated && is_fors)
		json_object_set_new(object, "gbits", json_real(r->gbits));
	if (object && !is_fors)
		json_object_set_new(object, "planned_throughput", json_real(r->planned));
	if (object && is_fors) {
		json_object_set_new(object, "changed_entries", json_integer((json_int_t)r->changed));
		json_object_set_new(object, "method", r->phases && r->note[0] ? fors_json_text(r->note) : json_null());
	}
	if (object)
		json_object_set_new(object, "note",
				    r->note[0] && (!is_fors || !r->phases) ? fors_json_text(r->note) : json_null());
	return object;
}

static json_t *results_json(const struct whatif *whatif, uint32_t number)
{
	json_t *object = json_object();

	for (uint32_t e = 0; e < whatif->nengines; e++)
		json_object_set_new(object, whatif->engine[e],
				    result_json(whatif_at(whatif, number, e), e == 0, whatif->simulate.is_wanted));
	return object;
}

static json_t *case_json(const struct whatif *whatif, uint32_t number)
{
	static const char *const kinds[] = {"intact", "link", "spine", "random"};
	const struct whatif_case *one = &whatif->cases[number];

	return json_pack("{s:o, s:s, s:i, s:o}", "failure", fors_json_text(one->name), "kind", kinds[one->kind],
			 "cables", one->ncut, "engines", results_json(whatif, number));
}

json_t *whatif_json(const struct whatif *whatif, const uint32_t *order)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i + 1 < whatif->ncases; i++)
		json_array_append_new(list, case_json(whatif, order[i]));
	return json_pack("{s:o, s:i, s:i, s:o, s:o}", "fabric", fors_json_text(whatif->fabric_name), "servers",
			 whatif->nservers, "lmc", whatif->lmc, "intact", results_json(whatif, 0), "failures", list);
}

/* --- the page: short rows instead of objects --------------------------------------------------------------------- */

static json_t *row_json(const struct whatif *whatif, uint32_t number)
{
	const struct whatif_case *one = &whatif->cases[number];
	json_t *row = json_pack("[o, i, i]", fors_json_text(one->name), (int)one->kind, one->ncut);

	for (uint32_t e = 0; e < whatif->nengines; e++) {
		const struct whatif_result *r = whatif_at(whatif, number, e);

		json_array_append_new(row, json_pack("[f, f, i, I, o, f]", r->throughput, r->shift, r->phases,
						     (json_int_t)r->changed, fors_json_text(r->note), r->planned));
	}
	return row;
}

/* Leaf and spine of single cables, for the map: [row of the list, leaf, spine]. */
static json_t *map_json(const struct whatif *whatif, const uint32_t *order)
{
	const struct fors_fabric *fabric = whatif->intact.fabric;
	json_t *list = json_array();

	for (uint32_t i = 0; fabric && i + 1 < whatif->ncases; i++) {
		const struct whatif_case *one = &whatif->cases[order[i]];
		uint32_t leaf = 0, spine = 0;

		if (one->kind != WHATIF_LINK)
			continue;
		while (leaf < fabric->nleaves && fabric->leaf[leaf].node != one->cut[0].node)
			leaf++;
		while (spine < fabric->nspines &&
		       fabric->spine[spine].node !=
			       fors_net_port(fabric->net, one->cut[0].node, one->cut[0].port)->peer)
			spine++;
		json_array_append_new(list, json_pack("[i, i, i]", i, leaf, spine));
	}
	return list;
}

static json_t *names_json(const struct fors_fabric *fabric, bool are_spines)
{
	json_t *list = json_array();

	for (uint32_t i = 0; fabric && i < (are_spines ? fabric->nspines : fabric->nleaves); i++)
		json_array_append_new(list, fors_json_text(are_spines ? fabric->spine[i].name : fabric->leaf[i].name));
	return list;
}

json_t *whatif_page(const struct whatif *whatif, const uint32_t *order)
{
	json_t *rows = json_array(), *engines = json_array();

	for (uint32_t e = 0; e < whatif->nengines; e++)
		json_array_append_new(engines, json_string(whatif->engine[e]));
	for (uint32_t i = 0; i + 1 < whatif->ncases; i++)
		json_array_append_new(rows, row_json(whatif, order[i]));
	return json_pack("{s:s, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "whatif", "fabric",
			 fors_json_text(whatif->fabric_name), "servers", whatif->nservers, "lmc", whatif->lmc,
			 "engines", engines, "intact", row_json(whatif, 0), "rows", rows, "map",
			 map_json(whatif, order), "leaves", names_json(whatif->intact.fabric, false), "spines",
			 names_json(whatif->intact.fabric, true));
}
