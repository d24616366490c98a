/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of plugin/engine*.c and plugin/entry.c: OpenSM's subnet, its log and its functions are real, sweeps are the
 * calls and events that opensm makes of them. In the worker's place is who notes what it is handed (linked with --wrap;
 * test_worker.c tests what becomes of it), so nothing here waits for a thread that plans.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fabric/places.h"
#include "inside.h"
#include "daemon/base/clock.h"
#include "daemon/daemon_inside.h"
#include "plugin/engine_inside.h"
#include "subnet.h"
#include "tests/unit/support.h"

#define SPEC "FT(2;3,3)"

extern osm_event_plugin_t osm_event_plugin;

/* ---- what the engine hands on ---- */

static struct {
	struct fors_worker_setup setup;
	struct fors_look *job; /* the last one */
	unsigned jobs;
	struct fors_claim *claim; /* what it asks for; held */
	char *order;		  /* the last kept order */
	unsigned orders;
	char sweeps[32]; /* begins, ends, broken off: letters */
	struct {
		char dir[64], command[64];
		unsigned seconds, count;
	} out;
	unsigned stopped;
	double step[FORS_NSTEPS]; /* when it was noted last; 0: never */
	uint64_t confirmed;	  /* number of the tables that the switches were last said to have; 0: of none */
	unsigned changes;	  /* of another engine's tables */
	const char *how;	  /* the last one was found out */
} noted;

/* What fails, or hangs, from now on. */
static struct {
	unsigned jobs; /* so many next allocations of jobs */
	bool copier, worker;
	bool copy;   /* there is no memory for copies of tables */
	bool check;  /* the next check of tables finds them wrong */
	bool levels; /* there are too many paths */
	const char *loader, *kept;
} ill;

enum fors_err __wrap_fors_worker_start(const struct fors_worker_setup *setup, struct fors_worker **worker,
				       struct fors_error *error);
void __wrap_fors_worker_submit(struct fors_worker *worker, struct fors_look *job);
void __wrap_fors_worker_keep(struct fors_worker *worker, char *text, size_t size);
void __wrap_fors_worker_note_tables(struct fors_worker *worker, uint64_t number);
void __wrap_fors_worker_note_step(struct fors_worker *worker, enum fors_step step, double at);
uint64_t __wrap_fors_worker_withdrawn(const struct fors_worker *worker);
void __wrap_fors_worker_note_sweep(struct fors_worker *worker, enum fors_sweep sweep);
void __wrap_fors_worker_stop(struct fors_worker *worker);
struct fors_claim *__wrap_fors_worker_claim(struct fors_worker *worker);
struct fors_lfts *__real_fors_lfts_copy(const struct fors_lfts *lfts);
struct fors_lfts *__wrap_fors_lfts_copy(const struct fors_lfts *lfts);
enum fors_err __real_fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				       struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error);
enum fors_err __wrap_fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				       struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error);
void __wrap_fors_worker_note_change(struct fors_worker *worker, const char *how);
uint64_t __wrap_fors_worker_changes(struct fors_worker *worker);
enum fors_err __real_fors_levels_new(const struct fors_net *net, const struct fors_participants *participants,
				     bool has_paths, struct fors_levels **levels, struct fors_error *error);
enum fors_err __wrap_fors_levels_new(const struct fors_net *net, const struct fors_participants *participants,
				     bool has_paths, struct fors_levels **levels, struct fors_error *error);
enum fors_err __wrap_fors_copier_set(struct fors_copier *copier, const struct fors_copier_request *request,
				     struct fors_error *error);
struct fors_look *__real_fors_look_new(enum fors_look_kind kind);
struct fors_look *__wrap_fors_look_new(enum fors_look_kind kind);
const char *__real_fors_loader_trouble(const struct fors_loader *loader);
const char *__wrap_fors_loader_trouble(const struct fors_loader *loader);
const char *__real_fors_kept_trouble(const struct fors_kept *kept);
const char *__wrap_fors_kept_trouble(const struct fors_kept *kept);

enum fors_err __wrap_fors_worker_start(const struct fors_worker_setup *setup, struct fors_worker **worker,
				       struct fors_error *error)
{
	noted.setup = *setup;
	if (ill.worker)
		return fors_fail_memory(error);
	*worker = (struct fors_worker *)&noted; /* never looked into */
	return FORS_OK;
}

void __wrap_fors_worker_submit(struct fors_worker *worker, struct fors_look *job)
{
	assert_non_null(worker);
	fors_look_free(noted.job);
	noted.job = job;
	noted.jobs++;
}

void __wrap_fors_worker_keep(struct fors_worker *worker, char *text, size_t size)
{
	assert_int_equal(strlen(text), size);
	free(noted.order);
	noted.order = text;
	noted.orders++;
}

/* Nothing was withdrawn for a ranking. */
uint64_t __wrap_fors_worker_withdrawn(const struct fors_worker *worker)
{
	return 0;
}

void __wrap_fors_worker_note_tables(struct fors_worker *worker, uint64_t number)
{
	noted.confirmed = number;
}

void __wrap_fors_worker_note_step(struct fors_worker *worker, enum fors_step step, double at)
{
	noted.step[step] = at;
}

void __wrap_fors_worker_note_sweep(struct fors_worker *worker, enum fors_sweep sweep)
{
	noted.sweeps[strlen(noted.sweeps)] = "beo"[sweep];
}

void __wrap_fors_worker_stop(struct fors_worker *worker)
{
	noted.stopped += worker != NULL;
}

void __wrap_fors_worker_note_change(struct fors_worker *worker, const char *how)
{
	noted.changes++;
	noted.how = how;
}

uint64_t __wrap_fors_worker_changes(struct fors_worker *worker)
{
	return noted.changes;
}

enum fors_err __wrap_fors_levels_new(const struct fors_net *net, const struct fors_participants *participants,
				     bool has_paths, struct fors_levels **levels, struct fors_error *error)
{
	return ill.levels ? fors_fail(error, FORS_ELIMIT, "too many paths, as the test says")
			  : __real_fors_levels_new(net, participants, has_paths, levels, error);
}

struct fors_claim *__wrap_fors_worker_claim(struct fors_worker *worker)
{
	return fors_claim_hold(noted.claim);
}

struct fors_lfts *__wrap_fors_lfts_copy(const struct fors_lfts *lfts)
{
	return ill.copy ? NULL : __real_fors_lfts_copy(lfts);
}

