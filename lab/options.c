/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* options.c - the table of the options that only commands of the lab have, and what goes together with what. */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/combinations.h"
#include "cli/setters.h"

static struct cli_lab_settings *lab_of(struct cli_settings *settings)
{
	return (struct cli_lab_settings *)settings;
}

/* --- setters --------------------------------------------------------------------------------------------------- */

static bool set_size(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_amount *amount = cli_member_of(option, settings);

	amount->is_given = true;
	return cli_size(option->name, argument, &amount->value);
}

/* Three sizes that ascend, the last one not 0. */
static bool set_levels(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	uint32_t *level = lab_of(settings)->simulate.adaptive_level;
	char text[64], *at = text;
	unsigned i = 0;

	snprintf(text, sizeof(text), "%s", argument);
	for (; at && i < 3; i++) {
		char *comma = strchr(at, ',');
		uint64_t value;

		if (comma)
			*comma = '\0';
		if (!cli_size(option->name, at, &value))
			return false;
		level[i] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
		at = comma ? comma + 1 : NULL;
	}
	if (i == 3 && !at && strlen(argument) < sizeof(text) && level[0] <= level[1] && level[1] <= level[2] &&
	    level[2])
		return true;
	cli_usage_error("--%s is '%s', but has to be three sizes that ascend, as in 1280,2560,5120", option->name,
			argument);
	return false;
}

static bool set_barrier(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	lab_of(settings)->simulate.has_no_barrier = !strcmp(argument, "none");
	return lab_of(settings)->simulate.has_no_barrier || cli_set_time(option, argument, settings);
}

static bool set_watch_server(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	lab_of(settings)->simulate.has_watch = true;
	return cli_set_number(option, argument, settings);
}

static bool set_progress(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	(void)option;
	(void)argument;
	(void)settings;
	cli_progress_wanted();
	return true;
}

static bool set_texts(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_add_text(cli_member_of(option, settings), argument);
}

/* Above 0, at most `most`. */
static bool set_rate(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	return cli_rate_of(option->name, argument, option->most, cli_member_of(option, settings));
}

/* "3,1": a number from 1 to 255 for each virtual lane. */
static bool set_weights(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	struct cli_simulate *given = &lab_of(settings)->simulate;
	const char *at = argument;
	char *end;

	for (given->nweights = 0; given->nweights < CLI_MAX_WEIGHTS; at = end + 1) {
		unsigned long weight = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;

		if (!weight || weight > UINT8_MAX || (*end && *end != ','))
			break;
		given->weight[given->nweights++] = (uint8_t)weight;
		if (!*end)
			return true;
	}
	cli_usage_error("--%s is '%s', but has to be numbers from 1 to 255, of at most %d lanes, as in 3,1",
			option->name, argument, CLI_MAX_WEIGHTS);
	return false;
}

/* The program fors-trial reads it itself. */
static bool pass_on(const struct cli_option *option, const char *argument, struct cli_settings *settings)
{
	(void)option;
	(void)argument;
	(void)settings;
	return true;
}

/* --- the table -------------------------------------------------------------------------------------------------- */

const char *const cli_policies[] = {"tables", "random", "hashed", "adaptive", "switch-ar",
				    "vlb",    "ugal-l", "ugal-g", "tago",     NULL}; /* enum fors_policy */
const char *const cli_spreads[] = {"tables", "random", "vlb", "tago", NULL};	     /* enum cli_spread */
static const char *const levels[] = {"sum", "last", "oldest", NULL};		     /* enum fors_ar_level */
static const char *const lane_kinds[] = {"usual", "destination", "hops", NULL};
static const char *const adaptive_choices[] = {"usual", "random", "greedy", NULL};
static const char *const barriers[] = {"none", NULL};
static const char *const idles[] = {[CLI_IDLE_KEPT] = "kept", [CLI_IDLE_SKIPPED] = "skipped", NULL};
const char *const cli_waitings[] = {
	[CLI_WAIT_BARRIER] = "barrier", [CLI_WAIT_OWN] = "own",	      [CLI_WAIT_TOKENS] = "tokens",
	[CLI_WAIT_TREE] = "tree",	[CLI_WAIT_CHUNKS] = "chunks", NULL};
