/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * netfile.c - ibnetdiscover text, read and written.
 *
 * The text is a sequence of records, one per node, with an empty line after each:
 *
 *   vendid=0x2c9                                       ignored, as sysimgguid
 *   devid=0xcf09                                       what the next node is (others.h)
 *   switchguid=0x2c90200000001(2c90200000001)          the next switch has this GUID
 *   Switch  36 "S-0002c90200000001"  # "desc" enhanced port 0 lid 3 lmc 0
 *   [1]  "H-0002c90300000001"[2](2c90300000003)        # "desc" lid 7 4xHDR
 *   [2][ext 5]  "S-0002c90200000002"[9][ext 1]         # "desc" lid 4 4xHDR
 *
 *   caguid=0x2c90300000001                             rtguid= for routers
 *   Ca  2 "H-0002c90300000001"  # "desc"               Hca in ibsim's older files, Rt: router
 *   [2](2c90300000003)  "S-0002c90200000001"[1]        # lid 7 lmc 0 "desc" lid 3 4xHDR
 *
 * ibsim reads the same and numbers nodes without a GUID line itself: each type has
 * a counter, set by its GUID lines, which a switch raises by one and a CA by
 * one more than it has ports; CA port p has its node's GUID + p. We count along, but
 * give routers a start of their own, where ibsim would call the first one 0.
 *
 * ibsim ignores every line that it does not know. A text that people kept has a few such lines, too: the banner of a
 * terminal's log, its prompt, what libibumad said to the same terminal of a MAD without an answer. They are passed over
 * and counted, up to a limit, as a file that is not what somebody thinks it is should not become an empty or half a
 * fabric. A line that opens as one of ours does is one of ours, and an error when it is broken; and a port that was lost
 * with its line is still claimed by its other end.
 * What a port line says is only noted here; claims.c makes cables of it.
 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "netfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "claims.h"
#include "others.h"
#include "rates.h"
#include "core/base/text.h"

#define NTYPES 3
#define MAX_PORTS 254
#define LID_PERMISSIVE 0xFFFF /* what a port shows that has no LID */
#define STRANGE_MAX 100	      /* lines that are none of ours, and one more for each STRANGE_SHARE of ours */
#define STRANGE_SHARE 10

struct reader {
	struct fors_lines lines;
	struct fors_net *net;
	struct fors_claims claims;
	struct fors_error *error;
	uint64_t guid[NTYPES]; /* of the next node of each type */
	uint64_t base[NTYPES]; /* what "guid+N" lines add to */
	uint32_t node;	       /* whose port lines follow, FORS_NONE: nobody's */
	uint16_t device;       /* of the next node, 0: not told */
	uint32_t pending_line; /* of a GUID (or similar) line whose node did not come yet, 0: none */
	bool has_rates;	       /* port lines end with the rate of the cable */
	uint32_t nstrange;     /* lines that are none of ours; the first: */
	uint32_t strange_line;
	struct fors_span strange;
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

/* ---- small pieces of a line ---- */

/* The number after `word` (which starts a word) in `text`, false when there is none. */
static bool find_number(struct fors_span text, const char *word, uint64_t *value)
{
	for (struct fors_span rest = text; !fors_span_is_empty(rest); rest.at++) {
		struct fors_span here = rest;

		if ((here.at == text.at || here.at[-1] == ' ' || here.at[-1] == '\t') && fors_take_word(&here, word) &&
		    fors_take_number(&here, 10, UINT32_MAX, value))
			return true;
	}
	return false;
}

/* "[NUMBER]", up to 255. */
static bool take_port(struct fors_span *rest, uint8_t *port)
{
	struct fors_span after = *rest;
	uint64_t value;

	if (!fors_take_char(&after, '[') || !fors_take_number(&after, 10, UINT8_MAX, &value) ||
	    !fors_take_char(&after, ']'))
		return false;
	*rest = after;
	*port = (uint8_t)value;
	return true;
}

/* "[ext 5]", the label on the chassis, and "(2c90300000003)", the port GUID; both may be missing. */
static bool take_extras(struct fors_span *rest, uint64_t *guid)
{
	struct fors_span label;

	if (fors_take_word(rest, "[ext ") && !fors_take_until(rest, ']', &label))
		return false;
	fors_skip_blanks(rest);
	if (!fors_take_char(rest, '('))
		return true;
	(void)fors_take_word(rest, "0x");
	return fors_take_number(rest, 16, UINT64_MAX, guid) && fors_take_char(rest, ')');
}

/* ibsim reserves # and @; the others do not survive in a net, and two ids could become one. */
static bool is_id(struct fors_span id)
{
	if (fors_span_is_empty(id) || id.end - id.at > FORS_NAME_MAX)
		return false;
	for (const char *c = id.at; c < id.end; c++)
		if (*c < ' ' || *c > '~' || strchr("#@'\\<>", *c))
			return false;
	return true;
}

/* "\"ID\"" after blanks. */
static enum fors_err take_id(struct reader *r, struct fors_span *rest, struct fors_span *id)
{
	fors_skip_blanks(rest);
	if (!fors_take_char(rest, '"') || !fors_take_until(rest, '"', id))
		return FAIL(r, "a node id in quotes is missing");
	return FORS_OK;
}

/* What stands before, between and after the quotes of a comment (which may itself hold quotes). */
struct comment {
	struct fors_span before, quoted, after;
	bool has_quotes;
};

static enum fors_err split_comment(struct reader *r, struct fors_span text, struct comment *comment)
{
	struct fors_span rest = text;
	const char *last;

