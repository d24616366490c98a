/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* switches.c - the living switches of a net with their tables, numbered: see switches.h. */
#include "switches.h"

#include <stdlib.h>
#include <string.h>

void fors_switches_free(struct fors_switches *switches)
{
	if (!switches)
		return;
	free(switches->all);
	free(switches->neighbour);
	free(switches->blank);
	free(switches);
}

static struct fors_switches *new_switches(const struct fors_net *net, uint32_t nlids)
{
	struct fors_switches *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->net = net;
	s->nlids = nlids;
	for (uint32_t node = 0; node < net->nnodes; node++)
		s->count += net->node[node].type == FORS_SWITCH;
	s->all = calloc((size_t)s->count + 1, sizeof(*s->all));
	s->neighbour = calloc((size_t)net->nports + 1, sizeof(*s->neighbour));
	s->blank = malloc((size_t)nlids + 1);
	if (s->all && s->neighbour && s->blank) {
		memset(s->blank, FORS_NO_PATH, nlids);
		return s;
	}
	fors_switches_free(s);
	return NULL;
}

static void take_switches(struct fors_switches *s, const struct fors_lfts *lfts, uint32_t *number)
{
	uint32_t n = 0;

	for (uint32_t node = 0; node < s->net->nnodes; node++) {
		uint32_t row;

		number[node] = FORS_NONE;
		if (s->net->node[node].type != FORS_SWITCH)
			continue;
		row = fors_lfts_row(lfts, s->net->node[node].guid);
		number[node] = n;
		s->all[n].node = node;
		s->all[n].island = FORS_NONE;
		s->all[n++].row = row == FORS_NONE ? s->blank : lfts->port + (size_t)row * lfts->nlids;
	}
}

/* Number of the neighbour among those of switch `at`, which gets it if it is new. */
static uint8_t number_of(struct fors_switches *s, uint32_t at, uint32_t neighbour)
{
	struct fors_switch *here = &s->all[at];
	uint8_t number = 0;

	while (number < here->nneighbours && s->neighbour[here->first + number].at != neighbour)
		number++;
	if (number == here->nneighbours) {
		s->neighbour[here->first + number].at = neighbour;
		here->nneighbours++;
	}
	return number;
}

static void take_ports(struct fors_switches *s, uint32_t at, const uint32_t *number)
{
	struct fors_switch *here = &s->all[at];
	const struct fors_net *net = s->net;

	here->first = s->nneighbours;
	memset(here->toward, FORS_NO_NEIGHBOUR, sizeof(here->toward));
	for (unsigned p = 1; p <= net->node[here->node].nports; p++) {
		uint32_t peer = fors_net_port(net, here->node, p)->peer;

		if (peer == FORS_NONE || peer == here->node)
			continue;
		if (number[peer] == FORS_NONE)
			here->has_ends |= fors_sends(net, peer) && net->node[peer].type != FORS_OTHER;
		else
			here->toward[p] = number_of(s, at, number[peer]);
	}
	s->nneighbours += here->nneighbours;
}

static void take_backs(struct fors_switches *s)
{
	for (uint32_t at = 0; at < s->count; at++)
		for (uint8_t i = 0; i < s->all[at].nneighbours; i++) {
			struct fors_neighbour *neighbour = &s->neighbour[s->all[at].first + i];

			neighbour->back = number_of(s, neighbour->at, at);
		}
}

static void take_leaves(struct fors_switches *s, const struct fors_fabric *fabric, const uint32_t *number)
{
	for (uint32_t a = 0; a < fabric->nleaves; a++)
		if (fabric->leaf[a].node != FORS_NONE)
			s->all[number[fabric->leaf[a].node]].is_leaf = true;
}

static void take_levels(struct fors_switches *s, const uint8_t *level)
{
	for (uint32_t at = 0; at < s->count; at++) {
		s->all[at].level = level[s->all[at].node];
		s->all[at].is_leaf = s->all[at].level == 1;
	}
}

static void find_asked(struct fors_switches *s)
{
	for (uint32_t at = 0; at < s->count; at++) {
		struct fors_switch *here = &s->all[at];

		here->is_empty = here->is_leaf && !here->has_ends && !fors_net_port(s->net, here->node, 0)->is_sm;
		here->is_asked = here->is_leaf || here->has_ends || fors_net_port(s->net, here->node, 0)->is_sm;
	}
}

/* Which switches cables join, by breadth-first search; `queue` has room for all. */
static void find_islands(struct fors_switches *s, uint32_t *queue)
{
	for (uint32_t start = 0; start < s->count; start++) {
		uint32_t size = 1;

		if (s->all[start].island != FORS_NONE)
			continue;
		queue[0] = start;
		s->all[start].island = start;
		for (uint32_t i = 0; i < size; i++)
			for (uint8_t n = 0; n < s->all[queue[i]].nneighbours; n++) {
				uint32_t next = s->neighbour[s->all[queue[i]].first + n].at;

				if (s->all[next].island != FORS_NONE)
					continue;
				s->all[next].island = start;
				queue[size++] = next;
			}
	}
}

/* fabric, or else level, says who is a leaf. */
static enum fors_err build(const struct fors_net *net, const struct fors_fabric *fabric, const uint8_t *level,
			   const struct fors_lfts *lfts, struct fors_switches **switches, struct fors_error *error)
{
	struct fors_switches *s = new_switches(net, lfts->nlids);
	uint32_t *number = malloc(((size_t)net->nnodes + 1) * sizeof(*number));

	if (!s || !number) {
		fors_switches_free(s);
		free(number);
		return fors_fail_memory(error);
	}
	take_switches(s, lfts, number);
	for (uint32_t at = 0; at < s->count; at++)
		take_ports(s, at, number);
	take_backs(s);
	if (fabric)
		take_leaves(s, fabric, number);
	else
		take_levels(s, level);
	find_asked(s);
	find_islands(s, number);
	free(number);
	*switches = s;
	return FORS_OK;
}

enum fors_err fors_switches_build(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				  struct fors_switches **switches, struct fors_error *error)
{
	return build(fabric->net, fabric, NULL, lfts, switches, error);
}

enum fors_err fors_switches_build_levels(const struct fors_net *net, const uint8_t *level, const struct fors_lfts *lfts,
					 struct fors_switches **switches, struct fors_error *error)
{
	return build(net, NULL, level, lfts, switches, error);
}
