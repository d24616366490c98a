/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lftfile.c - forwarding tables as text.
 *
 * Two programs write nearly the same, one table per switch:
 *
 *   opensm (opensm-lfts.dump)                      dump_fts (infiniband-diags)
 *
 *   Unicast lids [0-3] of switch Lid 2 guid        Unicast lids [0x0-0x3] of switch DR path ...
 *   0x0000000000200000 ('Leaf00'):                 guid 0x0000000000200000 (Leaf00):
 *                                                    Lid  Out   Destination
 *                                                         Port     Info
 *   0x0001 001 # Channel Adapter portguid ...      0x0001 001 : (Channel Adapter portguid ...
 *   0x0002 000 # Switch portguid ...               0x0002 000 : (Switch portguid ...
 *   3 lids dumped                                  2 valid lids dumped
 *
 * The last line tells a whole table from a cut one. Its number is the largest LID in
 * opensm's text, but the number of lines in dump_fts's (which, with -a, writes also
 * entries without a path, and says "lids dumped" too); the 0x in the first line tells
 * which.
 *
 * Switches with adaptive routing hold a group of ports for a LID. What lists those has a form of its own for each vendor, and
 * none of them is public; it is recognised by its words, or by several ports in an entry, and refused as such. A dump of
 * the linear tables of such switches shows nothing of groups: the one port that it names is not the only one that packets
 * take.
 *
 * The text is read twice: first for the switches and the largest LID, then, with room
 * made, for the entries.
 */
#include "lftfile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "lfts.h"

#define MAX_ENTRIES ((uint64_t)512 << 20) /* of all switches together */

/* The first line of a table. */
struct heading {
	uint64_t guid;
	uint32_t first, last; /* LIDs */
	bool is_dump_fts;
	struct fors_span rest; /* behind the GUID: the description in brackets */
};

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	struct fors_keyed *table; /* GUID and line of each */
	size_t ntables, room;
	uint32_t max_lid;
	struct fors_lfts *lfts;
	/* the table that is being read */
	struct heading heading;
	uint32_t row, start_line; /* start_line 0: none */
	uint32_t next_lid, nlines;
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

static const char first_words[] = "Unicast lids [";

/* Words of those who list groups of adaptive routing. */
static bool is_adaptive(struct fors_span line)
{
	static const char *const word[] = {"daptive rout", "daptive Rout", "AR group", "AR Group", "ARLFT"};

	if (fors_starts_with(line, "dump_ar"))
		return true;
	for (; !fors_span_is_empty(line); line.at++)
		for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
			if (fors_starts_with(line, word[i]))
				return true;
	return false;
}

static enum fors_err fail_adaptive(const struct reader *r)
{
	return fors_lines_decline(
		&r->lines, r->lines.number, r->error,
		"these are groups of ports of adaptive routing; linear tables with one port for each LID "
		"are needed");
}

/* "Unicast lids [0-3] of switch ... guid 0x0000000000200000 ('Leaf00'):" */
static enum fors_err read_heading(const struct reader *r, struct fors_span line, struct heading *heading)
{
	static const char guid_word[] = " guid 0x";
	uint64_t first, last;

	(void)fors_take_word(&line, first_words);
	heading->is_dump_fts = fors_starts_with(line, "0x");
	if (!fors_take_any_number(&line, FORS_LID_MAX, &first) || !fors_take_char(&line, '-') ||
	    !fors_take_any_number(&line, FORS_LID_MAX, &last) || !fors_take_char(&line, ']') || first > last)
		return FAIL(r, "the range of LIDs is no [FIRST-LAST] up to %u", FORS_LID_MAX);
	while (!fors_span_is_empty(line) && !fors_starts_with(line, guid_word))
		line.at++;
	if (!fors_take_word(&line, guid_word) || !fors_take_number(&line, 16, UINT64_MAX, &heading->guid) ||
	    !fors_take_char(&line, ' ') || heading->guid == 0)
		return FAIL(r, "the GUID of the switch is missing or no 0x and hexadecimal digits");
	heading->first = (uint32_t)first;
	heading->last = (uint32_t)last;
	heading->rest = line;
	return FORS_OK;
}