	*comment = (struct comment){.before = text, .quoted = {text.end, text.end}, .after = {text.end, text.end}};
	if (!fors_take_until(&rest, '"', &comment->before)) {
		comment->before = text;
		return FORS_OK;
	}
	last = memrchr(rest.at, '"', (size_t)(rest.end - rest.at));
	if (!last)
		return FAIL(r, "a quote is not closed");
	comment->quoted = (struct fors_span){rest.at, last};
	comment->after = (struct fors_span){last + 1, rest.end};
	comment->has_quotes = true;
	return FORS_OK;
}

/* "lid 7 lmc 1" somewhere in `text`, for `port`; nothing there is fine. */
static enum fors_err read_lid(struct reader *r, struct fors_span text, struct fors_port *port)
{
	uint64_t lid, lmc;

	if (!find_number(text, "lid ", &lid) || lid == LID_PERMISSIVE)
		return FORS_OK;
	if (!find_number(text, "lmc ", &lmc))
		lmc = 0;
	if (lid > FORS_LID_MAX || lmc > FORS_MAX_LMC || lid + (1u << lmc) - 1 > FORS_LID_MAX)
		return FAIL(r, "LID %" PRIu64 " with LMC %" PRIu64 " is out of range: LIDs end at %u, LMC at %u", lid,
			    lmc, FORS_LID_MAX, FORS_MAX_LMC);
	port->lid = (uint16_t)lid;
	port->lmc = (uint8_t)lmc;
	return FORS_OK;
}

/* "4xHDR": the width and speed of the claim's cable; what we do not know is left alone. */
static bool take_rate(struct fors_span *rest, struct fors_port_claim *claim)
{
	struct fors_span text = *rest;
	uint64_t width;

	fors_skip_blanks(&text);
	if (!fors_take_number(&text, 10, 12, &width) || !width || !fors_take_char(&text, 'x'))
		return false;
	for (enum fors_speed speed = FORS_SDR; speed < FORS_NSPEEDS; speed++) {
		/* FDR10 begins like FDR, and comes before it */
		if (!fors_take_word(&text, fors_speed_name(speed)))
			continue;
		claim->width = (uint8_t)width;
		claim->speed = (uint8_t)speed;
		*rest = text;
		return true;
	}
	return false;
}

/* ---- header lines ---- */

/* Old tools write the description without quotes; it ends where the rest of the usual line starts. */
static void split_unquoted(struct comment *comment)
{
	static const char *const ends[] = {" enhanced port ", " base port ", " lid ", " lmc "};
	struct fors_span all = comment->before;
	const char *end = NULL;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && !end; i++)
		end = memmem(all.at, (size_t)(all.end - all.at), ends[i], strlen(ends[i]));
	if (!end)
		end = all.end;
	comment->quoted = (struct fors_span){all.at, end};
	comment->after = (struct fors_span){end, all.end};
}