static const char *const queue_kinds[] = {[CLI_QUEUES_VOQ] = "voq", [CLI_QUEUES_FIFO] = "fifo", NULL};
static const char *const maps[] = {[CLI_MAP_DIRECT] = "direct", [CLI_MAP_RANDOM] = "random", NULL};
static const char *const routings[] = {"fors",	   "d-mod-k", "s-mod-k", "random", "hash",
				       "shortest", "up-down", "sssp",	 "dor",	   NULL};
static const char *const routings_of_jobs[] = {"fors",	  "d-mod-k", "s-mod-k", "random", "hash", "shortest",
					       "up-down", "sssp",    "dor",	"sar",	  NULL};
#define PATTERNS                                                                                                       \
	"linear-shift", "all-to-all", "plan", "shift", "permutation", "bisect", "2DNN", "2DNNDIAG", "3DNN",            \
		"3DNNDIAG", "bit-complement", "bit-reverse", "bit-rotation", "bit-shuffle", "bit-transpose",           \
		"tornado", "ring", "xor", "recursive-doubling", "dissemination", "broadcast", "incast", "NAS-FT",      \
		"NAS-IS", "NAS-CG", "NAS-MG", "NAS-BT", "WRF"
#define PATTERN_HELP                                                                                                              \
	"linear-shift, all-to-all, plan, plan(METHOD), shift, shift(K), permutation, bisect, 2DNN, 2DNNDIAG, 3DNN, "              \
	"3DNNDIAG, RANDN(K) or RANDOM(K); bit-complement, bit-reverse, bit-rotation, bit-shuffle, bit-transpose, tornado; ring, " \
	"xor, recursive-doubling, dissemination, broadcast; incast, incast(K), hotspot(K); NAS-FT, NAS-IS, NAS-CG, NAS-MG, "      \
	"NAS-BT, WRF"
static const char *const patterns[] = {PATTERNS, NULL};
static const char *const patterns_of_jobs[] = {PATTERNS, "per-job-shift", "per-job-plan", "per-job-all-to-all", NULL};
const char *const cli_engines[] = {"fors", "minhop", "updn", "dnup",	   "ftree", "lash",
				   "dor",  "dfsssp", "sssp", "torus-2QoS", "nue",   NULL};

enum {
	ANALYZE = CLI_CMD_ANALYZE,
	INDICES = CLI_CMD_INDICES,
	WHATIF = CLI_CMD_WHATIF,
	SIMULATE = CLI_CMD_SIMULATE,
	TRIAL = CLI_CMD_TRIAL,
	WITH_TABLES = ANALYZE | INDICES | SIMULATE,
	WITH_PATTERN = ANALYZE | SIMULATE,
};

#define MEMBER(name) offsetof(struct cli_settings, name)
#define LAB(name) offsetof(struct cli_lab_settings, name)

