/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * draw.c - a fabric as a picture.
 *
 * A switch stands in the row of its level, which is its distance from the next host, and in its row by GUID; hosts
 * are a number below their switch. That is right for fat-trees of any height, and readable for whatever else there
 * is. A cable has one state, the worst that is known of it: dead, drained, degraded, or none; and two loads, how many
 * of the hosts' LIDs the tables send over it in each direction. The busier it is beside the busiest, the darker it is
 * drawn. Where cables belong to somebody, each has that one's colour instead (`fors jobs`).
 */
#include "cli/draw.h"

#include "cli/cables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

#define MAX_COMMAND 512 /* letters of the command below the picture */
#define CELL 92		/* pixels of a switch, with the gap to the next */
#define BOX_WIDTH 80	/* of the switch itself */
#define BOX_HEIGHT 34
#define ROW 190 /* from one row to the next */
#define MARGIN 30
#define HEAD 70	   /* title and legend */
#define FOOT 76	   /* below the lowest row: hosts, command, date */
#define LETTER 6.4 /* the width of a small letter, at most, on average */
#define MIN_WIDTH 640
#define COLOUR_ROOM 32

enum state { LIVE, DEGRADED, DRAINED, DEAD };

/* How cables look that cannot be relied on, in both languages. */
static const struct {
	const char *name, *colour, *svg, *dot;
} looks[] = {
	[LIVE] = {"live", "#59636e", "", ""},
	[DEGRADED] = {"degraded", "#b35806", " stroke-width=\"2.5\"", ", penwidth=2"},
	[DRAINED] = {"drained", "#2166ac", " stroke-width=\"2.5\" stroke-dasharray=\"2 4\"",
		     ", style=dotted, penwidth=2"},
	[DEAD] = {"dead", "#b2182b", " stroke-width=\"2.5\" stroke-dasharray=\"8 5\"", ", style=dashed, penwidth=2"},
};

struct cable {
	uint32_t lower, upper; /* nodes of the intact net */
	uint8_t lower_port, upper_port;
	enum state state;
	uint32_t up, down; /* LIDs */
};

struct picture {
	const struct cli_drawing *what;
	uint32_t *sw;			  /* switches by GUID, nsw of them */
	uint32_t *level, *column, *hosts; /* by node */
	uint32_t *width;		  /* by level: how many switches */
	uint32_t *load;			  /* by port of the intact net */
	struct cable *cable;
	uint32_t nsw, nlevels, most; /* most: the largest row */
	size_t ncables;
	uint32_t busiest;
	struct fors_buffer out;
};

/* --- levels ---------------------------------------------------------------------------------------------------- */

static bool is_switch(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type == FORS_SWITCH;
}

static void count_hosts(struct picture *p)
{
	const struct fors_net *net = p->what->intact;

	for (uint32_t i = 0; i < p->nsw; i++) {
		p->hosts[p->sw[i]] = fors_net_hosts(net, p->sw[i]);
		p->level[p->sw[i]] = p->hosts[p->sw[i]] ? 0 : FORS_NONE;
	}
}

/* The neighbours of a level that have none yet are of the next. False: there are none. */
static bool raise(struct picture *p, uint32_t level)
{
	const struct fors_net *net = p->what->intact;
	bool is_more = false;

	for (uint32_t i = 0; i < p->nsw; i++)
		for (unsigned port = 1; p->level[p->sw[i]] == level && port <= net->node[p->sw[i]].nports; port++) {
			uint32_t peer = fors_net_port(net, p->sw[i], port)->peer;

			if (!is_switch(net, peer) || p->level[peer] != FORS_NONE)
				continue;
			p->level[peer] = level + 1;
			is_more = true;
		}
	return is_more;
}

