/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "look.h"

#include <stdlib.h>
#include <string.h>

#include "core/fabric/account.h"
#include "core/planners/routing.h"
#include "daemon/base/digest.h"

struct fors_look *fors_look_new(enum fors_look_kind kind)
{
	struct fors_look *look = calloc(1, sizeof(*look));

	if (look) {
		look->kind = kind;
		look->tables_ms = look->check_ms = -1;
	}
	return look;
}

static void free_given(struct fors_look_given *given)
{
	if (!given)
		return;
	free(given->participants.guid);
	fors_levels_free(given->levels);
	free(given);
}

void fors_look_free(struct fors_look *look)
{
	if (!look)
		return;
	free_given(look->given);
	fors_routing_free(look->lfts, look->rounds);
	fors_floors_clear(&look->floors);
	fors_fattree_free(&look->tree);
	fors_net_free(look->net);
	fors_claim_drop(look->claim);
	free(look->flap);
	free(look);
}

enum fors_err fors_look_take_given(struct fors_look *look, const struct fors_participants *participants,
				   struct fors_error *error)
{
	struct fors_look_given *given = calloc(1, sizeof(*given));

	if (!given)
		return fors_fail_memory(error);
	if (participants) {
		given->has_participants = true;
		given->participants.count = participants->count;
		given->participants.guid = malloc(participants->count * sizeof(*participants->guid) + 1);
		if (!given->participants.guid) {
			free(given);
			return fors_fail_memory(error);
		}
		if (participants->count)
			memcpy(given->participants.guid, participants->guid,
			       participants->count * sizeof(*participants->guid));
	}
	free_given(look->given);
	look->given = given;
	return FORS_OK;
}

/* Guests take no part, so the list of who does is always a list. */
static enum fors_err list_players(struct fors_look *look, struct fors_error *error)
{
	struct fors_participants players;
	enum fors_err err = fors_fattree_players(&look->tree, &players, error);

	if (err)
		return err;
	err = fors_look_take_given(look, &players, error);
	free(players.guid);
	return err;
}

enum fors_err fors_look_be_tree(struct fors_look *look, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_error *error)
{
	enum fors_err err;

	fors_floors_clear(&look->floors);
	fors_fattree_free(&look->tree);
	err = fors_fattree_build(look->net, places, participants, &look->tree, error);
	if (!err)
		err = fors_aside_cut(&look->tree, look->net, &look->warnings, error);
	if (!err && !look->tree.fabric)
		err = list_players(look, error);
	if (err)
		fors_fattree_free(&look->tree);
	look->fabric = look->tree.fabric;
	return err;
}

enum fors_err fors_look_be_shared(struct fors_look *look, struct fors_error *error)
{
	struct fors_error why;
	enum fors_err err;

	fors_floors_clear(&look->floors);
	err = fors_floors_make(&look->tree, &look->floors, &why);
	if (err != FORS_ENOMEM)
		return FORS_OK;
	return fors_fail_memory(error);
}

void fors_look_inherit(struct fors_look *newer, struct fors_look *older)
{
	if (newer->rounds || !newer->lfts || !older || !older->rounds || !older->lfts ||
	    !fors_look_same_tables(newer, older))
		return;
	newer->rounds = older->rounds;
	older->rounds = NULL;
}

/* What nodes are: who is a host, and who is none. */
static uint64_t digest_types(uint64_t before, const struct fors_net *net)
{
	for (uint32_t n = 0; n < net->nnodes; n++) {
		const uint8_t kind[] = {(uint8_t)net->node[n].type, net->node[n].other};

		before = fors_digest(before, kind, sizeof(kind));
	}
	return before;
}

/* Nodes, cables and LIDs; what else a port says (a manager, a slow cable) is nothing to a plan over given tables. */
static uint64_t digest_net(uint64_t before, const struct fors_net *net)
{
	for (uint32_t n = 0; n < net->nnodes; n++)
		before = fors_digest(before, &net->node[n].guid, sizeof(net->node[n].guid));
	for (uint32_t i = 0; i < net->nports; i++) {
		const struct fors_port *port = &net->port[i];
		const uint64_t seen[] = {port->guid, (uint64_t)port->peer << 32 | (uint64_t)port->peer_port << 24 |
							     (uint64_t)port->lmc << 16 | port->lid};

		before = fors_digest(before, seen, sizeof(seen));
	}
	return digest_types(before, net);
}

static uint64_t digest_lfts(uint64_t before, const struct fors_lfts *lfts)
{
	before = fors_digest(before, lfts->guid, lfts->nswitches * sizeof(*lfts->guid));
	return fors_digest(before, lfts->port, (size_t)lfts->nswitches * lfts->nlids);
}

void fors_look_seal(struct fors_look *look)
{
	struct fors_look_given *given = look->given;
	struct fors_plan_limits limits = look->limits;
	uint64_t basis = digest_lfts(digest_net(FORS_DIGEST_EMPTY, look->net), look->lfts);

	basis = fors_digest(basis, &given->has_participants, sizeof(given->has_participants));
	basis = fors_digest(basis, given->participants.guid, given->participants.count * sizeof(uint64_t));
	basis = fors_digest_text(basis, look->tables_by);
	if (!look->tree.kind) /* other engines' tables leave no choice of a method */
		memset(limits.method, 0, sizeof(limits.method));
	basis = fors_digest(basis, &limits, sizeof(limits));
	given->basis = fors_levels_digest(basis, given->levels);
}

