/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_memory.c - every allocation fails once.
 *
 * Each operation of core/ that allocates is run with its first allocation failing, then its second, and so on until
 * none fails any more; once with only that one, once with all after it too. It either says "out of memory", with
 * its outputs as they were and nothing lost, or it does without and its result is the usual one. Operations with
 * many allocations are tried with all of the first few hundred, and samples of the rest. Threads that
 * cannot be started are tried likewise.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/names.h"
#include "core/fabric/account.h"
#include "core/fabric/drained.h"
#include "core/base/guidlist.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/jobs/entries.h"
#include "core/fabric/repairs.h"
#include "core/net/lftfile.h"
#include "core/net/lfts_diff.h"
#include "core/net/lfts.h"
#include "core/net/diff.h"
#include "core/net/graph_net.h"
#include "core/net/netfile.h"
#include "core/net/slurm.h"
#include "core/fabric/places_file.h"
#include "core/planners/bound.h"
#include "core/planners/jobplan_over.h"
#include "core/planners/mended.h"
#include "core/planners/outcome.h"
#include "core/planners/outcome.h"
#include "core/planners/pods/route.h"
#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"
#include "core/status/status.h"
#include "core/status/status_json.h"
#include "core/status/status_metrics.h"
#include "core/net/tree_net.h"
#include "core/schedule/verify.h"
#include "core/fabric/holddown.h"
#include "core/tables/check.h"
#include "core/tables/holes.h"
#include "core/tables/lanes.h"
#include "data.h"
#include "faults.h"
#include "libforsched/forsched.h"
#include "lab/model/routers/model_tables.h"
#include "lab/model/routers/sar.h"
#include "daemon/files/publish.h"
#include "daemon/settings/settings.h"
#include "published.h"
#include "support.h"

#ifdef __SANITIZE_THREAD__ /* slow, and not there to look for what is lost */
#define EVERY 6
#else
#define EVERY 300 /* so many of the first allocations are all tried */
#endif
#define UNTOUCHED ((void *)0x5a5a)

/* What the operations work on. */
struct ground {
	struct bed *bed;
	struct fors_schedule *schedule;
	struct fors_status status;
	char *net_text, *lft_text, *json;
	size_t net_size, lft_size;
	void *bytes; /* of the schedule */
	size_t nbytes;
	const char *method;
	unsigned threads, number;
	char directory[64], guids[96], options[128], file[96], old_file[96], scratch[96]; /* of tests that need files */
};

/*
 * Run it, with faults until the operation proper is over. On success a digest of the result; the result itself is
 * freed. On failure the outputs were checked.
 */
typedef enum fors_err (*operation)(const struct ground *ground, uint64_t *digest, struct fors_error *error);

static uint64_t digest_of(const void *bytes, size_t size)
{
	uint64_t digest = 0xcbf29ce484222325u;

	for (size_t i = 0; i < size; i++)
		digest = (digest ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
	return digest;
}

/* The end of an operation that makes one block of bytes. */
static enum fors_err made_bytes(enum fors_err err, void *bytes, size_t size, uint64_t *digest)
{
	faults_off();
	if (err) {
		assert_ptr_equal(bytes, UNTOUCHED);
		return err;
	}
	*digest = digest_of(bytes, size);
	free(bytes);
	return FORS_OK;
}

static enum fors_err made_text(enum fors_err err, char *text, uint64_t *digest)
{
	faults_off();
	return made_bytes(err, text, err ? 0 : strlen(text), digest);
}

static enum fors_err made_net(enum fors_err err, struct fors_net *net, uint64_t *digest)
{
	faults_off();
	if (err) {
		assert_ptr_equal(net, UNTOUCHED);
		return err;
	}
	*digest = digest_of(net->node, net->nnodes * sizeof(*net->node)) ^
		  digest_of(net->port, net->nports * sizeof(*net->port));
	fors_net_free(net);
	return FORS_OK;
}

static enum fors_err made_lfts(enum fors_err err, struct fors_lfts *lfts, uint64_t *digest)
{
	faults_off();
	if (err) {
		assert_ptr_equal(lfts, UNTOUCHED);
		return err;
	}
	*digest = digest_of(lfts->port, (size_t)lfts->nswitches * lfts->nlids);
	fors_lfts_free(lfts);
	return FORS_OK;
}

static enum fors_err made_schedule(enum fors_err err, struct fors_schedule *schedule, uint64_t *digest)
{
	void *bytes;
	size_t size;

	faults_off();
	if (err) {
		assert_ptr_equal(schedule, UNTOUCHED);
		return err;
	}
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, NULL), FORS_OK);
	*digest = digest_of(bytes, size);
	free(bytes);
	fors_schedule_free(schedule);
	return FORS_OK;
}

static struct fors_net *copy_of(const struct fors_net *net)
{
	struct fors_net *copy = NULL;

	assert_int_equal(fors_net_copy(net, &copy, NULL), FORS_OK);
	return copy;
}

/* Start of an operation that needs something made without faults first. */
struct pause {
	uint64_t n;
	bool on;
};
static struct pause armed;

static void begin(void)
{
	faults_arm(armed.n, armed.on);
}

/* The end of an operation that changes a net; on failure the net has to be as it was. */
static enum fors_err changed_net(enum fors_err err, struct fors_net *net, const struct fors_net *before,
				 uint64_t *digest)
{
	faults_off();
	if (!err)
		return made_net(err, net, digest);
	data_same_net(net, before);
	fors_net_free(net);
	return err;
}

/* ---- nets ---- */

static enum fors_err read_net(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_netfile_read(g->net_text, g->net_size, "net", &net, NULL, error);
	return made_net(err, net, digest);
}

static enum fors_err write_net(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_netfile_write(g->bed->net, &text, NULL, error);
	return made_text(err, text, digest);
}

static enum fors_err write_slurm(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_slurm_write(g->bed->net, true, &text, error);
	return made_text(err, text, digest);
}

static enum fors_err compare_nets(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_diff diff = {NULL, 12345};
	enum fors_err err;

	begin();
	err = fors_net_diff(g->bed->net, g->bed->net, &diff, error);
	faults_off();
	assert_int_equal(diff.count, err ? 12345 : 0);
	assert_true(!err || !diff.change);
	*digest = diff.count;
	fors_diff_clear(&diff);
	return err;
}

static enum fors_err copy_net(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_net_copy(g->bed->net, &net, error);
	return made_net(err, net, digest);
}

static enum fors_err add_nodes(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = copy_of(g->bed->net), *before = copy_of(g->bed->net);
	enum fors_err err;
	uint32_t index = 0;

	begin();
	err = fors_net_add_node(net, FORS_SWITCH, 200, 0xabc, "S-abc", "new", &index, error);
	if (!err)
		assert_int_equal(index, before->nnodes);
	err = changed_net(err, net, before, digest);
	fors_net_free(before);
	return err;
}

static enum fors_err index_net(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = copy_of(g->bed->net);
	enum fors_err err;

	begin();
	err = fors_net_index(net, error);
	err = changed_net(err, net, g->bed->net, digest);
	return err;
}

static enum fors_err take_down(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = copy_of(g->bed->net);
	enum fors_err err;

	begin();
	err = fors_net_down(g->bed->intact, net, "Leaf01", error);
	return changed_net(err, net, g->bed->net, digest);
}

static enum fors_err assign_lids(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = copy_of(g->bed->net);
	enum fors_err err;

	begin();
	err = fors_assign_lids(net, g->bed->places, 3, false, error);
	return changed_net(err, net, g->bed->net, digest);
}

static enum fors_err make_net(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = UNTOUCHED;
	struct fors_tree_spec spec = {0};
	enum fors_err err;

	assert_int_equal(fors_tree_spec_parse("FT(2;3,4;servers=5;cables=2;empty=1/1,2/3)", &spec, NULL), FORS_OK);
	begin();
	err = fors_tree_net(&spec, &net, error);
	err = made_net(err, net, digest);
	fors_tree_spec_clear(&spec);
	return err;
}

