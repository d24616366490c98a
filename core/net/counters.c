/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.c - error counters of ports, as ibqueryerrors and perfquery print them.
 *
 *   Errors for 0x200000 "Leaf00"                                     ibqueryerrors; the name may be of a map
 *      GUID 0x200000 port ALL: [SymbolErrorCounter == 70]            all ports together: passed over
 *      GUID 0x200000 port 21: [SymbolErrorCounter == 69] [PortXmitWait == 4435]
 *
 *   # Port counters: Lid 3 port 21 (CapMask: 0x5300)                 perfquery, one port after another
 *   PortSelect:......................21
 *   SymbolErrorCounter:..............69
 *
 *   ## Summary: 10 nodes checked, 0 bad nodes found                  ibqueryerrors, at the end; of a healthy fabric all there is
 *
 * Both list what has nothing to do with cables too, and lines that we do not know: those are no errors, for every
 * version of the two prints others. But a text without a single counter, or a summary, is not what somebody thinks it is.
 */
#include "counters.h"

#include <stdlib.h>

#include "core/base/text.h"

const char *const fors_counter_names[FORS_NCOUNTERS] = {
	"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
	"PortRcvErrors",      "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors",
};

struct reader {
	struct fors_lines lines;
	const struct fors_net *net;
	struct fors_counters *counters; /* by ports of the net */
	uint32_t port;			/* whose counters follow (perfquery), index of net->port; FORS_NONE: nobody's */
	bool has_port, has_counter;	/* some port was named; some counter, or a summary, was read */
	uint32_t nforeign;
	struct fors_error *error;
};

uint64_t fors_counters_sum(const struct fors_counters *counters)
{
	uint64_t sum = FORS_COUNTER_UNKNOWN;

	for (unsigned i = 0; i < FORS_NCOUNTERS; i++)
		if (counters->value[i] != FORS_COUNTER_UNKNOWN)
			sum = (sum == FORS_COUNTER_UNKNOWN ? 0 : sum) + counters->value[i];
	return sum;
}

static uint32_t find_guid(const struct fors_net *net, uint64_t guid)
{
	uint32_t node = fors_net_find_guid(net, guid);

	for (uint32_t i = 0; node == FORS_NONE && i < net->nnodes; i++)
		for (unsigned p = 1; net->node[i].type != FORS_SWITCH && p <= net->node[i].nports; p++)
			if (fors_net_port(net, i, p)->guid == guid)
				node = i;
	return node;
}

/* The node of the port, or of port 0 of the switch, that has this LID. */
static uint32_t find_lid(const struct fors_net *net, uint64_t lid)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 0; p <= net->node[i].nports; p++) {
			const struct fors_port *port = fors_net_port(net, i, p);

			if (port->lid && lid >= port->lid && lid < port->lid + (1u << port->lmc))
				return i;
		}
	return FORS_NONE;
}

/* Counters of this port follow; what is known of it from before is forgotten. */
static void choose_port(struct reader *r, uint32_t node, uint64_t port)
{
	r->has_port = true;
	r->port = FORS_NONE;
	if (port == 0 || port == 255) /* of a switch itself, or all ports together */
		return;
	if (node == FORS_NONE || port > r->net->node[node].nports) {
		r->nforeign++;
		return;
	}
	r->port = r->net->node[node].first_port + (uint32_t)port;
	for (unsigned i = 0; i < FORS_NCOUNTERS; i++)
		r->counters[r->port].value[i] = FORS_COUNTER_UNKNOWN;
}

/* Which counter a line, or what stands in brackets, begins with; FORS_NCOUNTERS: none of ours. */
static unsigned take_name(struct fors_span *text)
{
	unsigned i = 0;

	while (i < FORS_NCOUNTERS && !fors_take_word(text, fors_counter_names[i]))
		i++;
	return i;
}

static enum fors_err take_value(struct reader *r, struct fors_span text, unsigned counter)
{
	uint64_t value;

