/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slurm.c - a net as the tree that Slurm's plugin topology/tree thinks in.
 *
 * Slurm places a job under the lowest switch of a tree that has room for it, and in its tree each switch has one parent. A
 * fat-tree has many: each leaf is cabled to every spine. What Slurm needs is which hosts are near each other, so switches
 * that do the same are one unit, as an administrator would write it: the level of a switch is its distance from the next
 * host, and a unit of level L is what hangs together by switches of level 0 to L. So two levels become one unit over all
 * leaves, three levels a unit for each pod and one over them. A unit that joins nothing new is left out.
 *
 * Names are those of the node descriptions where Slurm can read them (one word of letters, digits, dots, dashes and
 * underscores, that no other switch has), else ibsw<n>, counted by GUID, as slurmibtopology.sh counts them; units of several
 * switches are called level<L>-<n>. Comments say which is which. A host is the first word of its description (fors_host_name());
 * one that has adapters at several switches stands under the first of them, because in a tree it has one place. An adapter
 * whose description can be no host's is left out, and a comment says so: a node that Slurm does not know stops its daemon.
 */
#include "slurm.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/text.h"

#define NAME_ROOM (FORS_NAME_MAX + 16)

/* An adapter, and the host that it is of. */
struct adapter {
	char host[NAME_ROOM];
	uint32_t node, place; /* place: of its first switch, in the order of t.sw */
};

/* A line of the file. */
struct unit {
	uint32_t some;	 /* one of its switches */
	uint32_t level;	 /* 0: the switch `some` with its hosts */
	uint32_t number; /* among those of its level, from 1 */
	uint32_t parent; /* unit, FORS_NONE: it is a root, or not known yet */
};

struct topology {
	const struct fors_net *net;
	uint32_t *sw;	 /* the switches by GUID, nsw of them */
	uint32_t *level; /* by node, FORS_NONE: no host is in reach, or no switch */
	uint32_t *group; /* by node: of the same component, see find() */
	uint32_t nsw, nlevels;
	struct unit *unit;
	uint32_t nunits;
	struct word {
		char text[NAME_ROOM];
	} * name;		 /* by node: what a switch is called; empty: by its number */
	char (*word)[NAME_ROOM]; /* a list in the making */
	uint32_t *home; /* by node: the switch under which a host stands, FORS_NONE: its name stands elsewhere */
	struct fors_buffer *out;
};

/* --- levels and units ------------------------------------------------------------------------------------------ */

static bool is_switch(const struct topology *t, uint32_t node)
{
	return node != FORS_NONE && t->net->node[node].type == FORS_SWITCH;
}

static uint32_t peer_of(const struct topology *t, uint32_t node, unsigned port)
{
	return fors_net_port(t->net, node, port)->peer;
}

static bool has_hosts(const struct topology *t, uint32_t node)
{
	for (unsigned p = 1; p <= t->net->node[node].nports; p++) {
		uint32_t peer = peer_of(t, node, p);

		if (peer != FORS_NONE && t->net->node[peer].type == FORS_CA)
			return true;
	}
	return false;
}

/* Breadth first from the switches with hosts; one level in each round. */
static void find_levels(struct topology *t)
{
	bool is_more = true;

	for (uint32_t i = 0; i < t->nsw; i++)
		t->level[t->sw[i]] = has_hosts(t, t->sw[i]) ? 0 : FORS_NONE;
	for (t->nlevels = 1; is_more; t->nlevels += is_more) {
		is_more = false;
		for (uint32_t i = 0; i < t->nsw; i++)
			for (unsigned p = 1; p <= t->net->node[t->sw[i]].nports; p++) {
				uint32_t peer = peer_of(t, t->sw[i], p);

				if (t->level[t->sw[i]] != t->nlevels - 1 || !is_switch(t, peer) ||
				    t->level[peer] != FORS_NONE)
					continue;
				t->level[peer] = t->nlevels;
				is_more = true;
			}
	}
}

static uint32_t find(struct topology *t, uint32_t node)
{
	while (t->group[node] != node)
		node = t->group[node] = t->group[t->group[node]];
	return node;
}

/* Join what is cabled, as far as both ends are of this level or below. */
static void join(struct topology *t, uint32_t level)
{
	for (uint32_t i = 0; i < t->nsw; i++)
		for (unsigned p = 1; p <= t->net->node[t->sw[i]].nports; p++) {
			uint32_t peer = peer_of(t, t->sw[i], p);

			if (is_switch(t, peer) && t->level[t->sw[i]] <= level && t->level[peer] <= level)
				t->group[find(t, peer)] = find(t, t->sw[i]);
		}
}