enum fors_err __wrap_fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				       struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error)
{
	if (!ill.check)
		return __real_fors_tables_check(fabric, lfts, warnings, nowhere, error);
	ill.check = false;
	return fors_fail(error, FORS_ETABLES, "wrong, as the test says");
}

enum fors_err __wrap_fors_copier_set(struct fors_copier *copier, const struct fors_copier_request *request,
				     struct fors_error *error)
{
	snprintf(noted.out.dir, sizeof(noted.out.dir), "%s", request->dir ? request->dir : "");
	snprintf(noted.out.command, sizeof(noted.out.command), "%s", request->command ? request->command : "");
	noted.out.seconds = request->seconds;
	noted.out.count++;
	return ill.copier ? fors_fail_memory(error) : FORS_OK;
}

struct fors_look *__wrap_fors_look_new(enum fors_look_kind kind)
{
	if (!ill.jobs)
		return __real_fors_look_new(kind);
	ill.jobs--;
	return NULL;
}

const char *__wrap_fors_loader_trouble(const struct fors_loader *loader)
{
	return ill.loader ? ill.loader : __real_fors_loader_trouble(loader);
}

const char *__wrap_fors_kept_trouble(const struct fors_kept *kept)
{
	return ill.kept ? ill.kept : __real_fors_kept_trouble(kept);
}

/* ---- an engine in an opensm ---- */

struct bench {
	struct bed *bed;
	struct subnet *subnet;
	struct fors_engine *engine;
	osm_routing_engine_t ours, other;
	char conf[96], options[128];
};

/* fors.conf, with a state folder of the test's own. */
static void configure(struct bench *bench, const char *conf)
{
	static unsigned size; /* each text another one, as the time of a file does not tell two of a moment apart */
	char text[2048];

	snprintf(text, sizeof(text), "state_dir = %s/state\n%s\n#%*s\n", bench->subnet->folder, conf, (int)size++, "");
	subnet_write(bench->subnet, "fors.conf", text);
}

static void forget_noted(void)
{
	fors_look_free(noted.job);
	fors_claim_drop(noted.claim);
	free(noted.order);
	memset(&noted, 0, sizeof(noted));
	memset(&ill, 0, sizeof(ill));
}

/* opensm before it has loaded its plugins. */
static struct bench *bench_before(const char *spec, unsigned lmc, const char *conf)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	assert_non_null(bench);
	forget_noted();
	bench->bed = bed_new(spec, lmc);
	bench->subnet = subnet_new(bench->bed->net);
	snprintf(bench->options, sizeof(bench->options), "fors_config=%s/fors.conf", bench->subnet->folder);
	bench->subnet->osm.subn.opt.event_plugin_options = bench->options;
	bench->other.name = "minhop";
	configure(bench, conf);
	return bench;
}

static struct bench *bench_of(const char *spec, unsigned lmc, const char *conf)
{
	struct bench *bench = bench_before(spec, lmc, conf);
	osm_opensm_t *osm = &bench->subnet->osm;

	bench->engine = fors_engine_new(osm);
	assert_non_null(bench->engine);
	bench->ours.name = "fors";
	bench->ours.context = bench->engine;
	assert_int_equal(fors_engine_setup(&bench->ours, osm), 0);
	return bench;
}

static struct bench *bench_new(const char *conf)
{
	return bench_of(SPEC, 2, conf);
}

static void bench_free(struct bench *bench)
{
	osm_opensm_t *osm = &bench->subnet->osm;

	if (bench->engine && bench->ours.destroy)
		bench->ours.destroy(bench->engine);
	fors_engine_free(bench->engine);
	osm->subn.opt.event_plugin_options = NULL;
	osm->subn.opt.root_guid_file = osm->subn.opt.cn_guid_file = NULL;
	subnet_free(bench->subnet);
	bed_free(bench->bed);
	free(bench);
	forget_noted();
}

static void report(struct bench *bench, osm_epi_event_id_t event, void *data)
{
	osm_event_plugin.report(bench->engine, event, data);
}

static void preset(struct bench *bench)
{
	cl_qmap_t *switches = &bench->subnet->osm.subn.sw_guid_tbl;

	for (cl_map_item_t *item = cl_qmap_head(switches); item != cl_qmap_end(switches); item = cl_qmap_next(item))
		memset(((osm_switch_t *)item)->new_lft, OSM_NO_PATH, ((osm_switch_t *)item)->lft_size);
}

/* What opensm does to route; is it fors who does? Under its lock, as there. */
static bool route(struct bench *bench)
{
	osm_opensm_t *osm = &bench->subnet->osm;
	bool is_ours;

	preset(bench);
	cl_plock_excl_acquire(&osm->lock);
	is_ours = !bench->ours.ucast_build_fwd_tables(bench->ours.context);
	osm->routing_engine_used = is_ours ? &bench->ours : &bench->other;
	cl_plock_release(&osm->lock);
	if (is_ours)
		subnet_install(bench->subnet);
	return is_ours;
}

/* A heavy sweep as far as routing. */
static bool sweep_to_tables(struct bench *bench)
{
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	return route(bench);
}

static bool sweep(struct bench *bench)
{
	bool is_ours = sweep_to_tables(bench);

	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	return is_ours;
}

static void assert_job(enum fors_look_kind kind, const char *reason)
{
	assert_non_null(noted.job);
	assert_int_equal(noted.job->kind, kind);
	if (!strstr(noted.job->reason, reason) || (!reason[0] && noted.job->reason[0]))
		fail_msg("'%s', not '%s'", noted.job->reason, reason);
}

static unsigned logged(const struct bench *bench, const char *text)
{
	return subnet_logged(bench->subnet, text);
}

static bool has_warning(const char *text)
{
	for (unsigned i = 0; i < noted.job->warnings.count; i++)
		if (strstr(noted.job->warnings.text[i], text))
			return true;
	return false;
}

/* A file of the state folder. */
static void write_state(const struct bench *bench, const char *name, const char *text)
{
	const struct fors_folder *folder = &bench->engine->daemon->folder;
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", folder->parent, folder->name);
	mkdir(folder->parent, 0755);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "state/%s/%s", folder->name, name);
	subnet_write(bench->subnet, path, text);
}

/* ---- tables ---- */

static void assert_tables(struct bench *bench, const struct fors_lfts *lfts)
{
	for (uint32_t row = 0; row < lfts->nswitches; row++) {
		osm_switch_t *sw = osm_get_switch_by_guid(&bench->subnet->osm.subn, cl_hton64(lfts->guid[row]));

		assert_memory_equal(sw->new_lft, lfts->port + (size_t)row * lfts->nlids, lfts->nlids);
	}
}

