/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * endpoints.h - the servers of any net: CA ports behind a live cable, and where they hang.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_ENDPOINTS_H
#define FORS_CORE_NET_ENDPOINTS_H

#include "net.h"

/* A CA port that sends and receives. */
struct fors_endpoint {
	uint64_t guid; /* of the port */
	uint32_t node; /* CA in the net */
	uint32_t leaf; /* switch that it hangs on */
	uint16_t lid;  /* base LID, 0: none */
	uint8_t lmc;
	uint8_t port; /* of the CA */
	uint8_t leaf_port;
};

/* The endpoint at port `port` of CA `node`; the port has a live cable. */
struct fors_endpoint fors_endpoint_at(const struct fors_net *net, uint32_t node, unsigned port);

/*
 * The servers of `net` (indexed) in *list (owned by the caller, free()) and *count: all CA ports with a live cable to a
 * switch, by the switch's GUID, then its port; participants (may be NULL) limits them. In a two-level fat-tree with
 * servers under leaves only, that is the order of fors_fabric's servers. Errors: FORS_ENOMEM.
 */
enum fors_err fors_endpoints(const struct fors_net *net, const struct fors_participants *participants,
			     struct fors_endpoint **list, uint32_t *count, struct fors_error *error);

#endif