/* What follows a node's id: nothing, or # and the description and, for a switch, its LID. */
static enum fors_err read_description(struct reader *r, struct fors_span rest, struct comment *comment)
{
	enum fors_err err;

	fors_skip_blanks(&rest);
	*comment = (struct comment){.quoted = {rest.at, rest.at}, .after = {rest.end, rest.end}};
	if (fors_span_is_empty(rest))
		return FORS_OK;
	if (!fors_take_char(&rest, '#'))
		return FAIL(r, "\"%.*s\" after the node id: only a comment may follow it", fors_span_width(rest),
			    rest.at);
	fors_skip_blanks(&rest);
	err = split_comment(r, rest, comment);
	if (!err && !comment->has_quotes)
		split_unquoted(comment);
	return err;
}

static enum fors_err add_node(struct reader *r, enum fors_node_type type, unsigned nports, struct fors_span id,
			      struct fors_span desc)
{
	uint64_t guid = r->guid[type];
	char texts[2][FORS_NAME_MAX + 1] = {{0}};
	enum fors_err err;

	if (guid == 0)
		return FAIL(r, "no GUIDs are left for this node; give it one in the line above");
	if (fors_span_is_empty(desc))
		desc = id;
	memcpy(texts[0], id.at, (size_t)(id.end - id.at));
	memcpy(texts[1], desc.at, desc.end - desc.at > FORS_NAME_MAX ? FORS_NAME_MAX : (size_t)(desc.end - desc.at));
	err = fors_net_add_node(r->net, type, nports, guid, texts[0], texts[1], &r->node, r->error);
	if (!err)
		err = fors_claims_add_node(&r->claims, id, r->lines.number, r->error);
	if (err)
		return err;
	r->net->node[r->node].device = r->device;
	r->device = 0;
	r->guid[type] += type == FORS_SWITCH ? 1 : nports + 1;
	for (unsigned port = 1; type != FORS_SWITCH && port <= nports; port++)
		fors_net_port(r->net, r->node, port)->guid = guid + port;
	return FORS_OK;
}

/* 36 "S-0002c90200000001" # "desc" enhanced port 0 lid 3 lmc 0 */
static enum fors_err read_node(struct reader *r, struct fors_span rest, int type)
{
	struct fors_span id;
	struct comment comment;
	uint64_t nports;
	enum fors_err err;

	fors_skip_blanks(&rest);
	if (!fors_take_number(&rest, 10, UINT32_MAX, &nports))
		return FAIL(r, "the number of ports is missing");
	if (nports == 0 || nports > MAX_PORTS)
		return FAIL(r, "%" PRIu64 " ports: a node has 1 to %d", nports, MAX_PORTS);
	if (r->net->nnodes == FORS_LID_MAX)
		return FAIL(r, "more than %u nodes do not fit into a subnet", FORS_LID_MAX);
	err = take_id(r, &rest, &id);
	if (!err && !is_id(id))
		err = FAIL(r, "\"%.*s\" is not a node id: 1 to %d printable characters other than #@'\\<>",
			   fors_span_width(id), id.at, FORS_NAME_MAX);
	if (!err)
		err = read_description(r, rest, &comment);
	if (!err)
		err = add_node(r, (enum fors_node_type)type, (unsigned)nports, id, comment.quoted);
	if (!err && type == FORS_SWITCH)
		err = read_lid(r, comment.after, fors_net_port(r->net, r->node, 0));
	if (!err && r->lines.is_cut)
		err = FAIL(r, "the file ends in the line of a node");
	r->pending_line = 0;
	return err;
}

/* switchguid=0x2c90200000001(2c90200000001), or +5: five more than the last absolute one */
static enum fors_err read_guid(struct reader *r, struct fors_span rest, int type)
{
	bool is_relative = fors_take_char(&rest, '+');
	uint64_t guid;