/* The routing callback fills the tables that fors makes of this fabric, and says so. */
static void tables_are_filled(void **state)
{
	struct bench *bench = bench_new("method = closed-form\nilp_seconds = 77");

	assert_true(sweep_to_tables(bench));
	assert_tables(bench, bench->bed->lfts);
	assert_int_equal(noted.jobs, 1);
	assert_job(FORS_LOOK_ROUTED, "");
	assert_int_equal(noted.job->fabric->nservers, 9);
	assert_int_equal(noted.job->lfts->nlids, bench->bed->lfts->nlids);
	assert_true(noted.job->tables_ms >= 0 && noted.job->tables_ms < 60000);
	assert_string_equal(noted.job->limits.method, "closed-form");
	assert_int_equal(noted.job->limits.seconds, 77);
	assert_int_equal(noted.job->due_ms, 0);
	assert_int_equal(logged(bench, "tables of 6 switches for 9 servers, 3 spine lanes filled in"), 1);
	bench_free(bench);
}

/* OpenSM's own hop matrices are asked for where somebody reads them: its multicast, its unicast cache. */
static void hop_matrices(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_opt_t *opt = &bench->subnet->osm.subn.opt;

	for (int i = 0; i < 4; i++) {
		opt->disable_multicast = i & 1;
		opt->use_ucast_cache = i & 2;
		assert_int_equal(bench->ours.build_lid_matrices(bench->engine), i != 1);
	}
	bench_free(bench);
}

/* What the switches hold is looked at when the sweep has ended, and not remembered. */
static void what_switches_hold(void **state)
{
	struct bench *bench = bench_new("");
	osm_switch_t *leaf = subnet_switch(bench->subnet, "Leaf01");
	uint32_t row;

	assert_true(sweep_to_tables(bench));
	free(leaf->new_lft);
	leaf->new_lft = NULL;
	leaf->lft[3] ^= 1;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.jobs, 2);
	assert_job(FORS_LOOK_INSTALLED, "");
	assert_non_null(noted.job->fabric);
	assert_true(noted.job->tables_ms >= 0);
	row = fors_lfts_row(noted.job->lfts, cl_ntoh64(osm_node_get_node_guid(leaf->p_node)));
	assert_int_equal(fors_lfts_port(noted.job->lfts, row, 3), leaf->lft[3]);
	assert_int_equal(noted.orders, 1);
	write_state(bench, "places", noted.order);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.orders, 1); /* nothing learnt since */
	bench_free(bench);
}

static void sweeps_that_met_errors(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_t *subn = &bench->subnet->osm.subn;
	osm_switch_t *leaf = subnet_switch(bench->subnet, "Leaf01");

	assert_true(sweep(bench));
	subn->subnet_initialization_error = TRUE;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_INCOMPLETE, "OpenSM met errors");
	subn->subnet_initialization_error = FALSE;
	leaf->lft[3] ^= 1;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_INCOMPLETE, "a switch does not hold its new tables yet");
	leaf->lft[3] ^= 1;
	subn->sm_state = IB_SMINFO_STATE_STANDBY;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_INCOMPLETE, "not the master");
	subn->sm_state = IB_SMINFO_STATE_MASTER;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_INSTALLED, "");
	bench_free(bench);
}

/* ---- before the sweep has ended ---- */

/* Routing is done, multicast is not: the number of the tables that the worker is told of, 0: of none. */
static uint64_t confirmed(struct bench *bench)
{
	noted.confirmed = 0;
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	return noted.confirmed;
}

static void tables_are_confirmed_once(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_t *subn = &bench->subnet->osm.subn;
	uint64_t number;

	assert_true(sweep_to_tables(bench));
	number = noted.job->number;
	assert_true(number > 0);
	assert_int_equal(confirmed(bench), number);
	assert_int_equal(confirmed(bench), 0);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.job->number, number);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL); /* of a sweep in which nobody asked for tables */
	assert_int_equal(noted.job->number, 0);
	assert_true(sweep_to_tables(bench));
	assert_true(noted.job->number > number);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	assert_int_equal(confirmed(bench), 0); /* OpenSM's unicast cache has made the tables of this sweep */
	subn->sm_state = IB_SMINFO_STATE_STANDBY;
	assert_true(sweep_to_tables(bench));
	assert_int_equal(confirmed(bench), 0);
	bench_free(bench);
}

static void tables_that_are_not_confirmed(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_t *subn = &bench->subnet->osm.subn;

	assert_true(sweep_to_tables(bench));
	memset(subnet_switch(bench->subnet, "Spine01")->lft, 0, 64); /* as of a block that is on its way */
	assert_int_equal(confirmed(bench), 0);
	assert_true(sweep_to_tables(bench));
	subn->subnet_initialization_error = TRUE;
	assert_int_equal(confirmed(bench), 0);
	subn->subnet_initialization_error = FALSE;
	assert_int_equal(confirmed(bench), 0); /* not any more */
	assert_true(sweep_to_tables(bench));
	bench->subnet->osm.routing_engine_used = &bench->other;
	assert_int_equal(confirmed(bench), 0);
	assert_true(sweep_to_tables(bench));
	configure(bench, "method = no-such");
	assert_true(confirmed(bench) > 0);
	bench_free(bench);
}

/* Is the fabric active, with one port in another state? */
static bool is_active_but(struct bench *bench, const char *name, unsigned port, unsigned state)
{
	ib_port_info_t *info = &subnet_port(bench->subnet, name, port)->port_info;

	ib_port_info_set_port_state(info, state);
	assert_true(sweep_to_tables(bench));
	ib_port_info_set_port_state(info, IB_LINK_ACTIVE);
	return noted.job->is_active;
}

