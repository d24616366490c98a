/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey_again.c - what changed is read again, the rest is taken over from the survey before.
 *
 * The reading is the same walk from neighbour to neighbour (survey.c), so ways are those of today. But a switch that is not in
 * doubt is not asked for its ports, and neighbours that are both not in doubt are joined as they were. A switch is in
 * doubt if somebody says so (a Report, a poll), if it says itself that ports have changed, or while a port of it is up and carries
 * no traffic: the manager makes it active without a word. An adapter is in doubt with the switches that it hangs on. A switch
 * that has died is never met, and neither are those behind it. What does not fit contradicts itself, and the reading
 * fails.
 */
#include "survey_inside.h"

#include <string.h>

#include "wire.h"

/* ---- doubts ---- */

static bool has_pending_port(const struct fors_seen_node *seen)
{
	for (unsigned p = 1; p <= seen->nports; p++)
		if (seen->port[p].is_up && seen->port[p].state != FORS_PORT_ACTIVE)
			return true;
	return false;
}

static bool is_sure_switch(const struct fors_survey *survey, uint32_t node)
{
	const struct fors_seen_node *seen = &survey->node[node];

	return seen->type == FORS_SWITCH && !seen->is_doubtful && !seen->has_changed && !has_pending_port(seen);
}

/* The asking node is always asked: the reading begins there. */
static bool is_sure(const struct fors_survey *survey, uint32_t node)
{
	const struct fors_seen_node *seen = &survey->node[node];
	bool has_cable = false;

	if (seen->type == FORS_SWITCH)
		return node && is_sure_switch(survey, node);
	for (unsigned p = 1; p <= seen->nports; p++) {
		if (seen->port[p].peer == FORS_NONE)
			continue;
		if (!is_sure_switch(survey, seen->port[p].peer))
			return false;
		has_cable = true;
	}
	return node && has_cable && !seen->is_doubtful && !has_pending_port(seen);
}

bool fors_survey_mark(struct fors_survey *survey, uint16_t lid)
{
	bool is_found = false;

	for (uint32_t i = 0; i < survey->nnodes; i++)
		if (survey->node[i].type == FORS_SWITCH && survey->node[i].port[0].lid == lid)
			survey->node[i].is_doubtful = is_found = true;
	return is_found;
}

uint32_t fors_survey_doubt(struct fors_survey *survey)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < survey->nnodes; i++)
		if (survey->node[i].is_taken && survey->node[i].has_changed) {
			survey->node[i].is_doubtful = true;
			count++;
		}
	return count;
}

/* ---- taking over ---- */

static void copy(const struct fors_seen_node *from, struct fors_seen_node *to)
{
	memcpy(to->desc, from->desc, sizeof(to->desc));
	for (unsigned p = 0; p <= to->nports; p++) {
		struct fors_seen_port *port = &to->port[p];
		uint32_t peer = port->peer;
		uint8_t peer_port = port->peer_port;

		*port = from->port[p];
		port->peer = peer;
		port->peer_port = peer_port;
	}
	to->is_taken = true;
}

bool fors_reader_take(struct fors_survey_reader *reader, uint32_t node)
{
	struct fors_seen_node *seen = &reader->survey->node[node];
	uint32_t old = reader->is_trusted ? fors_survey_find(reader->before, seen->guid) : FORS_NONE;

	if (old == FORS_NONE || !is_sure(reader->before, old) || reader->before->node[old].nports != seen->nports ||
	    reader->before->node[old].type != seen->type)
		return false;
	copy(&reader->before->node[old], seen);
	return true;
}

/* The neighbour of before, at the end of this cable, in the new survey. */
static bool find_or_add(struct fors_survey_reader *reader, const struct fors_seen_node *old, uint32_t from,
			uint8_t port, uint32_t *index)
{
	struct fors_directed_route way = reader->survey->node[from].way;
	enum fors_err err;

	*index = fors_survey_find(reader->survey, old->guid);
	if (*index != FORS_NONE)
		return true;
	if (way.hops == FORS_WAY_HOPS) {
		fors_reader_fail(reader, fors_fail(reader->error, FORS_ELIMIT, "a node is more than %d hops away",
						   FORS_WAY_HOPS));
		return false;
	}
	err = fors_reader_add(reader, old, index);
	if (err) {
		fors_reader_fail(reader, err);
		return false;
	}
	way.port[way.hops++] = port;
	reader->survey->node[*index].way = way;
	copy(old, &reader->survey->node[*index]);
	return true;
}

