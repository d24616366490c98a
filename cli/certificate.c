/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * certificate.c - the arguments of the bounds of a plan, as JSON.
 *
 * A bound is only as good as its proof. core/ says which argument gives each of them, and with which switches and links
 * (core/net/witness.h); here they get names, so that a program that knows nothing of fors reckons them again from the text
 * of the net, and of the tables (tests/sweep/certified.py).
 */
#include "cli/certificate.h"

#include "cli/json.h"

struct fors_witness *cli_witness_new(struct cli_witnesses *witnesses, enum cli_bound of)
{
	witnesses->of[witnesses->count] = of;
	return &witnesses->witness[witnesses->count++];
}

void cli_witnesses_clear(struct cli_witnesses *witnesses)
{
	for (uint32_t i = 0; i < witnesses->count; i++)
		fors_witness_clear(&witnesses->witness[i]);
	witnesses->count = 0;
}

static json_t *name_of(const struct fors_net *net, uint64_t guid)
{
	uint32_t node = fors_net_find_guid(net, guid);

	return node == FORS_NONE ? json_null() : fors_json_text(net->node[node].id);
}

/* [switch, port], with prices [switch, port, price]. */
static json_t *link_json(const struct fors_net *net, const struct fors_witness_link *link, bool has_price)
{
	json_t *list = json_array();

	json_array_append_new(list, name_of(net, link->guid));
	json_array_append_new(list, json_integer(link->port));
	if (has_price)
		json_array_append_new(list, json_integer((json_int_t)link->price));
	return list;
}

static json_t *links_json(const struct fors_net *net, const struct fors_witness *witness)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < witness->nlinks; i++)
		json_array_append_new(list, link_json(net, &witness->link[i], witness->by == FORS_BY_WAYS));
	return list;
}

static json_t *witness_json(const struct fors_net *net, const struct fors_witness *witness, uint32_t npaths)
{
	json_t *data = json_object();

	json_object_set_new(data, "bound", json_integer((json_int_t)witness->bound));
	json_object_set_new(data, "by", json_string(fors_argument_name(witness->by)));
	if (witness->by == FORS_BY_LUMP || witness->by == FORS_BY_LAST)
		json_object_set_new(data, "switch", name_of(net, witness->switch_of[0]));
	if (witness->by == FORS_BY_LAST)
		json_object_set_new(data, "above", name_of(net, witness->switch_of[1]));
	if (witness->by == FORS_BY_CUT)
		json_object_set_new(data, "links", links_json(net, witness));
	if (witness->by == FORS_BY_LINK)
		json_object_set_new(data, "link", link_json(net, witness->link, false));
	if (witness->by == FORS_BY_WAYS)
		json_object_set_new(data, "prices", links_json(net, witness));
	if (witness->by == FORS_BY_LINK || witness->by == FORS_BY_WAYS)
		json_object_set_new(data, "paths", json_integer(npaths));
	return data;
}

/* The first witness of this bound, of the strictest kind, or NULL. */
static const struct fors_witness *find(const struct cli_witnesses *witnesses, enum cli_bound which, int64_t bound)
{
	for (unsigned of = 0; of <= which; of++)
		for (uint32_t i = 0; i < witnesses->count; i++)
			if (witnesses->of[i] == of && witnesses->witness[i].by && bound >= 0 &&
			    witnesses->witness[i].bound == (uint64_t)bound)
				return &witnesses->witness[i];
	return NULL;
}

json_t *cli_certificates_json(const struct fors_net *net, const struct cli_witnesses *witnesses,
			      const int64_t bound[CLI_BOUNDS])
{
	static const char *const names[] = {"lower_bound", "lump_bound", "tables_bound"};
	json_t *data = json_object();

	for (unsigned i = 0; i < CLI_BOUNDS; i++) {
		const struct fors_witness *found = find(witnesses, i, bound[i]);

		json_object_set_new(data, names[i], found ? witness_json(net, found, witnesses->npaths) : json_null());
	}
	return data;
}
