/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey.h - what a reading of the fabric has found: nodes, ports, ways to them, and the switches' tables.
 *
 * The reading goes from neighbour to neighbour, as that of a subnet manager does, with Gets along ways by port
 * numbers (directed routes): they pass whatever the tables hold. Each node is asked once, each cable from one end.
 * Where an earlier survey is trusted only its doubtful nodes are asked again (survey_again.c).
 * A survey is whole or there is none: a question without an answer fails it, but for neighbours that do not answer
 * behind a port that carries no traffic, which are left out.
 *
 * Nodes may lie, or change meanwhile. What contradicts itself fails the survey; what they say bounds nothing: the number of
 * nodes, hops, ports and table entries have limits of their own.
 * Threads: one.
 */
#ifndef FORS_WATCH_SURVEY_H
#define FORS_WATCH_SURVEY_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "core/net/portinfo.h"
#include "mads.h"

#define FORS_SURVEY_NODES 65536u   /* at most; there are 49,151 LIDs */
#define FORS_SURVEY_PORTS 1000000u /* of all nodes together, at most */

#define FORS_SURVEY_BLOCKS (1u << 22) /* of the tables of all switches together, at most; of 64 entries each */

struct fors_seen_port {
	uint64_t guid; /* of CA ports that were reached; else 0 */
	uint32_t peer; /* node; FORS_NONE: nobody there, or nobody who answers */
	uint8_t peer_port;
	bool is_known;		   /* its PortInfo has been read */
	bool is_up;		   /* there is a cable with somebody at its other end */
	uint8_t state;		   /* FORS_PORT_ACTIVE: traffic passes */
	struct fors_portinfo info; /* of CA ports and switch port 0 also what it can */
	uint16_t lid;		   /* base LID; 0: none */
	uint8_t lmc;
};

struct fors_seen_node {
	uint64_t guid;
	enum fors_node_type type;
	uint8_t nports;
	uint16_t device; /* as in struct fors_node */
	char desc[FORS_NAME_MAX + 1];
	struct fors_directed_route way; /* from the asking port */
	struct fors_seen_port *port;	/* [nports + 1] */
	uint32_t top;			/* of a switch: its largest LID that may have an entry */
	bool has_changed;		/* its port states changed, and the subnet manager has not seen that yet */
	bool is_doubtful;		/* its ports may be others by now; for the caller to set */
	bool is_taken;			/* its ports were not asked for: they are as the survey before had them */
	uint8_t *table;			/* [table_room] ports by LID, FORS_NO_PATH beyond top; NULL: not read */
	uint32_t table_room;
};

struct fors_survey {
	struct fors_seen_node *node;   /* nnodes; [0] is the asking one */
	uint32_t nnodes, room, nports; /* nports: of all of them */
	uint32_t *hash;		       /* [hash_room] node by GUID, FORS_NONE: none */
	uint32_t hash_room;
	uint32_t nswitches;
	uint32_t silent; /* neighbours that do not answer, behind ports without traffic */
};

/* Ask for all nodes and ports. *before (NULL: none) lends descriptions; if it is trusted, ports and cables too, but those of
 * doubtful nodes and their neighbours. Errors: FORS_EIO (what did not answer or contradicts itself, and what to
 * do), FORS_ELIMIT, FORS_ECANCELLED, FORS_ENOMEM.
 */
enum fors_err fors_survey_make(struct fors_mads *mads, const struct fors_survey *before, bool is_trusted,
			       struct fors_survey **survey, struct fors_error *error);
void fors_survey_free(struct fors_survey *survey);

/* Read the tables of all switches, anew if they were read. Errors: the same; the tables are then not to be used. */
enum fors_err fors_survey_tables(struct fors_survey *survey, struct fors_mads *mads, struct fors_error *error);

/* Ask one switch for its ports once more. Errors: the same. */
enum fors_err fors_survey_ports(struct fors_survey *survey, uint32_t node, struct fors_mads *mads,
				struct fors_error *error);

/*
 * Ask for the ports of cables, each from one end and that of a server at the server, as far as wants() says so of either end
 * (a node of `survey` and its port). Errors: FORS_EIO (one is not what was read: not active, another LID), the same.
 */
typedef bool (*fors_survey_wants)(void *context, uint64_t guid, unsigned port);
enum fors_err fors_survey_check(struct fors_survey *survey, fors_survey_wants wants, void *context,
				struct fors_mads *mads, struct fors_error *error);

/* The switch of this LID is doubtful. false: there is none. */
bool fors_survey_mark(struct fors_survey *survey, uint16_t lid);

/* Nodes whose ports changed though they were not asked for them: they are doubtful now. How many? */
uint32_t fors_survey_doubt(struct fors_survey *survey);

/* Node with this GUID, or FORS_NONE. */
uint32_t fors_survey_find(const struct fors_survey *survey, uint64_t guid);

/*
 * The net, indexed, nodes by type and GUID whoever asked; in *net, owned by the caller. only_active: without
 * cables over which no traffic passes. Errors: FORS_ELIMIT, FORS_EINPUT (contradictions), FORS_ENOMEM.
 */
enum fors_err fors_survey_net(const struct fors_survey *survey, bool only_active, struct fors_net **net,
			      struct fors_error *error);
/* The tables, which have been read; in *lfts, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_survey_lfts(const struct fors_survey *survey, struct fors_lfts **lfts, struct fors_error *error);

#endif