static enum fors_err parse_spec(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_tree_spec spec = {0};
	enum fors_err err;

	begin();
	err = fors_tree_spec_parse("FT(2;3,4;servers=5;cables=2;empty=1/1,2/3)", &spec, error);
	faults_off();
	assert_true(!err || !spec.empty.slot);
	*digest = err ? 0 : digest_of(spec.empty.slot, spec.empty.count * sizeof(*spec.empty.slot));
	fors_tree_spec_clear(&spec);
	return err;
}

/* ---- networks that are no trees, and tables of models for them ---- */

static const char *const graphs[] = {"TORUS(3x4;2;empty=1/1)",
				     "CUBE(3;1)",
				     "DRAGONFLY(4,2,9;1)",
				     "DFPLUS(2,2,2,5;2)",
				     "RRG(8,3,2;7)",
				     "FLEXFLY(2,2,3;1;traffic=+1:2,0-2:1)",
				     "FLEXSPANDER(4,2,2,3;1;seed=2;traffic=0-1:3)"};

static struct fors_graph_spec graph_of(const char *text)
{
	struct fors_graph_spec spec = {0};

	assert_int_equal(fors_graph_spec_parse(text, &spec, NULL), FORS_OK);
	return spec;
}

static enum fors_err parse_graph(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_graph_spec spec = {0};
	enum fors_err err;

	begin();
	err = fors_graph_spec_parse("TORUS(3x4;2;empty=1/1,2/0)", &spec, error);
	faults_off();
	assert_true(!err || !spec.empty.slot);
	*digest = err ? 0 : digest_of(spec.empty.slot, spec.empty.count * sizeof(*spec.empty.slot));
	fors_graph_spec_clear(&spec);
	return err;
}

static enum fors_err make_graph(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_graph_spec spec = graph_of(g->method);
	struct fors_net *net = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_graph_net(&spec, &net, error);
	err = made_net(err, net, digest);
	fors_graph_spec_clear(&spec);
	return err;
}

/* g->threads is the model here. */
static enum fors_err make_model_tables(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_graph_spec spec = graph_of(g->method);
	struct fors_lfts *lfts = UNTOUCHED;
	struct fors_net *net = NULL;
	enum fors_err err;

	assert_int_equal(fors_graph_net(&spec, &net, NULL), FORS_OK);
	assert_int_equal(fors_model_lids(net, NULL), FORS_OK);
	begin();
	err = fors_model_tables(net, &spec, (enum fors_model)g->threads, &lfts, error);
	err = made_lfts(err, lfts, digest);
	fors_net_free(net);
	fors_graph_spec_clear(&spec);
	return err;
}

static enum fors_err make_sar_tables(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_graph_spec spec = graph_of(g->method);
	struct fors_lfts *lfts = UNTOUCHED;
	struct fors_placed placed[8];
	struct fors_net *net = NULL;
	size_t n = 0;
	enum fors_err err;

	assert_int_equal(fors_graph_net(&spec, &net, NULL), FORS_OK);
	assert_int_equal(fors_model_lids(net, NULL), FORS_OK);
	for (uint32_t node = 0; node < net->nnodes && n < 8; node++)
		if (net->node[node].type == FORS_CA)
			placed[n++] = (struct fors_placed){node, node % 2, 1};
	begin();
	err = fors_sar_tables(net, placed, n, &lfts, error);
	err = made_lfts(err, lfts, digest);
	fors_net_free(net);
	fors_graph_spec_clear(&spec);
	return err;
}

/* ---- other files ---- */

static enum fors_err read_lfts(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_lfts *lfts = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_lftfile_read(g->lft_text, g->lft_size, "lfts", &lfts, error);
	return made_lfts(err, lfts, digest);
}

static enum fors_err write_lfts(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_lftfile_write(g->bed->net, g->bed->lfts, &text, NULL, error);
	return made_text(err, text, digest);
}

static enum fors_err diff_lfts(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_lfts none = {0};
	struct fors_lfts_diff diff = {.table = UNTOUCHED, .entry = UNTOUCHED};
	enum fors_err err;

	begin();
	err = fors_lfts_diff(&none, g->bed->lfts, &diff, error);
	faults_off();
	if (err) {
		assert_ptr_equal(diff.table, UNTOUCHED);
		return err;
	}
	*digest = diff.nentries;
	for (size_t i = 0; i < diff.nentries; i++)
		*digest = 31 * *digest + (diff.entry[i].lid << 16 | diff.entry[i].was << 8 | diff.entry[i].is);
	fors_lfts_diff_clear(&diff);
	return FORS_OK;
}

static enum fors_err read_guids(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	uint64_t *guid = UNTOUCHED;
	size_t count = 0;
	char text[4096] = "";
	enum fors_err err;

	for (int i = 1; i < 200; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "0x%d\n", i);
	begin();
	err = fors_guidlist_read(text, strlen(text), "guids", &guid, &count, error);
	return made_bytes(err, guid, count * sizeof(*guid), digest);
}

/* ---- the fabric and its tables ---- */

/* Places that learnt this, as what can be seen of them: the tables that they give. */
static uint64_t digest_places(const struct fors_places *places, const struct fors_net *net)
{
	struct fors_fabric *fabric = NULL;
	struct fors_lfts *lfts = NULL;
	uint64_t digest;

	assert_int_equal(fors_fabric_build(net, places, NULL, &fabric, NULL), FORS_OK);
	assert_int_equal(fors_tables_build(fabric, &lfts, NULL), FORS_OK);
	made_lfts(FORS_OK, lfts, &digest);
	fors_fabric_free(fabric);
	return digest;
}

static enum fors_err learn_all(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places;
	enum fors_err err = FORS_ENOMEM;

	begin();
	places = fors_places_new();
	if (places)
		err = fors_places_learn(places, g->bed->intact, NULL, 0, error);
	else
		fors_fail_memory(error);
	faults_off();
	if (!err)
		*digest = digest_places(places, g->bed->intact);
	fors_places_free(places);
	return err;
}

/* Places that know a broken fabric see the whole one. A failure leaves them as they were. */
static enum fors_err learn_more(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places = fors_places_new();
	struct fors_net *broken = copy_of(g->bed->intact);
	uint64_t before;
	enum fors_err err;

	assert_int_equal(fors_net_down(g->bed->intact, broken, "Leaf01", NULL), FORS_OK);
	assert_int_equal(fors_net_down(g->bed->intact, broken, "Spine00", NULL), FORS_OK);
	assert_int_equal(fors_places_learn(places, broken, NULL, 0, NULL), FORS_OK);
	before = digest_places(places, broken);
	begin();
	err = fors_places_learn(places, g->bed->intact, NULL, 0, error);
	faults_off();
	if (err)
		assert_int_equal(digest_places(places, broken), before);
	else
		*digest = digest_places(places, g->bed->intact);
	fors_places_free(places);
	fors_net_free(broken);
	return err;
}

/* ---- three levels ---- */

static struct fors_net *three_levels(void)
{
	struct fors_tree_spec spec = {0};
	struct fors_net *net = NULL;

	assert_int_equal(fors_tree_spec_parse("XGFT(3;2,2,2;1,2,2)", &spec, NULL), FORS_OK);
	assert_int_equal(fors_tree_net(&spec, &net, NULL), FORS_OK);
	assert_int_equal(fors_assign_lids(net, NULL, 0, false, NULL), FORS_OK);
	fors_tree_spec_clear(&spec);
	return net;
}

static uint64_t last_switch(const struct fors_net *net)
{
	uint32_t last = net->nnodes;

	while (net->node[--last].type != FORS_SWITCH)
		;
	return net->node[last].guid;
}

/* The same without the last switch. */
static struct fors_net *net_without_last(const struct fors_net *net)
{
	struct fors_net *less = fors_net_new();
	uint32_t last = fors_net_find_guid(net, last_switch(net)), index;

	for (uint32_t i = 0; i < net->nnodes; i++)
		if (i != last)
			fors_net_add_node(less, net->node[i].type, net->node[i].nports, net->node[i].guid,
					  net->node[i].id, net->node[i].desc, &index, NULL);
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 0; i != last && p <= net->node[i].nports; p++) {
			struct fors_port *to = fors_net_port(less, i - (i > last), p);

			*to = *fors_net_port(net, i, p);
			if (to->peer == last)
				to->peer = FORS_NONE;
			else if (to->peer != FORS_NONE)
				to->peer -= to->peer > last;
		}
	assert_int_equal(fors_net_index(less, NULL), FORS_OK);
	return less;
}