uint64_t fors_look_basis(const struct fors_look *look)
{
	uint64_t basis;

	if (look->given)
		return look->given->basis;
	basis = fors_digest(FORS_DIGEST_EMPTY, &look->fabric->fingerprint, sizeof(look->fabric->fingerprint));
	return fors_digest(digest_lfts(basis, look->lfts), &look->limits, sizeof(look->limits));
}

uint64_t fors_look_fingerprint(const struct fors_look *look)
{
	return look->given ? look->given->basis : look->fabric->fingerprint;
}

/* Width and speed of all cables: how long phases take. */
static uint64_t digest_rates(uint64_t before, const struct fors_net *net)
{
	for (uint32_t i = 0; i < net->nports; i++) {
		const uint8_t rate[] = {net->port[i].width, net->port[i].speed};

		if (net->port[i].peer != FORS_NONE)
			before = fors_digest(before, rate, sizeof(rate));
	}
	return before;
}

static uint64_t digest_servers(uint64_t before, const struct fors_fattree *tree)
{
	struct fors_fattree_slot stand;

	for (uint32_t i = 0; i < tree->nslots; i++)
		if (tree->kind->slot(tree, i, &stand) && stand.is_missed)
			before = fors_digest(before, &i, sizeof(i));
	return before;
}

/* What is known, dead, drained or alive. */
static uint64_t view_of_tree(uint64_t view, const struct fors_fattree *tree)
{
	struct fors_fattree_cable cable;

	view = fors_digest(view, &tree->held_until_ms, sizeof(tree->held_until_ms));
	for (uint32_t i = 0; i < tree->nswitches; i++) {
		uint64_t guid = tree->kind->at(tree, i).guid;

		view = fors_digest(view, &guid, sizeof(guid));
	}
	for (uint32_t i = 0; i < tree->ncables; i++) {
		uint64_t shown[2];

		if (!tree->kind->get(tree, i, &cable))
			continue;
		shown[0] = cable.state | cable.drained << 8 | cable.is_degraded << 16;
		shown[1] = cable.since_ms;
		view = fors_digest(view, shown, sizeof(shown));
	}
	return digest_servers(view, tree);
}

uint64_t fors_look_tree(const struct fors_look *look)
{
	return look->tree.kind ? fors_fattree_print(&look->tree) : 0;
}

/* What was decided about slow cables. */
static uint64_t digest_slow(uint64_t before, const struct fors_slow *slow)
{
	const uint32_t choice[] = {slow->how, slow->ncables, slow->ndrained};
	const double length[] = {slow->ignored, slow->drained};

	return fors_digest(fors_digest(before, choice, sizeof(choice)), length, sizeof(length));
}

static uint64_t digest_flaps(uint64_t before, const struct fors_look *look)
{
	for (uint32_t i = 0; i < look->nflaps; i++) {
		const uint64_t shown[] = {look->flap[i].slot, look->flap[i].is_held, look->flap[i].since_ms};

		before = fors_digest(before, shown, sizeof(shown));
	}
	return before;
}

uint64_t fors_look_view(const struct fors_look *look)
{
	uint64_t view = fors_digest_text(FORS_DIGEST_EMPTY, look->given ? look->tables_by : "");

	if (look->tree.kind)
		view = view_of_tree(view, &look->tree);
	view = digest_flaps(digest_types(view, look->net), look);
	view = digest_slow(digest_rates(view, look->net), &look->slow);
	for (unsigned i = 0; i < fors_warnings_kept(&look->warnings); i++)
		view = fors_digest_text(view, look->warnings.text[i]);
	return view;
}

bool fors_look_overtakes(const struct fors_look *newer, const struct fors_look *current)
{
	return !fors_look_has_tables(newer) || newer->kind == FORS_LOOK_DECLINED || newer->claim != current->claim ||
	       fors_look_fingerprint(newer) != fors_look_fingerprint(current);
}

bool fors_look_same_tables(const struct fors_look *a, const struct fors_look *b)
{
	if (a->net->nnodes != b->net->nnodes || a->net->nports != b->net->nports ||
	    a->lfts->nswitches != b->lfts->nswitches || a->lfts->nlids != b->lfts->nlids)
		return false;
	for (uint32_t n = 0; n < a->net->nnodes; n++) {
		if (a->net->node[n].guid != b->net->node[n].guid)
			return false;
	}
	return !memcmp(a->net->port, b->net->port, a->net->nports * sizeof(*a->net->port)) &&
	       !memcmp(a->lfts->guid, b->lfts->guid, a->lfts->nswitches * sizeof(*a->lfts->guid)) &&
	       !memcmp(a->lfts->port, b->lfts->port, (size_t)a->lfts->nswitches * a->lfts->nlids);
}