	if (!is_relative && !fors_take_char(&rest, '='))
		return FAIL(r, "a = and a GUID are missing");
	fors_skip_blanks(&rest);
	if (!fors_take_any_number(&rest, UINT64_MAX, &guid) || !(fors_span_is_empty(rest) || strchr("( \t#", *rest.at)))
		return FAIL(r, "this is no GUID; write 0x and up to 16 hexadecimal digits");
	if (!is_relative && guid == 0)
		return FAIL(r, "0 is not a GUID");
	if (!is_relative)
		r->base[type] = guid;
	r->guid[type] = is_relative ? r->base[type] + guid : guid;
	r->pending_line = r->lines.number;
	r->node = FORS_NONE;
	return FORS_OK;
}

/* vendid=, devid=, sysimgguid=: belong to a node, and but for the device nothing to us */
static enum fors_err read_identity(struct reader *r, struct fors_span rest, int is_device)
{
	uint64_t value;

	if (!fors_take_char(&rest, '=') || !fors_take_any_number(&rest, UINT64_MAX, &value))
		return FAIL(r, "a = and a number are missing");
	if (is_device)
		r->device = value > UINT16_MAX ? 0 : (uint16_t)value;
	r->pending_line = r->lines.number;
	r->node = FORS_NONE;
	return FORS_OK;
}

/* Headings between records, and what only a simulator needs to know. */
static enum fors_err read_heading(struct reader *r, struct fors_span rest, int unused)
{
	r->node = FORS_NONE;
	return FORS_OK;
}

/* module and include would give nodes other names, or come from other files. */
static enum fors_err refuse(struct reader *r, struct fors_span rest, int unused)
{
	return FAIL(r, "ibsim's \"module\", \"include\" and \"@\" are not read; load the file into ibsim and take "
		       "the output of ibnetdiscover");
}

/* ---- port lines ---- */

/* [2](2c90300000003) "S-0002c90200000001"[1] up to its comment */
static enum fors_err read_ends(struct reader *r, struct fors_span *rest, struct fors_port_claim *claim, uint64_t *guid)
{
	const struct fors_node *node = &r->net->node[claim->node];
	enum fors_err err;

	if (!take_port(rest, &claim->port) || !take_extras(rest, guid))
		return FAIL(r, "a port line starts with [PORT], and [ext LABEL] or (GUID) may follow");
	if (claim->port == 0 || claim->port > node->nports)
		return FAIL(r, "port %u: \"%s\" has ports 1 to %u", claim->port, node->id, node->nports);
	err = take_id(r, rest, &claim->peer);
	if (err)
		return err;
	claim->peer_port = 1; /* as ibsim has it */
	if (fors_starts_with(*rest, "[") && !take_port(rest, &claim->peer_port))
		return FAIL(r, "the port of the other end is no number in [ ], 1 to %d", MAX_PORTS);
	if (!take_extras(rest, &claim->peer_guid))
		return FAIL(r, "the port GUID of the other end is no hexadecimal number in ( )");
	return FORS_OK;
}

/* What ibsim's port options say of the cable: width and speed, as PortInfo has them. */
struct options {
	uint64_t width, speed; /* 0: nothing */
};

/* Read ibsim's port options "w=1 s=4", or a rate; anything else before the comment is an error. */
static enum fors_err read_options(struct reader *r, struct fors_span *rest, struct options *options,
				  struct fors_port_claim *claim)
{
	for (;;) {
		const char *start;
		uint64_t value;

		fors_skip_blanks(rest);
		if (fors_span_is_empty(*rest) || *rest->at == '#')
			return FORS_OK;
		if (take_rate(rest, claim))
			continue;
		start = rest->at++;
		if (!fors_take_char(rest, '=') || !fors_take_any_number(rest, UINT32_MAX, &value))
			return FAIL(r, "\"%.*s\" is not understood",
				    fors_span_width((struct fors_span){start, rest->end}), start);
		if (*start == 'w')
			options->width = value;
		else if (*start == 's')
			options->speed = value;
	}
}