/* Learn, twice, write down, read again, forget: all that changes places of three levels. */
static enum fors_err keep_pods(struct fors_places *places, const struct fors_net *less, const struct fors_net *net,
			       uint64_t *digest, struct fors_error *error)
{
	struct fors_places *read = NULL;
	char *text = NULL;
	size_t size = 0;
	enum fors_err err = fors_places_learn_tree(places, net, NULL, 0, NULL, error);

	if (!err)
		err = fors_places_learn_tree(places, less, NULL, 0, NULL, error);
	if (!err)
		err = fors_places_forget(places, last_switch(net), error);
	if (!err)
		err = fors_places_encode(places, &text, &size, error);
	if (!err)
		err = fors_places_decode(text, size, "places", &read, error);
	if (!err)
		*digest = digest_of(text, size);
	free(text);
	fors_places_free(read);
	return err;
}

static enum fors_err learn_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels(), *less = net_without_last(net);
	struct fors_places *places = fors_places_new();
	enum fors_err err;

	begin();
	err = keep_pods(places, less, net, digest, error);
	faults_off();
	fors_places_free(places);
	fors_net_free(net);
	fors_net_free(less);
	return err;
}

static enum fors_err tell_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels(), *less = net_without_last(net);
	struct fors_status status;
	struct fors_pods *pods = NULL;
	struct fors_fattree tree;
	enum fors_err err;

	fors_status_init(&status);
	begin();
	err = fors_pods_build(net, less, NULL, 0, &pods, error);
	if (!err)
		err = fors_pods_seat(pods, NULL, error);
	if (!err) {
		tree = fors_fattree_of_pods(pods);
		err = fors_status_tree(&status, &tree, error);
	}
	faults_off();
	assert_true(err ? status.leaves < 0 : status.dead_links.count == 2);
	*digest = (uint64_t)status.tops;
	fors_status_clear(&status);
	fors_pods_free(pods);
	fors_net_free(net);
	fors_net_free(less);
	return err;
}

/* Every second server for one job with the index, of the rest two thirds for another, and one that shares. */
static void list_jobs(const struct fors_fabric *fabric, char *text, size_t room)
{
	static const char *const heads[] = {"a [job-index]:", "\nb [exclusive]:", "\nc:"};
	size_t used = 0;

	for (uint32_t j = 0; j < 3; j++) {
		used += (size_t)snprintf(text + used, room - used, "%s", heads[j]);
		for (uint32_t s = 0; s < fabric->nservers; s++)
			if ((s % 2 == 0 ? 0 : s % 3 == 0 ? 2 : 1) == j)
				used += (size_t)snprintf(text + used, room - used, " 0x%llx,",
							 (unsigned long long)fabric->server[s].guid);
		assert_true(used < room);
	}
}

/* Owners and entries. */
static enum fors_err share_lanes(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	static char text[1 << 16];
	const struct fors_fabric *fabric = g->bed->fabric;
	struct fors_joblist list = {NULL, 0};
	struct fors_owners_task lanes = {.fabric = fabric, .list = &list, .work = 20000};
	struct fors_entries_task task = {.fabric = fabric, .list = &list, .has_exclusive = true};
	struct fors_owners owners = {0};
	struct fors_entries entries = {0};
	enum fors_err err;

	list_jobs(fabric, text, sizeof(text));
	begin();
	err = fors_joblist_read(text, strlen(text), "jobs", fabric, &list, error);
	if (!err)
		err = fors_owners_find(&lanes, &owners, error);
	if (!err)
		err = fors_entries_find(&task, &owners, &entries, error);
	faults_off();
	if (!err)
		*digest = digest_of(owners.job, (size_t)fabric->nleaves * fabric->nlanes * sizeof(*owners.job)) ^
			  digest_of(entries.up, (size_t)fabric->nleaves * fabric->nservers);
	fors_entries_clear(&entries);
	fors_owners_clear(&owners);
	fors_joblist_clear(&list);
	return err;
}

/* Exclude a cable of each stage and a middle switch, and make tables for what is left; a digest of them. */
static enum fors_err drain_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels();
	struct fors_names names = {NULL, 0};
	struct fors_warnings warnings = {0};
	struct fors_pods_route *route = NULL;
	struct fors_pods *pods = NULL;
	enum fors_err err;

	assert_int_equal(fors_names_add(&names, "Leaf00[3], Mid2-02[3], Mid2-01", NULL), FORS_OK);
	begin();
	err = fors_pods_build(net, net, NULL, 0, &pods, error);
	if (!err)
		fors_drained_links(fors_fattree_of_pods(pods), &names, "exclude_links", &warnings);
	if (!err)
		err = fors_drained_apply(fors_fattree_of_pods(pods), &warnings, error);
	if (!err)
		err = fors_pods_route_make(pods, fors_pods_route_little_effort(pods), &route, error);
	faults_off();
	if (!err)
		*digest = digest_of(route->lfts->port, (size_t)route->lfts->nswitches * route->lfts->nlids);
	fors_pods_route_free(route);
	fors_pods_free(pods);
	fors_names_clear(&names);
	fors_net_free(net);
	return err;
}

/* A plan over tables of a tree of three levels, in rounds, on g->threads threads. */
static enum fors_err plan_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels();
	struct fors_outcome report = {0};
	struct fors_schedule *schedule = NULL;
	struct fors_pods_route *route = NULL;
	struct fors_pods *pods = NULL;
	enum fors_err err;

	assert_int_equal(fors_pods_build(net, net, NULL, 0, &pods, NULL), FORS_OK);
	assert_int_equal(fors_pods_route_make(pods, fors_pods_route_little_effort(pods), &route, NULL), FORS_OK);
	assert_non_null(route->round);
	const struct fors_request task = {.net = net, .lfts = route->lfts, .rounds = route, .task.threads = g->threads};

	begin();
	err = fors_plan_proven(&task, &schedule, &report, error);
	faults_off();
	assert_int_equal(!schedule, err != FORS_OK);
	*digest = err ? 0 : schedule->fingerprint ^ schedule->nphases;
	fors_schedule_free(schedule);
	fors_pods_route_free(route);
	fors_pods_free(pods);
	fors_net_free(net);
	return err;
}

/* Two jobs that own lanes on all floors of three levels, shared out, carried over to the same floors, shared out again, and planned. */
static enum fors_err hold_floors(const struct fors_fattree *tree, const struct fors_request *task, uint64_t *digest,
				 struct fors_error *error)
{
	static const char text[] =
		"a [exclusive]: Node00-00, Node02-00\nb [exclusive]: Node00-01, Node01-00, Node02-01\n";
	const uint32_t was_of[] = {0, 1};
	struct fors_floors floors = {0};
	struct fors_joblist list = {NULL, 0};
	struct fors_holdings first = {0}, before = {0}, second = {0};
	const struct fors_jobfloors lanes = {&floors, &second, FORS_UNKNOWN};
	struct fors_holdings_task sharing = {
		.floors = &floors, .list = &list, .has_exclusive = true, .owners_work = 20000};
	struct fors_jobplans plans = {0};
	enum fors_err err = fors_floors_make(tree, &floors, error);

	if (!err)
		err = fors_joblist_read(text, strlen(text), "jobs", floors.floor[0], &list, error);
	if (!err)
		err = fors_holdings_find(&sharing, &first, error);
	if (!err)
		err = fors_holdings_again(&floors, &first, &floors, was_of, list.count, &before, error);
	sharing.before = &before;
	if (!err)
		err = fors_holdings_find(&sharing, &second, error);
	if (!err)
		err = fors_jobplans_floors(task, &lanes, &list, NULL, &plans, error);
	for (uint32_t j = 0; j < plans.count; j++)
		*digest = 1000 * *digest + 10 * plans.job[j].nlanes + plans.job[j].plan->nphases;
	fors_jobplans_clear(&plans);
	fors_holdings_clear(&first);
	fors_holdings_clear(&before);
	fors_holdings_clear(&second);
	fors_joblist_clear(&list);
	fors_floors_clear(&floors);
	return err;
}

