/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump.h - net and tables that somebody collected with two programs: do they belong together?
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_DUMP_H
#define FORS_LAB_MODEL_ROUTERS_DUMP_H

#include "core/net/lfts.h"
#include "core/net/net.h"

/* What does not fit between a net and tables, whatever flows there are. */
struct fors_mismatch {
	uint32_t unknown_switches; /* tables of switches that are not in the net */
	uint32_t missing_tables;   /* switches with a live cable and no table */
	uint32_t absent_lids;	   /* LIDs with entries, that no port of the net has */
	uint32_t bad_ports;	   /* entries that name a port which the switch does not have */
	uint32_t missing_lids;	   /* servers without a LID, left out; found by who lists the servers */
	char text[256];		   /* the first of them, in words; empty: none */
};

/* Compare `net` (indexed) and `lfts`. Errors: FORS_ENOMEM. */
enum fors_err fors_mismatch_find(const struct fors_net *net, const struct fors_lfts *lfts,
				 struct fors_mismatch *mismatch, struct fors_error *error);

#endif
