/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump.c - do these tables belong to this net? And what they say about it.
 *
 * Administrators collect the fabric and the tables with two programs at two times, and mix files up. So the two
 * are compared before any conclusion is drawn: switches, LIDs, ports.
 */
#include "dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "routes.h"

/* ---- what does not fit ---- */

static void first_time(struct fors_mismatch *mismatch, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void first_time(struct fors_mismatch *mismatch, const char *format, ...)
{
	va_list args;

	if (mismatch->text[0])
		return;
	va_start(args, format);
	vsnprintf(mismatch->text, sizeof(mismatch->text), format, args);
	va_end(args);
}

static void mark_lids(const struct fors_net *net, bool *is_known, uint32_t nlids)
{
	for (uint32_t i = 0; i < net->nports; i++)
		for (uint32_t k = 0; net->port[i].lid && k < 1u << (net->port[i].lmc & FORS_MAX_LMC); k++)
			if (net->port[i].lid + k < nlids)
				is_known[net->port[i].lid + k] = true;
}

static bool has_cable(const struct fors_net *net, uint32_t node)
{
	for (unsigned p = 1; p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->peer != FORS_NONE)
			return true;
	return false;
}

static void compare_switches(const struct fors_net *net, const struct fors_lfts *lfts, struct fors_mismatch *mismatch)
{
	for (uint32_t row = 0; row < lfts->nswitches; row++) {
		uint32_t node = fors_net_find_guid(net, lfts->guid[row]);

		if (node != FORS_NONE && net->node[node].type == FORS_SWITCH)
			continue;
		mismatch->unknown_switches++;
		first_time(mismatch, "there is a table of switch 0x%016" PRIx64 ", which is not in the fabric",
			   lfts->guid[row]);
	}
	for (uint32_t node = 0; node < net->nnodes; node++) {
		if (net->node[node].type != FORS_SWITCH || !has_cable(net, node) ||
		    fors_lfts_row(lfts, net->node[node].guid) != FORS_NONE)
			continue;
		mismatch->missing_tables++;
		first_time(mismatch, "switch %s has no table", fors_node_name(net, node));
	}
}

/* Entries of one switch; *is_known of absent LIDs becomes true when they have been counted. */
static void compare_entries(const struct fors_net *net, const struct fors_lfts *lfts, uint32_t row, bool *is_known,
			    struct fors_mismatch *mismatch)
{
	uint32_t node = fors_net_find_guid(net, lfts->guid[row]);

	for (uint32_t lid = 0; node != FORS_NONE && lid < lfts->nlids; lid++) {
		uint8_t port = fors_lfts_port(lfts, row, lid);

		if (port == FORS_NO_PATH)
			continue;
		if (port > net->node[node].nports) {
			mismatch->bad_ports++;
			first_time(mismatch, "switch %s sends LID %u to port %u, but has %u %s",
				   fors_node_name(net, node), lid, port, net->node[node].nports,
				   fors_plural(net->node[node].nports, "port", "ports"));
		}
		if (is_known[lid])
			continue;
		is_known[lid] = true;
		mismatch->absent_lids++;
		first_time(mismatch, "switch %s has an entry for LID %u, which no port of the fabric has",
			   fors_node_name(net, node), lid);
	}
}

enum fors_err fors_mismatch_find(const struct fors_net *net, const struct fors_lfts *lfts,
				 struct fors_mismatch *mismatch, struct fors_error *error)
{
	bool *is_known = calloc(lfts->nlids + (size_t)1, sizeof(*is_known));

	if (!is_known)
		return fors_fail_memory(error);
	*mismatch = (struct fors_mismatch){0};
	mark_lids(net, is_known, lfts->nlids);
	compare_switches(net, lfts, mismatch);
	for (uint32_t row = 0; row < lfts->nswitches; row++)
		compare_entries(net, lfts, row, is_known, mismatch);
	free(is_known);
	return FORS_OK;
}
