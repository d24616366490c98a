/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explain_lids.c - the tables that a manager might write if each server had two LIDs: an estimate from those that it has written.
 *
 * The first LID goes as the one LID of today. The second one takes, in each switch that has several shortest ways, the way half
 * round from it: managers send the LIDs of a port over different switches where they can, and what is level today stays
 * level when all ways are turned alike. Only shortest ways are taken, so nothing turns in circles.
 */
#include "explain.h"

#include <stdlib.h>
#include <string.h>

struct turning {
	const struct fors_net *net; /* as it is */
	const struct fors_lfts *lfts;
	const struct fors_net *wide; /* the same with two LIDs for each server */
	struct fors_lfts *made;
	uint32_t *distance, *queue; /* [nnodes] */
};

/* Hops of each switch to this one; FORS_NONE: there is no way. */
static void find_distances(struct turning *turning, uint32_t to)
{
	const struct fors_net *net = turning->net;
	uint32_t head = 0, count = 1;

	memset(turning->distance, 0xFF, net->nnodes * sizeof(*turning->distance));
	turning->distance[to] = 0;
	turning->queue[0] = to;
	while (head < count) {
		uint32_t node = turning->queue[head++];

		for (unsigned p = 1; p <= net->node[node].nports; p++) {
			uint32_t peer = fors_peer_switch(net, node, p);

			if (peer == FORS_NONE || turning->distance[peer] != FORS_NONE)
				continue;
			turning->distance[peer] = turning->distance[node] + 1;
			turning->queue[count++] = peer;
		}
	}
}

/* The port half round among the shortest ways from a switch; the same where it is none of them. */
static uint8_t turn(const struct turning *turning, uint32_t sw, uint8_t port)
{
	const struct fors_net *net = turning->net;
	uint8_t way[UINT8_MAX];
	unsigned count = 0, at = UINT8_MAX;

	for (unsigned p = 1; p <= net->node[sw].nports; p++) {
		uint32_t peer = fors_peer_switch(net, sw, p);

		if (peer == FORS_NONE || turning->distance[peer] + 1 != turning->distance[sw])
			continue;
		at = p == port ? count : at;
		way[count++] = (uint8_t)p;
	}
	return at == UINT8_MAX ? port : way[(at + count / 2) % count];
}

/* Both LIDs of a server, in all switches. */
static void fill_server(struct turning *turning, uint32_t node)
{
	const struct fors_port *port = fors_net_port(turning->net, node, 1);
	uint16_t lid = fors_net_port(turning->wide, node, 1)->lid;

	if (!port->lid || port->peer == FORS_NONE || !lid)
		return;
	find_distances(turning, port->peer);
	for (uint32_t row = 0; row < turning->made->nswitches; row++) {
		uint32_t sw = fors_net_find_guid(turning->net, turning->made->guid[row]);
		uint8_t today = fors_lfts_port(turning->lfts, row, port->lid);
		uint8_t *entry = turning->made->port + (size_t)row * turning->made->nlids + lid;

		entry[0] = today;
		entry[1] = sw == FORS_NONE || turning->distance[sw] == FORS_NONE ? today : turn(turning, sw, today);
	}
}

enum fors_err cli_turned_tables(const struct fors_net *net, const struct fors_lfts *lfts, const struct fors_net *wide,
				struct fors_lfts **turned, struct fors_error *error)
{
	struct turning turning = {.net = net,
				  .lfts = lfts,
				  .wide = wide,
				  .made = fors_lfts_new(lfts->nswitches, fors_net_lid_end(wide) + 1),
				  .distance = calloc(net->nnodes + (size_t)1, sizeof(uint32_t)),
				  .queue = calloc(net->nnodes + (size_t)1, sizeof(uint32_t))};
	bool is_good = turning.made && turning.distance && turning.queue;

	if (is_good) {
		memcpy(turning.made->guid, lfts->guid, lfts->nswitches * sizeof(*lfts->guid));
		for (uint32_t node = 0; node < net->nnodes; node++)
			if (net->node[node].type == FORS_CA && net->node[node].nports)
				fill_server(&turning, node);
		*turned = turning.made;
	} else {
		fors_lfts_free(turning.made);
	}
	free(turning.distance);
	free(turning.queue);
	return is_good ? FORS_OK : fors_fail_memory(error);
}
