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

struct owned {
	uint64_t guid;
	uint32_t first, count, line;
};

static int by_guid(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Runs of LIDs of one owner, sorted by GUID, in *list (room for all LIDs). */
static size_t find_runs(const struct owner *owner, struct owned *list)
{
	size_t n = 0;

	for (uint32_t lid = 1; lid <= FORS_LID_MAX; lid++) {
		if (!owner[lid].guid)
			continue;
		if (n && list[n - 1].guid == owner[lid].guid && list[n - 1].first + list[n - 1].count == lid)
			list[n - 1].count++;
		else
			list[n++] = (struct owned){owner[lid].guid, lid, 1, owner[lid].line};
	}
	qsort(list, n, sizeof(*list), by_guid);
	return n;
}

/* A port's LIDs: a run of 2^LMC, and its only one. */
static enum fors_err check_run(const struct fors_lines *lines, const struct owned *list, size_t i, size_t n,
			       struct fors_error *error)
{
	const struct owned *run = &list[i];

	if (i + 1 < n && list[i + 1].guid == run->guid)
		return fors_lines_fail(lines, list[i + 1].line, error,
				       "port 0x%016" PRIx64
				       " has LIDs from %u and from %u: these are dumps of different times",
				       run->guid, run->first, list[i + 1].first);
	if (run->count > 1u << FORS_MAX_LMC || run->count & (run->count - 1))
		return fors_lines_fail(lines, run->line, error,
				       "port 0x%016" PRIx64 " has %u %s, which is no power of 2 up to %u", run->guid,
				       run->count, fors_plural(run->count, "LID", "LIDs"), 1u << FORS_MAX_LMC);
	return FORS_OK;
}

/* The net has the say: an engine may have no entry for some LIDs of a port, but none that belong to somebody else. */
static enum fors_err check_known(const struct fors_port *port, const char *node_name, const struct owned *run,
				 const struct fors_lines *lines, struct fors_error *error)
{
	if (run->first >= port->lid && run->first + run->count <= port->lid + (1u << port->lmc))
		return FORS_OK;
	return fors_lines_decline(lines, run->line, error,
				  "%s has LID %u here, but %u in the fabric: they are not of one time", node_name,
				  run->first, port->lid);
}

/* The runs of the port's GUID, from list[i] on. */
static enum fors_err give_lids(struct fors_port *port, const char *node_name, const struct owned *list, size_t i,
			       size_t n, const struct fors_lines *lines, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	if (port->lid) {
		for (; i < n && list[i].guid == port->guid && !err; i++)
			err = check_known(port, node_name, &list[i], lines, error);
		return err;
	}
	err = check_run(lines, list, i, n, error);
	if (err)
		return err;
	port->lid = (uint16_t)list[i].first;
	port->lmc = 0;
	while (1u << port->lmc < list[i].count)
		port->lmc++;
	return FORS_OK;
}

/* Number of the first run of a GUID, n: there is none. */
static size_t find_run(const struct owned *list, size_t n, uint64_t guid)
{
	size_t from = 0, to = n;

	while (from < to) { /* the first run that is not before the GUID */
		size_t middle = from + (to - from) / 2;

		if (list[middle].guid < guid)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n && list[from].guid == guid ? from : n;
}

static enum fors_err give_all(struct fors_net *net, const struct owned *list, size_t n, const struct fors_lines *lines,
			      struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t node = 0; node < net->nnodes && !err; node++)
		for (unsigned p = 0; p <= net->node[node].nports && !err; p++) {
			struct fors_port *port = fors_net_port(net, node, p);
			size_t first = port->guid ? find_run(list, n, port->guid) : n;

			if (first < n)
				err = give_lids(port, fors_node_name(net, node), list, first, n, lines, error);
		}
	return err;
}

enum fors_err fors_lids_from_dump(struct fors_net *net, const char *text, size_t size, const char *name,
				  struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct owner *owner = calloc(FORS_LID_MAX + 1, sizeof(*owner));
	struct owned *list = calloc(FORS_LID_MAX + 1, sizeof(*list));
	enum fors_err err = owner && list ? fors_lines_start(&lines, text, size, name, error) : fors_fail_memory(error);

	if (!err)
		err = read_owners(&lines, owner, error);
	if (!err)
		err = give_all(net, list, find_runs(owner, list), &lines, error);
	free(owner);
	free(list);
	return err;
}