static void add_unit(struct topology *t, uint32_t some, uint32_t level)
{
	uint32_t number = 1;

	for (uint32_t u = 0; u < t->nunits; u++)
		number += t->unit[u].level == level;
	t->unit[t->nunits++] = (struct unit){some, level, number, FORS_NONE};
}

/* Units of before that hang together now, two or more, get a parent; those are the units of this level. */
static void add_parents(struct topology *t, uint32_t level)
{
	uint32_t nbefore = t->nunits;

	join(t, level);
	for (uint32_t u = 0; u < nbefore; u++)
		for (uint32_t v = u + 1; v < nbefore; v++) {
			if (t->unit[v].parent != FORS_NONE || find(t, t->unit[u].some) != find(t, t->unit[v].some))
				continue;
			if (t->unit[u].parent != FORS_NONE && t->unit[t->unit[u].parent].level < level)
				break; /* u is below another unit, which will find v itself */
			if (t->unit[u].parent == FORS_NONE) {
				add_unit(t, t->unit[u].some, level);
				t->unit[u].parent = t->nunits - 1;
			}
			t->unit[v].parent = t->unit[u].parent;
		}
}

/* --- names ----------------------------------------------------------------------------------------------------- */

/* Slurm's lists give other characters a meaning. Names that look like those made up here are not taken. */
static bool is_plain(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			return false;
	return isalnum((unsigned char)*name) && strncmp(name, "ibsw", 4) != 0 && strncmp(name, "level", 5) != 0;
}

static bool is_alone(const struct topology *t, uint32_t node)
{
	for (uint32_t i = 0; i < t->nsw; i++)
		if (t->sw[i] != node && !strcmp(t->net->node[t->sw[i]].desc, t->net->node[node].desc))
			return false;
	return true;
}

static void name_switches(struct topology *t)
{
	for (uint32_t i = 0; i < t->nsw; i++) {
		const char *desc = t->net->node[t->sw[i]].desc;

		if (is_plain(desc) && is_alone(t, t->sw[i]))
			snprintf(t->name[t->sw[i]].text, NAME_ROOM, "%s", desc);
		else
			snprintf(t->name[t->sw[i]].text, NAME_ROOM, "ibsw%u", i + 1);
	}
}

static void unit_name(const struct topology *t, const struct unit *unit, char name[NAME_ROOM])
{
	if (!unit->level)
		snprintf(name, NAME_ROOM, "%s", t->name[unit->some].text);
	else
		snprintf(name, NAME_ROOM, "level%u-%u", unit->level, unit->number);
}

/* --- hosts ----------------------------------------------------------------------------------------------------- */

static int compare_adapters(const void *a, const void *b)
{
	const struct adapter *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->place > y->place) - (x->place < y->place);
}

/* All adapters at switches, in the order in which switches see them; returns how many. */
static uint32_t list_adapters(struct topology *t, struct adapter *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < t->nsw; i++)
		for (unsigned p = 1; p <= t->net->node[t->sw[i]].nports; p++) {
			uint32_t peer = peer_of(t, t->sw[i], p);

			if (peer == FORS_NONE || t->net->node[peer].type != FORS_CA || t->home[peer] != FORS_NONE)
				continue;
			list[count] = (struct adapter){.node = peer, .place = i};
			if (!fors_host_name(&t->net->node[peer], list[count].host))
				continue;
			t->home[peer] = t->sw[i];
			count++;
		}
	return count;
}

/* Give each host one home: the first switch at which it has an adapter. False: out of memory. */
static bool find_homes(struct topology *t)
{
	struct adapter *list = calloc((size_t)t->net->nnodes + 1, sizeof(*list));
	uint32_t count;

	if (!list)
		return false;
	count = list_adapters(t, list);
	qsort(list, count, sizeof(*list), compare_adapters);
	for (uint32_t i = 1, first = 0; i < count; i++) {
		if (strcmp(list[i].host, list[first].host))
			first = i;
		else if (list[i].place != list[first].place)
			t->home[list[i].node] = FORS_NONE;
	}
	free(list);
	return true;
}