/* In the order of the help of each command. */
static const struct cli_option options[] = {
	{"participants", "FILE", WITH_TABLES, "only these port GUIDs send and receive, one per line", cli_set_text,
	 MEMBER(source.participants), 0, NULL},
	{"participants", "FILE", WHATIF, "only these port GUIDs take part, one per line", cli_set_text,
	 MEMBER(source.participants), 0, NULL},
	{"lfts", "FILE", WITH_TABLES, "the tables, of any engine: opensm-lfts.dump, or what dump_fts prints",
	 cli_set_text, MEMBER(lfts), 0, NULL},
	{"routing", "NAME", ANALYZE,
	 "instead of --lfts: fors (the tables that fors would write); a model of an engine for any net: shortest, "
	 "up-down, sssp, dor (TORUS, CUBE), or sar (balanced for --jobs); with --synthetic trees also d-mod-k, s-mod-k, "
	 "random, hash",
	 cli_set_text, MEMBER(routing), 0, routings_of_jobs},
	{"routing", "NAME", SIMULATE,
	 "instead of --lfts: fors (the tables that fors would write); a model of an engine for any net: shortest, "
	 "up-down, sssp, or dor (TORUS, CUBE); with --synthetic trees also d-mod-k, s-mod-k, random, hash",
	 cli_set_text, MEMBER(routing), 0, routings},
	{"routing", "NAME", INDICES,
	 "instead of --lfts: fors, or as for analyze: shortest, up-down, sssp, dor, d-mod-k, s-mod-k, random, hash",
	 cli_set_text, MEMBER(routing), 0, routings},
	{"routing", "NAME", WHATIF,
	 "instead of fors, in any net: a model of an engine, shortest, up-down, sssp, or dor (TORUS, CUBE), with a plan over "
	 "its tables",
	 cli_set_choice_text, MEMBER(routing), 0, cli_models},
	{"lmc", "N", WITH_TABLES, "with --routing fors: LMC of the servers, 0 to 7", cli_set_lmc, MEMBER(source.lmc),
	 FORS_MAX_LMC, cli_lmcs},
	{"lmc", "N", WHATIF, "LMC of the servers, 0 to 7", cli_set_lmc, MEMBER(source.lmc), FORS_MAX_LMC, cli_lmcs},
	{"engines", "NAMES", WHATIF,
	 "also under these engines, separated by commas, run by opensm on ibsim: minhop,updn,ftree,dfsssp,...",
	 cli_set_text, LAB(engines), 0, cli_engines + 1},
	{"random", "K", WHATIF, "also random failures of K cables at once", cli_set_number, LAB(random), 65535, NULL},
	{"count", "N", WHATIF, "how many of them", cli_set_count, MEMBER(count), 1000000, NULL},
	{"samples", "N", INDICES, "random patterns of each kind; 1 when missing", cli_set_positive, LAB(samples), 10000,
	 NULL},
	{"pattern", "NAME", ANALYZE,
	 PATTERN_HELP "; or all jobs of --jobs at the same time: per-job-shift, per-job-plan, per-job-all-to-all",
	 cli_set_text, LAB(pattern), 0, patterns_of_jobs},
	{"pattern", "NAME", SIMULATE, PATTERN_HELP, cli_set_text, LAB(pattern), 0, patterns},
	{"phases", "N", ANALYZE,
	 "with per-job-...: so many phases of each job, at least; all of its exchange when missing", cli_set_positive,
	 LAB(phases), 1000000, NULL},
	{"pattern-file", "FILE", WITH_PATTERN, "a pattern of your own: lines 'SRC DST [PATH]', 'phase' between phases",
	 cli_set_text, LAB(pattern_file), 0, NULL},
	{"schedule", "FILE", WITH_PATTERN, "the pattern is a published schedule", cli_set_text, MEMBER(schedule), 0,
	 NULL},
	{"map", "HOW", WITH_PATTERN, "direct: process i on server i; random: anywhere", cli_set_choice, LAB(map), 0,
	 maps},
	{"seed", "N", WITH_TABLES, "of everything random; 0 when missing", cli_set_number, MEMBER(seed), UINT32_MAX - 1,
	 NULL},
	{"seed", "N", WHATIF, "of the random failures; 0 when missing", cli_set_number, MEMBER(seed), UINT32_MAX - 1,
	 NULL},
	{"jobs", "FILE", ANALYZE, "lines 'NAME: SERVER, SERVER, ...': EFI and dark fiber for these jobs", cli_set_text,
	 MEMBER(jobs), 0, NULL},
	{"optimum", NULL, ANALYZE, "also the best that any routing could give", cli_set_flag, LAB(wants_optimum), 0,
	 NULL},
	{"simulate", NULL, WHATIF, "also in Gbit/s: simulate each failure packet by packet, as fors simulate does",
	 cli_set_flag, LAB(simulate.is_wanted), 0, NULL},
	{"message", "SIZE", WITH_PATTERN | WHATIF, "bytes of each message, as in 1500, 64KiB, 4MiB; 64KiB when missing",
	 set_size, LAB(simulate.message), 0, NULL},
	{"barrier", "TIME", ANALYZE,
	 "also in Gbit/s, without packets: each phase costs so much beside its load, as in 1us", set_barrier,
	 LAB(simulate.barrier), 0, NULL},
	{"barrier", "TIME", SIMULATE | WHATIF,
	 "servers wait for one another after each phase, and then for so long, as in 4us; 0 when missing; none: nobody waits",
	 set_barrier, LAB(simulate.barrier), 0, barriers},
	{"jitter", "TIME", SIMULATE, "after a barrier each server goes on by up to that later", cli_set_time,
	 LAB(simulate.jitter), 0, NULL},
	{"skew", "TIME", SIMULATE, "each server begins by up to that late", cli_set_time, LAB(simulate.skew), 0, NULL},
	{"idle", "HOW", SIMULATE,
	 "with --barrier none: a server with nothing to send in a phase waits for as long as a message takes (kept), or not "
	 "(skipped)",
	 cli_set_choice, LAB(simulate.idle), 0, idles},
	{"window", "N", SIMULATE,
	 "with --barrier none: messages of a server under way, at most; any number when missing", cli_set_positive,
	 LAB(simulate.window), 1000000, NULL},
	{"wait", "WHOM", SIMULATE,
	 "whom a server waits for before the next phase: all, by a barrier (default); all, by tokens up and down a tree; its own "
	 "messages, sent and received; tokens of those who had its links before; or nobody, and it sends chunks to each in turn",
	 cli_set_choice, LAB(simulate.waiting), 0, cli_waitings},
	{"token-time", "TIME", SIMULATE,
	 "with --wait tree, own and tokens: of a token between two servers; 1us when missing", cli_set_time,
	 LAB(simulate.token), 0, NULL},
	{"ahead", "N", SIMULATE,
	 "with --wait tree: send in a phase when the phase N before it is over everywhere; 1 when missing",
	 cli_set_positive, LAB(simulate.ahead), 1000000, NULL},
	{"chunk", "SIZE", SIMULATE,
	 "with --wait chunks: bytes of a chunk; half a message when missing, 8KiB at least and 1MiB at most", set_size,
	 LAB(simulate.chunk), 0, NULL},
	{"message-jitter", "PART", SIMULATE,
	 "before each message up to so much of its own time is lost, at random, as in 0.05", set_rate,
	 LAB(simulate.message_jitter), 10, NULL},
	{"straggler", "SERVER=PART", SIMULATE,
	 "a server, numbered from 0, whose cable runs at this part of its speed, as in 3=0.8; may be repeated",
	 set_texts, LAB(simulate.straggler), 0, NULL},
	{"ranks", "N", SIMULATE,
	 "on each server: each sends a message to each rank of the other server; 1 when missing", cli_set_positive,
	 LAB(simulate.ranks), 64, NULL},
	{"sigma", "S", SIMULATE, "messages of unequal sizes: lognormal, --message on average", set_rate,
	 LAB(simulate.sigma), 4, NULL},
	{"load", "PART", SIMULATE,
	 "no phases: at random moments each server sends to one of those that it sends to in the pattern, on average so much of "
	 "its cable",
	 set_rate, LAB(simulate.load), 1, NULL},
	{"server-load", "SERVER=PART", SIMULATE,
	 "with --load: of one server instead, as in 3=0.45, or only from one time to another, 3=0.45,10ms,30ms; may be repeated",
	 set_texts, LAB(simulate.server_load), 0, NULL},
	{"watch-server", "N", SIMULATE, "the time line is of what arrives at this server, numbered from 0",
	 set_watch_server, LAB(simulate.watch), UINT32_MAX - 1, NULL},
	{"messages", "N", SIMULATE, "with --load: of each server; 1000 when missing", cli_set_positive,
	 LAB(simulate.messages), 1000000, NULL},
	{"measured", "GBITS", ANALYZE, "find the cost of a phase with which each server would get so much", set_rate,
	 LAB(simulate.measured), 1000000, NULL},
	{"healthy", "GBITS", SIMULATE, "what a server gets from the healthy fabric: also say which part of it is left",
	 set_rate, LAB(simulate.healthy), 1000000, NULL},
	{"crossbar", NULL, SIMULATE, "also on one switch for all servers: which part of that is this?", cli_set_flag,
	 LAB(simulate.wants_crossbar), 0, NULL},
	{"measured", "GBITS", SIMULATE | WHATIF,
	 "find the cost of a barrier with which each server would get so much, and simulate with it", set_rate,
	 LAB(simulate.measured), 1000000, NULL},
	{"speed", "GBITS", WITH_PATTERN | WHATIF,
	 "of all cables, whatever the fabric's text says; without, 200 where it says nothing", set_rate,
	 LAB(simulate.speed), 1000000, NULL},
	{"link-rate", "NODE[PORT]=PART", SIMULATE, "one cable runs at this part of its speed; may be repeated",
	 set_texts, LAB(simulate.link_rate), 0, NULL},
	{"mtu", "SIZE", SIMULATE, "payload of a packet; 4KiB when missing", set_size, LAB(simulate.mtu), 0, NULL},
	{"buffer", "SIZE", SIMULATE, "of each virtual lane of each port of a switch; 64KiB when missing", set_size,
	 LAB(simulate.buffer), 0, NULL},
	{"pause-high", "SIZE", SIMULATE, "PAUSE instead of credits: sent when a buffer holds so much", set_size,
	 LAB(simulate.pause_high), 0, NULL},
	{"pause-low", "SIZE", SIMULATE, "and taken back when it holds no more than this", set_size,
	 LAB(simulate.pause_low), 0, NULL},
	{"policy", "NAME", ANALYZE,
	 "also what packets get that go by chance: random (all shortest ways), vlb (detours), tago (by weighted global links)",
	 cli_set_choice, LAB(spread), 0, cli_spreads},
	{"policy", "NAME", SIMULATE,
	 "who says how a packet goes on: tables (default); or among all shortest ways random (each packet), hashed (each "
	 "flow), adaptive (least queue), switch-ar (least congestion heard of); or over detours: vlb (always), ugal-l, ugal-g (when queues say so), tago (by weighted "
	 "global links)",
	 cli_set_choice, LAB(simulate.policy), 0, cli_policies},
	{"blocks", "FILE", ANALYZE,
	 "switches that belong together, for vlb and tago: lines 'NAME: SWITCH, SWITCH, ...'; groups of a DRAGONFLY(..) and its like when missing",
	 cli_set_text, LAB(simulate.blocks), 0, NULL},
	{"blocks", "FILE", SIMULATE,
	 "switches that belong together, for vlb, ugal and tago: lines 'NAME: SWITCH, SWITCH, ...'; groups of a DRAGONFLY(..) and its like when missing",
	 cli_set_text, LAB(simulate.blocks), 0, NULL},
	{"adaptive-binding", "TIME", SIMULATE,
	 "with --policy adaptive: for so long a switch's choice holds for all packets to the same server", cli_set_time,
	 LAB(simulate.adaptive_binding), 0, NULL},
	{"adaptive-levels", "A,B,C", SIMULATE,
	 "with --policy adaptive: all that a switch knows of a queue is which of these sizes it has reached, as in 1280,2560,5120",
	 set_levels, 0, 0, NULL},
	{"adaptive-leave", "SIZE", SIMULATE,
	 "with --policy adaptive: the table's port is taken while less than this waits for it", set_size,
	 LAB(simulate.adaptive_leave), 0, NULL},
	{"adaptive-choice", "HOW", SIMULATE,
	 "with --policy adaptive: of ports that are equal one at random (usual), or the first (greedy)", cli_set_choice,
	 LAB(simulate.adaptive_choice), 0, adaptive_choices},
	{"switch-ar-level", "HOW", SIMULATE,
	 "with --policy switch-ar: what is heard of a port towards a destination counts as the sum of all notifications (default), "
	 "the last one, or when it was, so that the oldest is best",
	 cli_set_choice, LAB(simulate.switch_ar_level), 0, levels},
	{"switch-ar-forget", "TIME", SIMULATE, "and for so long after the last of them; 250ms when missing",
	 cli_set_time, LAB(simulate.switch_ar_forget), 0, NULL},
	{"rate-limits", NULL, SIMULATE, "servers heed congestion notifications (QCN): send less there, and recover",
	 cli_set_flag, LAB(simulate.has_rate_limits), 0, NULL},
	{"qcn-queue", "SIZE", SIMULATE, "notifications begin above so much in a queue; 20KB when missing", set_size,
	 LAB(simulate.qcn_queue), 0, NULL},
	{"qcn-sample", "SIZE", SIMULATE, "a queue is looked at each so much, or sooner; 150KB when missing", set_size,
	 LAB(simulate.qcn_sample), 0, NULL},
	{"qcn-timer", "TIME", SIMULATE, "with --rate-limits: of a step of recovery; 15ms when missing", cli_set_time,
	 LAB(simulate.qcn_timer), 0, NULL},
	{"lanes", "HOW", SIMULATE,
	 "virtual lanes by destination (usual), or by hops: one higher at each switch, so that no circle can lock (usual for detours)",
	 cli_set_choice, LAB(simulate.lanes), 0, lane_kinds},
	{"vls", "N", SIMULATE,
	 "virtual lanes: a message takes the one of its destination's number; 1 when missing, 8 for detours and lanes by hops",
	 cli_set_positive, LAB(simulate.vls), 8, NULL},
	{"vl-weights", "N,N,...", SIMULATE,
	 "of the lanes of --vls: packets that each sends in its turn, where several want one port; 1 when missing",
	 set_weights, 0, 0, NULL},
	{"queues", "KIND", SIMULATE, "of a port: voq (one for each way on), or fifo (one for all)", cli_set_choice,
	 LAB(simulate.queues), 0, queue_kinds},
	{"store-and-forward", NULL, SIMULATE, "a switch begins to send a packet when it has all of it", cli_set_flag,
	 LAB(simulate.is_store_and_forward), 0, NULL},
	{"wire-time", "TIME", SIMULATE, "of a cable; 30ns when missing", cli_set_time, LAB(simulate.wire), 0, NULL},
	{"switch-time", "TIME", SIMULATE, "from a packet's coming to its going on; 100ns when missing", cli_set_time,
	 LAB(simulate.switching), 0, NULL},
	{"adapter-time", "TIME", SIMULATE, "between two messages of a server", cli_set_time, LAB(simulate.adapter), 0,
	 NULL},
	{"adapter-rate", "PART", WITH_PATTERN | WHATIF, "of its cable that an adapter can fill, as in 0.94", set_rate,
	 LAB(simulate.adapter_rate), 1, NULL},
	{"resume", "FILE", WHATIF, "keep results in FILE as they come, and do not find out again what is there",
	 cli_set_text, LAB(resume), 0, NULL},
	{"threads", "N", INDICES, "how many to use; all processors when missing; results do not depend on it",
	 cli_set_number, LAB(threads), 1024, NULL},
	{"progress", NULL, WHATIF | SIMULATE,
	 "write lines about what is done to standard error, also when that is no terminal", set_progress, 0, 0, NULL},
	{"threads", "N", WHATIF, "instead of one for each processor", cli_set_number, LAB(threads), 64, NULL},
	{"json", NULL, WITH_TABLES, "print JSON", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"json", NULL, WHATIF, "print JSON, all failures", cli_set_flag, MEMBER(is_json), 0, NULL},
	{"html", "FILE", WITH_PATTERN, "write a page with the fabric drawn, for a browser or a printer", cli_set_text,
	 LAB(html), 0, NULL},
	{"html", "FILE", WHATIF, "write a page, for a browser or a printer", cli_set_text, LAB(html), 0, NULL},
	{"config", "FILE", TRIAL, "settings: how programs are started on hosts, and more; see the manual page", pass_on,
	 0, 0, NULL},
	{"output-dir", "DIR", TRIAL, "what the steps find, and the report; fors-trial when missing", pass_on, 0, 0,
	 NULL},
	{"label", "NAME", TRIAL, "of this exchange or failure among others of the same report, as in minhop and fors",
	 pass_on, 0, 0, NULL},
	{"disable", "NODE[PORT]", TRIAL, "with the step failure: the cable that is disabled, and enabled again",
	 pass_on, 0, 0, NULL},
};

