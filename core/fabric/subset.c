/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "subset.h"

/* All servers out, then those in that are meant. */
static void seat(struct fors_fabric *f, const struct fors_fabric *whole, const uint32_t *server, uint32_t count)
{
	for (size_t i = 0; i < (size_t)f->nleaves * f->nslots; i++)
		f->slot[i].server = FORS_NONE;
	for (uint32_t a = 0; a < f->nleaves; a++)
		f->leaf[a].nservers = 0;
	f->max_servers = 0;
	for (f->nservers = 0; f->nservers < count; f->nservers++) {
		struct fors_server one = whole->server[server[f->nservers]];
		struct fors_slot *slot = &f->slot[(size_t)one.leaf * f->nslots + one.slot];

		slot->server = f->nservers;
		one.rank = f->leaf[one.leaf].nservers++;
		f->server[f->nservers] = one;
		f->lmc = !f->nservers || slot->lmc < f->lmc ? slot->lmc : f->lmc;
		if (f->leaf[one.leaf].nservers > f->max_servers)
			f->max_servers = f->leaf[one.leaf].nservers;
	}
	for (uint32_t a = 0, first = 0; a < f->nleaves; first += f->leaf[a++].nservers)
		f->leaf[a].first_server = first;
}

static void forbid(struct fors_fabric *f, const bool *is_allowed)
{
	for (size_t i = 0; i < (size_t)f->nleaves * f->nlanes; i++)
		if (f->cable[i].state == FORS_CABLE_LIVE && !is_allowed[i]) {
			f->cable[i].state = FORS_CABLE_DEAD;
			f->cable[i].drained = FORS_DRAIN_EXCLUDED;
		}
}

enum fors_err fors_fabric_subset(const struct fors_fabric *fabric, const uint32_t *server, uint32_t count,
				 const bool *is_allowed, struct fors_fabric **subset, struct fors_error *error)
{
	struct fors_fabric *f = NULL;
	enum fors_err err = fors_fabric_copy(fabric, fabric->net, &f, error);

	if (err)
		return err;
	seat(f, fabric, server, count);
	if (is_allowed)
		forbid(f, is_allowed);
	err = fors_fabric_recount(f, error);
	if (err)
		fors_fabric_free(f);
	else
		*subset = f;
	return err;
}