/* Each end of each cable that a flow may pass counts; others do not: a host that takes no part, a cable that is drained. */
static void ports_on_the_way(void **state)
{
	struct bench *bench = bench_new("exclude_spines = Spine02");
	osm_subn_t *subn = &bench->subnet->osm.subn;

	assert_true(is_active_but(bench, "Leaf01", 4, IB_LINK_ACTIVE));
	assert_false(is_active_but(bench, "Leaf01", 4, IB_LINK_INIT));
	assert_false(is_active_but(bench, "Spine01", 3, IB_LINK_ARMED));
	assert_false(is_active_but(bench, "Leaf02", 1, IB_LINK_ARMED));
	assert_false(is_active_but(bench, "Node02-00", 1, IB_LINK_INIT));
	assert_true(is_active_but(bench, "Spine02", 3, IB_LINK_INIT));
	subn->coming_out_of_standby = TRUE;
	assert_false(is_active_but(bench, "Leaf01", 4, IB_LINK_ACTIVE));
	subn->coming_out_of_standby = FALSE;
	subn->first_time_master_sweep = TRUE;
	assert_false(is_active_but(bench, "Leaf01", 4, IB_LINK_ACTIVE));
	subn->first_time_master_sweep = FALSE;
	subnet_cut(bench->subnet, "Leaf00", 3); /* of each leaf its own servers */
	assert_true(is_active_but(bench, "Leaf02", 3, IB_LINK_ACTIVE));
	assert_false(is_active_but(bench, "Leaf02", 3, IB_LINK_ARMED));
	bench_free(bench);
}

/* ---- others route ---- */

static void no_tree_is_declined(void **state)
{
	struct bench *bench = bench_new("");

	assert_true(sweep(bench));
	subnet_cut(bench->subnet, "Leaf00", 4);
	subnet_cut(bench->subnet, "Leaf01", 4);
	subnet_join(bench->subnet, "Leaf00", 4, "Leaf01", 4);
	noted.sweeps[0] = '\0';
	memset(noted.sweeps, 0, sizeof(noted.sweeps));
	assert_false(sweep_to_tables(bench));
	assert_job(FORS_LOOK_DECLINED, "Leaf0");
	assert_string_equal(noted.sweeps, "bo"); /* it ends here, when nobody else routes */
	assert_int_equal(logged(bench, "ERR F003"), 1);
	assert_int_equal(logged(bench, "; the next routing engine takes over"), 1);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_DECLINED, "Leaf0"); /* why not */
	bench->subnet->osm.routing_engine_used = NULL;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_DECLINED, "Leaf0"); /* nor anybody else */
	subnet_cut(bench->subnet, "Leaf00", 4);
	assert_true(sweep(bench));
	assert_job(FORS_LOOK_INSTALLED, "");
	bench->subnet->osm.routing_engine_used = &bench->other;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_DECLINED, "the fabric is routed by 'minhop'");
	assert_null(noted.job->fabric);
	bench->subnet->osm.routing_engine_used = NULL;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_DECLINED, "no routing engine has routed this fabric");
	bench_free(bench);
}

/* Two leaves without a spine in common: declined, and nothing is learnt from what is not routed. */
static void parted_leaves_are_declined(void **state)
{
	struct bench *bench = bench_new("");
	char *order;

	subnet_cut(bench->subnet, "Leaf02", 6);
	assert_true(sweep(bench));
	order = strdup(noted.order);
	subnet_join(bench->subnet, "Leaf02", 6, "Spine02", 3);
	subnet_cut(bench->subnet, "Leaf00", 4);
	subnet_cut(bench->subnet, "Leaf00", 5);
	subnet_cut(bench->subnet, "Leaf00", 6);
	assert_false(sweep(bench));
	assert_int_equal(logged(bench, "ERR F004"), 1);
	assert_job(FORS_LOOK_DECLINED, "have no common live spine");
	assert_string_equal(noted.order, order);
	free(order);
	bench_free(bench);
}

/* It was a tree when tables were made, and is none when they are looked at. */
static void no_tree_at_the_end(void **state)
{
	struct bench *bench = bench_new("");

	assert_true(sweep_to_tables(bench));
	subnet_cut(bench->subnet, "Leaf00", 4);
	subnet_cut(bench->subnet, "Leaf01", 4);
	subnet_join(bench->subnet, "Leaf00", 4, "Leaf01", 4);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_DECLINED, "Leaf0");
	assert_int_equal(logged(bench, "; nothing is published"), 1);
	assert_string_equal(noted.sweeps, "be");
	bench_free(bench);
}

/* ---- schedules over another engine's tables ---- */

/* A sweep in which another engine made these very tables. */
static void sweep_of_another(struct bench *bench)
{
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	bench->subnet->osm.routing_engine_used = &bench->other;
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
}

/* The first sign of a change is told, and no other until these tables have been looked at, too. */
static void tables_of_another_change(void **state)
{
	struct bench *bench = bench_new("schedule_over = any");
	osm_switch_t *leaf = subnet_switch(bench->subnet, "Leaf01");

	assert_true(sweep(bench));
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	assert_int_equal(noted.changes, 0); /* these were fors's own */
	sweep_of_another(bench);
	assert_job(FORS_LOOK_INSTALLED, "");
	assert_string_equal(noted.job->tables_by, "minhop");
	noted.changes = 0;
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	assert_int_equal(noted.changes, 1);
	assert_string_equal(noted.how, "reported by a switch");
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	assert_int_equal(noted.changes, 1);

	sweep_of_another(bench);
	assert_int_equal(noted.changes, 1); /* the same tables */
	leaf->lft[3] ^= 1;
	leaf->new_lft[3] ^= 1;
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	assert_int_equal(noted.changes, 2);
	assert_string_equal(noted.how, "found when routing was done");
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	assert_int_equal(noted.changes, 2);
	bench_free(bench);
}

static uint8_t level_of(uint16_t src, uint16_t dst)
{
	return (uint8_t)((3 * src + dst) % 7);
}

static uint8_t path_sl(void *context, uint8_t hint, const ib_net16_t src, const ib_net16_t dst)
{
	assert_int_equal(hint, OSM_DEFAULT_SL);
	return level_of(cl_ntoh16(src), cl_ntoh16(dst));
}

/* Levels of paths are asked of the engine that has them; where they are too many the look does without. */
static void levels_of_another(void **state)
{
	struct bench *bench = bench_new("schedule_over = any");
	const struct fors_levels *levels;

	assert_true(sweep(bench));
	sweep_of_another(bench);
	levels = noted.job->given->levels;
	assert_true(levels && !levels->sl && levels->all == OSM_DEFAULT_SL);
	bench->other.path_sl = path_sl;
	sweep_of_another(bench);
	levels = noted.job->given->levels;
	assert_int_equal(levels->nservers, 9);
	for (uint32_t s = 0; s < levels->nservers; s++)
		for (uint32_t c = 0; c < levels->nlids; c++)
			if (levels->server_of[levels->lid[c]] != s)
				assert_int_equal(levels->sl[(size_t)s * levels->nlids + c],
						 level_of(levels->base[s], levels->lid[c]));
	ill.levels = true;
	sweep_of_another(bench);
	assert_job(FORS_LOOK_INSTALLED, "");
	assert_null(noted.job->given->levels);
	assert_true(has_warning("service levels are not asked of 'minhop': too many paths"));
	bench_free(bench);
}