static const struct cli_options lab_options = {options, sizeof(options) / sizeof(options[0])};

/* --- what goes together ------------------------------------------------------------------------------------------- */

#define PER_JOB "pattern=per-job-*"
#define IN_TIME "message|barrier|speed|adapter-rate|measured"

static const struct cli_rule rules[] = {
	/* whose tables, whose plan */
	{WITH_TABLES, "lfts", GOES_WITHOUT, "routing", "--lfts and --routing exclude each other"},
	{WITH_TABLES, "lmc", NEEDS, "routing=fors",
	 "--lmc is for --routing fors: LIDs are those of the tables, and models and rules give each server one"},
	{WITH_PATTERN, "routing=sar", NEEDS, "jobs", "--routing sar is made for jobs: fors analyze with --jobs FILE"},
	{WITH_PATTERN, "map=random", GOES_WITHOUT, "schedule|pattern=plan|pattern=plan(*",
	 "--map random places processes of a pattern: a plan says itself which server sends to which, and goes without"},
	{WITH_TABLES, "degraded-links", NEEDS, "routing=fors",
	 "--degraded-links is for the tables of fors: --routing fors is missing"},

	/* analyze: jobs, and what there is without packets */
	{ANALYZE, "phases", NEEDS, PER_JOB, "--phases goes with --pattern per-job-..."},
	{ANALYZE, "job-index", NEEDS, "pattern=per-job-plan", "--job-index goes with --pattern per-job-plan"},
	{ANALYZE, PER_JOB, NEEDS, "jobs", "--pattern per-job-... needs --jobs FILE"},
	{ANALYZE, PER_JOB, GOES_WITHOUT, "pattern-file|schedule|html|optimum|map=random|policy!=tables|blocks|" IN_TIME,
	 "--pattern per-job-... goes without --pattern-file, --schedule, --map, --optimum, --html, --policy, --message, "
	 "--barrier, --measured, --speed and --adapter-rate"},
	{ANALYZE, "barrier=none", GOES_WITHOUT, "barrier",
	 "--barrier none: loads are of phases that wait for one another; fors simulate knows what happens when they do "
	 "not"},
	{ANALYZE, "measured", GOES_WITHOUT, "barrier",
	 "--measured finds the cost of a phase itself: it goes without --barrier"},
	{ANALYZE, "blocks", NEEDS, "policy=vlb|policy=tago", "--blocks is for --policy vlb and tago"},

	/* simulate: who waits for whom */
	{SIMULATE | WHATIF, "measured", GOES_WITHOUT, "barrier",
	 "--measured finds the cost of a barrier itself: it goes without --barrier"},
	{SIMULATE, "measured", GOES_WITHOUT, "jitter>0|skew>0", "--measured goes without --jitter and --skew"},
	{SIMULATE, "load", GOES_WITHOUT, "barrier!=none|measured|jitter>0|skew>0|idle",
	 "--load has no phases: it goes without --barrier, --measured, --jitter, --skew and --idle"},
	{SIMULATE, "messages", NEEDS, "load", "--messages needs --load"},
	{SIMULATE, "server-load", NEEDS, "load", "--server-load needs --load"},
	{SIMULATE, "wait=own|wait=tokens|wait=tree|wait=chunks", GOES_WITHOUT, "barrier|measured|jitter>0|load|idle",
	 "--wait own, tokens, tree and chunks have no barrier that ends a phase for all at once: they go without --barrier, "
	 "--measured, --jitter, --load and --idle"},
	{SIMULATE, "token-time", NEEDS, "wait=own|wait=tokens|wait=tree",
	 "--token-time needs --wait own, tokens or tree"},
	{SIMULATE, "ahead", NEEDS, "wait=tree", "--ahead needs --wait tree"},
	{SIMULATE, "chunk", NEEDS, "wait=chunks", "--chunk needs --wait chunks"},
	{SIMULATE, "load", GOES_WITHOUT, "ranks|sigma|message-jitter",
	 "--load has messages of one size, and one rank for each server: it goes without --ranks, --sigma and "
	 "--message-jitter"},
	{SIMULATE, "measured", GOES_WITHOUT, "message-jitter", "--measured goes without --message-jitter"},
	{SIMULATE, "window", NEEDS, "barrier=none|load|wait=chunks|wait=tree|wait=tokens",
	 "--window needs --barrier none, or --wait chunks, tree or tokens"},
	{SIMULATE, "idle", NEEDS, "barrier=none",
	 "--idle needs --barrier none: with barriers all wait for the last of each phase, whether they have something to "
	 "send or not"},
	{SIMULATE, "barrier=none", GOES_WITHOUT, "jitter>0",
	 "--jitter comes after barriers: it goes without --barrier none"},
	{SIMULATE, "pause-high", NEEDS, "pause-low", "--pause-high and --pause-low need each other"},
	{SIMULATE, "pause-low", NEEDS, "pause-high", "--pause-high and --pause-low need each other"},

	/* simulate: policies */
	{SIMULATE, "adaptive-binding|adaptive-levels|adaptive-leave|adaptive-choice", NEEDS, "policy=adaptive",
	 "--adaptive-binding, --adaptive-levels, --adaptive-leave and --adaptive-choice need --policy adaptive"},
	{SIMULATE, "switch-ar-level|switch-ar-forget", NEEDS, "policy=switch-ar",
	 "--switch-ar-level and --switch-ar-forget need --policy switch-ar"},
	{SIMULATE, "qcn-queue|qcn-sample", NEEDS, "rate-limits|policy=switch-ar",
	 "--qcn-queue and --qcn-sample need --rate-limits or --policy switch-ar"},
	{SIMULATE, "qcn-timer", NEEDS, "rate-limits", "--qcn-timer needs --rate-limits"},
	{SIMULATE, "blocks", NEEDS, "policy=vlb|policy=ugal-l|policy=ugal-g|policy=tago",
	 "--blocks is for --policy vlb, ugal-l, ugal-g and tago"},

	/* whatif */
	{WHATIF, IN_TIME, NEEDS, "simulate", "how to simulate is said, but not --simulate"},
	{WHATIF, "random", NEEDS, "count", "--random K and --count N belong together"},
	{WHATIF, "count", NEEDS, "random", "--random K and --count N belong together"},
	{WHATIF, "seed", NEEDS, "random", "--seed is of random failures: it needs --random K and --count N"},
	{WHATIF, "lmc", GOES_WITHOUT, "routing", "--lmc is for fors: a model of an engine gives each server one LID"},
};

static const struct cli_rules lab_rules = {rules, sizeof(rules) / sizeof(rules[0])};

const struct cli_options *const cli_options[] = {&cli_product_options, &lab_options, NULL};
static void clear(struct cli_settings *settings)
{
	struct cli_simulate *simulate = &lab_of(settings)->simulate;

	free(simulate->link_rate.text);
	free(simulate->server_load.text);
	free(simulate->straggler.text);
	simulate->link_rate = simulate->server_load = simulate->straggler = (struct cli_texts){0};
}

const struct cli_settings_kind cli_settings_kind = {sizeof(struct cli_lab_settings), clear};
const struct cli_rules *const cli_rules[] = {&cli_product_rules, &lab_rules, NULL};
