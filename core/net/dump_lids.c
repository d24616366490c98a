/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump_lids.c - whose LID is that?
 *
 * Both kinds of dump name the port GUID behind each LID, so a net file without LIDs (ibsim's, for example) gets them from there;
 * where both have an opinion, it has to be the same one.
 */
#include "dump_lids.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/text.h"

struct owner {
	uint64_t guid;
	uint32_t line;
};

/* "0x0001 001 # Channel Adapter portguid 0x0000000000100001: 'Node00-00'": LID and GUID, or false: another line. */
static bool read_owner(struct fors_span line, uint64_t *lid, uint64_t *guid)
{
	static const char word[] = "portguid 0x";

	if (!fors_take_word(&line, "0x") || !fors_take_number(&line, 16, FORS_LID_MAX, lid))
		return false;
	while (!fors_span_is_empty(line) && !fors_starts_with(line, word))
		line.at++;
	return fors_take_word(&line, word) && fors_take_number(&line, 16, UINT64_MAX, guid) && *guid;
}

static enum fors_err read_owners(struct fors_lines *lines, struct owner *owner, struct fors_error *error)
{
	struct fors_span line;
	uint64_t lid, guid;

	while (fors_lines_next(lines, &line)) {
		if (!read_owner(line, &lid, &guid) || owner[lid].guid == guid)
			continue;
		if (owner[lid].guid)
			return fors_lines_fail(lines, lines->number, error,
					       "LID %u belongs to port 0x%016" PRIx64 " here and to 0x%016" PRIx64
					       " in line %u: these are dumps of different times",
					       (unsigned)lid, guid, owner[lid].guid, owner[lid].line);
		owner[lid] = (struct owner){guid, lines->number};
	}
	return FORS_OK;
}

/* A port by its GUID, and what the dump says of it. */
struct named_port {
	uint64_t guid;
	struct fors_port *port;
	uint32_t node, count; /* count: LIDs that it got; 0: it has those of the net, or none */
};

static int by_guid(const void *a, const void *b)
{
	const struct named_port *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/* All ports that have a GUID, sorted, in *list (room for all ports). */
static size_t list_ports(struct fors_net *net, struct named_port *list)
{
	size_t n = 0;

	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned p = 0; p <= net->node[node].nports; p++) {
			struct fors_port *port = fors_net_port(net, node, p);

			if (port->guid)
				list[n++] = (struct named_port){port->guid, port, node, 0};
		}
	qsort(list, n, sizeof(*list), by_guid);
	return n;
}

/* One LID more, in their order. The net has the say: an engine may have no entry for some LIDs of a port, but none that belong to somebody else. */
static enum fors_err give_lid(const struct fors_net *net, struct named_port *named, uint32_t lid, uint32_t line,
			      const struct fors_lines *lines, struct fors_error *error)
{
	struct fors_port *port = named->port;

	if (port->lid && !named->count && (lid < port->lid || lid >= port->lid + (1u << port->lmc)))
		return fors_lines_decline(lines, line, error,
					  "%s has LID %u here, but %u in the fabric: they are not of one time",
					  fors_node_name(net, named->node), lid, port->lid);
	if (named->count && lid != port->lid + named->count)
		return fors_lines_fail(lines, line, error,
				       "port 0x%016" PRIx64
				       " has LIDs from %u and from %u: these are dumps of different times",
				       named->guid, port->lid, lid);
	if (port->lid && !named->count)
		return FORS_OK;
	if (!port->lid)
		port->lid = (uint16_t)lid;
	named->count++;
	return FORS_OK;
}

/* A port's LIDs are 2^LMC. */
static enum fors_err set_lmc(const struct named_port *named, uint32_t line, const struct fors_lines *lines,
			     struct fors_error *error)
{
	if (named->count > 1u << FORS_MAX_LMC || named->count & (named->count - 1))
		return fors_lines_fail(lines, line, error,
				       "port 0x%016" PRIx64 " has %u %s, which is no power of 2 up to %u", named->guid,
				       named->count, fors_plural(named->count, "LID", "LIDs"), 1u << FORS_MAX_LMC);
	named->port->lmc = 0;
	while (1u << named->port->lmc < named->count)
		named->port->lmc++;
	return FORS_OK;
}

static enum fors_err give_all(struct fors_net *net, const struct owner *owner, struct named_port *list,
			      const struct fors_lines *lines, struct fors_error *error)
{
	size_t n = list_ports(net, list);
	enum fors_err err = FORS_OK;

	for (uint32_t lid = 1; lid <= FORS_LID_MAX && !err; lid++) {
		const struct named_port key = {.guid = owner[lid].guid};
		struct named_port *named = key.guid ? bsearch(&key, list, n, sizeof(*list), by_guid) : NULL;

		if (named)
			err = give_lid(net, named, lid, owner[lid].line, lines, error);
	}
	for (size_t i = 0; i < n && !err; i++)
		if (list[i].count)
			err = set_lmc(&list[i], owner[list[i].port->lid].line, lines, error);
	return err;
}

enum fors_err fors_lids_from_dump(struct fors_net *net, const char *text, size_t size, const char *name,
				  struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct owner *owner = calloc(FORS_LID_MAX + 1, sizeof(*owner));
	struct named_port *list = calloc(net->nports + (size_t)1, sizeof(*list));
	enum fors_err err = owner && list ? fors_lines_start(&lines, text, size, name, error) : fors_fail_memory(error);

	if (!err)
		err = read_owners(&lines, owner, error);
	if (!err)
		err = give_all(net, owner, list, &lines, error);
	free(owner);
	free(list);
	return err;
}