/* A simulated cable runs as its options say, whatever ibnetdiscover wrote of it. */
static void apply_options(const struct options *options, struct fors_port_claim *claim)
{
	static const uint8_t lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12, [16] = 2},
			     speed[] = {[1] = FORS_SDR, [2] = FORS_DDR, [4] = FORS_QDR};

	if (!claim->width || !claim->speed)
		return;
	if (options->width < sizeof(lanes) && lanes[options->width])
		claim->width = lanes[options->width];
	if (options->speed < sizeof(speed) && speed[options->speed])
		claim->speed = speed[options->speed];
}

/* # lid 7 lmc 0 "desc" lid 3 4xHDR; a switch port has only what follows the description. */
static enum fors_err read_port_comment(struct reader *r, struct fors_span text, struct fors_port_claim *claim)
{
	struct comment comment;
	uint64_t lid;
	enum fors_err err = split_comment(r, text, &comment);

	if (!err && r->net->node[claim->node].type != FORS_SWITCH)
		err = read_lid(r, comment.before, fors_net_port(r->net, claim->node, claim->port));
	if (err || !comment.has_quotes)
		return err;
	fors_skip_blanks(&comment.after);
	if (fors_take_word(&comment.after, "lid ") && fors_take_number(&comment.after, 10, FORS_LID_MAX, &lid))
		claim->peer_lid = (uint16_t)lid;
	(void)take_rate(&comment.after, claim);
	return FORS_OK;
}

static enum fors_err read_port(struct reader *r, struct fors_span rest)
{
	struct fors_port_claim claim = {.node = r->node, .line = r->lines.number};
	struct options options = {0};
	uint64_t guid = 0;
	enum fors_err err;

	if (r->node == FORS_NONE)
		return FAIL(r, "a port without a node: the line of its node must stand above, with no empty line "
			       "between");
	err = read_ends(r, &rest, &claim, &guid);
	if (!err)
		err = read_options(r, &rest, &options, &claim);
	if (!err && fors_take_char(&rest, '#'))
		err = read_port_comment(r, rest, &claim);
	if (err)
		return err;
	apply_options(&options, &claim);
	if (r->lines.is_cut && r->has_rates && claim.width == 0)
		return FAIL(r, "the file ends in the middle of this line");
	r->has_rates = r->has_rates || claim.width;
	if (guid && r->net->node[r->node].type != FORS_SWITCH)
		fors_net_port(r->net, r->node, claim.port)->guid = guid;
	return fors_claims_add(&r->claims, &claim, r->error);
}

/* ---- the whole text ---- */

#define USE_PLAIN "fors reads what ibnetdiscover prints without -p and -l"

static const struct keyword {
	const char *word;
	enum fors_err (*read)(struct reader *r, struct fors_span rest, int type);
	int type;
} keywords[] = {
	{"Switch", read_node, FORS_SWITCH},
	{"Ca", read_node, FORS_CA},
	{"Hca", read_node, FORS_CA},
	{"Rt", read_node, FORS_ROUTER},
	{"switchguid", read_guid, FORS_SWITCH},
	{"caguid", read_guid, FORS_CA},
	{"hcaguids", read_guid, FORS_CA},
	{"rtguid", read_guid, FORS_ROUTER},
	{"vendid", read_identity, 0},
	{"devid", read_identity, true},
	{"sysimgguid", read_identity, 0},
	{"Chassis ", read_heading, 0},
	{"Hostname:", read_heading, 0},
	{"Non-Chassis Nodes", read_heading, 0},
	{"width", read_heading, 0},
	{"speed", read_heading, 0},
	{"extspeed", read_heading, 0},
	{"pdebug", read_heading, 0},
	{"module", refuse, 0},
	{"include", refuse, 0},
	{"@", refuse, 0},
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "Ca" opens a node, "Cannot" does not. */
static bool take_keyword(struct fors_span *rest, const char *word)
{
	struct fors_span after = *rest;

	if (!fors_take_word(&after, word) ||
	    (!fors_span_is_empty(after) && is_letter(after.at[-1]) && is_letter(*after.at)))
		return false;
	*rest = after;
	return true;
}

/* "[3]" opens a port, also where what follows is broken; "[root@n1 ~]# date" and "[12:00:01]" do not. */
static bool opens_port(struct fors_span line)
{
	struct fors_span rest = line;
	uint8_t port;

	return fors_starts_with(line, "[") &&
	       (take_port(&rest, &port) || memchr(line.at, '"', (size_t)(line.end - line.at)));
}

static void pass_over(struct reader *r, struct fors_span line)
{
	if (r->nstrange++)
		return;
	r->strange = line;
	r->strange_line = r->lines.number;
}

static enum fors_err read_line(struct reader *r, struct fors_span line)
{
	struct fors_span rest = line;

	if (opens_port(line))
		return read_port(r, line);
	if (fors_starts_with(line, "#"))
		return FORS_OK;
	fors_skip_blanks(&rest);
	if (fors_span_is_empty(rest)) {
		r->node = FORS_NONE;
		return FORS_OK;
	}
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		rest = line;
		if (take_keyword(&rest, keywords[i].word))
			return keywords[i].read(r, rest, keywords[i].type);
	}
	pass_over(r, line);
	return FORS_OK;
}

