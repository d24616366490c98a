/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* verify_text.c - what the verifier says: servers, flows and cables by the names that people know. */
#include "verify_inside.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/text.h"

void fors_verify_tell(struct check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->verdict->text, sizeof(check->verdict->text), format, args);
	va_end(args);
	fors_text_clean(check->verdict->text);
}

#define NAME_ROOM 128

/* "Node00-3 (LID 17)" */
struct text fors_verify_server_text(const struct check *check, uint32_t s)
{
	const struct fors_schedule_server *server = &check->schedule->server[s];
	struct text text;

	if (server->desc[0])
		snprintf(text.text, NAME_ROOM, "%.*s (LID %u)", FORS_NAME_MAX, server->desc, server->lid);
	else
		snprintf(text.text, NAME_ROOM, "0x%016" PRIx64 " (LID %u)", server->guid, server->lid);
	return text;
}

/* "Node00-3 (LID 17) -> Node05-0 (LID 130) on LID 131" */
struct text fors_verify_flow_text(const struct check *check, uint32_t src, struct fors_cell cell)
{
	struct text text;

	snprintf(text.text, sizeof(text.text), "%.*s -> %.*s on LID %u", NAME_ROOM,
		 fors_verify_server_text(check, src).text, NAME_ROOM, fors_verify_server_text(check, cell.dst).text,
		 check->schedule->server[cell.dst].lid + cell.path);
	return text;
}

static uint32_t node_of_link(const struct check *check, uint32_t link)
{
	const struct fors_port *port = &check->net->port[link];

	return check->net->port[check->net->node[port->peer].first_port + port->peer_port].peer;
}

/* "Leaf00[21] -> Spine00[1]" */
struct text fors_verify_link_text(const struct check *check, uint32_t link)
{
	const struct fors_port *port = &check->net->port[link];
	uint32_t node = node_of_link(check, link);
	struct text text;

	snprintf(text.text, sizeof(text.text), "%s[%u] -> %s[%u]", fors_node_name(check->net, node),
		 link - check->net->node[node].first_port, fors_node_name(check->net, port->peer), port->peer_port);
	return text;
}
