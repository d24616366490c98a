/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * routed.h - any net and any deterministic tables as a problem of single flows.
 *
 * Nothing here knows of trees: servers are ports of channel adapters, a unit's way is what the tables of the switches
 * make of the receiver's LID, hop by hop over the cables of the net. Whether the tables are fit for that is found out on the
 * way; what is wrong is said with switch, LID and pair.
 *
 * Thread rules: plain data once it is made.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_ROUTED_H
#define FORS_CORE_PLANNERS_FLOWS_ROUTED_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "problem.h"

/* A port that sends and receives. */
struct fors_flows_server {
	uint64_t guid;	   /* of the port */
	uint32_t node;	   /* the adapter in the net */
	uint32_t home;	   /* its switch, a number below nswitches */
	uint16_t lid;	   /* base LID */
	uint8_t lmc, port; /* port: of the adapter */
	uint8_t home_port; /* of the switch */
	uint64_t class;	   /* for the order: the ports that lead to it from far away */
};

struct fors_flows_routed {
	const struct fors_net *net; /* borrowed */
	uint32_t nswitches;	    /* those that servers hang on */
	uint32_t nservers;
	uint32_t flow;			  /* rate of a flow, that of the fastest server's port, in Mb/s; 0: not known */
	uint32_t *node;			  /* per switch: its node in the net */
	struct fors_flows_server *server; /* ordered by switch, then by class: the problem's destinations */
	uint32_t nnameless;		  /* cabled ports of adapters that have no LID, left out */
	uint32_t *link_port;		  /* per link of the problem: the sending port, an index of net->port */
	uint32_t nindices;		  /* above all path indices of ways */
	uint8_t *path_of; /* per way: its path index, where some were chosen; NULL: the way's own number */
	struct fors_flows_problem problem;
};

/* What is to be read; all borrowed. */
struct fors_flows_tables {
	const struct fors_net *net; /* indexed */
	const struct fors_lfts *lfts;
	const struct fors_participants *participants; /* NULL: every CA port that has a LID and a cable to a switch */
	uint32_t most_paths;			      /* path indices that are looked at, at least 1 */
	uint32_t first_path;			      /* from this one on */
	const bool *is_barred;			      /* per port of the net: no way may leave by it; NULL: all may */
	bool (*cancelled)(void *context);	      /* NULL: never */
	void *context;
};

/*
 * Walk every (switch with servers, server, path index) through the tables, in *routed, owned by the caller
 * (fors_flows_routed_free()). Switches are numbered breadth first from the one with the smallest GUID that has
 * servers, its neighbours in the order of its ports, so that what is near has numbers near: the order of nodes in the net
 * is of no account. Every base LID has its way; of other path indices those that arrive.
 *
 * Errors, each with its reason in words: FORS_ENOPATH (a pair that the tables do not connect: a hole, a dead cable, a
 * switch without table, an end at somebody else; the pair, the switch and the LID), FORS_ENOTAPPL (no tables that a plan
 * can be made over: loops, adaptive groups, tables of another fabric, LIDs that no port has, a LID of two ports, a
 * participant without LID, no server, a way of more than FORS_FLOWS_MOST_LINKS cables), FORS_ELIMIT, FORS_ECANCELLED,
 * FORS_ENOMEM.
 */
enum fors_err fors_flows_routed_read(const struct fors_flows_tables *tables, struct fors_flows_routed **routed,
				     struct fors_error *error);
void fors_flows_routed_free(struct fors_flows_routed *routed);

/* The path index of a way. */
static inline uint32_t fors_flows_path(const struct fors_flows_routed *routed, uint32_t way)
{
	return routed->path_of ? routed->path_of[way] : way % routed->problem.npaths;
}

/*
 * Do tables and net belong together? FORS_OK, or FORS_ENOTAPPL: a table of a switch that is not in the net, an entry for
 * a LID that no port has, a LID of two ports. Errors: FORS_ENOMEM too. (routed_check.c)
 */
enum fors_err fors_flows_tables_check(const struct fors_flows_tables *tables, struct fors_error *error);
/* The node of the switch that a link of the problem leaves, and the port. */
void fors_flows_link_end(const struct fors_flows_routed *routed, uint32_t link, uint32_t *node, uint32_t *port);
/* "Leaf00[21] -> Spine00[1]": a link of the problem in text. */
void fors_flows_link_name(const struct fors_flows_routed *routed, uint32_t link, char *text, size_t room);

/*
 * Bytes that it takes to read all ways between servers off any tables, with as many path indices as servers have, at
 * most most_paths, and to write them as a schedule names them; *nservers of them.
 */
uint64_t fors_ways_bytes(const struct fors_net *net, uint32_t most_paths, uint32_t *nservers);
/* FORS_ELIMIT where that is more than a limit: the text says both. */
enum fors_err fors_ways_fit(const struct fors_net *net, uint32_t most_paths, uint64_t limit, struct fors_error *error);

#endif
