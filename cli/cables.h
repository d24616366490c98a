/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cables.h - the cables between switches, and what is known of each: `fors links`, `fors exclude`.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_CABLES_H
#define FORS_CLI_CABLES_H

#include "cli/cli.h"
#include "core/net/counters.h"
#include "core/net/rates.h"

/* Of both ends, a and b, where there are two numbers. */
struct cli_cable {
	uint32_t node[2];
	uint8_t port[2];
	bool is_dead, is_degraded;
	char rate[FORS_RATE_TEXT]; /* "4xHDR"; empty: not known, or dead */
	uint32_t lids[2];	   /* LIDs of hosts that the tables send out of each end */
	uint32_t flows[2];	   /* flows of the plan that leave by each end */
	uint64_t errors[2];	   /* FORS_COUNTER_UNKNOWN: no word of them */
};

struct cli_cables {
	struct cli_site site;
	struct cli_fabric made;
	struct fors_counters *counters; /* NULL: not asked for */
	struct cli_cable *cable;	/* worst first where there are counters, else by GUID and port */
	size_t count;
	bool has_tables, has_plan;
};

/* All of it, from the options of a command. Returns an exit code; to be freed in any case. */
int cli_cables_load(const struct cli_settings *settings, struct cli_cables *cables);
void cli_cables_free(struct cli_cables *cables);

/* How many LIDs of hosts the tables send out of each port, by ports of the net (indexed), owned by the caller; NULL: out of memory. */
uint32_t *cli_count_lids(const struct fors_net *net, const struct fors_lfts *lfts);

/* Errors at both ends; FORS_COUNTER_UNKNOWN: no word of them. */
uint64_t cli_cable_errors(const struct cli_cable *cable);
/*
 * "Leaf00[21]", with the GUID where another node has the same description or it has a comma; the name as --down and
 * exclude_links take it.
 */
void cli_cable_end(const struct cli_cables *cables, const struct cli_cable *cable, int end, char *text, size_t room);

#endif
