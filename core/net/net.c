/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * net.c - nodes, ports, cables: two growing arrays and one sorted index.
 *
 * All ports of all nodes lie in one array, node by node, port 0 first, so that a
 * cable is two entries that name each other. A link that is down is an entry
 * whose peer is FORS_NONE. GUIDs are found by binary search in by_guid, which
 * fors_net_index() makes once the net is complete.
 */
#include "net.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/copy.h"
#include "core/base/numbers.h"
#include "core/base/text.h"

#define MAX_PORTS 254

struct fors_net *fors_net_new(void)
{
	return calloc(1, sizeof(struct fors_net));
}

void fors_net_free(struct fors_net *net)
{
	if (!net)
		return;
	free(net->node);
	free(net->port);
	free(net->by_guid);
	free(net);
}

enum fors_err fors_net_copy(const struct fors_net *net, struct fors_net **copy, struct fors_error *error)
{
	struct fors_net *to = fors_net_new();

	if (!to)
		return fors_fail_memory(error);
	*to = (struct fors_net){
		.nnodes = net->nnodes, .nports = net->nports, .node_room = net->nnodes, .port_room = net->nports};
	to->node = fors_copy_array(net->node, net->nnodes, sizeof(*net->node));
	to->port = fors_copy_array(net->port, net->nports, sizeof(*net->port));
	if (net->by_guid)
		to->by_guid = fors_copy_array(net->by_guid, net->nnodes, sizeof(*net->by_guid));
	if (!to->node || !to->port || (net->by_guid && !to->by_guid)) {
		fors_net_free(to);
		return fors_fail_memory(error);
	}
	*copy = to;
	return FORS_OK;
}

/* Make room for `more` elements behind `used`; false when out of memory. */
static bool make_room(void **array, uint32_t *room, uint32_t used, uint32_t more, size_t size)
{
	uint32_t wanted = *room;
	void *grown;

	if (used + more <= *room)
		return true;
	wanted = wanted * 2 > used + more ? wanted * 2 : used + more;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}

/* Names end up in logs, JSON and HTML: no control characters, no quotes. */
static void copy_name(char *to, const char *from)
{
	size_t i;

	for (i = 0; from && from[i] && i < FORS_NAME_MAX; i++) {
		unsigned char c = (unsigned char)from[i];

		to[i] = c < 0x20 || c >= 0x7f || c == '"' || c == '\'' || c == '\\' || c == '<' || c == '>' ? '?'
													    : (char)c;
	}
	to[i] = '\0';
}

enum fors_err fors_net_add_node(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid,
				const char *id, const char *desc, uint32_t *index, struct fors_error *error)
{
	struct fors_node *node;

	if (nports > MAX_PORTS)
		return fors_fail(error, FORS_ELIMIT, "node %.64s has %u ports; InfiniBand allows %u", id, nports,
				 MAX_PORTS);
	if (!make_room((void **)&net->node, &net->node_room, net->nnodes, 1, sizeof(*net->node)) ||
	    !make_room((void **)&net->port, &net->port_room, net->nports, nports + 1, sizeof(*net->port)))
		return fors_fail_memory(error);
	node = &net->node[net->nnodes];
	*node = (struct fors_node){.guid = guid, .first_port = net->nports, .type = type, .nports = (uint8_t)nports};
	copy_name(node->id, id);
	copy_name(node->desc, desc);
	for (unsigned p = 0; p <= nports; p++)
		net->port[net->nports + p] = (struct fors_port){.peer = FORS_NONE};
	if (type == FORS_SWITCH)
		net->port[net->nports].guid = guid;
	net->nports += nports + 1;
	free(net->by_guid);
	net->by_guid = NULL;
	*index = net->nnodes++;
	return FORS_OK;
}

/* --- GUIDs ---------------------------------------------------------------- */

struct guid_owner {
	uint64_t guid;
	uint32_t node;
};

