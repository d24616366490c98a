/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whose name is it: core/net/directory.h, core/net/namebook.h, and what core/jobs/joblist.h makes of it. */
#include "data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/jobs/running.h"
#include "core/jobs/joblist.h"
#include "core/net/namebook.h"

FREES(fors_fabric_free, struct fors_fabric *)

FREES(fors_namebook_free, struct fors_namebook *)
FREES(fors_net_free, struct fors_net *)

#define HOSTS 6

/* A switch with hosts 1 .. 6 at ports 1 .. 6, GUIDs 0x100, 0x200, ..., port GUIDs 0x101, 0x201, ...; NULL: not there. */
static struct fors_net *make_net(const char *const desc[HOSTS])
{
	struct fors_net *net = fors_net_new();
	uint32_t sw, node;
	char id[16];

	assert_int_equal(fors_net_add_node(net, FORS_SWITCH, HOSTS + 1, 0x99, "S", "switch", &sw, NULL), FORS_OK);
	for (unsigned h = 0; h < HOSTS; h++) {
		if (!desc[h])
			continue;
		snprintf(id, sizeof(id), "H-%u", h);
		assert_int_equal(fors_net_add_node(net, FORS_CA, 1, 0x100 * (h + 1), id, desc[h], &node, NULL),
				 FORS_OK);
		fors_net_port(net, node, 1)->guid = 0x100 * (h + 1) + 1;
		fors_net_port(net, node, 1)->lid = (uint16_t)(h + 1);
		assert_int_equal(fors_net_connect(net, sw, h + 1, node, 1, NULL), FORS_OK);
	}
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	return net;
}

static uint32_t learn(struct fors_namebook *book, const struct fors_net *net)
{
	struct fors_directory now CLEARED(fors_directory_clear);
	uint32_t nreplaced = 77;

	assert_int_equal(fors_directory_make(net, &now, NULL), FORS_OK);
	assert_int_equal(fors_namebook_learn(book, &now, &nreplaced, NULL), FORS_OK);
	return nreplaced;
}

static uint32_t learn_hosts(struct fors_namebook *book, const char *const desc[HOSTS])
{
	struct fors_net *net FREED(fors_net_free) = make_net(desc);
	uint32_t nreplaced = learn(book, net);

	return nreplaced;
}

/* What a name means among these hosts, after the book has learnt from them; the node's GUID, 0: nobody. */
static uint64_t meant(struct fors_namebook *book, const char *const desc[HOSTS], const char *name,
		      enum fors_named *what)
{
	struct fors_net *net FREED(fors_net_free) = make_net(desc);
	struct fors_directory now CLEARED(fors_directory_clear);
	struct fors_naming naming;
	uint64_t guid;

	learn(book, net);
	assert_int_equal(fors_directory_make(net, &now, NULL), FORS_OK);
	naming = fors_namebook_find(book, &now, name);
	*what = naming.what;
	guid = naming.node == FORS_NONE ? 0 : net->node[naming.node].guid;
	return guid;
}

#define DESC(...) ((const char *const[HOSTS]){__VA_ARGS__})
#define assert_meant(book, hosts, name, guid, which)                                                                   \
	do {                                                                                                           \
		enum fors_named what_;                                                                                 \
		assert_int_equal(meant(book, hosts, name, &what_), guid);                                              \
		assert_int_equal(what_, which);                                                                        \
	} while (0)

TEST(owners)
{
	struct fors_namebook *book FREED(fors_namebook_free) = fors_namebook_new();

	assert_meant(book, DESC("a", "b", "c", "c"), "a", 0x100, FORS_NAMED_ONE);
	assert_meant(book, DESC("a", "b", "c", "c"), "c", 0, FORS_NAMED_TWINS);
	assert_meant(book, DESC("a", "a", "c", "c"), "a", 0x100, FORS_NAMED_SHARED);
	assert_meant(book, DESC("a", "a", "c", "c"), "b", 0x200,
		     FORS_NAMED_ONE); /* called otherwise, and still meant */
	assert_meant(book, DESC("b", "a", "c", "c"), "a", 0x100, FORS_NAMED_MOVED);
	assert_meant(book, DESC("", "a"), "a", 0x100, FORS_NAMED_MOVED);
	assert_meant(book, DESC(NULL, "a"), "a", 0, FORS_NAMED_TAKEN);
	assert_meant(book, DESC(NULL, "b"), "a", 0, FORS_NAMED_NOBODY);
	assert_meant(book, DESC("a", "b"), "a", 0x100, FORS_NAMED_ONE);
	assert_meant(book, DESC("a", "b"), "nobody", 0, FORS_NAMED_NOBODY);
}