/* ---- settings ---- */

/* Without settings that were ever good nothing is routed; said once at the start, and once more in each later sweep. */
static void bad_settings_at_the_start(void **state)
{
	struct bench *bench = bench_new("methud = auto");

	assert_int_equal(logged(bench, "ERR F001"), 1);
	assert_false(sweep(bench));
	assert_job(FORS_LOOK_DECLINED, "methud");
	assert_int_equal(logged(bench, "ERR F001"), 2); /* "the next routing engine takes over" */
	assert_int_equal(logged(bench, "; the next routing engine takes over"), 1);
	assert_false(sweep(bench));
	assert_int_equal(logged(bench, "ERR F001"), 4);
	assert_int_equal(logged(bench, "stay in force"), 0);
	assert_false(bench->subnet->osm.subn.force_heavy_sweep); /* only memory comes back by itself */
	configure(bench, "");
	assert_true(sweep(bench));
	assert_job(FORS_LOOK_INSTALLED, "");
	bench_free(bench);
}

static void settings_of_before_stay(void **state)
{
	struct bench *bench = bench_new("method = closed-form");

	assert_true(sweep(bench));
	configure(bench, "method = none-such");
	assert_true(sweep(bench));
	assert_string_equal(noted.job->limits.method, "closed-form");
	assert_int_equal(logged(bench, "ERR F001"), 1);
	assert_int_equal(logged(bench, "; the settings of before stay in force"), 1);
	assert_true(has_warning("none-such"));
	configure(bench, "method = rounds");
	assert_true(sweep(bench));
	assert_string_equal(noted.job->limits.method, "rounds");
	assert_false(has_warning("none-such"));
	assert_int_equal(logged(bench, "ERR F001"), 1);
	bench_free(bench);
}

/* Said once, not by those who ask for where it is anyway. */
static void the_state_folder_stays(void **state)
{
	struct bench *bench = bench_new("");

	assert_true(sweep(bench));
	configure(bench, "state_dir = /elsewhere");
	assert_true(sweep(bench));
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "state_dir: a change needs a restart"), 1);
	configure(bench, "state_dir = /elsewhere\nmethod = rounds");
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "state_dir: a change needs a restart"), 1);
	configure(bench, "method = rounds");
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "state_dir: a change needs a restart"), 1);
	bench_free(bench);
}

/* Files that opensm.conf names. */
static void files_of_opensm(void **state)
{
	struct bench *bench = bench_before(SPEC, 2, "");
	osm_subn_opt_t *opt = &bench->subnet->osm.subn.opt;
	char text[160], roots[128], nodes[128];

	snprintf(text, sizeof(text), "0x%016llx\n0x5555\n",
		 (unsigned long long)cl_ntoh64(subnet_end(bench->subnet, "Node01-01")->guid));
	snprintf(nodes, sizeof(nodes), "%s", subnet_write(bench->subnet, "cns", text));
	snprintf(text, sizeof(text), "0x%016llx\n",
		 (unsigned long long)cl_ntoh64(osm_node_get_node_guid(subnet_node(bench->subnet, "Leaf00"))));
	snprintf(roots, sizeof(roots), "%s", subnet_write(bench->subnet, "roots", text));
	opt->cn_guid_file = nodes;
	bench->engine = fors_engine_new(&bench->subnet->osm);
	assert_non_null(bench->engine);
	bench->ours.context = bench->engine;
	fors_engine_setup(&bench->ours, &bench->subnet->osm);
	assert_true(sweep(bench));
	assert_int_equal(noted.job->fabric->nservers, 1);
	assert_true(has_warning("cn_guid_file"));
	snprintf(text, sizeof(text), "participants_file = %s", nodes);
	configure(bench, text);
	assert_true(sweep(bench));
	assert_true(has_warning("participants_file"));
	assert_false(has_warning("cn_guid_file"));
	opt->root_guid_file = roots; /* if so, this leaf is a spine, and there are servers below spines only */
	assert_false(sweep(bench));
	assert_int_equal(logged(bench, "ERR F003: not a two-level fat-tree"), 1);
	bench_free(bench);
}

/* publish_dir and publish_command, from the start on, and whenever they are others. */
static void where_copies_go(void **state)
{
	struct bench *bench = bench_new("publish_dir = /copies\npublish_command = /bin/true\npublish_seconds = 33");

	assert_int_equal(noted.out.count, 1);
	assert_string_equal(noted.out.dir, "/copies");
	assert_string_equal(noted.out.command, "/bin/true");
	assert_int_equal(noted.out.seconds, 33);
	configure(bench, "publish_dir = /others");
	assert_true(sweep(bench));
	assert_string_equal(noted.out.dir, "/others");
	assert_string_equal(noted.out.command, "");
	ill.copier = true;
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "publish_dir and publish_command stay as they were"), 1);
	bench_free(bench);
}

/* A file or folder that hangs is said once, is a warning as long as it lasts, and its end is said too. */
static void files_that_hang(void **state)
{
	struct bench *bench = bench_new("");

	assert_true(sweep(bench));
	ill.loader = "/far/fors.conf does not answer";
	ill.kept = "the state folder does not answer";
	assert_true(sweep(bench));
	assert_true(has_warning("/far/fors.conf does not answer; the settings of before stay in force"));
	assert_true(has_warning("the state folder does not answer; the sweeps go on without"));
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "ERR F020"), 1);
	assert_int_equal(logged(bench, "answer again"), 0);
	memset(&ill, 0, sizeof(ill));
	assert_true(sweep(bench));
	assert_false(has_warning("does not answer"));
	assert_true(sweep(bench));
	assert_int_equal(logged(bench, "answer again"), 1);
	bench_free(bench);
}

/* ---- places ---- */