static enum fors_err add_table(struct reader *r, const struct heading *heading)
{
	if (r->ntables == r->room) {
		size_t room = r->room ? 2 * r->room : 64;
		struct fors_keyed *larger = realloc(r->table, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(r->error);
		r->table = larger;
		r->room = room;
	}
	r->table[r->ntables] = (struct fors_keyed){heading->guid, r->lines.number, (uint32_t)r->ntables};
	r->ntables++;
	if (heading->last > r->max_lid)
		r->max_lid = heading->last;
	return FORS_OK;
}

/* First pass: which switches, how many LIDs. */
static enum fors_err find_tables(struct reader *r)
{
	struct fors_keyed first, second;
	struct heading heading;
	struct fors_span line;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line)) {
		if (!fors_starts_with(line, first_words))
			continue;
		err = read_heading(r, line, &heading);
		if (!err)
			err = add_table(r, &heading);
	}
	if (!err && fors_keyed_sort(r->table, r->ntables, &first, &second))
		err = fors_lines_fail(&r->lines, second.line, r->error,
				      "switch 0x%016" PRIx64 " has a table in line %u already", second.key, first.line);
	return err;
}

/* Empty tables in order of the GUIDs, which find_tables() left sorted. */
static enum fors_err make_room(struct reader *r)
{
	if (r->ntables * (uint64_t)(r->max_lid + 1) > MAX_ENTRIES)
		return fors_fail(r->error, FORS_ELIMIT, "%s: %zu switches with %u LIDs each are too many",
				 r->lines.name, r->ntables, r->max_lid + 1);
	r->lfts = fors_lfts_new((uint32_t)r->ntables, r->max_lid + 1);
	if (!r->lfts)
		return fors_fail_memory(r->error);
	for (size_t i = 0; i < r->ntables; i++)
		r->lfts->guid[i] = r->table[i].key;
	return FORS_OK;
}

static enum fors_err fail_unfinished(const struct reader *r)
{
	return fors_lines_fail(&r->lines, r->start_line, r->error,
			       "the table that starts here has no \"lids dumped\" line at its end (cut short?)");
}

static enum fors_err start_table(struct reader *r, struct fors_span line)
{
	enum fors_err err;

	if (r->start_line)
		return fail_unfinished(r);
	err = read_heading(r, line, &r->heading);
	if (err)
		return err;
	r->row = fors_lfts_row(r->lfts, r->heading.guid);
	r->start_line = r->lines.number;
	r->next_lid = r->heading.first;
	r->nlines = 0;
	return FORS_OK;
}

/* "0x0001 001 # ..." */
static enum fors_err read_entry(struct reader *r, struct fors_span line)
{
	uint64_t lid, port;

	if (!fors_take_word(&line, "0x") || !fors_take_number(&line, 16, UINT32_MAX, &lid))
		return FAIL(r, "no LID in hexadecimal digits");
	if (!r->start_line)
		return FAIL(r, "an entry outside of a table");
	fors_skip_blanks(&line);
	if (!fors_take_number(&line, 10, UINT32_MAX, &port))
		return FAIL(r, "no port after the LID");
	if (fors_starts_with(line, ","))
		return fail_adaptive(r);
	if (!(fors_span_is_empty(line) || *line.at == ' '))
		return FAIL(r, "no port after the LID");
	if (lid < r->next_lid || lid > r->heading.last)
		return FAIL(r, "LID 0x%" PRIx64 " is out of order or out of the range of the table, 0x%x to 0x%x", lid,
			    r->heading.first, r->heading.last);
	if (port > FORS_NO_PATH)
		return FAIL(r, "port %" PRIu64 " is larger than %u", port, FORS_NO_PATH);
	r->lfts->port[(size_t)r->row * r->lfts->nlids + lid] = (uint8_t)port;
	r->next_lid = (uint32_t)lid + 1;
	r->nlines++;
	return FORS_OK;
}