/* The place of a host is a switch port. */
TEST(replaced)
{
	struct fors_namebook *book FREED(fors_namebook_free) = fors_namebook_new();
	struct fors_net *net;
	uint32_t node;

	assert_int_equal(learn_hosts(book, DESC("a", "b")), 0);
	net = make_net(DESC(NULL, "b"));
	assert_int_equal(fors_net_add_node(net, FORS_CA, 1, 0x700, "H-7", "a", &node, NULL), FORS_OK);
	assert_int_equal(fors_net_connect(net, 0, 1, node, 1, NULL), FORS_OK);
	assert_int_equal(fors_net_index(net, NULL), FORS_OK);
	assert_int_equal(learn(book, net), 1);
	fors_net_free(net);
	assert_meant(book, DESC("b", NULL, "a"), "a", 0, FORS_NAMED_TAKEN); /* it is that of 0x700 now */
	assert_int_equal(fors_namebook_forget(book, 0x700), 1);
	assert_int_equal(fors_namebook_forget(book, 0x700), 0);
	assert_meant(book, DESC("b", NULL, "a"), "a", 0x300, FORS_NAMED_ONE);
	assert_meant(book, DESC("a"), "a", 0, FORS_NAMED_TAKEN);
	assert_meant(book, DESC(NULL, NULL, "a"), "a", 0x300, FORS_NAMED_ONE);
}

/* A reference overrides what was learnt, once. */
TEST(reference)
{
	struct fors_namebook *book = fors_namebook_new(), *reference = fors_namebook_new();

	learn_hosts(book, DESC(NULL, "a"));
	learn_hosts(reference, DESC("a", "b"));
	assert_int_equal(fors_namebook_refer(book, reference, NULL), FORS_OK);
	assert_meant(book, DESC("a", "a"), "a", 0x100, FORS_NAMED_SHARED);
	assert_meant(book, DESC(NULL, "a"), "a", 0, FORS_NAMED_TAKEN);
	assert_int_equal(fors_namebook_forget(book, 0x101), 1); /* by its port, too */
	assert_int_equal(fors_namebook_refer(book, reference, NULL), FORS_OK);
	assert_meant(book, DESC(NULL, "a"), "a", 0x200, FORS_NAMED_ONE);
	fors_namebook_free(book);
	fors_namebook_free(reference);
}

/* A node that takes name after name keeps the last four; a host that boots keeps the one that it had. */
TEST(limits)
{
	struct fors_namebook *book FREED(fors_namebook_free) = fors_namebook_new();
	char name[16], text[200];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "name%02u", i);
		learn_hosts(book, DESC("a", name));
		learn_hosts(book, DESC(i % 2 ? "localhost" : "a", name));
	}
	assert_int_equal(fors_namebook_count(book), 2 + FORS_NAMES_OF_NODE);
	assert_int_equal(fors_namebook_names(book, 0x200, text, sizeof(text)), FORS_NAMES_OF_NODE);
	assert_string_equal(text, "\"name96\", \"name97\", \"name98\", \"name99\"");
	assert_int_equal(fors_namebook_names(book, 0x100, text, sizeof(text)), 2);
}

static struct fors_namebook *decode(const char *text, size_t size)
{
	struct fors_namebook *book = NULL;

	return fors_namebook_decode(text, size, "names", &book, NULL) ? NULL : book;
}

TEST(files)
{
	struct fors_namebook *book = fors_namebook_new(), *again;
	char *text, *twice;
	size_t size, size_twice;

	learn_hosts(book, DESC("b", "a \xff", "c", "d"));
	assert_int_equal(fors_namebook_encode(book, &text, &size, NULL), FORS_OK);
	again = decode(text, size);
	assert_non_null(again);
	assert_int_equal(fors_namebook_encode(again, &twice, &size_twice, NULL), FORS_OK);
	assert_int_equal(size, size_twice);
	assert_memory_equal(text, twice, size);
	for (size_t n = 0; n < size; n++) { /* cut, and changed */
		assert_null(decode(text, n));
		text[n] ^= 1;
		assert_null(decode(text, size));
		text[n] ^= 1;
	}
	free(text);
	free(twice);
	fors_namebook_free(book);
	fors_namebook_free(again);
}

