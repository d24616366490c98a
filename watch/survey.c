/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey.c - the reading itself: which question follows from which answer.
 *
 *   NodeInfo of ourselves           a node; its PortInfo
 *   PortInfo of a port with a cable NodeInfo of the neighbour, unless the cable is known from its other end
 *                                   or itself once more, if it told less of its speed than it knows (core/net/portinfo.h)
 *   NodeInfo of a neighbour         a cable; and if it is new: NodeDescription, its PortInfo (of a switch: all of them)
 *
 * Tags of questions are a node and a port: whom it is about, or for NodeInfo the end of the cable from which it was asked.
 */
#include "survey_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "wire.h"

#define TAG(node, port) ((uint64_t)(node) << 8 | (port))
#define NODE_OF(tag) ((uint32_t)((tag) >> 8))
#define PORT_OF(tag) ((uint8_t)(tag))

void fors_reader_fail(struct fors_survey_reader *reader, enum fors_err err)
{
	reader->err = err;
	fors_mads_forget(reader->mads);
}

/* A node as people know it. */
static const char *name_of(const struct fors_seen_node *node, char text[FORS_SEEN_NAME])
{
	snprintf(text, FORS_SEEN_NAME, "%s 0x%016" PRIx64 "%s%s%s",
		 node->type == FORS_SWITCH   ? "switch"
		 : node->type == FORS_ROUTER ? "router"
					     : "adapter",
		 node->guid, node->desc[0] ? " (" : "", node->desc, node->desc[0] ? ")" : "");
	return text;
}

void fors_reader_unanswered(struct fors_survey_reader *reader, uint32_t node, const char *what, enum fors_mad_end end)
{
	const struct fors_seen_node *seen = &reader->survey->node[node];
	char text[FORS_SEEN_NAME];

	fors_reader_fail(
		reader,
		fors_fail(
			reader->error, FORS_EIO,
			"%s %s when asked for its %s: the fabric may be changing, or packets are lost; or an M_Key with "
			"protection level 2 or 3 hides it (--m-key-file)",
			name_of(seen, text), end == FORS_MAD_REFUSED ? "refuses" : "does not answer", what));
}

/* ---- nodes ---- */