static int compare_owners(const void *left, const void *right)
{
	const struct guid_owner *a = left, *b = right;

	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Sort owners and complain about two that share a GUID. */
static enum fors_err sort_owners(const struct fors_net *net, struct guid_owner *owner, uint32_t count, const char *what,
				 struct fors_error *error)
{
	qsort(owner, count, sizeof(*owner), compare_owners);
	for (uint32_t i = 1; i < count; i++)
		if (owner[i].guid == owner[i - 1].guid)
			return fors_fail(error, FORS_EINPUT,
					 "%s GUID 0x%016" PRIx64 " is used twice, by %s and %s; GUIDs must be unique",
					 what, owner[i].guid, net->node[owner[i - 1].node].id,
					 net->node[owner[i].node].id);
	return FORS_OK;
}

static enum fors_err index_nodes(struct fors_net *net, struct guid_owner *owner, uint32_t *by_guid,
				 struct fors_error *error)
{
	enum fors_err err;

	for (uint32_t n = 0; n < net->nnodes; n++)
		owner[n] = (struct guid_owner){net->node[n].guid, n};
	err = sort_owners(net, owner, net->nnodes, "node", error);
	for (uint32_t n = 0; n < net->nnodes; n++)
		by_guid[n] = owner[n].node;
	return err;
}

static enum fors_err check_port_guids(struct fors_net *net, struct guid_owner *owner, struct fors_error *error)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < net->nnodes; n++)
		for (unsigned p = 1; net->node[n].type != FORS_SWITCH && p <= net->node[n].nports; p++)
			if (fors_net_port(net, n, p)->guid)
				owner[count++] = (struct guid_owner){fors_net_port(net, n, p)->guid, n};
	return sort_owners(net, owner, count, "port", error);
}

enum fors_err fors_net_index(struct fors_net *net, struct fors_error *error)
{
	struct guid_owner *owner = calloc((size_t)net->nports + 1, sizeof(*owner));
	uint32_t *by_guid = calloc((size_t)net->nnodes + 1, sizeof(*by_guid));
	enum fors_err err = FORS_OK;

	if (!owner || !by_guid)
		err = fors_fail_memory(error);
	if (!err)
		err = index_nodes(net, owner, by_guid, error);
	if (!err)
		err = check_port_guids(net, owner, error);
	free(owner);
	if (err) {
		free(by_guid);
		return err;
	}
	free(net->by_guid);
	net->by_guid = by_guid;
	return FORS_OK;
}