static enum fors_err hold_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels();
	struct fors_pods_route *route = NULL;
	struct fors_pods *pods = NULL;
	struct fors_fattree tree;
	enum fors_err err;

	assert_int_equal(fors_assign_lids(net, NULL, 2, false, NULL), FORS_OK);
	assert_int_equal(fors_pods_build(net, net, NULL, 0, &pods, NULL), FORS_OK);
	tree = fors_fattree_of_pods(pods);
	assert_int_equal(fors_pods_route_make(pods, fors_pods_route_little_effort(pods), &route, NULL), FORS_OK);
	const struct fors_request task = {.net = net, .lfts = route->lfts};

	*digest = 0;
	begin();
	err = hold_floors(&tree, &task, digest, error);
	faults_off();
	fors_pods_route_free(route);
	fors_pods_free(pods);
	fors_net_free(net);
	return err;
}

/* What the first repair of a tree with a dead switch gives back. */
static enum fors_err mend_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_net *net = three_levels(), *less = net_without_last(net);
	struct fors_task task = {0};
	struct fors_repair *list = NULL;
	struct fors_pods *pods = NULL;
	uint32_t count = 0, phases = 0;
	enum fors_err err;

	begin();
	err = fors_pods_build(net, less, NULL, 0, &pods, error);
	if (!err)
		err = fors_repairs_list(fors_fattree_of_pods(pods), &list, &count, error);
	if (!err)
		err = fors_phases_mended(&task, fors_fattree_of_pods(pods), &list[0], UINT32_MAX, &phases, error);
	faults_off();
	*digest = phases;
	assert_true(err || phases == 8);
	free(list);
	fors_pods_free(pods);
	fors_net_free(net);
	fors_net_free(less);
	return err;
}

static enum fors_err build_fabric(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_fabric *fabric = UNTOUCHED;
	uint64_t guid[2] = {g->bed->fabric->server[0].guid, g->bed->fabric->server[3].guid};
	const struct fors_participants two = {guid, 2};
	enum fors_err err;

	begin();
	err = fors_fabric_build(g->bed->net, g->bed->places, &two, &fabric, error);
	faults_off();
	if (err) {
		assert_ptr_equal(fabric, UNTOUCHED);
		return err;
	}
	*digest = fabric->fingerprint;
	fors_fabric_free(fabric);
	return FORS_OK;
}

/* ---- drained links ---- */

static enum fors_err add_names(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_names names = {NULL, 0};
	enum fors_err err;

	assert_int_equal(fors_names_add(&names, "Leaf00[7]", NULL), FORS_OK);
	begin();
	err = fors_names_add(&names, "Leaf01[8],Spine00, Leaf02", error);
	faults_off();
	assert_int_equal(names.count, err ? 1 : 4);
	*digest = digest_of(names.name[names.count - 1], 5);
	fors_names_clear(&names);
	return err;
}

static enum fors_err drain_links(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_fabric *fabric = NULL;
	struct fors_names names = {NULL, 0};
	struct fors_warnings warnings = {0};
	enum fors_err err;

	assert_int_equal(fors_fabric_build(g->bed->net, g->bed->places, NULL, &fabric, NULL), FORS_OK);
	assert_int_equal(fors_names_add(&names, "Leaf03[9],nobody", NULL), FORS_OK);
	begin();
	fors_drained_links(fors_fattree_of_fabric(fabric), &names, "exclude_links", &warnings);
	err = fors_drained_apply(fors_fattree_of_fabric(fabric), &warnings, error);
	faults_off();
	*digest = fabric->fingerprint;
	fors_names_clear(&names);
	fors_fabric_free(fabric);
	return err;
}

/* A cable died; then the watch cannot look, and can. */
static enum fors_err watch_cables(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_holddown *watch = fors_holddown_new();
	struct fors_fabric *intact = NULL, *broken = NULL;
	enum fors_err err;

	assert_int_equal(fors_fabric_build(g->bed->intact, g->bed->places, NULL, &intact, NULL), FORS_OK);
	assert_int_equal(fors_fabric_build(g->bed->net, g->bed->places, NULL, &broken, NULL), FORS_OK);
	assert_int_equal(
		fors_holddown_look(watch, fors_fattree_of_fabric(broken), (struct fors_moment){1000, 1000}, NULL),
		FORS_OK);
	begin();
	err = fors_holddown_look(watch, fors_fattree_of_fabric(intact), (struct fors_moment){2000, 2000}, error);
	faults_off();
	if (err)
		assert_int_equal(fors_holddown_look(watch, fors_fattree_of_fabric(intact),
						    (struct fors_moment){2000, 2000}, NULL),
				 FORS_OK);
	*digest = fors_holddown_mark(watch,
				     fors_fattree_of_fabric(intact)); /* what came back is held, once and for all */
	assert_true(*digest > 0);
	fors_holddown_free(watch);
	fors_fabric_free(intact);
	fors_fabric_free(broken);
	return err;
}

static enum fors_err build_tables(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_lfts *lfts = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_tables_build(g->bed->fabric, &lfts, error);
	return made_lfts(err, lfts, digest);
}

static enum fors_err check_tables(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	uint32_t nowhere = 77;
	enum fors_err err;

	begin();
	err = fors_tables_check(g->bed->fabric, g->bed->lfts, NULL, &nowhere, error);
	faults_off();
	assert_int_equal(nowhere, err ? 77 : 0);
	*digest = nowhere;
	return err;
}

static enum fors_err cure_hole(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_fattree tree = fors_fattree_of_fabric(g->bed->fabric);
	uint32_t cable = 77, gone = 77;
	enum fors_err err;

	begin();
	err = fors_holes_cure(&tree, 0, tree.nleaves, &cable, &gone, error);
	faults_off();
	assert_true(!err || (cable == 77 && gone == 77));
	*digest = cable + gone;
	return err;
}

static enum fors_err take_account(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_account account = {.ports = 77};
	enum fors_err err;

	begin();
	err = account_of_fabric(g->bed->fabric, &account, error);
	faults_off();
	assert_int_equal(account.ports, err ? 77 : g->bed->fabric->nservers);
	*digest = account.ports;
	return err;
}

static enum fors_err read_lanes(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_lanes *lanes = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_lanes_read(g->bed->fabric, g->bed->lfts, &lanes, error);
	faults_off();
	if (err) {
		assert_ptr_equal(lanes, UNTOUCHED);
		return err;
	}
	*digest = digest_of(lanes->up, (size_t)g->bed->fabric->nleaves * lanes->nlids);
	fors_lanes_free(lanes);
	return FORS_OK;
}

/* ---- the kept order ---- */

static enum fors_err made_places(enum fors_err err, struct fors_places *places, const struct ground *g,
				 uint64_t *digest)
{
	faults_off();
	if (err) {
		assert_ptr_equal(places, UNTOUCHED);
		return err;
	}
	*digest = digest_places(places, g->bed->intact);
	fors_places_free(places);
	return FORS_OK;
}

static enum fors_err encode_places(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	size_t size;
	enum fors_err err;

	begin();
	err = fors_places_encode(g->bed->places, &text, &size, error);
	return made_text(err, text, digest);
}

static enum fors_err decode_places(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places = UNTOUCHED;
	char *text = NULL;
	size_t size;
	enum fors_err err;

	assert_int_equal(fors_places_encode(g->bed->places, &text, &size, NULL), FORS_OK);
	begin();
	err = fors_places_decode(text, size, "places", &places, error);
	err = made_places(err, places, g, digest);
	free(text);
	return err;
}

static enum fors_err copy_places(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places;

	begin();
	places = fors_places_copy(g->bed->places);
	faults_off();
	return places ? made_places(FORS_OK, places, g, digest) : fors_fail_memory(error);
}

static enum fors_err refer_places(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_places_refer(g->bed->intact, NULL, 0, &places, error);
	return made_places(err, places, g, digest);
}

static enum fors_err adopt_places(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_places *places = fors_places_copy(g->bed->places), *reference = NULL;
	const struct fors_places *before = places;
	bool is_new = false;
	enum fors_err err;

	assert_int_equal(fors_places_refer(g->bed->intact, NULL, 0, &reference, NULL), FORS_OK);
	begin();
	err = fors_places_adopt(&places, reference, &is_new, error);
	faults_off();
	assert_int_equal(is_new, !err);
	if (err) {
		assert_ptr_equal(places, before);
		fors_places_free(places);
	} else {
		made_places(err, places, g, digest);
	}
	fors_places_free(reference);
	return err;
}