static void place_switches(struct picture *p)
{
	const struct fors_net *net = p->what->intact;

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (is_switch(net, net->by_guid[i]))
			p->sw[p->nsw++] = net->by_guid[i];
	count_hosts(p);
	while (raise(p, p->nlevels))
		p->nlevels++;
	p->nlevels++;
	for (uint32_t i = 0; i < p->nsw; i++) {
		uint32_t *level = &p->level[p->sw[i]];

		if (*level == FORS_NONE) /* no host in reach */
			*level = 0;
		p->column[p->sw[i]] = p->width[*level]++;
		p->most = p->width[*level] > p->most ? p->width[*level] : p->most;
	}
}

/* --- cables ---------------------------------------------------------------------------------------------------- */

static bool is_listed(const struct picture *p, const struct fors_links *links, const struct cable *cable)
{
	const struct fors_net *net = p->what->intact;

	for (size_t i = 0; i < links->count; i++)
		if (links->link[i].a_port == cable->lower_port && links->link[i].b_port == cable->upper_port &&
		    !strcmp(links->link[i].a, net->node[cable->lower].desc) &&
		    !strcmp(links->link[i].b, net->node[cable->upper].desc))
			return true;
	return false;
}

static enum state state_of(const struct picture *p, const struct cable *cable)
{
	const struct fors_port *now = fors_net_port(p->what->now, cable->lower, cable->lower_port);
	const struct fors_status *status = p->what->status;

	if (now->peer == FORS_NONE || (status && is_listed(p, &status->dead_links, cable)))
		return DEAD;
	if (status && (is_listed(p, &status->excluded_links, cable) || is_listed(p, &status->held_links, cable)))
		return DRAINED;
	return now->is_degraded || (status && is_listed(p, &status->degraded_links, cable)) ? DEGRADED : LIVE;
}

static uint32_t load_of(const struct picture *p, uint32_t node, uint8_t port)
{
	return p->load[p->what->intact->node[node].first_port + port];
}

static void add_cable(struct picture *p, uint32_t node, uint8_t port)
{
	const struct fors_port *at = fors_net_port(p->what->intact, node, port);
	struct cable *cable = &p->cable[p->ncables++];

	*cable = (struct cable){.lower = node, .upper = at->peer, .lower_port = port, .upper_port = at->peer_port};
	cable->state = state_of(p, cable);
	cable->up = load_of(p, node, port);
	cable->down = load_of(p, at->peer, at->peer_port);
	if (cable->up > p->busiest)
		p->busiest = cable->up;
	if (cable->down > p->busiest)
		p->busiest = cable->down;
}

/* Each cable between switches once, from the lower end, or of one level from the left. */
static void list_cables(struct picture *p)
{
	const struct fors_net *net = p->what->intact;

	for (uint32_t i = 0; i < p->nsw; i++)
		for (unsigned port = 1; port <= net->node[p->sw[i]].nports; port++) {
			uint32_t node = p->sw[i], peer = fors_net_port(net, node, port)->peer;

			if (is_switch(net, peer) && peer != node &&
			    (p->level[node] < p->level[peer] ||
			     (p->level[node] == p->level[peer] && p->column[node] < p->column[peer])))
				add_cable(p, node, (uint8_t)port);
		}
}

/* Whose it is; FORS_NONE: nobody's. */
static uint32_t who_has(const struct picture *p, const struct cable *cable)
{
	const struct cli_colours *colours = p->what->colours;

	return colours && cable->state == LIVE
		       ? colours->who[p->what->intact->node[cable->lower].first_port + cable->lower_port]
		       : FORS_NONE;
}

/* From 0.25 to 1: what is busier is darker; what belongs to somebody stands out. */
static double opacity(const struct picture *p, const struct cable *cable)
{
	uint32_t load = cable->up > cable->down ? cable->up : cable->down;

	if (p->what->colours && cable->state == LIVE)
		return who_has(p, cable) == FORS_NONE ? 0.25 : 1;

	return cable->state != LIVE ? 1 : p->busiest ? 0.25 + 0.75 * load / p->busiest : 0.5;
}

/* --- text ------------------------------------------------------------------------------------------------------ */