static uint32_t hash_of(const struct fors_survey *survey, uint64_t guid)
{
	return (uint32_t)((guid * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (survey->hash_room - 1);
}

/* Where the GUID is in the hash, or would be. */
static uint32_t *entry_of(const struct fors_survey *survey, uint64_t guid)
{
	uint32_t at = hash_of(survey, guid);

	while (survey->hash[at] != FORS_NONE && survey->node[survey->hash[at]].guid != guid)
		at = (at + 1) & (survey->hash_room - 1);
	return &survey->hash[at];
}

uint32_t fors_survey_find(const struct fors_survey *survey, uint64_t guid)
{
	return *entry_of(survey, guid);
}

static enum fors_err widen(struct fors_survey *survey)
{
	uint32_t room = survey->room ? 2 * survey->room : 128;
	struct fors_seen_node *node = realloc(survey->node, room * sizeof(*node));
	uint32_t *hash;

	if (!node)
		return FORS_ENOMEM;
	survey->node = node;
	hash = malloc(2 * (size_t)room * sizeof(*hash));
	if (!hash)
		return FORS_ENOMEM;
	free(survey->hash);
	survey->hash = hash;
	survey->hash_room = 2 * room;
	survey->room = room;
	memset(hash, 0xFF, 2 * (size_t)room * sizeof(*hash));
	for (uint32_t i = 0; i < survey->nnodes; i++)
		*entry_of(survey, node[i].guid) = i;
	return FORS_OK;
}

enum fors_err fors_reader_add(struct fors_survey_reader *reader, const struct fors_seen_node *like, uint32_t *index)
{
	struct fors_survey *survey = reader->survey;
	struct fors_seen_node *node;
	unsigned nports = like->nports;

	if (survey->nnodes >= FORS_SURVEY_NODES || survey->nports + nports > FORS_SURVEY_PORTS)
		return fors_fail(reader->error, FORS_ELIMIT,
				 "more than %u nodes or more than %u ports answer: that is no fabric of one subnet",
				 FORS_SURVEY_NODES, FORS_SURVEY_PORTS);
	if (survey->nnodes == survey->room && widen(survey))
		return fors_fail_memory(reader->error);
	node = &survey->node[survey->nnodes];
	*node = (struct fors_seen_node){
		.guid = like->guid,
		.type = like->type,
		.device = like->device,
		.nports = (uint8_t)nports,
		.port = calloc(nports + 1, sizeof(*node->port)),
	};
	if (!node->port)
		return fors_fail_memory(reader->error);
	for (unsigned p = 0; p <= nports; p++)
		node->port[p].peer = FORS_NONE;
	*entry_of(survey, node->guid) = survey->nnodes;
	survey->nports += nports;
	survey->nswitches += node->type == FORS_SWITCH;
	*index = survey->nnodes++;
	return FORS_OK;
}

/* ---- questions ---- */

static void ask(struct fors_survey_reader *reader, uint32_t node, uint16_t attribute, uint32_t modifier,
		fors_mad_done done, uint64_t tag)
{
	if (!reader->err &&
	    fors_mads_get(reader->mads, &reader->survey->node[node].way, attribute, modifier, done, reader, tag))
		fors_reader_fail(reader, fors_fail_memory(reader->error));
}

static void take_desc(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;

	if (end != FORS_MAD_ANSWERED)
		fors_reader_unanswered(reader, NODE_OF(tag), "description", end);
	else
		snprintf(reader->survey->node[NODE_OF(tag)].desc, FORS_NAME_MAX + 1, "%.*s", FORS_NAME_MAX,
			 (const char *)mad->data);
}

static void take_neighbour(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad);

/* Who is at the other end of a cable that nobody has told of yet? */
static void ask_neighbour(struct fors_survey_reader *reader, uint32_t node, uint8_t port)
{
	struct fors_directed_route way = reader->survey->node[node].way;

	if (way.hops == FORS_WAY_HOPS) {
		fors_reader_fail(reader, fors_fail(reader->error, FORS_ELIMIT,
						   "a node is more than %d hops away: that is no fabric of one subnet",
						   FORS_WAY_HOPS));
		return;
	}
	way.port[way.hops++] = port;
	if (!reader->err &&
	    fors_mads_get(reader->mads, &way, FORS_ATTR_NODE_INFO, 0, take_neighbour, reader, TAG(node, port)))
		fors_reader_fail(reader, fors_fail_memory(reader->error));
}

/* All that a port has to say; who does not understand the question has said it before. */
static void take_speeds(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;

	if (end == FORS_MAD_ANSWERED)
		fors_survey_take_port(mad->data, &reader->survey->node[NODE_OF(tag)].port[PORT_OF(tag)]);
}

/* Ask once more for ports that may have extended speeds and told none: all those read so far, if port 0 was what came in. */
static void ask_for_speeds(struct fors_survey_reader *reader, uint32_t node, unsigned came)
{
	const struct fors_seen_node *seen = &reader->survey->node[node];

	for (unsigned p = came ? came : 1; p <= (came ? came : seen->nports); p++)
		if (seen->port[p].is_up &&
		    fors_portinfo_tells_less(&seen->port[p].info, &fors_seen_able(seen, &seen->port[p])->info))
			ask(reader, node, FORS_ATTR_PORT_INFO, p | FORS_PORTINFO_ALL_SPEEDS, take_speeds, TAG(node, p));
}

static void take_port(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;
	struct fors_seen_port *port = &reader->survey->node[NODE_OF(tag)].port[PORT_OF(tag)];

	if (end != FORS_MAD_ANSWERED) {
		fors_reader_unanswered(reader, NODE_OF(tag), "PortInfo", end);
		return;
	}
	fors_survey_take_port(mad->data, port);
	ask_for_speeds(reader, NODE_OF(tag), PORT_OF(tag));
	if (PORT_OF(tag) && port->is_up && port->peer == FORS_NONE && reader->is_discovering)
		ask_neighbour(reader, NODE_OF(tag), PORT_OF(tag));
}

void fors_reader_ask_port(struct fors_survey_reader *reader, uint32_t node, uint8_t port)
{
	ask(reader, node, FORS_ATTR_PORT_INFO, port, take_port, TAG(node, port));
}

/* What is asked of a node that was not known, reached through its port. */
static void ask_node(struct fors_survey_reader *reader, uint32_t node, uint8_t port)
{
	struct fors_seen_node *seen = &reader->survey->node[node];
	uint32_t old = reader->before ? fors_survey_find(reader->before, seen->guid) : FORS_NONE;

	if (old != FORS_NONE)
		memcpy(seen->desc, reader->before->node[old].desc, sizeof(seen->desc));
	else
		ask(reader, node, FORS_ATTR_NODE_DESC, 0, take_desc, TAG(node, 0));
	if (fors_reader_take(reader, node))
		return;
	if (seen->type != FORS_SWITCH)
		fors_reader_ask_port(reader, node, port);
	for (unsigned p = 0; seen->type == FORS_SWITCH && p <= seen->nports; p++)
		fors_reader_ask_port(reader, node, (uint8_t)p);
}

/* ---- neighbours ---- */

static void contradict(struct fors_survey_reader *reader, uint32_t node, const char *what)
{
	char text[FORS_SEEN_NAME];

	fors_reader_fail(reader, fors_fail(reader->error, FORS_EIO,
					   "%s %s: the fabric changes while it is read, or two nodes have one GUID",
					   name_of(&reader->survey->node[node], text), what));
}

/* The node of a NodeInfo, new or known, in *index; false: it contradicts what is known. */
static bool meet(struct fors_survey_reader *reader, const uint8_t *info, const struct fors_directed_route *way,
		 uint32_t *index)
{
	struct fors_survey *survey = reader->survey;
	const struct fors_seen_node like = {.guid = fors_get64(info + 12),
					    .nports = info[3],
					    .device = fors_get16(info + 30),
					    .type = info[2] == 2   ? FORS_SWITCH
						    : info[2] == 3 ? FORS_ROUTER
								   : FORS_CA};
	uint8_t local = info[36];
	enum fors_err err;

	*index = survey->nnodes ? fors_survey_find(survey, like.guid) : FORS_NONE;
	reader->is_new = *index == FORS_NONE;
	if (reader->is_new) {
		err = fors_reader_add(reader, &like, index);
		if (err) {
			fors_reader_fail(reader, err);
			return false;
		}
		survey->node[*index].way = *way;
	}
	if (survey->node[*index].nports != info[3] || local > info[3] || (!local && *index)) {
		contradict(reader, *index, "says other things of its ports than before");
		return false;
	}
	if (survey->node[*index].type != FORS_SWITCH)
		survey->node[*index].port[local].guid = fors_get64(info + 20);
	return true;
}

bool fors_reader_join(struct fors_survey_reader *reader, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b)
{
	struct fors_seen_port *end_a = &reader->survey->node[a].port[port_a];
	struct fors_seen_port *end_b = &reader->survey->node[b].port[port_b];
	bool is_known =
		end_a->peer == b && end_a->peer_port == port_b && end_b->peer == a && end_b->peer_port == port_a;

	if (is_known || (a == b && port_a == port_b))
		return true;
	if (end_a->peer != FORS_NONE || end_b->peer != FORS_NONE) {
		contradict(reader, end_a->peer != FORS_NONE ? a : b, "has two cables in one port");
		return false;
	}
	end_a->peer = b;
	end_a->peer_port = port_b;
	end_b->peer = a;
	end_b->peer_port = port_a;
	return true;
}

/* A neighbour that does not answer: behind a port with traffic that is a failure. */
static void miss_neighbour(struct fors_survey_reader *reader, uint64_t tag, enum fors_mad_end end)
{
	const struct fors_seen_port *port = &reader->survey->node[NODE_OF(tag)].port[PORT_OF(tag)];
	char what[64];

	if (port->state != FORS_PORT_ACTIVE) {
		reader->survey->silent++;
		return;
	}
	snprintf(what, sizeof(what), "neighbour at port %u", PORT_OF(tag));
	fors_reader_unanswered(reader, NODE_OF(tag), what, end);
}

static void take_neighbour(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;
	struct fors_directed_route way = reader->survey->node[NODE_OF(tag)].way;
	uint32_t node;

	if (end != FORS_MAD_ANSWERED) {
		miss_neighbour(reader, tag, end);
		return;
	}
	way.port[way.hops++] = PORT_OF(tag);
	if (!meet(reader, mad->data, &way, &node) ||
	    !fors_reader_join(reader, NODE_OF(tag), PORT_OF(tag), node, mad->data[36]))
		return;
	if (reader->is_new)
		ask_node(reader, node, mad->data[36]);
	else if (reader->survey->node[node].type != FORS_SWITCH &&
		 !reader->survey->node[node].port[mad->data[36]].is_known)
		fors_reader_ask_port(reader, node, mad->data[36]);
	fors_reader_expand(reader);
}

/* ---- the beginning ---- */

static void take_own(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct fors_survey_reader *reader = context;
	const struct fors_directed_route here = {.hops = 0};
	uint32_t node;

	(void)tag;
	if (end != FORS_MAD_ANSWERED)
		fors_reader_fail(reader,
				 fors_fail(reader->error, FORS_EIO,
					   "our own port does not answer: is its driver loaded, its firmware alive?"));
	else if (meet(reader, mad->data, &here, &node))
		ask_node(reader, node, mad->data[36]);
}

enum fors_err fors_reader_run(struct fors_survey_reader *reader)
{
	enum fors_err err = reader->err ? reader->err : fors_mads_run(reader->mads, reader->error);

	return reader->err ? reader->err : err;
}

enum fors_err fors_survey_make(struct fors_mads *mads, const struct fors_survey *before, bool is_trusted,
			       struct fors_survey **survey, struct fors_error *error)
{
	const struct fors_directed_route here = {.hops = 0};
	struct fors_survey *made = calloc(1, sizeof(*made));
	struct fors_survey_reader reader = {.survey = made,
					    .before = before,
					    .is_trusted = is_trusted && before,
					    .mads = mads,
					    .error = error,
					    .is_discovering = true};
	enum fors_err err;

	if (!made || widen(made) || fors_mads_get(mads, &here, FORS_ATTR_NODE_INFO, 0, take_own, &reader, 0)) {
		fors_survey_free(made);
		return fors_fail_memory(error);
	}
	err = fors_reader_run(&reader);
	if (err) {
		fors_survey_free(made);
		return err;
	}
	fors_reader_finish(&reader);
	*survey = made;
	return FORS_OK;
}

enum fors_err fors_survey_ports(struct fors_survey *survey, uint32_t node, struct fors_mads *mads,
				struct fors_error *error)
{
	struct fors_survey_reader reader = {.survey = survey, .mads = mads, .error = error};

	for (unsigned p = 1; p <= survey->node[node].nports; p++)
		fors_reader_ask_port(&reader, node, (uint8_t)p);
	return fors_reader_run(&reader);
}

void fors_survey_free(struct fors_survey *survey)
{
	if (!survey)
		return;
	for (uint32_t i = 0; i < survey->nnodes; i++) {
		free(survey->node[i].port);
		free(survey->node[i].table);
	}
	free(survey->node);
	free(survey->hash);
	free(survey);
}
