/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_mads.h"

#include <stdlib.h>
#include <string.h>

#include "watch/bytes.h"
#include "watch/wire.h"

struct asked {
	struct fors_directed_route way;
	uint16_t attribute;
	uint32_t modifier;
	bool is_manager;
	uint16_t slid, dlid; /* of the administration: a path; slid 0: it is not asked */
	fors_mad_done done;
	void *context;
	uint64_t tag;
};

struct fors_mads {
	struct fake *fake;
	struct fors_mads_port port;
	struct fors_mads_counts counts;
	struct asked *asked;
	size_t count, next, room;
};

struct fors_mads *fake_mads(struct fake *fake)
{
	struct fors_mads *mads = calloc(1, sizeof(*mads));

	mads->fake = fake;
	mads->port.lid = mads->port.sm_lid = 1;
	return mads;
}

void fors_mads_close(struct fors_mads *mads)
{
	free(mads->asked);
	free(mads);
}

const struct fors_mads_port *fors_mads_port(const struct fors_mads *mads)
{
	return &mads->port;
}

const struct fors_mads_counts *fors_mads_counts(const struct fors_mads *mads)
{
	return &mads->counts;
}

void fors_mads_set_manager(struct fors_mads *mads, uint16_t lid, uint16_t sm_lid, uint8_t sm_sl)
{
	(void)sm_lid;
	(void)sm_sl;
	mads->port.lid = lid;
}

static enum fors_err add(struct fors_mads *mads, const struct asked *asked)
{
	if (mads->count == mads->room) {
		mads->room = mads->room ? 2 * mads->room : 1024;
		mads->asked = realloc(mads->asked, mads->room * sizeof(*asked));
	}
	mads->asked[mads->count++] = *asked;
	return FORS_OK;
}

enum fors_err fors_mads_get(struct fors_mads *mads, const struct fors_directed_route *way, uint16_t attribute,
			    uint32_t modifier, fors_mad_done done, void *context, uint64_t tag)
{
	return add(mads, &(struct asked){*way, attribute, modifier, false, 0, 0, done, context, tag});
}

enum fors_err fors_mads_get_at(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
			       fors_mad_done done, void *context, uint64_t tag)
{
	(void)lid;
	return add(mads, &(struct asked){{0}, attribute, modifier, true, 0, 0, done, context, tag});
}

enum fors_err fors_mads_ask(struct fors_mads *mads, const struct fors_sa_question *question, fors_mad_done done,
			    void *context, uint64_t tag)
{
	return add(mads,
		   &(struct asked){.attribute = question->attribute,
				   .slid = fors_get16(question->record + 42),
				   .dlid = question->what == FORS_SA_TABLE ? 0 : fors_get16(question->record + 40),
				   .done = done,
				   .context = context,
				   .tag = tag});
}

void fors_mads_forget(struct fors_mads *mads)
{
	mads->count = mads->next = 0;
}

/* Who is at the end of a way, and at which port; false: nobody. */
static bool follow(const struct fake *fake, const struct fors_directed_route *way, uint32_t *node, uint8_t *port)
{
	*node = fake->from;
	*port = fake->net->node[*node].type == FORS_SWITCH ? 0 : 1;
	for (unsigned i = 0; i < way->hops; i++) {
		const struct fors_node *at = &fake->net->node[*node];
		const struct fors_port *out = fors_net_port(fake->net, *node, way->port[i]);

		if ((i && at->type != FORS_SWITCH) || !way->port[i] || way->port[i] > at->nports ||
		    out->peer == FORS_NONE)
			return false;
		*node = out->peer;
		*port = out->peer_port;
	}
	return true;
}

static void say_node(const struct fors_net *net, uint32_t node, uint8_t port, uint8_t *data)
{
	const struct fors_node *at = &net->node[node];

	data[2] = at->type == FORS_SWITCH ? 2 : at->type == FORS_ROUTER ? 3 : 1;
	data[3] = at->nports;
	fors_put64(data + 12, at->guid);
	fors_put64(data + 20, at->type == FORS_SWITCH ? at->guid : fors_net_port(net, node, port)->guid);
	data[36] = port;
}