/* For XML and for DOT's quotes; what is not ASCII becomes '?', as names need not be UTF-8. */
static void put_text(struct picture *p, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		const char *entity = c == '&'	? "&amp;"
				     : c == '<' ? "&lt;"
				     : c == '>' ? "&gt;"
				     : c == '"' ? "&quot;"
						: NULL;

		if (entity)
			fors_buffer_print(&p->out, "%s", entity);
		else
			fors_buffer_print(&p->out, "%c", c < 0x20 || c > 0x7e || c == '\\' ? '?' : c);
	}
}

/* "Leaf00[21] - Spine00[1], dead" or with loads: what the mouse shows. */
static void put_cable_words(struct picture *p, const struct cable *cable)
{
	put_text(p, fors_node_name(p->what->intact, cable->lower));
	fors_buffer_print(&p->out, "[%u] - ", cable->lower_port);
	put_text(p, fors_node_name(p->what->intact, cable->upper));
	fors_buffer_print(&p->out, "[%u]", cable->upper_port);
	if (cable->state != LIVE)
		fors_buffer_print(&p->out, ", %s", looks[cable->state].name);
	if (who_has(p, cable) != FORS_NONE) {
		fors_buffer_print(&p->out, ", job ");
		put_text(p, p->what->colours->name[who_has(p, cable)]);
	}
	if (p->what->lfts && cable->state != DEAD)
		fors_buffer_print(&p->out, ", %u %s up, %u down", cable->up, fors_plural(cable->up, "LID", "LIDs"),
				  cable->down);
}

/* --- SVG ------------------------------------------------------------------------------------------------------- */

static unsigned page_width(const struct picture *p)
{
	unsigned width = p->most * CELL + 2 * MARGIN;

	return width < MIN_WIDTH ? MIN_WIDTH : width;
}

/* The middle of a switch: rows are centred, the highest level is on top. */
static double x_of(const struct picture *p, uint32_t node)
{
	double room = page_width(p) - 2.0 * MARGIN, step = room / p->width[p->level[node]];

	return MARGIN + step * (p->column[node] + 0.5);
}

static double y_of(const struct picture *p, uint32_t node)
{
	return HEAD + MARGIN + (double)ROW * (p->nlevels - 1 - p->level[node]);
}

static void svg_head(struct picture *p)
{
	unsigned width = page_width(p), height = HEAD + 2 * MARGIN + ROW * (p->nlevels - 1) + FOOT;

	fors_buffer_print(
		&p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" width=\"%u\" height=\"%u\" role=\"img\" "
		"style=\"width:100%%;height:auto;max-width:%upx\">\n"
		"<style>text{font-family:sans-serif;font-size:12px;fill:#222}.title{font-size:15px;font-weight:bold}"
		".switch{fill:#f4f6f8;stroke:#444}.small{font-size:11px;fill:#59636e}line:hover{stroke-width:5}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text class=\"title\" x=\"%d\" y=\"24\">",
		width, height, width, height, width, MARGIN);
	put_text(p, p->what->title);
	fors_buffer_print(&p->out, "</text>\n<desc>");
	put_text(p, p->what->command);
	fors_buffer_print(&p->out, "</desc>\n");
}

/* The command, as much of it as there is room for (<desc> has all), and the date. */
static void svg_foot(struct picture *p)
{
	unsigned y = HEAD + 2 * MARGIN + ROW * (p->nlevels - 1) + 46;
	size_t most = (size_t)((page_width(p) - 2 * MARGIN) / LETTER);
	char line[MAX_COMMAND];

	if (most > sizeof(line) - 4)
		most = sizeof(line) - 4;
	snprintf(line, sizeof(line), "%.*s%s", (int)most, p->what->command,
		 strlen(p->what->command) > most ? "..." : "");
	fors_buffer_print(&p->out, "<text class=\"small\" x=\"%d\" y=\"%u\">", MARGIN, y);
	put_text(p, line);
	fors_buffer_print(&p->out, "</text>\n<text class=\"small\" x=\"%d\" y=\"%u\">%s%s</text>\n", MARGIN, y + 16,
			  p->what->date,
			  p->what->lfts ? "; the darker a cable, the more LIDs the tables send over it" : "");
}

