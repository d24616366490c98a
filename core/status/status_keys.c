/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_keys.c - the tables of keys: see status_keys.h.
 */
#include "status_keys.h"

/* --- what lists hold -------------------------------------------------------------------------------------------- */

#define LINK(member) FORS_KEY_AT(#member, struct fors_link, member)
#define CABLE                                                                                                          \
	{LINK(a), FORS_KEY_NAME}, {LINK(a_port), FORS_KEY_PORT}, {LINK(b), FORS_KEY_NAME},                             \
	{                                                                                                              \
		LINK(b_port), FORS_KEY_PORT                                                                            \
	}

/* Of dead ones what everybody knows, no more: since when they are dead is another list. */
static const struct fors_key cable_keys[] = {CABLE, {LINK(since_ms), FORS_KEY_UNTOLD}};
static const struct fors_object cables = FORS_OBJECT(cable_keys, struct fors_link);

static const struct fors_key link_keys[] = {
	CABLE,
	{LINK(since_ms), FORS_KEY_UNIX_MS},
	{FORS_KEY_AT("used", struct fors_link, is_used), FORS_KEY_FLAG},
	{FORS_KEY_AT("planned", struct fors_link, is_planned), FORS_KEY_FLAG},
	{LINK(rate), FORS_KEY_TEXT},
	{FORS_KEY_AT("degraded", struct fors_link, is_degraded), FORS_KEY_MARK},
	{LINK(changes), FORS_KEY_TIMES},
};
static const struct fors_object links = FORS_OBJECT(link_keys, struct fors_link);

static const struct fors_key place_keys[] = {
	{FORS_KEY_AT("leaf", struct fors_link, a), FORS_KEY_NAME},
	{FORS_KEY_AT("port", struct fors_link, a_port), FORS_KEY_PORT},
	{FORS_KEY_AT("server", struct fors_link, b), FORS_KEY_TEXT},
	{FORS_KEY_AT("name", struct fors_link, host), FORS_KEY_TEXT},
	{LINK(since_ms), FORS_KEY_UNTOLD},
};
static const struct fors_object places = FORS_OBJECT(place_keys, struct fors_link);

static const struct fors_key switch_keys[] = {
	{FORS_KEY_AT("switch", struct fors_dead_switch, name), FORS_KEY_NAME},
	{FORS_KEY_AT("level", struct fors_dead_switch, level), FORS_KEY_NAME},
	{FORS_KEY_AT("cables", struct fors_dead_switch, cables), FORS_KEY_COUNT},
	{FORS_KEY_AT("servers", struct fors_dead_switch, servers), FORS_KEY_COUNT},
};
static const struct fors_object switches = FORS_OBJECT(switch_keys, struct fors_dead_switch);

/* Of a whole spine there is no other end. */
static const struct fors_key gain_keys[] = {
	{FORS_KEY_AT("a", struct fors_gain, link.a), FORS_KEY_TEXT},
	{FORS_KEY_AT("a_port", struct fors_gain, link.a_port), FORS_KEY_END},
	{FORS_KEY_AT("b", struct fors_gain, link.b), FORS_KEY_NAME},
	{FORS_KEY_AT("b_port", struct fors_gain, link.b_port), FORS_KEY_END},
	{FORS_KEY_AT("phases", struct fors_gain, phases), FORS_KEY_NUMBER},
	{FORS_KEY_AT("since_ms", struct fors_gain, link.since_ms), FORS_KEY_UNTOLD},
};
const struct fors_object fors_gain_object = FORS_OBJECT(gain_keys, struct fors_gain);

/* --- what is one object ------------------------------------------------------------------------------------------ */

#define STEP(name, step)                                                                                               \
	{                                                                                                              \
		FORS_KEY_AT(name "_ms", struct fors_failover, ms[step]), FORS_KEY_MS                                   \
	}