static bool is_home(const struct topology *t, uint32_t node)
{
	for (unsigned p = 1; p <= t->net->node[node].nports; p++) {
		uint32_t peer = peer_of(t, node, p);

		if (peer != FORS_NONE && t->home[peer] == node)
			return true;
	}
	return false;
}

/* --- lists ----------------------------------------------------------------------------------------------------- */

/* Where the digits at the end of a name begin; more than nine are no number. */
static size_t stem_length(const char *name)
{
	size_t length = strlen(name), stem = length;

	while (stem && isdigit((unsigned char)name[stem - 1]))
		stem--;
	return length - stem > 9 ? length : stem;
}

/* By stem, by how many digits, by number. */
static int compare_words(const void *a, const void *b)
{
	const char *x = a, *y = b;
	size_t nx = stem_length(x), ny = stem_length(y), n = nx < ny ? nx : ny;
	int order = strncmp(x, y, n);

	if (order || nx != ny)
		return order ? order : nx < ny ? -1 : 1;
	if (strlen(x) != strlen(y))
		return strlen(x) < strlen(y) ? -1 : 1;
	return strcmp(x, y);
}

/* Have both the same stem and as many digits? */
static bool are_alike(const char *x, const char *y)
{
	size_t stem = stem_length(x);

	return stem == stem_length(y) && strlen(x) == strlen(y) && x[stem] && !strncmp(x, y, stem);
}

static unsigned long number_of(const char *name)
{
	return strtoul(name + stem_length(name), NULL, 10);
}

/* How many words from `first` on are consecutive numbers. */
static uint32_t run_length(char (*word)[NAME_ROOM], uint32_t first, uint32_t count)
{
	uint32_t n = 1;

	while (first + n < count && are_alike(word[first], word[first + n]) &&
	       number_of(word[first + n]) == number_of(word[first]) + n)
		n++;
	return n;
}

/* "a[00-17,20],b": as Slurm writes lists of hosts. */
static void print_list(struct topology *t, uint32_t count)
{
	qsort(t->word, count, sizeof(*t->word), compare_words);
	for (uint32_t i = 0; i < count;) {
		const char *first = t->word[i];
		size_t stem = stem_length(first);
		uint32_t end = i;

		while (end < count && (end == i || are_alike(first, t->word[end])))
			end++;
		fors_buffer_print(t->out, "%s", i ? "," : "");
		if (end == i + 1) {
			fors_buffer_print(t->out, "%s", first);
			i++;
			continue;
		}
		fors_buffer_print(t->out, "%.*s[", (int)stem, first);
		for (const uint32_t begin = i; i < end;) {
			uint32_t n = run_length(t->word, i, end);

			fors_buffer_print(t->out, "%s%s", i == begin ? "" : ",", t->word[i] + stem);
			if (n > 1)
				fors_buffer_print(t->out, "-%s", t->word[i + n - 1] + stem);
			i += n;
		}
		fors_buffer_print(t->out, "]");
	}
}

/* The words so far have this one. */
static bool has_word(const struct topology *t, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(t->word[i], name))
			return true;
	return false;
}

/* The hosts below a switch, each once. */
static uint32_t list_hosts(struct topology *t, uint32_t node)
{
	uint32_t count = 0;

	for (unsigned p = 1; p <= t->net->node[node].nports; p++) {
		uint32_t peer = peer_of(t, node, p);
		char name[NAME_ROOM];

		if (peer == FORS_NONE || t->home[peer] != node)
			continue;
		if (fors_host_name(&t->net->node[peer], name) && !has_word(t, count, name))
			memcpy(t->word[count++], name, sizeof(name));
	}
	return count;
}

static uint32_t list_children(struct topology *t, uint32_t parent)
{
	uint32_t count = 0;

	for (uint32_t u = 0; u < t->nunits; u++)
		if (t->unit[u].parent == parent)
			unit_name(t, &t->unit[u], t->word[count++]);
	return count;
}

/* --- the file -------------------------------------------------------------------------------------------------- */

/* Adapters whose description can be no name of a host. */
static void print_nameless(struct topology *t)
{
	uint32_t count = 0, first = 0;
	char name[FORS_NAME_MAX + 1];

	for (uint32_t i = t->net->nnodes; i-- > 0;)
		if (t->net->node[t->net->by_guid[i]].type == FORS_CA &&
		    !fors_host_name(&t->net->node[t->net->by_guid[i]], name)) {
			first = t->net->by_guid[i];
			count++;
		}
	if (count)
		fors_buffer_print(t->out,
				  "# left out: %u %s whose description is no name of a host; GUID 0x%016llx, %s\n",
				  count, fors_plural(count, "adapter", "adapters, the first"),
				  (unsigned long long)t->net->node[first].guid, t->net->node[first].desc);
}