/* ---- what applications read ---- */

/* As the codes of the core, so that the same loop judges them. */
static enum fors_err as_core(enum forsched_err err, const struct forsched_error *from, struct fors_error *error)
{
	if (!err)
		return FORS_OK;
	assert_int_equal(err, from->code);
	return fors_fail(error, err == FORSCHED_ENOMEM ? FORS_ENOMEM : FORS_EINPUT, "%s", from->text);
}

static enum fors_err app_open(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = UNTOUCHED;
	struct forsched_error reason = {.text = ""};
	enum forsched_err err;

	begin();
	err = forsched_open_memory(g->bytes, g->nbytes, "memory", &schedule, &reason);
	faults_off();
	*digest = err ? 0 : forsched_nphases(schedule);
	if (err)
		assert_ptr_equal(schedule, UNTOUCHED);
	else
		forsched_close(schedule);
	return as_core(err, &reason, error);
}

static struct forsched *app_opened(const struct ground *g)
{
	struct forsched *schedule = NULL;

	assert_int_equal(forsched_open_memory(g->bytes, g->nbytes, "memory", &schedule, NULL), FORSCHED_OK);
	return schedule;
}

static enum fors_err app_flow(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = app_opened(g);
	struct forsched_error reason = {.text = ""};
	struct forsched_flow flow = {.to = 12345};
	enum forsched_err err;

	begin();
	err = forsched_prepare(schedule, 1, &reason);
	if (!err)
		err = forsched_flow(schedule, 1, 0, &flow);
	faults_off();
	assert_true(!err || flow.to == 12345);
	*digest = flow.to;
	forsched_close(schedule);
	return as_core(err, &reason, error);
}

/* After a failure the same schedule can be asked again. */
static enum fors_err app_check(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = app_opened(g);
	struct forsched_error reason = {.text = ""};
	enum forsched_err err;

	begin();
	err = forsched_check(schedule, &reason);
	faults_off();
	if (err)
		assert_int_equal(forsched_check(schedule, NULL), FORSCHED_OK);
	*digest = 1;
	forsched_close(schedule);
	return as_core(err, &reason, error);
}

static enum fors_err app_copy(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = app_opened(g);
	struct forsched_error reason = {.text = ""};
	void *bytes = UNTOUCHED;
	size_t size = 0;
	enum forsched_err err;

	begin();
	err = forsched_copy(schedule, &bytes, &size, &reason);
	made_bytes(as_core(err, &reason, error), bytes, size, digest);
	forsched_close(schedule);
	return as_core(err, &reason, error);
}

static enum fors_err app_open_file(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = UNTOUCHED;
	struct forsched_error reason = {.text = ""};
	enum forsched_err err;

	begin();
	err = forsched_open(g->file, &schedule, &reason);
	if (!err)
		err = forsched_check(schedule, &reason);
	faults_off();
	*digest = err ? 0 : forsched_nphases(schedule);
	if (schedule != UNTOUCHED)
		forsched_close(schedule);
	return as_core(err, &reason, error);
}

/* On any failure the old schedule stays usable. */
static enum fors_err app_refresh(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = NULL;
	struct forsched_error reason = {.text = ""};
	enum forsched_err err;

	assert_int_equal(forsched_open(g->old_file, &schedule, NULL), FORSCHED_OK);
	assert_int_equal(rename(g->old_file, g->scratch), 0);
	assert_int_equal(symlink(g->file, g->old_file), 0);
	begin();
	err = forsched_refresh(&schedule, &reason);
	faults_off();
	assert_int_equal(forsched_check(schedule, NULL), FORSCHED_OK);
	assert_int_equal(forsched_epoch(schedule), err ? 1 : 2);
	assert_int_equal(rename(g->scratch, g->old_file), 0);
	*digest = forsched_epoch(schedule);
	forsched_close(schedule);
	return as_core(err, &reason, error);
}

/* ---- plans ---- */

static enum fors_err lower_bound(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	uint32_t found = 12345;
	enum fors_err err;

	begin();
	err = fors_lower_bound(g->bed->fabric, &found, error);
	faults_off();
	if (err)
		assert_int_equal(found, 12345);
	*digest = found;
	return err;
}

static enum fors_err plan(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_schedule *schedule = UNTOUCHED;
	struct fors_task task = bed_task(g->bed);
	enum fors_err err;

	task.threads = g->threads;
	task.limits.seconds = 10;
	begin();
	err = fors_plan(&task, g->method, &schedule, error);
	return made_schedule(err, schedule, digest);
}

static enum fors_err encode(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	void *bytes = UNTOUCHED;
	size_t size = 0;
	enum fors_err err;

	begin();
	err = fors_schedule_encode(g->schedule, &bytes, &size, error);
	return made_bytes(err, bytes, size, digest);
}

static enum fors_err decode(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_schedule *schedule = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_schedule_decode(g->bytes, g->nbytes, "schedule", &schedule, error);
	return made_schedule(err, schedule, digest);
}

static enum fors_err withdrawn(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_schedule *schedule = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_schedule_withdrawn(7, "no reason", &schedule, error);
	return made_schedule(err, schedule, digest);
}

static enum fors_err verify(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_verdict verdict = {.is_good = false};
	enum fors_err err;

	begin();
	err = fors_verify(g->bed->net, g->bed->lfts, g->schedule, NULL, NULL, &verdict, error);
	faults_off();
	assert_int_equal(verdict.is_good, !err);
	*digest = verdict.nflows;
	return err;
}

/* Planned and verified, or nothing at all. Single flows that run out of memory leave the plan of another method, of more phases. */
static enum fors_err make_outcome(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_request request = {.task = bed_task(g->bed), .net = g->bed->net, .lfts = g->bed->lfts};
	struct fors_outcome outcome;
	enum fors_err err;

	request.task.lanes = NULL;
	fors_outcome_init(&outcome);
	begin();
	err = fors_outcome_make(&request, &outcome, error);
	faults_off();
	assert_int_equal(outcome.is_proven, !err);
	assert_int_equal(!outcome.plan, err != FORS_OK);
	assert_int_equal(outcome.lower_bound == FORS_UNKNOWN, err != FORS_OK);
	*digest = err ? 0 : outcome.lower_bound ^ outcome.verdict.nflows << 32;
	fors_outcome_clear(&outcome);
	return err;
}

static uint8_t some_level(void *context, uint32_t src, uint32_t dst)
{
	(void)context;
	return (uint8_t)((src ^ dst) & 7);
}

/* Over the same tables, but as those of any engine. */
static enum fors_err plan_over(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	const struct fors_request task = {.net = g->bed->net, .lfts = g->bed->lfts, .sl = some_level};
	struct fors_outcome report = {0};
	struct fors_schedule *schedule = NULL;
	enum fors_err err;

	begin();
	err = fors_plan_proven(&task, &schedule, &report, error);
	faults_off();
	assert_int_equal(!schedule, err != FORS_OK);
	*digest = err ? 0 : schedule->fingerprint ^ schedule->nphases;
	fors_schedule_free(schedule);
	return err;
}

/* ---- the status ---- */

static enum fors_err fill_status(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_status status, before;
	enum fors_err err;

	fors_status_init(&status);
	assert_int_equal(status_of_fabric(&status, g->bed->fabric, error), FORS_OK);
	before = status;
	begin();
	err = status_of_fabric(&status, g->bed->fabric, error);
	faults_off();
	assert_true(!err || !memcmp(&status, &before, sizeof(status))); /* no list was freed */
	*digest = (uint64_t)status.servers ^
		  digest_of(status.dead_links.link, status.dead_links.count * sizeof(*status.dead_links.link));
	fors_status_clear(&status);
	return err;
}

static enum fors_err write_json(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_status_json(&g->status, &text, error);
	return made_text(err, text, digest);
}

static enum fors_err write_metrics(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	char *text = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_status_prom(&g->status, "daq", &text, error);
	return made_text(err, text, digest);
}