/* "3 lids dumped", "3 valid lids dumped " */
static enum fors_err end_table(struct reader *r, struct fors_span line)
{
	uint32_t expected = r->heading.is_dump_fts ? r->nlines : r->heading.last;
	uint64_t count;

	if (!fors_take_number(&line, 10, UINT32_MAX, &count))
		count = UINT64_MAX;
	(void)fors_take_word(&line, " valid");
	if (!fors_take_word(&line, " lids dumped"))
		return FAIL(r, "this is no line of a table");
	if (!r->start_line)
		return FAIL(r, "the end of a table that did not start");
	if (count != expected)
		return FAIL(r, "here %u lids are expected: some lines of the table that starts in line %u are missing",
			    expected, r->start_line);
	r->start_line = 0;
	return FORS_OK;
}

static enum fors_err read_line(struct reader *r, struct fors_span line)
{
	struct fors_span rest = line;

	if (fors_starts_with(line, "0x"))
		return read_entry(r, line);
	if (fors_starts_with(line, first_words))
		return start_table(r, line);
	fors_skip_blanks(&rest);
	if (fors_span_is_empty(rest) || *rest.at == '#')
		return FORS_OK;
	if (r->heading.is_dump_fts && r->nlines == 0 &&
	    (fors_starts_with(rest, "Lid  Out ") || fors_starts_with(rest, "Port  ")))
		return FORS_OK;
	if (is_adaptive(line))
		return fail_adaptive(r);
	if (*line.at >= '0' && *line.at <= '9')
		return end_table(r, line);
	if (fors_starts_with(line, "Multicast"))
		return FAIL(r, "these are multicast tables; the unicast ones are needed");
	return FAIL(r, "\"%.*s\" is no line of opensm-lfts.dump or dump_fts", fors_span_width(line), line.at);
}

/* Second pass. */
static enum fors_err read_tables(struct reader *r)
{
	struct fors_span line;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line))
		err = read_line(r, line);
	if (!err && r->start_line)
		err = fail_unfinished(r);
	if (!err && r->ntables == 0)
		err = fors_fail(r->error, FORS_EINPUT, "%s: there is no forwarding table in the file", r->lines.name);
	return err;
}

enum fors_err fors_lftfile_read(const char *text, size_t size, const char *name, struct fors_lfts **lfts,
				struct fors_error *error)
{
	struct reader r = {.error = error};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);
	struct fors_lines start = r.lines;

	if (!err)
		err = find_tables(&r);
	if (!err)
		err = make_room(&r);
	if (!err) {
		r.lines = start;
		err = read_tables(&r);
	}
	free(r.table);
	if (err) {
		fors_lfts_free(r.lfts);
		return err;
	}
	*lfts = r.lfts;
	return FORS_OK;
}

static void drop_last(struct fors_span *span, char c)
{
	if (!fors_span_is_empty(*span) && span->end[-1] == c)
		span->end--;
}

/* "('Leaf00'):" or "(Leaf00):" -> Leaf00 */
static void take_name(struct fors_span rest, char *name)
{
	size_t length;

	(void)fors_take_char(&rest, '(');
	drop_last(&rest, ':');
	drop_last(&rest, ')');
	if (fors_take_char(&rest, '\''))
		drop_last(&rest, '\'');
	length = (size_t)(rest.end - rest.at);
	if (length > FORS_NAME_MAX)
		length = FORS_NAME_MAX;
	memcpy(name, rest.at, length);
	name[length] = '\0';
	fors_text_clean(name);
}