static const struct fors_key failover_keys[] = {
	{FORS_KEY_AT("epoch", struct fors_failover, epoch), FORS_KEY_NUMBER},
	{FORS_KEY_AT("began_ms", struct fors_failover, began_ms), FORS_KEY_UNIX_MS},
	STEP("trap", FORS_STEP_TRAP),
	STEP("sweep", FORS_STEP_SWEEP),
	STEP("discovered", FORS_STEP_DISCOVERED),
	STEP("asked", FORS_STEP_ASKED),
	STEP("filled", FORS_STEP_FILLED),
	STEP("first_block", FORS_STEP_FIRST_BLOCK),
	STEP("last_block", FORS_STEP_LAST_BLOCK),
	STEP("confirmed", FORS_STEP_CONFIRMED),
	STEP("planned", FORS_STEP_PLANNED),
	STEP("published", FORS_STEP_PUBLISHED),
	STEP("copied", FORS_STEP_COPIED),
	STEP("command", FORS_STEP_COMMAND),
	STEP("up", FORS_STEP_UP),
};
_Static_assert(sizeof(failover_keys) / sizeof(failover_keys[0]) == FORS_NSTEPS + 2, "a step without a key");
const struct fors_object fors_failover_object = FORS_OBJECT(failover_keys, struct fors_failover);

#define SHADOW(member) FORS_KEY_AT(#member, struct fors_shadow_facts, member)

static const struct fors_key shadow_keys[] = {
	{SHADOW(present_shift), FORS_KEY_SHARE},  {SHADOW(own_shift), FORS_KEY_SHARE},
	{SHADOW(trouble), FORS_KEY_TEXT},	  {SHADOW(sweeps), FORS_KEY_NUMBER},
	{SHADOW(skipped), FORS_KEY_NUMBER},	  {SHADOW(looked_ms), FORS_KEY_UNIX_MS},
	{SHADOW(entries), FORS_KEY_NUMBER},	  {SHADOW(compared), FORS_KEY_NUMBER},
	{SHADOW(switches), FORS_KEY_NUMBER},	  {SHADOW(present_phases), FORS_KEY_NUMBER},
	{SHADOW(present_bound), FORS_KEY_NUMBER},
};
const struct fors_object fors_shadow_object = FORS_OBJECT(shadow_keys, struct fors_shadow_facts);

/* --- the status --------------------------------------------------------------------------------------------------- */

/* Name and place of a key that is called like its member. */
#define AT(member) FORS_KEY_AT(#member, struct fors_status, member)