static enum fors_err write_counts(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	const struct fors_counts counts = {.version = "0", .opensm = "OpenSM", .beat_ms = 1};
	char *text = UNTOUCHED;
	enum fors_err err;

	(void)g;
	begin();
	err = fors_counts_prom(&counts, "daq", &text, error);
	return made_text(err, text, digest);
}

static enum fors_err parse_json(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_status status = {.servers = 12345};
	enum fors_err err;

	begin();
	err = fors_status_parse(g->json, "status.json", &status, error);
	faults_off();
	*digest = (uint64_t)status.servers;
	if (err)
		assert_int_equal(status.servers, 12345);
	else
		fors_status_clear(&status);
	return err;
}

/* ---- what the plugin reads ---- */

static enum fors_err load_settings(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	const struct fors_sources sources = {
		.options = g->options, .root_guid_file = g->guids, .cn_guid_file = g->guids};
	struct fors_settings *settings = UNTOUCHED;
	enum fors_err err;

	begin();
	err = fors_settings_load(&sources, &settings, error);
	faults_off();
	if (err) {
		assert_ptr_equal(settings, UNTOUCHED);
		return err;
	}
	*digest = digest_of(settings->root, settings->nroots * sizeof(*settings->root)) ^
		  digest_of(settings->limits.method, strlen(settings->limits.method));
	fors_settings_free(settings);
	return FORS_OK;
}

static enum fors_err init_folder(const char *state_dir, uint64_t *digest, struct fors_error *error)
{
	struct fors_folder folder = {.parent = UNTOUCHED};
	enum fors_err err;

	begin();
	err = fors_folder_init(&folder, state_dir, 1, error);
	faults_off();
	if (err) {
		assert_ptr_equal(folder.parent, UNTOUCHED);
		return err;
	}
	*digest = digest_of(folder.parent, strlen(folder.parent));
	fors_folder_clear(&folder);
	return FORS_OK;
}

static enum fors_err named_folder(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	return init_folder("/somewhere", digest, error);
}

static enum fors_err usual_folder(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	return init_folder(NULL, digest, error);
}

static enum fors_err read_published(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_folder folder;
	void *bytes = UNTOUCHED;
	size_t size = 0;
	enum fors_err err;

	assert_int_equal(fors_folder_init(&folder, g->directory, 1, NULL), FORS_OK);
	begin();
	err = fors_published(&folder, "schedule", 1 << 20, &bytes, &size, error);
	err = made_bytes(err, bytes, size, digest);
	fors_folder_clear(&folder);
	return err;
}

/* ---- three levels: tables and rounds ---- */

/* A tree of three levels without what is down. */
struct tree3 {
	struct fors_net *known, *now;
	struct fors_pods *pods;
};

static const struct {
	const char *spec, *down;
} trees3[] = {
	{"XGFT(3;3,4,5;1,3,4)", "Mid2-00[7] Mid2-00[8] Mid2-01[6] Mid2-07[5]"}, /* bundles in long cohorts */
	{"XGFT(3;4,4,4;1,4,4)", "Mid2-05[6] Mid2-08[8] Mid2-05[7] Mid2-15[8] Mid2-09[5] Mid2-09[8]"}, /* items anew */
	{"XGFT(3;4,4,4;1,4,4)", "Mid2-06[7]"},	     /* the closed form's repair */
	{"XGFT(3;2,2,4;1,2,2)", "Leaf05[3]"},	     /* a search for rounds */
	{"PGFT(3;4,3,3;1,2,2;1,2,2)", "Spine02[3]"}, /* relief, of tops, too */
	/* tops that choose: claims, and entries that move in haste */
	{"PGFT(3;2,4,4;1,2,2;1,1,2)",
	 "Mid2-06[7] Leaf05[4] Mid2-00[6] Leaf01[4] Mid2-02[8] Leaf04[4] Leaf10[4] Leaf03[4]"},
};

static void tree3_new(struct tree3 *tree, unsigned number)
{
	struct fors_tree_spec spec = {0};
	char down[128], *rest = down, *word;

	assert_int_equal(fors_tree_spec_parse(trees3[number].spec, &spec, NULL), FORS_OK);
	assert_int_equal(fors_tree_net(&spec, &tree->known, NULL), FORS_OK);
	fors_tree_spec_clear(&spec);
	assert_int_equal(fors_assign_lids(tree->known, NULL, 0, false, NULL), FORS_OK);
	assert_int_equal(fors_net_copy(tree->known, &tree->now, NULL), FORS_OK);
	snprintf(down, sizeof(down), "%s", trees3[number].down);
	while ((word = strtok_r(rest, " ", &rest)))
		assert_int_equal(fors_net_down(tree->known, tree->now, word, NULL), FORS_OK);
	assert_int_equal(fors_pods_build(tree->known, tree->now, NULL, 0, &tree->pods, NULL), FORS_OK);
}

static void tree3_free(struct tree3 *tree)
{
	fors_pods_free(tree->pods);
	fors_net_free(tree->known);
	fors_net_free(tree->now);
}

static enum fors_err route_pods(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct fors_pods_route *route = UNTOUCHED;
	struct tree3 tree;
	enum fors_err err;

	tree3_new(&tree, g->number);
	begin();
	err = fors_pods_route_make(tree.pods, 100, &route, error);
	faults_off();
	tree3_free(&tree);
	if (err) {
		assert_ptr_equal(route, UNTOUCHED);
		return err;
	}
	*digest = digest_of(route->lfts->port, (size_t)route->lfts->nswitches * route->lfts->nlids);
	fors_pods_route_free(route);
	return FORS_OK;
}

/* ---- trying them ---- */

static uint64_t next(uint64_t n)
{
	return n < EVERY ? n + 1 : n + n / 6;
}

static void check_result(const char *name, uint64_t n, enum fors_err err, const struct fors_error *error)
{
	if (!err ||
	    (err == FORS_EIO && strstr(error->text, strerror(ENOMEM)))) /* a file cannot be opened without memory */
		return;
	if (err != FORS_ENOMEM || error->code != err || !error->text[0])
		fail_msg("%s, allocation %llu: \"%s\" instead of out of memory: %s", name, (unsigned long long)n,
			 fors_strerror(err), error->text);
}

static void try_each(const char *name, operation run, const struct ground *ground, bool on)
{
	uint64_t usual = 0, digest = 0;
	int64_t live;
	unsigned count = 0;
	struct fors_error first;

	armed = (struct pause){0, on};
	if (run(ground, &usual, &first))
		fail_msg("%s: %s", name, first.text);
	live = faults_live();
	for (armed.n = 1;; armed.n = next(armed.n), count++) {
		struct fors_error error = {.text = ""};
		enum fors_err err = run(ground, &digest, &error);

		check_result(name, armed.n, err, &error);
		if (!err && digest != usual)
			fail_msg("%s, allocation %llu: another result", name, (unsigned long long)armed.n);
		if (faults_live() != live)
			fail_msg("%s, allocation %llu: %lld blocks lost", name, (unsigned long long)armed.n,
				 (long long)(faults_live() - live));
		if (!faults_off())
			break;
	}
	assert_true(count > 0);
}

static void try_both(const char *name, operation run, const struct ground *ground)
{
	try_each(name, run, ground, false);
	try_each(name, run, ground, true);
	if (faults_leaked())
		fail_msg("%s: memory lost", name);
}

/* ---- cancelling ---- */

/* Says stop at the ask number `left`. */
static bool stop_at(void *context)
{
	uint64_t *left = context;

	if (*left)
		--*left;
	return *left == 0;
}

/* Cancelled at the n-th ask: a word, nothing lost; false when it was not asked so often. */
static bool cancel_plan(const struct ground *g, uint64_t n, uint64_t usual)
{
	struct fors_schedule *schedule = UNTOUCHED;
	struct fors_task task = bed_task(g->bed);
	struct fors_error error = {.text = ""};
	uint64_t left = n, digest;
	enum fors_err err;

	task.cancelled = stop_at;
	task.context = &left;
	task.limits.seconds = 10;
	err = fors_plan(&task, g->method, &schedule, &error);
	if (err && (err != FORS_ECANCELLED || error.code != err || !error.text[0]))
		fail_msg("%s, stopped at ask %llu: \"%s\": %s", g->method, (unsigned long long)n, fors_strerror(err),
			 error.text);
	made_schedule(err, schedule, &digest);
	assert_true(err || digest == usual);
	return left == 0;
}