static void say_port(const struct fors_net *net, uint32_t node, uint32_t number, uint8_t *data)
{
	static const uint8_t widths[13] = {[1] = 1, [2] = 16, [4] = 2, [8] = 4, [12] = 8};
	const struct fors_port *port;
	bool is_up;

	if (number > net->node[node].nports)
		return;
	if (!number && net->node[node].type != FORS_SWITCH)
		number = 1; /* the port that is asked */
	port = fors_net_port(net, node, number);
	is_up = port->peer != FORS_NONE;
	fors_put16(data + 16, port->lid ? port->lid : 0);
	fors_put32(data + 20, port->is_sm ? 2 : 0);
	data[31] = widths[port->width];
	data[32] = is_up ? FORS_PORT_ACTIVE : FORS_PORT_DOWN;
	data[33] = (uint8_t)((is_up ? FORS_PHYS_LINK_UP : 2) << 4);
	data[34] = port->lmc;
	data[35] = port->speed && port->speed < 4 ? (uint8_t)(1 << (port->speed - 1) << 4) : 0;
}

static void say_table(const struct fake *fake, uint32_t node, uint32_t block, uint8_t *data)
{
	uint32_t row = fors_lfts_row(fake->lfts, fake->net->node[node].guid);

	for (uint32_t i = 0; i < FORS_LFT_BLOCK; i++)
		data[i] = row == FORS_NONE ? FORS_NO_PATH : fors_lfts_port(fake->lfts, row, block * FORS_LFT_BLOCK + i);
}

static void say(struct fake *fake, const struct asked *asked, uint32_t node, uint8_t port, uint8_t *data)
{
	switch (asked->attribute) {
	case FORS_ATTR_NODE_INFO:
		say_node(fake->net, node, port, data);
		break;
	case FORS_ATTR_NODE_DESC:
		memcpy(data, fake->net->node[node].desc, FORS_NAME_MAX);
		break;
	case FORS_ATTR_PORT_INFO:
		say_port(fake->net, node, asked->modifier, data);
		break;
	case FORS_ATTR_SWITCH_INFO:
		fors_put16(data, 0xC000);
		fors_put16(data + 6, (uint16_t)(fake->lfts->nlids - 1));
		break;
	case FORS_ATTR_LINEAR_FT:
		say_table(fake, node, asked->modifier, data);
		break;
	default:
		fors_put32(data + 16, ++fake->counted);
		data[20] = FORS_SM_MASTER;
	}
}

/* Paths from a LID: to one, or to all of the fabric, as far as there is room. */
static void answer_path(struct fake *fake, const struct asked *asked)
{
	static uint8_t data[64 * 1024];
	struct fors_mad mad = {.attribute = asked->attribute, .data = data, .record = 64};

	fake->asked++;
	memset(data, 0, sizeof(data));
	for (uint32_t lid = 1; fake->level && lid < fake->lfts->nlids && mad.size < 64 * fake->most_records; lid++) {
		uint8_t *record = data + mad.size;

		if ((asked->dlid && asked->dlid != lid) || fake->level(asked->slid, (uint16_t)lid) > 15)
			continue;
		fors_put16(record + 40, (uint16_t)lid);
		fors_put16(record + 42, asked->slid);
		record[53] = 0xA0 | fake->level(asked->slid, (uint16_t)lid);
		mad.size += 64;
	}
	asked->done(asked->context, asked->tag,
		    !fake->level ? FORS_MAD_LOST
		    : mad.size	 ? FORS_MAD_ANSWERED
				 : FORS_MAD_REFUSED,
		    mad.size ? &mad : NULL);
}

static void answer(struct fors_mads *mads, const struct asked *asked)
{
	struct fake *fake = mads->fake;
	uint8_t data[FORS_SMP_DATA] = {0}, port = 0;
	struct fors_mad mad = {.attribute = asked->attribute, .data = data, .size = sizeof(data)};
	uint32_t node = 0;
	bool is_there = asked->is_manager || follow(fake, &asked->way, &node, &port);

	fake->asked++;
	mads->counts.sent++;
	if (is_there)
		say(fake, asked, node, port, data);
	if (fake->lie)
		is_there = fake->lie(fake, asked->attribute, node, asked->modifier, data);
	asked->done(asked->context, asked->tag, is_there ? FORS_MAD_ANSWERED : FORS_MAD_LOST, is_there ? &mad : NULL);
}

enum fors_err fors_mads_run(struct fors_mads *mads, struct fors_error *error)
{
	(void)error;
	while (mads->next < mads->count) {
		struct asked asked = mads->asked[mads->next++];

		if (asked.slid)
			answer_path(mads->fake, &asked);
		else
			answer(mads, &asked);
	}
	fors_mads_forget(mads);
	return FORS_OK;
}

enum fors_err fors_mads_wait(struct fors_mads *mads, double until_ms, struct fors_error *error)
{
	(void)error;
	return mads->fake->pause ? mads->fake->pause(mads->fake, until_ms) : FORS_OK;
}