/* Spines keep their lanes when one dies; `fors forget` drops it, in a sweep that routes. */
static void places_are_kept_and_forgotten(void **state)
{
	struct bench *bench = bench_new("");
	cl_qmap_t *nodes = &bench->subnet->osm.subn.node_guid_tbl;
	osm_node_t *spine;
	char text[64];

	assert_true(sweep(bench));
	assert_int_equal(fors_places_size(bench->engine->daemon->kept.places).spines, 3);
	snprintf(text, sizeof(text), "0x%016llx\n",
		 (unsigned long long)cl_ntoh64(osm_node_get_node_guid(subnet_node(bench->subnet, "Spine01"))));
	for (unsigned port = 1; port <= 3; port++)
		subnet_cut(bench->subnet, "Spine01", port);
	spine = subnet_node(bench->subnet, "Spine01");
	cl_qmap_remove_item(nodes, &spine->map_item);
	assert_true(sweep(bench));
	assert_int_equal(noted.job->fabric->nlanes, 3);
	write_state(bench, "forget", text);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL); /* without tables: not yet */
	assert_int_equal(noted.job->fabric->nlanes, 3);
	write_state(bench, "forget", text);
	assert_true(sweep(bench));
	assert_int_equal(noted.job->fabric->nlanes, 2);
	assert_int_equal(fors_places_size(bench->engine->daemon->kept.places).spines, 2);
	cl_qmap_insert(nodes, osm_node_get_node_guid(spine), &spine->map_item);
	bench_free(bench);
}

/* ---- drained cables ---- */

static uint32_t held(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < noted.job->fabric->nleaves * noted.job->fabric->nlanes; i++)
		count += noted.job->fabric->cable[i].drained == FORS_DRAIN_HELD;
	return count;
}

/* A cable that comes back is held: plan and tables wait, and the look says until when. */
static void held_cables(void **state)
{
	struct bench *bench = bench_new("hold_down = 1000");
	uint8_t port;

	assert_true(sweep(bench));
	port = subnet_port(bench->subnet, "Leaf00", 5)->p_remote_physp->port_num;
	subnet_cut(bench->subnet, "Leaf00", 5);
	assert_true(sweep(bench));
	assert_int_equal(held(), 0);
	subnet_join(bench->subnet, "Leaf00", 5, "Spine01", port);
	assert_true(sweep_to_tables(bench));
	assert_int_equal(held(), 1);
	assert_true(noted.job->due_ms > 0);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(held(), 1);
	assert_true(noted.job->due_ms > 0);
	bench_free(bench);
}

/* Servers that a switch reaches by a port. */
static uint32_t servers_behind(struct bench *bench, const char *name, uint8_t port)
{
	const struct fors_fabric *fabric = noted.job->fabric;
	uint32_t count = 0;

	for (uint32_t i = 0; i < fabric->nservers; i++)
		count += subnet_switch(bench->subnet, name)->new_lft[fabric->server[i].lid] == port;
	return count;
}

/* No table leads to a server over it meanwhile. */
static void held_cables_carry_nothing(void **state)
{
	struct bench *bench = bench_of(SPEC, 0, "hold_down = 1000");

	assert_true(sweep(bench));
	assert_int_equal(servers_behind(bench, "Leaf00", 5), 2);
	subnet_cut(bench->subnet, "Leaf00", 5);
	assert_true(sweep_to_tables(bench));
	assert_int_equal(servers_behind(bench, "Leaf00", 5), 0);
	subnet_join(bench->subnet, "Leaf00", 5, "Spine01", 1);
	assert_true(sweep_to_tables(bench));
	assert_int_equal(held(), 1);
	assert_int_equal(servers_behind(bench, "Leaf00", 5), 0);
	bench_free(bench);
}

/* ---- OpenSM's unicast cache ---- */

static bool is_cache_kept(struct bench *bench)
{
	osm_ucast_mgr_t *mgr = &bench->subnet->osm.sm.ucast_mgr;

	mgr->cache_valid = TRUE;
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	return mgr->cache_valid;
}

/* Tables from before know nothing of a manager that has started since, nor of drained cables. */
static void the_unicast_cache(void **state)
{
	struct bench *bench = bench_new("");
	osm_opensm_t *osm = &bench->subnet->osm;
	ib_port_info_t *info = &subnet_port(bench->subnet, "Node02-02", 1)->port_info;

	osm->subn.opt.use_ucast_cache = TRUE;
	assert_true(sweep(bench));
	assert_true(is_cache_kept(bench));
	info->capability_mask = IB_PORT_CAP_IS_SM;
	osm->subn.opt.use_ucast_cache = FALSE;
	assert_true(is_cache_kept(bench));
	osm->subn.opt.use_ucast_cache = TRUE;
	osm->routing_engine_used = &bench->other;
	assert_true(is_cache_kept(bench)); /* these are another engine's */
	osm->routing_engine_used = &bench->ours;
	assert_false(is_cache_kept(bench));
	assert_true(sweep(bench));
	assert_true(is_cache_kept(bench));
	configure(bench, "exclude_spines = Spine01");
	assert_false(is_cache_kept(bench));
	configure(bench, "");
	assert_false(is_cache_kept(bench)); /* those of before know of the spine that is back */
	assert_true(is_cache_kept(bench));
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	ill.check = true;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL); /* it brought back wrong tables */
	assert_true(noted.job->is_wrong && noted.job->due_ms);
	assert_false(is_cache_kept(bench));
	assert_true(route(bench));
	assert_true(is_cache_kept(bench));
	bench_free(bench);
}

/* ---- entries of jobs ---- */

/* The worker claims entries for these jobs, on the fabric of the last job. */
static void claim_for(const char *text)
{
	struct fors_floors floors;
	struct fors_claim *claim;

	assert_int_equal(fors_floors_make(&noted.job->tree, &floors, NULL), FORS_OK);
	assert_int_equal(fors_claim_new(&floors, &claim, NULL), FORS_OK);
	assert_int_equal(fors_joblist_read(text, strlen(text), "jobs", floors.floor[0], &claim->list, NULL), FORS_OK);
	const struct fors_holdings_task task = {.floors = &floors, .list = &claim->list, .owners_work = 100000};

	assert_int_equal(fors_holdings_find(&task, &claim->holdings, NULL), FORS_OK);
	fors_floors_clear(&floors);
	claim->index = 1;
	claim->number = 7;
	fors_claim_drop(noted.claim);
	noted.claim = claim;
}

/* The tables that fors makes anyway, with what is claimed, which changes them. */
static void assert_claim(struct bench *bench)
{
	const struct fors_fabric *fabric = noted.job->fabric;
	struct fors_lfts *plain, *lfts;

	assert_int_equal(fors_tables_build(fabric, &plain, NULL), FORS_OK);
	lfts = fors_lfts_copy(plain);
	assert_int_equal(fors_claim_write(noted.claim, &noted.job->floors, lfts, NULL), FORS_OK);
	assert_memory_not_equal(lfts->port, plain->port, (size_t)lfts->nswitches * lfts->nlids);
	assert_tables(bench, lfts);
	fors_lfts_free(plain);
	fors_lfts_free(lfts);
}