static void print_comments(struct topology *t)
{
	fors_buffer_print(t->out, "# Made by `fors fabric`; switches of one level that join the same are one line.\n");
	for (uint32_t i = 0; i < t->nsw; i++) {
		const struct fors_node *node = &t->net->node[t->sw[i]];

		fors_buffer_print(t->out, "# %s: GUID 0x%016llx, level ", t->name[t->sw[i]].text,
				  (unsigned long long)node->guid);
		if (t->level[t->sw[i]] == FORS_NONE)
			fors_buffer_print(t->out, "none: no host in reach");
		else
			fors_buffer_print(t->out, "%u", t->level[t->sw[i]]);
		fors_buffer_print(t->out, ", %s\n", node->desc);
	}
	print_nameless(t);
}

static void print_unit(struct topology *t, uint32_t u, bool is_yaml)
{
	const struct unit *unit = &t->unit[u];
	uint32_t count = unit->level ? list_children(t, u) : list_hosts(t, unit->some);
	char name[NAME_ROOM];

	unit_name(t, unit, name);
	if (is_yaml)
		fors_buffer_print(t->out, "      - switch: %s\n        %s: ", name, unit->level ? "children" : "nodes");
	else
		fors_buffer_print(t->out, "SwitchName=%s %s=", name, unit->level ? "Switches" : "Nodes");
	print_list(t, count);
	fors_buffer_print(t->out, "\n");
}

static void print_file(struct topology *t, bool is_yaml)
{
	print_comments(t);
	if (is_yaml)
		fors_buffer_print(t->out, "---\n- topology: fabric\n  cluster_default: true\n  tree:\n    switches:\n");
	for (uint32_t u = 0; u < t->nunits; u++)
		print_unit(t, u, is_yaml);
}

/* --- all of it ------------------------------------------------------------------------------------------------- */

static bool allocate(struct topology *t)
{
	size_t n = (size_t)t->net->nnodes + 1;

	t->sw = calloc(n, sizeof(*t->sw));
	t->level = calloc(n, sizeof(*t->level));
	t->group = calloc(n, sizeof(*t->group));
	t->unit = calloc(2 * n, sizeof(*t->unit)); /* each that is no leaf joins two or more */
	t->name = calloc(n, sizeof(*t->name));
	t->word = calloc(n + 256, sizeof(*t->word)); /* units are fewer than nodes; a switch has at most 254 ports */
	t->home = calloc(n, sizeof(*t->home));
	return t->sw && t->level && t->group && t->unit && t->name && t->word && t->home;
}

static void release(struct topology *t)
{
	free(t->sw);
	free(t->level);
	free(t->group);
	free(t->unit);
	free(t->name);
	free(t->word);
	free(t->home);
}

/* False: out of memory. */
static bool understand(struct topology *t)
{
	for (uint32_t i = 0; i < t->net->nnodes; i++) {
		uint32_t node = t->net->by_guid[i];

		t->group[node] = node;
		t->level[node] = t->home[node] = FORS_NONE;
		if (is_switch(t, node))
			t->sw[t->nsw++] = node;
	}
	if (!find_homes(t))
		return false;
	find_levels(t);
	name_switches(t);
	for (uint32_t i = 0; i < t->nsw; i++)
		if (is_home(t, t->sw[i]))
			add_unit(t, t->sw[i], 0);
	for (uint32_t level = 1; level <= t->nlevels; level++)
		add_parents(t, level);
	return true;
}

enum fors_err fors_slurm_write(const struct fors_net *net, bool is_yaml, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};
	struct topology t = {.net = net, .out = &buffer};
	bool is_good = allocate(&t) && understand(&t);

	if (is_good && t.nunits)
		print_file(&t, is_yaml);
	release(&t);
	if (!is_good)
		return fors_fail_memory(error);
	if (!t.nunits)
		return fors_fail(error, FORS_EINPUT, "no switch has a host: Slurm has nothing to schedule there");
	return fors_buffer_finish(&buffer, text, NULL, error);
}
