/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * others.c - which channel adapters are no hosts: see others.h.
 *
 * Descriptions are those that vendors give to such parts, and no host calls itself: a host's begins with its name, and
 * a name has no blank and no semicolon.
 */
#define _GNU_SOURCE /* FNM_CASEFOLD */
#include "others.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/base/text.h"

/* What is known of vendors' parts. */
static const struct part {
	uint16_t device;     /* 0: any */
	const char *pattern; /* of its description; NULL: any */
	enum fors_other other;
} parts[] = {
	{0xcf09, NULL, FORS_OTHER_AGGREGATION},
	{0, "*Aggregation Node*", FORS_OTHER_AGGREGATION},
	{0, "MF[0-9];*GW*", FORS_OTHER_GATEWAY}, /* how a managed switch calls itself: MF0;NAME:MODEL/UNIT */
	{0, "MF[0-9];*", FORS_OTHER_MANAGEMENT},
	{0, "Quantum* Mellanox Technologies*", FORS_OTHER_MANAGEMENT},
	{0, "Switch[IX]* Mellanox Technologies*", FORS_OTHER_MANAGEMENT},
	{0, "* GW switch *Bridge*", FORS_OTHER_GATEWAY},
	{0, "* Gateway", FORS_OTHER_GATEWAY},
	{0, "* Gateway *", FORS_OTHER_GATEWAY},
};

static bool has_guid(const struct fors_net *net, uint32_t node, uint64_t guid)
{
	bool has = net->node[node].guid == guid;

	for (unsigned p = 1; p <= net->node[node].nports; p++)
		has |= fors_net_port(net, node, p)->guid == guid;
	return guid && has;
}

static bool is_named(const struct fors_net *net, uint32_t node, const struct fors_names *named)
{
	for (size_t i = 0; named && i < named->count; i++) {
		const char *name = named->name[i];
		char *end;
		uint64_t guid = strncasecmp(name, "0x", 2) ? 0 : strtoull(name, &end, 16);

		if (guid && !*end
			    ? has_guid(net, node, guid)
			    : !fnmatch(name, net->node[node].desc, FNM_CASEFOLD) || !strcmp(name, net->node[node].id))
			return true;
	}
	return false;
}

static enum fors_other find_other(const struct fors_net *net, uint32_t node, const struct fors_names *named)
{
	const struct fors_node *n = &net->node[node];

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((!parts[i].device || parts[i].device == n->device) &&
		    (!parts[i].pattern || !fnmatch(parts[i].pattern, n->desc, FNM_CASEFOLD)))
			return parts[i].other;
	return is_named(net, node, named) ? FORS_OTHER_NAMED : FORS_NOTHERS;
}

void fors_others_mark(struct fors_net *net, const struct fors_names *named)
{
	for (uint32_t i = 0; i < net->nnodes; i++) {
		struct fors_node *n = &net->node[i];
		enum fors_other other;

		if (n->type != FORS_CA && n->type != FORS_OTHER)
			continue;
		other = find_other(net, i, named);
		n->type = other == FORS_NOTHERS ? FORS_CA : FORS_OTHER;
		n->other = (uint8_t)(other == FORS_NOTHERS ? 0 : other);
	}
}

uint32_t fors_others_text(const struct fors_net *net, char *text)
{
	static const char *const kinds[FORS_NOTHERS] = {"aggregation node", "management port", "gateway",
							"more by not_hosts"};
	uint32_t count[FORS_NOTHERS] = {0}, sum = 0, left;
	size_t used = 0;

	*text = '\0';
	for (uint32_t i = 0; i < net->nnodes; i++)
		if (net->node[i].type == FORS_OTHER)
			count[net->node[i].other]++, sum++;
	left = sum;
	for (int kind = 0; kind < FORS_NOTHERS; left -= count[kind++])
		if (count[kind])
			used += (size_t)snprintf(text + used, FORS_OTHERS_TEXT - used, "%s%u %s%s",
						 !used		       ? ""
						 : left == count[kind] ? " and "
								       : ", ",
						 count[kind], kinds[kind],
						 count[kind] == 1 || kind == FORS_OTHER_NAMED ? "" : "s");
	return sum;
}