static size_t count_state(const struct picture *p, enum state state)
{
	size_t count = 0;

	for (size_t i = 0; i < p->ncables; i++)
		count += p->cable[i].state == state;
	return count;
}

static void svg_legend(struct picture *p)
{
	for (int state = LIVE; state <= DEAD; state++) {
		int x = MARGIN + 140 * state;

		fors_buffer_print(&p->out,
				  "<line x1=\"%d\" y1=\"46\" x2=\"%d\" y2=\"46\" stroke=\"%s\"%s/>"
				  "<text x=\"%d\" y=\"50\">%zu %s</text>\n",
				  x, x + 32, looks[state].colour, looks[state].svg, x + 40,
				  count_state(p, (enum state)state), looks[state].name);
	}
}

/* Neighbours in the list are far apart on the wheel of colours, and not alike in brightness. */
static void colour_of(uint32_t number, char *colour)
{
	snprintf(colour, COLOUR_ROOM, "hsl(%u,65%%,%u%%)", (unsigned)((uint64_t)number * 137 % 360),
		 number % 2 ? 55 : 38);
}

/* As many as there is room for in a line below the states. */
static void svg_owners(struct picture *p)
{
	const struct cli_colours *colours = p->what->colours;
	char colour[COLOUR_ROOM];

	for (uint32_t i = 0; colours && i < colours->count && MARGIN + 120 * (i + 1) < page_width(p); i++) {
		unsigned x = MARGIN + 120 * i;

		colour_of(i, colour);
		fors_buffer_print(
			&p->out,
			"<rect x=\"%u\" y=\"60\" width=\"24\" height=\"8\" fill=\"%s\"/><text class=\"small\" x=\"%u\" y=\"68\">",
			x, colour, x + 30);
		for (const char *c = colours->name[i]; *c && c < colours->name[i] + 12; c++)
			put_text(p, (char[]){*c, '\0'});
		fors_buffer_print(&p->out, "</text>\n");
	}
}

static void svg_cable(struct picture *p, const struct cable *cable)
{
	uint32_t who = who_has(p, cable);
	char colour[COLOUR_ROOM] = "";

	if (who != FORS_NONE)
		colour_of(who, colour);
	fors_buffer_print(
		&p->out,
		"<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-opacity=\"%.2f\"%s><title>",
		looks[cable->state].name, x_of(p, cable->lower), y_of(p, cable->lower) - BOX_HEIGHT / 2,
		x_of(p, cable->upper), y_of(p, cable->upper) + BOX_HEIGHT / 2,
		*colour ? colour : looks[cable->state].colour, opacity(p, cable),
		*colour ? " stroke-width=\"2\"" : looks[cable->state].svg);
	put_cable_words(p, cable);
	fors_buffer_print(&p->out, "</title></line>\n");
}

/* A name of more letters than the box has room for is squeezed into it. */
static void svg_switch(struct picture *p, uint32_t node)
{
	double x = x_of(p, node), y = y_of(p, node);
	const char *name = fors_node_name(p->what->intact, node);

	fors_buffer_print(&p->out, "<rect class=\"switch\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" rx=\"4\"/>",
			  x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2, BOX_WIDTH, BOX_HEIGHT);
	fors_buffer_print(&p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>", x, y + 4,
			  strlen(name) > 11 ? " textLength=\"74\" lengthAdjust=\"spacingAndGlyphs\"" : "");
	put_text(p, name);
	fors_buffer_print(&p->out, "</text>\n");
	if (p->hosts[node])
		fors_buffer_print(&p->out,
				  "<text class=\"small\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%u %s</text>\n",
				  x, y + BOX_HEIGHT / 2 + 14, p->hosts[node], p->hosts[node] == 1 ? "host" : "hosts");
}