/* One cable of a switch that was taken over: joined as it was, or asked for where its other end is in doubt. */
static void follow(struct fors_survey_reader *reader, uint32_t node, uint8_t port, const struct fors_seen_port *old)
{
	uint32_t peer;

	if (!is_sure(reader->before, old->peer))
		fors_reader_ask_port(reader, node, port);
	else if (find_or_add(reader, &reader->before->node[old->peer], node, port, &peer))
		fors_reader_join(reader, node, port, peer, old->peer_port);
}

static void expand(struct fors_survey_reader *reader, uint32_t node)
{
	uint32_t old = fors_survey_find(reader->before, reader->survey->node[node].guid);
	unsigned nports = reader->survey->node[node].nports;

	for (unsigned p = 1; p <= nports && !reader->err; p++) {
		const struct fors_seen_port *was = &reader->before->node[old].port[p];

		if (was->peer != FORS_NONE && reader->survey->node[node].port[p].peer == FORS_NONE)
			follow(reader, node, (uint8_t)p, was);
	}
}

/* In the order in which they were met, so that ways stay short. */
void fors_reader_expand(struct fors_survey_reader *reader)
{
	struct fors_survey *survey = reader->survey;

	for (; reader->expanded < survey->nnodes && !reader->err; reader->expanded++)
		if (survey->node[reader->expanded].is_taken && survey->node[reader->expanded].type == FORS_SWITCH)
			expand(reader, reader->expanded);
}

void fors_reader_finish(struct fors_survey_reader *reader)
{
	struct fors_survey *survey = reader->survey;

	for (uint32_t i = 0; i < survey->nnodes; i++) {
		struct fors_seen_node *seen = &survey->node[i];

		for (unsigned p = 1; seen->is_taken && seen->type != FORS_SWITCH && p <= seen->nports; p++)
			if (seen->port[p].peer == FORS_NONE)
				seen->port[p] = (struct fors_seen_port){.peer = FORS_NONE};
	}
}

/* ---- ports as they are just now ---- */

struct check {
	struct fors_survey *survey;
	struct fors_mads *mads;
	struct fors_error *error;
	enum fors_err err;
};

static void fail(struct check *check, const struct fors_seen_node *seen, unsigned port, const char *what)
{
	check->err = fors_fail(check->error, FORS_EIO, "port %u of %s %s", port, seen->desc, what);
	fors_mads_forget(check->mads);
}

static void take(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct check *check = context;
	struct fors_seen_node *seen = &check->survey->node[tag >> 8];
	const struct fors_seen_port *was = &seen->port[tag & 0xFF];
	struct fors_seen_port now = *was;

	if (end == FORS_MAD_ANSWERED)
		fors_survey_take_port(mad->data, &now);
	if (end == FORS_MAD_ANSWERED && now.state == FORS_PORT_ACTIVE &&
	    (seen->type == FORS_SWITCH || (now.lid == was->lid && now.lmc == was->lmc)))
		return;
	seen->is_doubtful = true;
	fail(check, seen, (unsigned)(tag & 0xFF),
	     end != FORS_MAD_ANSWERED	     ? "does not answer"
	     : now.state != FORS_PORT_ACTIVE ? "is down"
					     : "has another LID");
}

/* Is this the end of the cable that is asked? That of an adapter, else of the node met first. */
static bool is_asked_end(const struct fors_survey *survey, uint32_t node, const struct fors_seen_port *port)
{
	bool is_switch = survey->node[node].type == FORS_SWITCH,
	     is_peer_switch = survey->node[port->peer].type == FORS_SWITCH;

	return is_switch == is_peer_switch ? node < port->peer : !is_switch;
}

enum fors_err fors_survey_check(struct fors_survey *survey, fors_survey_wants wants, void *context,
				struct fors_mads *mads, struct fors_error *error)
{
	struct check check = {.survey = survey, .mads = mads, .error = error};
	enum fors_err err;

	for (uint32_t node = 0; node < survey->nnodes; node++) {
		const struct fors_seen_node *seen = &survey->node[node];

		for (unsigned p = 1; p <= seen->nports && !check.err; p++) {
			const struct fors_seen_port *port = &seen->port[p];

			if (port->peer == FORS_NONE || !is_asked_end(survey, node, port) ||
			    (!wants(context, seen->guid, p) &&
			     !wants(context, survey->node[port->peer].guid, port->peer_port)))
				continue;
			if (fors_mads_get(mads, &seen->way, FORS_ATTR_PORT_INFO, p, take, &check,
					  (uint64_t)node << 8 | p))
				check.err = fors_fail_memory(error);
		}
	}
	err = check.err ? check.err : fors_mads_run(mads, error);
	return check.err ? check.err : err;
}