#define INDEXED                                                                                                        \
	"one [job-index]: Node00-00, Node01-00, Node02-01\n"                                                           \
	"two [job-index]: Node00-01, Node01-02, Node02-02\n"

/*
 * What the worker claims comes into the tables, as far as it is right; jobs say so, and when it ends nothing of it is
 * left.
 */
static void entries_of_jobs(void **state)
{
	struct bench *bench = bench_of(SPEC, 1, "jobs_file = /none\njob_index = yes");

	bench->subnet->osm.subn.opt.use_ucast_cache = TRUE;
	assert_true(sweep(bench));
	assert_tables(bench, bench->bed->lfts);
	assert_true(noted.job->job_index && !noted.job->job_routes && !noted.job->claim);
	claim_for(INDEXED);
	assert_false(is_cache_kept(bench)); /* which would not ask for tables */
	assert_true(sweep_to_tables(bench));
	assert_ptr_equal(noted.job->claim, noted.claim);
	assert_claim(bench);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_job(FORS_LOOK_INSTALLED, "");
	assert_ptr_equal(noted.job->claim, noted.claim);
	subnet_cut(bench->subnet, "Leaf00", 4);
	assert_true(sweep(bench));
	assert_claim(bench); /* without the entries over that cable */
	subnet_join(bench->subnet, "Leaf00", 4, "Spine00", 1);
	fors_claim_drop(noted.claim);
	noted.claim = NULL;
	assert_true(sweep(bench));
	assert_tables(bench, bench->bed->lfts);
	assert_null(noted.job->claim);
	bench_free(bench);
}

/* Nothing is asked for where fors.conf does not; and should tables be wrong with entries they go without. */
static void no_entries_of_jobs(void **state)
{
	struct bench *bench = bench_of(SPEC, 1, "jobs_file = /none\njob_index = yes");

	assert_true(sweep(bench));
	claim_for(INDEXED);
	ill.check = true;
	assert_true(sweep_to_tables(bench));
	assert_tables(bench, bench->bed->lfts);
	assert_null(noted.job->claim);
	assert_int_equal(noted.job->refused, 7);
	assert_int_equal(logged(bench, "the tables go without entries of jobs: wrong, as the test says"), 1);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.job->refused, 7);
	assert_true(sweep(bench));
	assert_claim(bench);
	ill.copy = true;
	assert_false(sweep(bench));
	assert_job(FORS_LOOK_DECLINED, "out of memory");
	assert_true(bench->subnet->osm.subn.force_heavy_sweep);
	ill.copy = false;
	assert_true(sweep(bench));
	assert_claim(bench);
	configure(bench, "jobs_file = /none");
	assert_true(sweep(bench));
	assert_tables(bench, bench->bed->lfts);
	configure(bench, "job_index = yes");
	assert_true(sweep(bench));
	assert_tables(bench, bench->bed->lfts);
	bench_free(bench);
}

/* ---- memory ---- */

/* A job is kept for the sweep in which there is no memory for one; then a heavy sweep is asked for. */
static void jobs_without_memory(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_t *subn = &bench->subnet->osm.subn;
	unsigned jobs;

	assert_true(sweep(bench));
	assert_false(subn->force_heavy_sweep);
	ill.jobs = 1;
	assert_false(sweep_to_tables(bench));
	assert_job(FORS_LOOK_DECLINED, "out of memory");
	assert_int_equal(logged(bench, "ERR F006"), 1);
	assert_false(subn->force_heavy_sweep);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_true(subn->force_heavy_sweep);
	subn->force_heavy_sweep = FALSE;
	assert_true(sweep(bench));
	assert_false(subn->force_heavy_sweep);
	jobs = noted.jobs;
	ill.jobs = 1;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL); /* another one was kept, and does as well */
	assert_int_equal(noted.jobs, jobs + 1);
	assert_job(FORS_LOOK_INSTALLED, "");
	assert_true(subn->force_heavy_sweep);
	bench_free(bench);
}

/* Not even the one that was kept: nobody to tell, but for the log. */
static void no_job_at_all(void **state)
{
	struct bench *bench = bench_new("");
	osm_subn_t *subn = &bench->subnet->osm.subn;
	unsigned jobs;

	assert_true(sweep(bench));
	jobs = noted.jobs;
	ill.jobs = 100;
	assert_false(sweep_to_tables(bench));
	assert_int_equal(noted.jobs, jobs + 1);
	assert_false(sweep_to_tables(bench));
	assert_int_equal(noted.jobs, jobs + 1);
	assert_int_equal(logged(bench, "ERR F006"), 2);
	subn->force_heavy_sweep = FALSE;
	bench->subnet->osm.routing_engine_used = &bench->ours;
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_true(subn->force_heavy_sweep);
	assert_int_equal(logged(bench, "out of memory; nothing is published"), 1);
	ill.jobs = 0;
	assert_true(sweep(bench));
	assert_int_equal(noted.jobs, jobs + 3);
	bench_free(bench);
}

/* ---- events, start and end ---- */

static void events(void **state)
{
	struct bench *bench = bench_new("");
	unsigned jobs;

	assert_true(route(bench));
	jobs = noted.jobs;
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	assert_string_equal(noted.sweeps, "b");
	report(bench, OSM_EVENT_ID_STATE_CHANGE, NULL);
	assert_string_equal(noted.sweeps, "bo");
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_NONE);
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	assert_int_equal(noted.jobs, jobs);
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_REROUTE);
	assert_int_equal(noted.jobs, jobs + 1);
	assert_string_equal(noted.sweeps, "bo");
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.jobs, jobs + 2);
	assert_string_equal(noted.sweeps, "boe");
	bench_free(bench);
}

static void report_trap(struct bench *bench, uint8_t type, uint16_t number)
{
	ib_mad_notice_attr_t notice = {.generic_type = type};

	notice.g_or_v.generic.trap_num = cl_hton16(number);
	report(bench, OSM_EVENT_ID_TRAP, &notice);
}