static void put_svg(struct picture *p)
{
	svg_head(p);
	svg_legend(p);
	svg_owners(p);
	for (int state = LIVE; state <= DEAD; state++) /* what matters is on top */
		for (size_t i = 0; i < p->ncables; i++)
			if ((int)p->cable[i].state == state)
				svg_cable(p, &p->cable[i]);
	for (uint32_t i = 0; i < p->nsw; i++)
		svg_switch(p, p->sw[i]);
	svg_foot(p);
	fors_buffer_print(&p->out, "</svg>\n");
}

/* --- DOT ------------------------------------------------------------------------------------------------------- */

static void put_dot(struct picture *p)
{
	const struct fors_net *net = p->what->intact;

	fors_buffer_print(&p->out, "graph fabric {\n\tlabel=\"");
	put_text(p, p->what->title);
	fors_buffer_print(&p->out, ", %s\\n", p->what->date);
	put_text(p, p->what->command);
	fors_buffer_print(&p->out, "\";\n\tnode [shape=box, style=rounded];\n");
	for (uint32_t level = p->nlevels; level-- > 0;) {
		fors_buffer_print(&p->out, "\t{ rank=same;\n");
		for (uint32_t i = 0; i < p->nsw; i++) {
			if (p->level[p->sw[i]] != level)
				continue;
			fors_buffer_print(&p->out, "\t\t\"%016llx\" [label=\"",
					  (unsigned long long)net->node[p->sw[i]].guid);
			put_text(p, fors_node_name(p->what->intact, p->sw[i]));
			if (p->hosts[p->sw[i]])
				fors_buffer_print(&p->out, "\\n%u %s", p->hosts[p->sw[i]],
						  fors_plural(p->hosts[p->sw[i]], "host", "hosts"));
			fors_buffer_print(&p->out, "\"];\n");
		}
		fors_buffer_print(&p->out, "\t}\n");
	}
	for (size_t i = 0; i < p->ncables; i++) {
		const struct cable *cable = &p->cable[i];

		fors_buffer_print(&p->out, "\t\"%016llx\" -- \"%016llx\" [color=\"%s\"%s, tooltip=\"",
				  (unsigned long long)net->node[cable->upper].guid,
				  (unsigned long long)net->node[cable->lower].guid, looks[cable->state].colour,
				  looks[cable->state].dot);
		put_cable_words(p, cable);
		fors_buffer_print(&p->out, "\"];\n");
	}
	fors_buffer_print(&p->out, "}\n");
}

/* --- all of it ------------------------------------------------------------------------------------------------- */

static bool allocate(struct picture *p)
{
	size_t nodes = (size_t)p->what->intact->nnodes + 1, ports = (size_t)p->what->intact->nports + 1;

	p->sw = calloc(nodes, sizeof(*p->sw));
	p->level = calloc(nodes, sizeof(*p->level));
	p->column = calloc(nodes, sizeof(*p->column));
	p->hosts = calloc(nodes, sizeof(*p->hosts));
	p->width = calloc(nodes, sizeof(*p->width));
	p->load = p->what->lfts ? cli_count_lids(p->what->now, p->what->lfts) : calloc(ports, sizeof(*p->load));
	p->cable = calloc(ports, sizeof(*p->cable));
	return p->sw && p->level && p->column && p->hosts && p->width && p->load && p->cable;
}

enum fors_err cli_draw(const struct cli_drawing *drawing, bool is_dot, char **text, struct fors_error *error)
{
	struct picture p = {.what = drawing};
	bool is_good = allocate(&p);

	if (is_good) {
		place_switches(&p);
		list_cables(&p);
		if (is_dot)
			put_dot(&p);
		else
			put_svg(&p);
	}
	free(p.sw);
	free(p.level);
	free(p.column);
	free(p.hosts);
	free(p.width);
	free(p.load);
	free(p.cable);
	if (is_good && p.nsw)
		return fors_buffer_finish(&p.out, text, NULL, error);
	free(p.out.text);
	return is_good ? fors_fail(error, FORS_EINPUT, "there is no switch to draw") : fors_fail_memory(error);
}