/* --- jobs --------------------------------------------------------------------------------------------------------- */

struct expected {
	const char *first, *second; /* servers of both jobs, by their hosts: "01" */
	uint32_t missing, doubts;   /* of both */
};

static void check(const struct fors_net *net, const char *text, const struct fors_jobknown *known,
		  const struct expected *expected)
{
	struct fors_fabric *seats FREED(fors_fabric_free) = NULL;
	struct fors_joblist list CLEARED(fors_joblist_clear);
	struct fors_error error;
	uint32_t missing = 0, doubts = 0;

	assert_int_equal(fors_jobs_seats(net, NULL, &seats, NULL), FORS_OK);
	if (fors_joblist_read_known(text, strlen(text), "jobs", seats, known, &list, &error))
		fail_msg("%s", error.text);
	assert_int_equal(list.count, 2);
	for (uint32_t j = 0; j < 2; j++) {
		char found[HOSTS + 1] = "";

		for (uint32_t i = 0; i < list.job[j].count; i++)
			found[i] = (char)('0' + (seats->server[list.job[j].server[i]].guid >> 8) - 1);
		assert_string_equal(found, j ? expected->second : expected->first);
		missing += list.job[j].nmissing;
		doubts += list.job[j].ndoubts;
	}
	assert_int_equal(missing, expected->missing);
	assert_int_equal(doubts, expected->doubts);
}

/* Two lines come to mean one server: who has it, who names it by GUID, who comes first; the text stays good. */
TEST(conflicts)
{
	struct fors_net *net FREED(fors_net_free) = make_net(DESC("a", "b", "ghost", "d"));
	struct fors_members last CLEARED(fors_members_clear) = {NULL, 0, 0};
	struct fors_jobknown known = {NULL, NULL};

	check(net, "x: 0x301, a\ny: ghost, b\n", &known, &(struct expected){"02", "1", 1, 0});
	check(net, "x: ghost, a\ny: 0x301, b\n", &known, &(struct expected){"0", "12", 1, 0});
	check(net, "x: ghost, a\ny: ghost[1], b\n", &known, &(struct expected){"02", "1", 1, 0});
	check(net, "x: 0x300, a\ny: 0x301, b\n", &known, &(struct expected){"02", "1", 1, 0});
	assert_int_equal(fors_members_add(&last, "y", 0x301, NULL), FORS_OK);
	fors_members_sort(&last);
	known.last = &last;
	check(net, "x: 0x301, a\ny: ghost, b\n", &known, &(struct expected){"0", "12", 1, 0});
	check(net, "x: 0x301\ny: ghost\n", &known, &(struct expected){"", "2", 1, 0});
}

/* A host that calls itself by the GUID of one that is not there is not that one. */
TEST(guids)
{
	struct fors_net *net FREED(fors_net_free) = make_net(DESC("0x200", NULL, "c"));
	struct fors_jobknown known = {NULL, NULL};
	uint32_t node;
	unsigned port;

	check(net, "x: 0x200, c\ny: 0x100\n", &known, &(struct expected){"2", "0", 1, 0});
	assert_int_equal(fors_net_find(net, "0x200", &node, &port, NULL), FORS_EINPUT);
}

/* Whose names were exchanged: who worked for the job still does, nobody else is meant. */
TEST(exchanged)
{
	struct fors_namebook *book FREED(fors_namebook_free) = fors_namebook_new();
	struct fors_members last CLEARED(fors_members_clear) = {NULL, 0, 0};
	struct fors_jobknown known = {book, &last};
	struct fors_net *net FREED(fors_net_free) = make_net(DESC("b", "a", "c", "d"));

	learn_hosts(book, DESC("a", "b", "c", "d"));
	learn(book, net);
	assert_int_equal(fors_members_add(&last, "x", 0x101, NULL), FORS_OK);
	fors_members_sort(&last);
	check(net, "x: a, c\ny: b, d\n", &known, &(struct expected){"02", "3", 1, 2});
}