/* Are there more strange lines than a log has beside a text, and what is said of those there are. */
static enum fors_err judge_strange(struct reader *r, struct fors_warnings *warnings)
{
	uint32_t limit = STRANGE_MAX + (r->lines.number - r->nstrange) / STRANGE_SHARE;

	if (!r->nstrange)
		return FORS_OK;
	if (r->net->nnodes == 0 || !warnings)
		return fors_lines_fail(&r->lines, r->strange_line, r->error,
				       "\"%.*s\" is not a line of ibnetdiscover; " USE_PLAIN,
				       fors_span_width(r->strange), r->strange.at);
	if (r->nstrange > limit)
		return fors_lines_fail(
			&r->lines, r->strange_line, r->error,
			"\"%.*s\" and %u more of %u lines are not of ibnetdiscover, more than the %u that "
			"are passed over; " USE_PLAIN,
			fors_span_width(r->strange), r->strange.at, r->nstrange - 1, r->lines.number, limit);
	fors_warn(warnings, "%.150s: %u %s of ibnetdiscover, passed over; %s line %u, \"%.*s\"", r->lines.name,
		  r->nstrange, fors_plural(r->nstrange, "line is not", "lines are not"),
		  r->nstrange == 1 ? "it is" : "the first is", r->strange_line, fors_span_width(r->strange),
		  r->strange.at);
	return FORS_OK;
}

static enum fors_err read_all(struct reader *r, struct fors_warnings *warnings)
{
	struct fors_span line;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line))
		err = read_line(r, line);
	if (!err)
		err = judge_strange(r, warnings);
	if (err)
		return err;
	if (r->net->nnodes == 0)
		return fors_fail(r->error, FORS_EINPUT, "%s: there is no node in the file", r->lines.name);
	if (r->pending_line)
		return fors_lines_fail(&r->lines, r->pending_line, r->error, "no node follows this line (cut short?)");
	fors_others_mark(r->net, NULL);
	return fors_claims_resolve(&r->claims, &r->lines, r->net, r->error);
}

enum fors_err fors_netfile_read(const char *text, size_t size, const char *name, struct fors_net **net,
				struct fors_warnings *warnings, struct fors_error *error)
{
	struct reader r = {
		.error = error,
		.guid = {[FORS_CA] = 0x100000, [FORS_SWITCH] = 0x200000, [FORS_ROUTER] = 0x300000},
		.node = FORS_NONE,
	};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);

	if (err)
		return err;
	memcpy(r.base, r.guid, sizeof(r.base));
	r.net = fors_net_new();
	err = r.net ? read_all(&r, warnings) : fors_fail_memory(error);
	fors_claims_clear(&r.claims);
	if (err) {
		fors_net_free(r.net);
		return err;
	}
	*net = r.net;
	return FORS_OK;
}

/* ---- writing ---- */

/*
 * The description of the other end, on a port line. It is a comment, but ibsim
 * looks for options like "w=1" even there.
 */