static bool cancel_verify(const struct ground *g, uint64_t n)
{
	struct fors_verdict verdict = {.is_good = false};
	struct fors_error error = {.text = ""};
	uint64_t left = n;
	enum fors_err err = fors_verify(g->bed->net, g->bed->lfts, g->schedule, stop_at, &left, &verdict, &error);

	assert_int_equal(err, left ? FORS_OK : FORS_ECANCELLED);
	assert_int_equal(verdict.is_good, !err);
	return left == 0;
}

/* ---- grounds ---- */

static struct ground *ground_new(const char *spec, unsigned lmc, const char *down)
{
	struct ground *g = calloc(1, sizeof(*g));
	struct fors_task task;
	struct fors_error error;

	assert_non_null(g);
	g->bed = bed_new(spec, lmc);
	bed_down(g->bed, down);
	task = bed_task(g->bed);
	assert_int_equal(fors_plan(&task, "auto", &g->schedule, &error), FORS_OK);
	assert_int_equal(fors_schedule_encode(g->schedule, &g->bytes, &g->nbytes, &error), FORS_OK);
	assert_int_equal(fors_netfile_write(g->bed->net, &g->net_text, &g->net_size, &error), FORS_OK);
	assert_int_equal(fors_lftfile_write(g->bed->net, g->bed->lfts, &g->lft_text, &g->lft_size, &error), FORS_OK);
	fors_status_init(&g->status);
	assert_int_equal(status_of_fabric(&g->status, g->bed->fabric, &error), FORS_OK);
	fors_status_schedule(&g->status, g->schedule);
	assert_int_equal(fors_status_json(&g->status, &g->json, &error), FORS_OK);
	g->threads = 1;
	return g;
}

static void ground_free(struct ground *g)
{
	fors_schedule_free(g->schedule);
	fors_status_clear(&g->status);
	free(g->bytes);
	free(g->net_text);
	free(g->lft_text);
	free(g->json);
	bed_free(g->bed);
	free(g);
}

/* ---- version 2 ---- */

/* The ground's plan over ways, on levels that are not the same for all flows of a unit when is_mixed. */
static void add_ways(struct ground *g, bool is_mixed)
{
	published_add(g->bed, g->schedule, PUBLISHED_WAYS | (is_mixed ? PUBLISHED_MIXED_SLS : PUBLISHED_SLS));
	free(g->bytes);
	assert_int_equal(fors_schedule_encode(g->schedule, &g->bytes, &g->nbytes, NULL), FORS_OK);
}

/* Ways as a planner puts them, one by one. */
static enum fors_err put_ways(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	const struct fors_waylist *from = g->schedule->ways;
	struct fors_waylist *ways = NULL;
	struct fors_way_hop hop[3];
	enum fors_err err;

	begin();
	err = fors_waylist_new(from->nleaves, from->guid, from->nservers, from->npaths, &ways, error);
	for (uint32_t d = 0; !err && d < from->nservers; d++) {
		uint32_t n = fors_waylist_get(from, fors_waylist_find(from, 0, d, 0), hop, 3);

		if (n)
			err = fors_waylist_put(ways, 0, d, 0, hop, n, 1, error);
	}
	faults_off();
	*digest = err ? 0 : ways->nways;
	fors_waylist_free(ways);
	return err;
}

static enum fors_err app_way(const struct ground *g, uint64_t *digest, struct fors_error *error)
{
	struct forsched *schedule = app_opened(g);
	struct forsched_error reason = {.text = ""};
	struct forsched_hop hop[3] = {{.guid = 0}};
	uint32_t n = 0;
	enum forsched_err err;

	begin();
	err = forsched_way(schedule, 1, 0, hop, 3, &n, &reason);
	faults_off();
	*digest = err ? 0 : n + hop[0].guid;
	if (err) /* and again, with memory */
		assert_int_equal(forsched_way(schedule, 1, 0, hop, 3, &n, NULL), FORSCHED_OK);
	forsched_close(schedule);
	return as_core(err, &reason, error);
}

/* ---- the tests ---- */

static void schedules_of_version_2(void **state)
{
	static const struct {
		const char *name;
		operation run;
	} all[] = {
		{"fors_schedule_encode, 2", encode}, {"fors_schedule_decode, 2", decode},
		{"fors_waylist_put", put_ways},	     {"forsched_open_memory, 2", app_open},
		{"forsched_flow, 2", app_flow},	     {"forsched_check, 2", app_check},
		{"forsched_way", app_way},
	};

	for (int is_mixed = 0; is_mixed < 2; is_mixed++) {
		struct ground *g = ground_new("FT(2;3,4;cables=2)", 3, "Leaf00[5]");

		add_ways(g, is_mixed);
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
			try_both(all[i].name, all[i].run, g);
		ground_free(g);
	}
}

static void all_but_plans(void **state)
{
	static const struct {
		const char *name;
		operation run;
	} all[] = {
		{"fors_netfile_read", read_net},
		{"fors_net_diff", compare_nets},
		{"fors_netfile_write", write_net},
		{"fors_slurm_write", write_slurm},
		{"fors_net_copy", copy_net},
		{"fors_net_add_node", add_nodes},
		{"fors_net_index", index_net},
		{"fors_assign_lids", assign_lids},
		{"fors_tree_net", make_net},
		{"fors_tree_spec_parse", parse_spec},
		{"fors_lftfile_read", read_lfts},
		{"fors_lftfile_write", write_lfts},
		{"fors_lfts_diff", diff_lfts},
		{"fors_guidlist_read", read_guids},
		{"fors_places_learn", learn_all},
		{"fors_places_learn, more", learn_more},
		{"fors_places_learn_tree", learn_pods},
		{"fors_status_tree, three levels", tell_pods},
		{"fors_drained_apply, three levels", drain_pods},
		{"fors_phases_mended, three levels", mend_pods},
		{"fors_places_encode", encode_places},
		{"fors_places_decode", decode_places},
		{"fors_places_copy", copy_places},
		{"fors_places_refer", refer_places},
		{"fors_places_adopt", adopt_places},
		{"fors_fabric_build", build_fabric},
		{"fors_entries_find", share_lanes},
		{"fors_jobplans_floors", hold_pods},
		{"fors_names_add", add_names},
		{"fors_drained_apply", drain_links},
		{"fors_holddown_look", watch_cables},
		{"fors_tables_build", build_tables},
		{"fors_tables_check", check_tables},
		{"fors_holes_cure", cure_hole},
		{"fors_account_take", take_account},
		{"fors_lanes_read", read_lanes},
		{"fors_lower_bound", lower_bound},
		{"fors_schedule_encode", encode},
		{"fors_schedule_decode", decode},
		{"fors_schedule_withdrawn", withdrawn},
		{"forsched_open_memory", app_open},
		{"forsched_flow", app_flow},
		{"forsched_check", app_check},
		{"forsched_copy", app_copy},
		{"fors_verify", verify},
		{"fors_outcome_make", make_outcome},
		{"fors_plan_over", plan_over},
		{"fors_status_tree", fill_status},
		{"fors_status_json", write_json},
		{"fors_counts_prom", write_counts},
		{"fors_status_prom", write_metrics},
		{"fors_status_parse", parse_json},
	};
	struct ground *g = ground_new("FT(2;3,4;servers=4;cables=2;empty=1/2)", 2, "Leaf00[5] Leaf01[6] Leaf02[7]");

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		try_both(all[i].name, all[i].run, g);
	ground_free(g);
}

/* Trees of three levels, at all that makes their tables and rounds. */
static void three_level_tables(void **state)
{
	struct ground g = {.number = 0};

	for (; g.number < sizeof(trees3) / sizeof(trees3[0]); g.number++)
		try_both("fors_pods_route_make", route_pods, &g);
	for (g.threads = 1; g.threads <= 3; g.threads++)
		try_both("fors_plan_over in rounds", plan_pods, &g);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A ground with a folder for files. */
static struct ground *ground_with_folder(void)
{
	struct ground *g = ground_new("FT(2;3,3)", 0, "");

	strcpy(g->directory, "/tmp/fors-memory-XXXXXX");
	assert_non_null(mkdtemp(g->directory));
	return g;
}

static void remove_folder(struct ground *g)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", g->directory);
	assert_int_equal(system(command), 0);
	ground_free(g);
}

