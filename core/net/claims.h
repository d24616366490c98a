/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * claims.h - from what the lines of a net file claim to cables; netfile.c's other half.
 * Thread rules: claims and their net belong to one thread.
 */
#ifndef FORS_CORE_NET_CLAIMS_H
#define FORS_CORE_NET_CLAIMS_H

#include "net.h"
#include "core/base/text.h"

/* What one port line says: port `port` of `node` goes to port `peer_port` of the node called `peer`. */
struct fors_port_claim {
	struct fors_span peer;
	uint64_t peer_guid; /* of the peer's port, 0: unknown */
	uint32_t node;
	uint32_t line;
	uint16_t peer_lid; /* 0: unknown */
	uint8_t port, peer_port;
	uint8_t width, speed; /* of the cable, as in struct fors_port; 0: unknown */
};

/* All lines, and where each node of the net comes from. Start with all zero. */
struct fors_claims {
	struct fors_port_claim *claim;
	size_t count, room;
	struct fors_claimant {
		struct fors_span id;
		uint32_t line;
	} * node; /* one for each node of the net */
	uint32_t nnodes, node_room;
};

/* Append a claim, or the next node. Errors: FORS_ENOMEM. */
enum fors_err fors_claims_add(struct fors_claims *claims, const struct fors_port_claim *claim,
			      struct fors_error *error);
enum fors_err fors_claims_add_node(struct fors_claims *claims, struct fors_span id, uint32_t line,
				   struct fors_error *error);
void fors_claims_clear(struct fors_claims *claims);

/*
 * Cable `net`, which has all nodes and no cable yet, as the claims say, mark degraded
 * cables, and index it. Errors: FORS_EINPUT with the line (a node id, GUID, port or LID
 * twice, an end that does not exist, ends that disagree), FORS_ENOMEM; the net is
 * unusable then.
 */
enum fors_err fors_claims_resolve(const struct fors_claims *claims, const struct fors_lines *lines,
				  struct fors_net *net, struct fors_error *error);

#endif