uint32_t fors_net_find_guid(const struct fors_net *net, uint64_t guid)
{
	uint32_t low = 0, high = net->nnodes;

	while (net->by_guid && low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t found = net->node[net->by_guid[middle]].guid;

		if (found == guid)
			return net->by_guid[middle];
		if (found < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return FORS_NONE;
}

/* --- what a person means -------------------------------------------------- */

/* Split "NODE[PORT]" into name and port; port 0 when there is none. */
static enum fors_err split_port(const char *what, char *name, size_t room, unsigned *port, struct fors_error *error)
{
	size_t length = strlen(what);
	const char *open = strrchr(what, '[');
	char *end;

	*port = 0;
	if (length && what[length - 1] == ']' && open) {
		unsigned long number = strtoul(open + 1, &end, 10);

		if (end == open + 1 || *end != ']' || number < 1 || number > MAX_PORTS)
			return fors_fail(error, FORS_EINPUT, "'%.100s': the port must be a number from 1 to %u", what,
					 MAX_PORTS);
		*port = (unsigned)number;
		length = (size_t)(open - what);
	}
	if (!length || length >= room)
		return fors_fail(error, FORS_EINPUT, "'%.100s' names no node; write NODE or NODE[PORT]", what);
	memcpy(name, what, length);
	name[length] = '\0';
	return FORS_OK;
}

static uint32_t find_id(const struct fors_net *net, const char *name)
{
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (!strcmp(net->node[n].id, name))
			return n;
	return FORS_NONE;
}

static bool has_port_guid(const struct fors_net *net, uint32_t node, uint64_t guid)
{
	for (unsigned p = 1; net->node[node].type != FORS_SWITCH && p <= net->node[node].nports; p++)
		if (fors_net_port(net, node, p)->guid == guid)
			return true;
	return false;
}

/* Is it written as a GUID? */
static bool is_guid(const char *name, uint64_t *guid)
{
	char *end;

	if (strncasecmp(name, "0x", 2) || !isxdigit((unsigned char)name[2]))
		return false;
	*guid = strtoull(name, &end, 16);
	return !*end;
}

static uint32_t find_any_guid(const struct fors_net *net, uint64_t guid)
{
	if (!guid) /* 0 is a GUID that is not known */
		return FORS_NONE;
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (net->node[n].guid == guid)
			return n;
	for (uint32_t n = 0; n < net->nnodes; n++)
		if (has_port_guid(net, n, guid))
			return n;
	return FORS_NONE;
}

/*
 * The part of a vendor's description that an administrator gave, NAME of "MF0;NAME:MODEL/U1", and its length; 0: it is not
 * of that kind. *chip: what tells the switches of a director from each other, "/U1", or "".
 */
static size_t given_name(const char *desc, const char **name, const char **chip)
{
	const char *start = strchr(desc, ';'), *end = start ? strchr(start, ':') : NULL, *slash;

	if (!end)
		return 0;
	slash = strchr(end, '/');
	*name = start + 1;
	*chip = slash ? slash : "";
	return (size_t)(end - *name);
}

bool fors_is_called(const char *desc, const char *name)
{
	const char *given, *chip;
	size_t length = given_name(desc, &given, &chip);

	return !strcmp(desc, name) ||
	       (length && !strncmp(name, given, length) && (!name[length] || !strcmp(name + length, chip)));
}

/* Several nodes are called so: name them, as many as fit. */
static enum fors_err fail_ambiguous(const struct fors_net *net, const char *name, struct fors_error *error)
{
	char list[160] = "";
	size_t used = 0;
	unsigned more = 0;

	for (uint32_t n = 0; n < net->nnodes; n++) {
		if (!fors_is_called(net->node[n].desc, name))
			continue;
		if (used + 24 < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, " 0x%016" PRIx64, net->node[n].guid);
		else
			more++;
	}
	if (more)
		return fors_fail(error, FORS_EINPUT,
				 "'%s' is the description of several nodes, use a GUID:%s and %u more", name, list,
				 more);
	return fors_fail(error, FORS_EINPUT, "'%s' is the description of several nodes, use a GUID:%s", name, list);
}

/* The first node that is called so, and how many are. */
static uint32_t count_called(const struct fors_net *net, const char *name, uint32_t *node)
{
	uint32_t count = 0;

	for (uint32_t n = net->nnodes; n-- > 0;)
		if (fors_is_called(net->node[n].desc, name)) {
			*node = n;
			count++;
		}
	return count;
}

static bool has_name(const struct fors_net *net, const char *name)
{
	uint32_t node;

	return count_called(net, name, &node) || find_id(net, name) != FORS_NONE;
}

/* What nodes are called, in the brief form where there is one; all in `text`, a name's room each. */
static void list_names(const struct fors_net *net, char *text, const char **list)
{
	for (uint32_t n = 0; n < net->nnodes; n++, text += FORS_NAME_MAX + 1) {
		const char *given = fors_node_name(net, n), *chip;
		size_t length = given_name(given, &given, &chip);

		snprintf(text, FORS_NAME_MAX + 1, "%.*s", length ? (int)length : FORS_NAME_MAX, given);
		list[n] = text;
	}
}

/* Up to three names that are most like this one, as "; is it 'a', 'b'?", where memory allows. */
static void print_nearest(const struct fors_net *net, const char *name, char *text, size_t room)
{
	char *names = calloc(net->nnodes + (size_t)1, FORS_NAME_MAX + 1);
	const char **list = calloc(net->nnodes + (size_t)1, sizeof(*list));
	size_t used = 0, count = names && list ? net->nnodes : 0, near, kept;

	if (count)
		list_names(net, names, list);
	for (unsigned i = 0; i < 3 && (near = fors_text_nearest(name, list, count)) != FORS_NO_TEXT; i++) {
		const char *found = list[near];

		used += (size_t)snprintf(text + used, room - used, "%s'%s'", i ? ", " : "; is it ", found);
		kept = 0; /* each name once */
		for (size_t n = 0; n < count; n++)
			if (strcmp(list[n], found))
				list[kept++] = list[n];
		count = kept;
	}
	snprintf(text + used, room - used, used ? "?" : "");
	free(names);
	free(list);
}

/* Nobody is called "Leaf00:21"; a port of Leaf00 may be meant, as other tools write it. */
static enum fors_err fail_unknown(const struct fors_net *net, const char *name, struct fors_error *error)
{
	size_t split = strcspn(name, ":/");
	char node[sizeof(((struct fors_address *)0)->name)], nearest[256] = "";
	const char *port = name[split] ? name + split + 1 : "";
	uint64_t guid;

	snprintf(node, sizeof(node), "%.*s", (int)split, name);
	if (*port && strspn(port, "0123456789") == strlen(port) && (has_name(net, node) || is_guid(node, &guid)))
		return fors_fail(error, FORS_EINPUT,
				 "no node has the id, GUID or description '%s'; a port is written %s[%s]", name, node,
				 port);
	if (error)
		print_nearest(net, name, nearest, sizeof(nearest));
	return fors_fail(error, FORS_EINPUT, "no node has the id, GUID or description '%s'%s", name, nearest);
}

static enum fors_err find_desc(const struct fors_net *net, const char *name, uint32_t *node, struct fors_error *error)
{
	uint32_t found = FORS_NONE, count = count_called(net, name, &found);

	if (count > 1)
		return fail_ambiguous(net, name, error);
	if (!count)
		return fail_unknown(net, name, error);
	*node = found;
	return FORS_OK;
}

enum fors_err fors_address_read(const char *what, struct fors_address *address, struct fors_error *error)
{
	struct fors_address found = {.node = FORS_NONE};
	enum fors_err err = split_port(what, found.name, sizeof(found.name), &found.port, error);

	if (err)
		return err;
	found.is_guid = is_guid(found.name, &found.guid);
	if (!found.is_guid)
		found.guid = 0;
	*address = found;
	return FORS_OK;
}

enum fors_err fors_net_address(const struct fors_net *net, const char *what, struct fors_address *address,
			       struct fors_error *error)
{
	enum fors_err err = fors_address_read(what, address, error);

	if (err)
		return err;
	address->node = find_id(net, address->name);
	if (address->node == FORS_NONE && address->is_guid)
		address->node = find_any_guid(net, address->guid);
	return FORS_OK;
}

static enum fors_err find_named(const struct fors_net *net, struct fors_address *address, struct fors_error *error)
{
	if (address->node != FORS_NONE)
		return FORS_OK;
	if (address->is_guid)
		return fors_fail(error, FORS_EINPUT, "no node has the id or GUID '%s'", address->name);
	return find_desc(net, address->name, &address->node, error);
}

enum fors_err fors_net_find(const struct fors_net *net, const char *what, uint32_t *node, unsigned *port,
			    struct fors_error *error)
{
	struct fors_address address;
	enum fors_err err = fors_net_address(net, what, &address, error);

	if (!err)
		err = find_named(net, &address, error);
	if (err)
		return err;
	if (address.port > net->node[address.node].nports)
		return fors_fail(error, FORS_EINPUT, "%s has no port %u, only 1 to %u", address.name, address.port,
				 net->node[address.node].nports);
	*node = address.node;
	*port = address.port;
	return FORS_OK;
}

/* --- cables --------------------------------------------------------------- */

static enum fors_err check_free(const struct fors_net *net, uint32_t node, unsigned port, struct fors_error *error)
{
	const struct fors_port *p;

	if (port < 1 || port > net->node[node].nports)
		return fors_fail(error, FORS_EINPUT, "%s has no port %u, only 1 to %u", net->node[node].id, port,
				 net->node[node].nports);
	p = fors_net_port(net, node, port);
	if (p->peer != FORS_NONE)
		return fors_fail(error, FORS_EINPUT, "port %s[%u] is used twice, it already goes to %s[%u]",
				 net->node[node].id, port, net->node[p->peer].id, p->peer_port);
	return FORS_OK;
}

enum fors_err fors_net_connect(struct fors_net *net, uint32_t node_a, unsigned port_a, uint32_t node_b, unsigned port_b,
			       struct fors_error *error)
{
	enum fors_err err = check_free(net, node_a, port_a, error);

	if (!err)
		err = check_free(net, node_b, port_b, error);
	if (!err && node_a == node_b && port_a == port_b)
		err = fors_fail(error, FORS_EINPUT, "port %s[%u] is cabled to itself", net->node[node_a].id, port_a);
	if (err)
		return err;
	fors_net_port(net, node_a, port_a)->peer = node_b;
	fors_net_port(net, node_a, port_a)->peer_port = (uint8_t)port_b;
	fors_net_port(net, node_b, port_b)->peer = node_a;
	fors_net_port(net, node_b, port_b)->peer_port = (uint8_t)port_a;
	return FORS_OK;
}

void fors_net_disconnect(struct fors_net *net, uint32_t node, unsigned port)
{
	struct fors_port *here = fors_net_port(net, node, port);

	if (here->peer == FORS_NONE)
		return;
	fors_net_port(net, here->peer, here->peer_port)->peer = FORS_NONE;
	here->peer = FORS_NONE;
}

enum fors_err fors_net_down(const struct fors_net *intact, struct fors_net *net, const char *what,
			    struct fors_error *error)
{
	uint32_t node;
	unsigned port, cables = 0;
	enum fors_err err = fors_net_find(intact, what, &node, &port, error);

	if (err)
		return err;
	for (unsigned p = port ? port : 1; p <= (port ? port : intact->node[node].nports); p++) {
		if (fors_net_port(intact, node, p)->peer == FORS_NONE)
			continue;
		fors_net_disconnect(net, node, p);
		cables++;
	}
	if (!cables)
		return fors_fail(error, FORS_EINPUT, "'%.100s' has no cable that could go down", what);
	return FORS_OK;
}

uint32_t fors_peer_switch(const struct fors_net *net, uint32_t node, unsigned port)
{
	uint32_t peer = fors_net_port(net, node, port)->peer;

	return peer != FORS_NONE && peer != node && net->node[peer].type == FORS_SWITCH ? peer : FORS_NONE;
}

uint32_t fors_net_hosts(const struct fors_net *net, uint32_t node)
{
	uint32_t count = 0;

	for (unsigned p = 1; p <= net->node[node].nports; p++)
		count += fors_is_host(net, fors_net_port(net, node, p)->peer);
	return count;
}

bool fors_host_name(const struct fors_node *node, char *name)
{
	size_t length = strcspn(node->desc, " \t"), blanks = strspn(node->desc + length, " \t");
	const char *more = node->desc + length + blanks;

	snprintf(name, FORS_NAME_MAX + 1, "%.*s", (int)length, node->desc);
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	more += strcspn(more, " \t");
	return isalnum((unsigned char)*name) && !more[strspn(more, " \t")] && strcmp(name, "localhost") != 0;
}

uint32_t fors_net_lid_end(const struct fors_net *net)
{
	uint32_t end = 1;

	for (uint32_t i = 0; i < net->nports; i++)
		if (net->port[i].lid && net->port[i].lid + (1u << net->port[i].lmc) > end)
			end = net->port[i].lid + (1u << net->port[i].lmc);
	return end;
}

/* --- participants --------------------------------------------------------- */

enum fors_err fors_participants_sort(const struct fors_participants *list, struct fors_participants *sorted,
				     struct fors_error *error)
{
	struct fors_participants made = {NULL, 0};

	if (list) {
		made = (struct fors_participants){fors_copy_array(list->guid, list->count, sizeof(*made.guid)),
						  list->count};
		if (!made.guid)
			return fors_fail_memory(error);
		qsort(made.guid, made.count, sizeof(*made.guid), fors_by_number);
	}
	*sorted = made;
	return FORS_OK;
}

bool fors_participants_have(const struct fors_participants *sorted, uint64_t guid)
{
	return !sorted->guid || bsearch(&guid, sorted->guid, sorted->count, sizeof(guid), fors_by_number);
}
