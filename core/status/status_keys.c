/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_keys.c - the table of keys: see status_keys.h.
 */
#include "status_keys.h"

#include <stddef.h>

/* Name and place of a key that is called like its member. */
#define AT(member) #member, offsetof(struct fors_status, member), sizeof(((struct fors_status *)0)->member)

const struct fors_key fors_keys[] = {
	{AT(epoch), FORS_KEY_NUMBER, "Number of the published schedule; it only grows"},
	{AT(state), FORS_KEY_STATE, "1 for the state that fors is in, 0 for the others"},
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
	{AT(dead_links), FORS_KEY_DEAD_LINKS, "Dead cables between switches"},
	{"dead_since_ms", 0, 0, FORS_KEY_DEAD_SINCE, NULL},
	{AT(degraded_links), FORS_KEY_LINKS, "Cables between switches below full width or speed"},
	{AT(excluded_links), FORS_KEY_LINKS, "Living cables that the administrator excluded"},
	{AT(held_links), FORS_KEY_LINKS, "Cables that came back a short time ago and are held down"},
	{AT(flapping_links), FORS_KEY_LINKS, "Cables that died or came back six times or more in the last hour"},
	{AT(dead_switches), FORS_KEY_SWITCHES, "Switches that are gone, with all their cables"},
	{AT(slow_servers), FORS_KEY_LINKS, "Servers whose own cable is slow"},
	{AT(lost_servers), FORS_KEY_SERVERS, "Places of servers of the exchange with nothing alive in them"},
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
	{"remarks", offsetof(struct fors_status, warnings), sizeof(struct fors_warnings), FORS_KEY_WARNINGS,
	 "Settings of fors.conf that cannot be followed"},
};

const size_t fors_nkeys = sizeof(fors_keys) / sizeof(fors_keys[0]);