	if (!fors_take_number(&text, 10, UINT64_MAX - 1, &value))
		return fors_lines_fail(&r->lines, r->lines.number, r->error, "the value of %s is no number",
				       fors_counter_names[counter]);
	r->has_counter = true;
	if (r->port != FORS_NONE)
		r->counters[r->port].value[counter] = value;
	return FORS_OK;
}

/* GUID 0x200000 port 21: [SymbolErrorCounter == 69] ... */
static enum fors_err read_bracketed(struct reader *r, struct fors_span rest)
{
	uint64_t guid, port = 255;
	struct fors_span inside;
	enum fors_err err = FORS_OK;

	if (!fors_take_any_number(&rest, UINT64_MAX, &guid) || !fors_take_word(&rest, " port ") ||
	    (!fors_take_word(&rest, "ALL") && !fors_take_number(&rest, 10, 255, &port)) || !fors_take_char(&rest, ':'))
		return fors_lines_fail(&r->lines, r->lines.number, r->error, "'GUID 0x... port N:' is wanted");
	choose_port(r, find_guid(r->net, guid), port);
	while (!err && fors_take_until(&rest, '[', &inside) && fors_take_until(&rest, ']', &inside)) {
		unsigned counter = take_name(&inside);

		if (counter < FORS_NCOUNTERS && fors_take_word(&inside, " == "))
			err = take_value(r, inside, counter);
	}
	r->port = FORS_NONE;
	return err;
}

/* # Port counters: Lid 3 port 21 (CapMask: 0x5300); of a port that is named otherwise nobody knows which it is. */
static void read_heading(struct reader *r, struct fors_span rest)
{
	struct fors_span before;
	uint64_t lid, port;

	if (fors_take_until(&rest, ':', &before) && fors_take_word(&rest, " Lid ") &&
	    fors_take_number(&rest, 10, UINT16_MAX, &lid) && fors_take_word(&rest, " port ") &&
	    fors_take_number(&rest, 10, 255, &port))
		choose_port(r, find_lid(r->net, lid), port);
	else
		choose_port(r, FORS_NONE, 1);
}

/* SymbolErrorCounter:..............69 */
static enum fors_err read_dotted(struct reader *r, struct fors_span line)
{
	unsigned counter = take_name(&line);

	if (counter == FORS_NCOUNTERS || !fors_take_char(&line, ':'))
		return FORS_OK;
	if (!r->has_port)
		return fors_lines_fail(&r->lines, r->lines.number, r->error,
				       "counters of which port? A line '# Port counters: Lid ... port ...' is missing");
	while (fors_take_char(&line, '.'))
		;
	return take_value(r, line, counter);
}

static enum fors_err read_line(struct reader *r, struct fors_span line)
{
	fors_skip_blanks(&line);
	if (fors_take_word(&line, "GUID "))
		return read_bracketed(r, line);
	if (fors_take_word(&line, "## Summary: "))
		r->has_counter = true;
	if (fors_take_word(&line, "# Port "))
		read_heading(r, line);
	return read_dotted(r, line);
}

static enum fors_err read_all(struct reader *r)
{
	struct fors_span line;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line))
		err = read_line(r, line);
	if (!err && !r->has_counter && !r->has_port)
		err = fors_fail(r->error, FORS_EINPUT,
				"%s: no error counter in it; the output of ibqueryerrors or perfquery is wanted",
				r->lines.name);
	return err;
}

enum fors_err fors_counters_read(const char *text, size_t size, const char *name, const struct fors_net *net,
				 struct fors_counters **counters, uint32_t *nforeign, struct fors_error *error)
{
	struct reader r = {.net = net, .port = FORS_NONE, .error = error};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);

	if (err)
		return err;
	r.counters = malloc((net->nports + (size_t)1) * sizeof(*r.counters));
	if (!r.counters)
		return fors_fail_memory(error);
	memset(r.counters, 0xFF, net->nports * sizeof(*r.counters)); /* nothing known */
	err = read_all(&r);
	if (err) {
		free(r.counters);
		return err;
	}
	*counters = r.counters;
	*nforeign = r.nforeign;
	return FORS_OK;
}