static void write_peer_desc(struct fors_buffer *out, const char *desc)
{
	char text[FORS_NAME_MAX + 1];
	size_t i;

	for (i = 0; desc[i] && i < FORS_NAME_MAX; i++)
		text[i] = desc[i] == '=' ? '-' : desc[i];
	text[i] = 0;
	fors_buffer_print(out, "\"%s\"", text);
}

/* What is known, else that all are alike, but for those that are marked. Beside known ones an unknown one stays unsaid. */
static void write_rate(const struct fors_port *port, bool has_rates, struct fors_buffer *out)
{
	char text[FORS_RATE_TEXT];

	fors_rate_text(port->width, (enum fors_speed)port->speed, text);
	if (!text[0] && !has_rates)
		snprintf(text, sizeof(text), "%s", port->is_degraded ? "1xSDR" : "4xSDR");
	fors_buffer_print(out, "%s%s\n", text[0] ? " " : "", text);
}

static void write_port(const struct fors_net *net, uint32_t node, unsigned number, bool has_rates,
		       struct fors_buffer *out)
{
	const struct fors_port *port = fors_net_port(net, node, number);
	const struct fors_node *peer = &net->node[port->peer];
	const struct fors_port *peer_port = fors_net_port(net, port->peer, port->peer_port);
	bool is_switch = net->node[node].type == FORS_SWITCH;
	bool to_switch = peer->type == FORS_SWITCH;

	fors_buffer_print(out, "[%u]", number);
	if (!is_switch)
		fors_buffer_print(out, "(%" PRIx64 ") ", port->guid);
	fors_buffer_print(out, "\t\"%s\"[%u]", peer->id, port->peer_port);
	if (!to_switch)
		fors_buffer_print(out, "(%" PRIx64 ") ", peer_port->guid);
	fors_buffer_print(out, "\t\t# ");
	if (!is_switch)
		fors_buffer_print(out, "lid %u lmc %u ", port->lid, port->lmc);
	write_peer_desc(out, peer->desc);
	fors_buffer_print(out, " lid %u", to_switch ? fors_net_port(net, port->peer, 0)->lid : peer_port->lid);
	write_rate(port, has_rates, out);
}

/* What tells that it is no host goes along. */
static void write_end_node(const struct fors_node *node, struct fors_buffer *out)
{
	bool is_router = node->type == FORS_ROUTER;

	fors_buffer_print(out, "\n");
	if (node->type == FORS_OTHER && node->device)
		fors_buffer_print(out, "devid=0x%x\n", node->device);
	fors_buffer_print(out, "%sguid=0x%" PRIx64 "\n%s\t%u \"%s\"\t\t# \"%s\"\n", is_router ? "rt" : "ca", node->guid,
			  is_router ? "Rt" : "Ca", node->nports, node->id, node->desc);
}

static void write_node(const struct fors_net *net, uint32_t index, bool has_rates, struct fors_buffer *out)
{
	const struct fors_node *node = &net->node[index];
	const struct fors_port *zero = fors_net_port(net, index, 0);

	if (node->type == FORS_SWITCH)
		fors_buffer_print(out,
				  "\nswitchguid=0x%" PRIx64 "(%" PRIx64 ")\nSwitch\t%u \"%s\"\t\t# \"%s\" %s port 0 "
				  "lid %u lmc %u\n",
				  node->guid, node->guid, node->nports, node->id, node->desc,
				  zero->lmc ? "enhanced" : "base", zero->lid, zero->lmc);
	else
		write_end_node(node, out);
	for (unsigned port = 1; port <= node->nports; port++)
		if (fors_net_port(net, index, port)->peer != FORS_NONE)
			write_port(net, index, port, has_rates, out);
}

enum fors_err fors_netfile_write(const struct fors_net *net, char **text, size_t *size, struct fors_error *error)
{
	bool has_rates = fors_rates_full(net, fors_rates_flow(net)) > 0;
	struct fors_buffer out = {0};

	fors_buffer_print(&out, "# Written by fors, as ibnetdiscover writes and ibsim reads it.\n");
	for (uint32_t i = 0; i < net->nnodes; i++)
		write_node(net, i, has_rates, &out);
	return fors_buffer_finish(&out, text, size, error);
}