static const struct fors_key keys[] = {
	{AT(epoch), FORS_KEY_NUMBER, "Number of the published schedule; it only grows"},
	{AT(state), FORS_KEY_WORD, "1 for the state that fors is in, 0 for the others", NULL, fors_state_words},
	{AT(reason), FORS_KEY_TEXT, NULL},
	{AT(servers), FORS_KEY_NUMBER, "Servers that take part in the exchange"},
	{AT(leaves), FORS_KEY_NUMBER, "Leaf switches, living or dead"},
	{AT(spines), FORS_KEY_NUMBER, "Spine switches, living or dead"},
	{AT(pods), FORS_KEY_NUMBER, "Pods of a tree of three levels"},
	{AT(mids), FORS_KEY_NUMBER, "Middle switches of a tree of three levels, living or dead"},
	{AT(tops), FORS_KEY_NUMBER, "Top switches of a tree of three levels, living or dead"},
	{AT(f), FORS_KEY_NUMBER, "Bandwidth reduction: uplinks that the worst leaf lacks for its servers"},
	{AT(affected_spines), FORS_KEY_NUMBER, "Spines with at least one dead cable"},
	{AT(capacity), FORS_KEY_NUMBER, "Flows that a leaf may send in one phase"},
	{AT(phases), FORS_KEY_NUMBER, "Phases of the published schedule"},
	{AT(lower_bound), FORS_KEY_NUMBER, "Phases that no conflict-free schedule can go below"},
	{AT(lump_bound), FORS_KEY_NUMBER, "Phases that no schedule over tables with one LID per server can go below"},
	{AT(tables_bound), FORS_KEY_NUMBER, "Phases that no schedule over these tables can go below"},
	{AT(length), FORS_KEY_PHASES, "Time that the published schedule takes, in phases at full speed"},
	{AT(slow_phases), FORS_KEY_NUMBER, "Phases that slow links hold up"},
	{AT(full_speed_mbits), FORS_KEY_NUMBER, "Full speed in Mb/s: the rate of the fastest server's port"},
	{AT(cable_flows), FORS_KEY_NUMBER, "Flows that each cable between switches carries in a phase"},
	{AT(cable_flows_most), FORS_KEY_NUMBER, "Flows that the fastest cable between switches carries in a phase"},
	{AT(fast_bound), FORS_KEY_NUMBER, "Phases that the exchange would need at least without slow servers"},
	{AT(degraded_choice), FORS_KEY_TEXT, NULL},
	{AT(ignored_length), FORS_KEY_PHASES,
	 "Time that a schedule would take about, in phases at full speed, were slow links used as any other"},
	{AT(drained_length), FORS_KEY_PHASES,
	 "Time that a schedule would take about, in phases at full speed, were slow links drained"},
	{AT(method), FORS_KEY_TEXT, "1 for the planning method of the published schedule"},
	{AT(tables_by), FORS_KEY_TEXT, "1 for the routing engine whose tables the switches hold"},
	{AT(plan_ms), FORS_KEY_MS, "Time that planning took"},
	{AT(tables_ms), FORS_KEY_MS, "Time that filling the forwarding tables took"},
	{AT(unreachable_pairs), FORS_KEY_NUMBER, "Pairs of leaves without a common live spine"},
	{AT(check_ms), FORS_KEY_MS, "Time spent checking the tables (part of fors_tables_duration_seconds)"},
	{AT(ca_ports), FORS_KEY_NUMBER,
	 "CA ports with a cable: servers, those that do not take part, guests, left out"},
	{AT(not_participants), FORS_KEY_NUMBER, "Servers below leaves that are no participants"},
	{AT(guests), FORS_KEY_NUMBER, "CA ports on switches above leaves: routed, but in no exchange"},
	{AT(left_out), FORS_KEY_NUMBER, "CA ports that are in no exchange for another reason, see the remarks"},
	{AT(phases_alone), FORS_KEY_NUMBER, "Phases if the ports that take no part were not there"},
	{AT(partitioned_pairs), FORS_KEY_NUMBER, "Ordered pairs of servers that partitions keep from talking"},
	{AT(not_hosts), FORS_KEY_TEXT, NULL},
	{AT(lmc), FORS_KEY_NUMBER, "LMC of the servers"},
	{AT(lmc_needed), FORS_KEY_NUMBER, "LMC that would allow fewer phases"},
	{AT(dead_links), FORS_KEY_LIST, "Dead cables between switches", &cables},
	{.name = "dead_since_ms", .kind = FORS_KEY_DEAD_SINCE},
	{AT(degraded_links), FORS_KEY_LIST, "Cables between switches below full width or speed", &links},
	{AT(excluded_links), FORS_KEY_LIST, "Living cables that the administrator excluded", &links},
	{AT(held_links), FORS_KEY_LIST, "Cables that came back a short time ago and are held down", &links},
	{AT(flapping_links), FORS_KEY_LIST, "Cables that died or came back six times or more in the last hour", &links},
	{AT(dead_switches), FORS_KEY_LIST, "Switches that are gone, with all their cables", &switches},
	{AT(slow_servers), FORS_KEY_LIST, "Servers whose own cable is slow", &links},
	{AT(lost_servers), FORS_KEY_LIST, "Places of servers of the exchange with nothing alive in them", &places},
	{AT(held_until_ms), FORS_KEY_UNIX_MS, "Unix time when the next held cable returns"},
	{AT(state_since_ms), FORS_KEY_UNIX_MS, "Unix time since when the state is what it is"},
	{AT(known_until_ms), FORS_KEY_UNIX_MS, NULL}, /* of an ended manager, whose fabric has no metrics */
	{AT(repairs), FORS_KEY_REPAIRS, NULL},
	{AT(failover), FORS_KEY_FAILOVER, NULL}, /* counted in a histogram, not a fact */
	{AT(demand), FORS_KEY_TEXT, NULL},
	{AT(demand_reason), FORS_KEY_TEXT, NULL},
	{AT(demand_epoch), FORS_KEY_NUMBER, "Number of the published schedule of the demand"},
	{AT(demand_phases), FORS_KEY_NUMBER, "Phases of the published schedule of the demand"},
	{AT(demand_over_bound), FORS_KEY_PHASES, "Time of the schedule of the demand over the bound of any"},
	{AT(jobs), FORS_KEY_JOBS, NULL},
	{AT(shadow), FORS_KEY_SHADOW, NULL},
	{FORS_KEY_AT("remarks", struct fors_status, warnings), FORS_KEY_WARNINGS,
	 "Settings of fors.conf that cannot be followed"},
};

const struct fors_object fors_status_object = FORS_OBJECT(keys, struct fors_status);
