/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "routed_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/print.h"

static void describe(const struct fors_flows_routed *routed, struct fors_schedule_server *server)
{
	for (uint32_t i = 0; i < routed->nservers; i++) {
		const struct fors_flows_server *from = &routed->server[i];

		server[i].guid = from->guid;
		server[i].lid = from->lid;
		server[i].lmc = from->lmc;
		server[i].leaf = (uint16_t)from->home;
		server[i].rank = (uint16_t)(i - routed->problem.first[from->home]);
		memcpy(server[i].desc, routed->net->node[from->node].desc, sizeof(server[i].desc));
	}
}

enum fors_err fors_flows_schedule(const struct fors_flows_routed *routed, uint32_t nphases, uint32_t length,
				  const char *method, struct fors_schedule **schedule, struct fors_error *error)
{
	struct fors_schedule_server *server = calloc(routed->nservers + (size_t)1, sizeof(*server));
	enum fors_err err;

	if (!server)
		return fors_fail_memory(error);
	describe(routed, server);
	err = fors_schedule_new_of(server, routed->nservers, routed->nswitches, nphases, length > 0, length, method,
				   schedule, error);
	free(server);
	return err;
}

uint64_t fors_flows_fingerprint(const struct fors_flows_routed *routed)
{
	struct fors_print print = fors_print_none();
	const struct fors_flows_problem *p = &routed->problem;

	for (uint32_t s = 0; s < routed->nswitches; s++)
		fors_print_add(&print, routed->net->node[routed->node[s]].guid);
	for (uint32_t i = 0; i < routed->nservers; i++) {
		const struct fors_flows_server *server = &routed->server[i];

		fors_print_add(&print, server->guid);
		fors_print_add(&print, server->lid | (uint64_t)server->lmc << 16 | (uint64_t)server->home_port << 24 |
					       (uint64_t)server->home << 32);
	}
	for (uint32_t i = 0; i < p->nlinks; i++) {
		uint32_t port = routed->link_port[i], peer = routed->net->port[port].peer;

		fors_print_add(&print, routed->net->node[peer].guid);
		fors_print_add(&print, routed->net->port[port].peer_port);
	}
	for (uint32_t way = 0; way < fors_flows_units(p) * p->npaths; way++) {
		fors_print_add(&print, p->begin[way + 1] | (uint64_t)p->exists[way] << 32);
		for (uint32_t i = p->begin[way]; i < p->begin[way + 1]; i++)
			fors_print_add(&print, p->link[i]);
	}
	return fors_print_value(print);
}