/* Traps that OpenSM sweeps for, and no others; the first and the last block of a sweep, if there are any. */
static void steps_of_a_sweep(void **state)
{
	static const enum fors_step last[] = {FORS_STEP_SWEEP, FORS_STEP_DISCOVERED, FORS_STEP_CONFIRMED, FORS_STEP_UP};
	struct bench *bench = bench_new("");

	report_trap(bench, 0x81, 131);
	report_trap(bench, 0x01, 128);
	assert_true(noted.step[FORS_STEP_TRAP] <= 0);
	report_trap(bench, 0x81, 128);
	assert_true(noted.step[FORS_STEP_TRAP] > 0);
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL); /* of the sweep before */
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	assert_true(noted.step[FORS_STEP_FIRST_BLOCK] <= 0 && noted.step[FORS_STEP_LAST_BLOCK] <= 0);
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	for (double begin = fors_clock_exact_ms(); fors_clock_exact_ms() < begin + 0.1;)
		;
	report(bench, OSM_EVENT_ID_LFT_CHANGE, NULL);
	report(bench, OSM_EVENT_ID_UCAST_ROUTING_DONE, (void *)(uintptr_t)UCAST_ROUTING_HEAVY_SWEEP);
	assert_true(noted.step[FORS_STEP_DISCOVERED] < noted.step[FORS_STEP_FIRST_BLOCK]);
	assert_true(noted.step[FORS_STEP_FIRST_BLOCK] < noted.step[FORS_STEP_LAST_BLOCK]);
	assert_true(noted.step[FORS_STEP_LAST_BLOCK] < noted.step[FORS_STEP_CONFIRMED]);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	for (size_t i = 1; i < sizeof(last) / sizeof(last[0]); i++)
		assert_true(noted.step[last[i]] > noted.step[last[i - 1]]);
	bench_free(bench);
}

/* What the worker asks of OpenSM. */
static void what_the_worker_asks(void **state)
{
	static const struct {
		uint8_t state;
		enum fors_mastership mastership;
	} case_of[] = {
		{IB_SMINFO_STATE_MASTER, FORS_MASTER_YES},
		{IB_SMINFO_STATE_STANDBY, FORS_MASTER_NO},
		{IB_SMINFO_STATE_NOTACTIVE, FORS_MASTER_NO},
		{IB_SMINFO_STATE_DISCOVERING, FORS_MASTER_UNDECIDED},
	};
	struct bench *bench = bench_new("");
	osm_opensm_t *osm = &bench->subnet->osm;

	for (unsigned i = 0; i < 4; i++) {
		osm->subn.sm_state = case_of[i].state;
		assert_int_equal(noted.setup.source.mastership(noted.setup.source.context), case_of[i].mastership);
	}
	assert_int_equal(osm->sm.signal_mask, 0);
	noted.setup.source.sweep(noted.setup.source.context);
	assert_true(osm->subn.force_heavy_sweep);
	assert_int_equal(osm->sm.signal_mask, 1u << OSM_SIGNAL_SWEEP);
	assert_ptr_equal(noted.setup.log->context, &osm->log);
	assert_non_null(noted.setup.copier);
	assert_ptr_equal(noted.setup.folder, &bench->engine->daemon->folder);
	bench_free(bench);
}

/* OpenSM frees routing engines first, plugins later, and may report events between. */
static void the_end(void **state)
{
	struct bench *bench = bench_new("");
	unsigned jobs;

	assert_true(sweep(bench));
	jobs = noted.jobs;
	bench->ours.destroy(bench->engine);
	bench->ours.destroy = NULL;
	assert_int_equal(noted.stopped, 1);
	memset(noted.sweeps, 0, sizeof(noted.sweeps));
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	report(bench, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	report(bench, OSM_EVENT_ID_SUBNET_UP, NULL);
	assert_int_equal(noted.jobs, jobs);
	assert_string_equal(noted.sweeps, "");
	osm_event_plugin.delete(bench->engine);
	assert_int_equal(noted.stopped, 1);
	bench->engine = NULL;
	bench_free(bench);
}

/* OpenSM takes one engine of a name, and no more. */
static void registered_once(void **state)
{
	struct bench *bench = bench_before(SPEC, 2, "");

	assert_string_equal(osm_event_plugin.osm_version, OSM_VERSION);
	bench->engine = osm_event_plugin.create(&bench->subnet->osm);
	assert_non_null(bench->engine);
	assert_int_equal(logged(bench, ", routing engine for " OSM_VERSION), 1);
	assert_null(osm_event_plugin.create(&bench->subnet->osm));
	assert_int_equal(logged(bench, "ERR F002"), 1);
	assert_int_equal(logged(bench, "OpenSM did not take the routing engine 'fors'"), 1);
	assert_int_equal(noted.stopped, 1);
	bench_free(bench);
}

static void no_worker_no_engine(void **state)
{
	struct bench *bench = bench_before(SPEC, 2, "");

	ill.worker = true;
	assert_null(osm_event_plugin.create(&bench->subnet->osm));
	assert_int_equal(logged(bench, "ERR F002"), 1);
	bench_free(bench);
}

int run_engine_tests(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_filled),
		cmocka_unit_test(hop_matrices),
		cmocka_unit_test(what_switches_hold),
		cmocka_unit_test(sweeps_that_met_errors),
		cmocka_unit_test(tables_are_confirmed_once),
		cmocka_unit_test(tables_that_are_not_confirmed),
		cmocka_unit_test(ports_on_the_way),
		cmocka_unit_test(no_tree_is_declined),
		cmocka_unit_test(parted_leaves_are_declined),
		cmocka_unit_test(no_tree_at_the_end),
		cmocka_unit_test(tables_of_another_change),
		cmocka_unit_test(levels_of_another),
		cmocka_unit_test(bad_settings_at_the_start),
		cmocka_unit_test(settings_of_before_stay),
		cmocka_unit_test(the_state_folder_stays),
		cmocka_unit_test(files_of_opensm),
		cmocka_unit_test(where_copies_go),
		cmocka_unit_test(files_that_hang),
		cmocka_unit_test(places_are_kept_and_forgotten),
		cmocka_unit_test(held_cables),
		cmocka_unit_test(held_cables_carry_nothing),
		cmocka_unit_test(the_unicast_cache),
		cmocka_unit_test(entries_of_jobs),
		cmocka_unit_test(no_entries_of_jobs),
		cmocka_unit_test(jobs_without_memory),
		cmocka_unit_test(no_job_at_all),
		cmocka_unit_test(events),
		cmocka_unit_test(steps_of_a_sweep),
		cmocka_unit_test(what_the_worker_asks),
		cmocka_unit_test(the_end),
		cmocka_unit_test(registered_once),
		cmocka_unit_test(no_worker_no_engine),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