void fors_lftfile_names(const char *text, size_t size, const struct fors_lfts *lfts, char (*name)[FORS_NAME_MAX + 1])
{
	struct fors_error error;
	struct reader r = {.error = &error};
	struct fors_span line;
	struct heading heading;

	for (uint32_t row = 0; row < lfts->nswitches; row++)
		name[row][0] = '\0';
	if (fors_lines_start(&r.lines, text, size, "", &error))
		return;
	while (fors_lines_next(&r.lines, &line))
		if (fors_starts_with(line, first_words) && !read_heading(&r, line, &heading) &&
		    fors_lfts_row(lfts, heading.guid) != FORS_NONE)
			take_name(heading.rest, name[fors_lfts_row(lfts, heading.guid)]);
}

/* ---- writing ---- */

/* Whose LID is it? By LID, index of the node and its port; FORS_NONE: nobody's. */
struct lid_owner {
	uint32_t node;
	uint8_t port;
};

static struct lid_owner *find_owners(const struct fors_net *net, uint32_t nlids)
{
	struct lid_owner *owner = malloc((nlids + (size_t)1) * sizeof(*owner));

	if (!owner)
		return NULL;
	for (uint32_t lid = 0; lid < nlids; lid++)
		owner[lid] = (struct lid_owner){FORS_NONE, 0};
	for (uint32_t node = 0; node < net->nnodes; node++)
		for (unsigned port = 0; port <= net->node[node].nports; port++) {
			const struct fors_port *p = fors_net_port(net, node, port);

			for (uint32_t i = 0; p->lid && i < 1u << p->lmc && p->lid + i < nlids; i++)
				owner[p->lid + i] = (struct lid_owner){node, (uint8_t)port};
		}
	return owner;
}

static void write_entry(struct fors_buffer *out, const struct fors_net *net, struct lid_owner owner, uint32_t lid,
			uint8_t port)
{
	static const char *const types[] = {[FORS_CA] = "Channel Adapter",
					    [FORS_SWITCH] = "Switch",
					    [FORS_ROUTER] = "Router",
					    [FORS_OTHER] = "Channel Adapter"};

	if (owner.node == FORS_NONE)
		fors_buffer_print(out, "0x%04x %03u # unknown node and type\n", lid, port);
	else
		fors_buffer_print(out, "0x%04x %03u # %s portguid 0x%016" PRIx64 ": '%s'\n", lid, port,
				  types[net->node[owner.node].type], fors_net_port(net, owner.node, owner.port)->guid,
				  net->node[owner.node].desc);
}

static void write_table(struct fors_buffer *out, const struct fors_net *net, const struct fors_lfts *lfts, uint32_t row,
			const struct lid_owner *owner)
{
	uint32_t node = fors_net_find_guid(net, lfts->guid[row]);

	fors_buffer_print(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016" PRIx64 " ('%s'):\n", lfts->nlids - 1,
			  node == FORS_NONE ? 0 : fors_net_port(net, node, 0)->lid, lfts->guid[row],
			  node == FORS_NONE ? "" : net->node[node].desc);
	for (uint32_t lid = 0; lid < lfts->nlids; lid++)
		if (fors_lfts_port(lfts, row, lid) != FORS_NO_PATH)
			write_entry(out, net, owner[lid], lid, fors_lfts_port(lfts, row, lid));
	fors_buffer_print(out, "%u lids dumped\n", lfts->nlids - 1);
}

enum fors_err fors_lftfile_write(const struct fors_net *net, const struct fors_lfts *lfts, char **text, size_t *size,
				 struct fors_error *error)
{
	struct lid_owner *owner = find_owners(net, lfts->nlids);
	struct fors_buffer out = {0};

	if (!owner)
		return fors_fail_memory(error);
	for (uint32_t row = 0; row < lfts->nswitches && lfts->nlids > 0; row++)
		write_table(&out, net, lfts, row, owner);
	free(owner);
	return fors_buffer_finish(&out, text, size, error);
}