static void what_the_plugin_reads(void **state)
{
	struct ground *g = ground_with_folder();
	struct fors_folder folder;
	char conf[96], reference[96], text[400];

	snprintf(g->guids, sizeof(g->guids), "%s/guids", g->directory);
	snprintf(conf, sizeof(conf), "%s/fors.conf", g->directory);
	snprintf(reference, sizeof(reference), "%s/reference", g->directory);
	snprintf(g->options, sizeof(g->options), "fors_config=%s", conf);
	put(g->guids, "0x10\n0x20\n0x30\n");
	put(reference, g->net_text);
	snprintf(
		text, sizeof(text),
		"method = rounds\nstate_dir = /somewhere\npublish_dir = /elsewhere\nexclude_links = Leaf00[4],Leaf01[5]\n"
		"exclude_spines = Spine00\nreference_fabric = %s\n",
		reference);
	put(conf, text);
	assert_int_equal(fors_folder_init(&folder, g->directory, 1, NULL), FORS_OK);
	assert_int_equal(fors_publish(&folder, "schedule", g->bytes, g->nbytes, false, NULL), FORS_OK);
	try_both("fors_settings_load", load_settings, g);
	try_both("fors_folder_init, named", named_folder, g);
	try_both("fors_folder_init, usual", usual_folder, g);
	try_both("fors_published", read_published, g);
	fors_folder_clear(&folder);
	remove_folder(g);
}

static void put_schedule(struct ground *g, const char *path, uint64_t epoch)
{
	void *bytes;
	size_t size;
	FILE *file = fopen(path, "w");

	g->schedule->epoch = epoch;
	assert_non_null(file);
	assert_int_equal(fors_schedule_encode(g->schedule, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
	free(bytes);
}

static void what_applications_read(void **state)
{
	struct ground *g = ground_with_folder();

	snprintf(g->file, sizeof(g->file), "%s/schedule", g->directory);
	snprintf(g->old_file, sizeof(g->old_file), "%s/old", g->directory);
	snprintf(g->scratch, sizeof(g->scratch), "%s/scratch", g->directory);
	put_schedule(g, g->old_file, 1);
	put_schedule(g, g->file, 2);
	try_both("forsched_open", app_open_file, g);
	try_both("forsched_refresh", app_refresh, g);
	remove_folder(g);
}

static void nets_that_are_no_trees(void **state)
{
	struct ground g = {.method = ""};
	char name[96];

	try_both("fors_graph_spec_parse", parse_graph, &g);
	for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
		g.method = graphs[i];
		try_both(graphs[i], make_graph, &g);
		for (unsigned model = 0; model < FORS_NMODELS; model++) {
			if (model == FORS_MODEL_DOR && i > 1)
				continue;
			snprintf(name, sizeof(name), "%s, tables %s", graphs[i], fors_model_name(model));
			g.threads = model;
			try_both(name, make_model_tables, &g);
		}
		snprintf(name, sizeof(name), "%s, tables sar", graphs[i]);
		try_both(name, make_sar_tables, &g);
	}
}

/* Naming what is down allocates nothing. */
static void taking_down_needs_no_memory(void **state)
{
	struct ground *g = ground_new("FT(2;3,3)", 0, "");
	struct fors_error error;
	uint64_t digest;

	armed = (struct pause){1, true};
	assert_int_equal(take_down(g, &digest, &error), FORS_OK);
	ground_free(g);
}

struct case_of_plan {
	const char *spec;
	unsigned lmc;
	const char *down, *method;
};

static void try_plan(const struct case_of_plan *c)
{
	struct ground *g = ground_new(c->spec, c->lmc, c->down);
	char name[200];

	g->method = c->method;
	for (g->threads = 1; g->threads <= 2; g->threads++) {
		snprintf(name, sizeof(name), "%s, lmc %u, down \"%s\", method %s, %u threads", c->spec, c->lmc, c->down,
			 c->method, g->threads);
		try_both(name, plan, g);
	}
	ground_free(g);
}

static void plans(void **state)
{
	static const struct case_of_plan cases[] = {
		{"FT(2;3,3)", 2, "", "closed-form"},
		{"FT(2;4,4)", 2, "Leaf00[5]", "closed-form"},
		{"FT(2;8,5)", 3, "Leaf00[9] Leaf00[10]", "closed-form"},
		{"FT(2;4,4)", 0, "Leaf00[5]", "rounds"},
		{"FT(2;3,4;servers=4;cables=2;empty=1/2)", 2, "Leaf00[5] Leaf01[6] Leaf02[7]", "rounds"},
		{"FT(2;4,4)", 0, "Leaf00[5] Leaf01[6]", "flows"},
		{"FT(2;16,14)", 0, "Leaf00[17] Leaf01[18]", "flows"}, /* lumps */
		{"FT(2;4,4)", 2, "Leaf00[5] Leaf01[6]", "exact"},
		{"FT(2;3,4;servers=4;cables=2;empty=1/2)", 3, "Leaf00[5] Leaf01[6] Leaf02[7]", "exact"},
		{"FT(2;4,4)", 2, "Leaf00[5] Leaf01[6]", "auto"},
		{"FT(2;4,4)", 0, "Leaf00[5] Leaf01[6]", "auto"},
		{"FT(2;1,1)", 0, "", "auto"},
		{"FT(2;20,18)", 5, "Leaf00[21] Leaf05[24]", "auto"},
		{"FT(2;20,18)", 0, "Leaf00[21] Leaf05[24]", "rounds"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		try_plan(&cases[i]);
}

/* The same plan, whatever threads can be had. */
static void plans_without_threads(void **state)
{
	struct ground *g = ground_new("FT(2;8,6)", 3, "Leaf00[9] Leaf01[10] Leaf01[11]");
	uint64_t usual, digest;

	g->threads = 4;
	armed = (struct pause){0, false};
	assert_int_equal(plan_pods(g, &usual, NULL), FORS_OK);
	faults_arm_threads(1);
	assert_int_equal(plan_pods(g, &digest, NULL), FORS_OK);
	assert_int_equal(digest, usual);
	faults_arm_threads(0);
	ground_free(g);
}

static void try_cancel(const struct case_of_plan *c)
{
	struct ground *g = ground_new(c->spec, c->lmc, c->down);
	uint64_t usual, n = 1;
	int64_t live;

	g->method = c->method;
	armed = (struct pause){0, false};
	assert_int_equal(plan(g, &usual, NULL), FORS_OK);
	live = faults_live();
	while (cancel_plan(g, n, usual))
		n = next(n);
	for (n = 1; cancel_verify(g, n); n = next(n))
		;
	assert_int_equal(faults_live(), live);
	ground_free(g);
}

/* Whoever asks to stop is heard at the first, the second, the n-th ask. */
static void stopping_at_each_ask(void **state)
{
	static const struct case_of_plan cases[] = {
		{"FT(2;8,5)", 3, "Leaf00[9] Leaf00[10]", "closed-form"},
		{"FT(2;3,4;servers=4;cables=2;empty=1/2)", 2, "Leaf00[5] Leaf01[6] Leaf02[7]", "rounds"},
		{"FT(2;3,4;servers=4;cables=2;empty=1/2)", 3, "Leaf00[5] Leaf01[6] Leaf02[7]", "exact"},
		{"FT(2;8,8)", 3, "Leaf00[9] Leaf00[10] Leaf02[12]", "auto"},
		{"FT(2;8,8)", 0, "Leaf00[9] Leaf00[10] Leaf02[12]", "rounds"},
		{"FT(2;20,18)", 5, "Leaf00[21] Leaf05[24]", "auto"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		try_cancel(&cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_but_plans),
		cmocka_unit_test(three_level_tables),
		cmocka_unit_test(schedules_of_version_2),
		cmocka_unit_test(nets_that_are_no_trees),
		cmocka_unit_test(what_the_plugin_reads),
		cmocka_unit_test(what_applications_read),
		cmocka_unit_test(taking_down_needs_no_memory),
		cmocka_unit_test(plans),
		cmocka_unit_test(plans_without_threads),
		cmocka_unit_test(stopping_at_each_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
