/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.c - what fors knows about itself: the facts of a tree and its schedule.
 *
 * What is unknown stays FORS_UNKNOWN, so that null in JSON and a missing metric can say so. The texts made of the
 * facts are made elsewhere: status_json.c, status_metrics.c, advice.c.
 */
#include "status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fabric/account.h"
#include "status_keys.h"

const char *const fors_state_words[] = {
	[FORS_INACTIVE] = "inactive", [FORS_PLANNING] = "planning", [FORS_ACTIVE] = "active",
	[FORS_FAILED] = "failed",     [FORS_SHADOW] = "shadow",	    NULL,
};

const char *fors_state_name(enum fors_state state)
{
	return (unsigned)state < FORS_NSTATES ? fors_state_words[state] : "unknown";
}

const char *fors_level_name(const char *level)
{
	return strcmp(level, "middle") ? level : "middle switch";
}

void fors_status_init(struct fors_status *status)
{
	memset(status, 0, sizeof(*status));
	fors_failover_init(&status->failover);
	fors_object_init(&fors_status_object, status);
}

/* The lists of `from` are those of `to` from now on. */
static void move_lists(struct fors_status *from, struct fors_status *to)
{
	for (size_t i = 0; i < fors_status_object.count; i++) {
		const struct fors_key *key = &fors_status_object.key[i];

		if (key->kind != FORS_KEY_LIST)
			continue;
		free(fors_key_list(to, key).first);
		memcpy((char *)to + key->offset, (char *)from + key->offset, key->size);
		memset((char *)from + key->offset, 0, key->size);
	}
}

void fors_status_clear(struct fors_status *status)
{
	struct fors_status none = {.epoch = 0};

	move_lists(&none, status);
	fors_jobstats_clear(&status->jobs);
}

static bool is_dead(const struct fors_fattree_cable *cable)
{
	return cable->state == FORS_CABLE_DEAD && !cable->drained;
}

static bool is_degraded(const struct fors_fattree_cable *cable)
{
	return cable->is_degraded;
}

/* One that is excluded may come and go: that is what it is excluded for. */
static bool is_flapping(const struct fors_fattree_cable *cable)
{
	return cable->changes >= FORS_FLAPPING && cable->drained != FORS_DRAIN_EXCLUDED;
}

static bool is_excluded(const struct fors_fattree_cable *cable)
{
	return cable->drained == FORS_DRAIN_EXCLUDED;
}

static bool is_held(const struct fors_fattree_cable *cable)
{
	return cable->drained == FORS_DRAIN_HELD;
}

/* Width and speed of a cable that a packet gets through. */
static void describe_rate(const struct fors_fattree *c, const struct fors_fattree_cable *cable, struct fors_link *link)
{
	uint32_t node = c->kind->at(c, cable->low).node;
	const struct fors_port *port;

	if (!fors_fattree_passes(cable) || node == FORS_NONE)
		return;
	port = fors_net_port(c->net, node, cable->low_port);
	fors_rate_text(port->width, (enum fors_speed)port->speed, link->rate);
}

static struct fors_link describe_cable(const struct fors_fattree *c, const struct fors_fattree_cable *cable)
{
	struct fors_link link = {.a_port = cable->low_port, .b_port = cable->high_port};

	snprintf(link.a, sizeof(link.a), "%s", c->kind->at(c, cable->low).name);
	snprintf(link.b, sizeof(link.b), "%s", c->kind->at(c, cable->high).name);
	link.is_used = link.is_planned = cable->state == FORS_CABLE_LIVE;
	describe_rate(c, cable, &link);
	link.changes = cable->changes;
	link.since_ms = cable->since_ms ? (int64_t)cable->since_ms : FORS_UNKNOWN;
	return link;
}

enum fors_err fors_links_add(struct fors_links *links, const struct fors_link *link, struct fors_error *error)
{
	struct fors_link *more;

	if (!(links->count & (links->count - 1))) {
		more = realloc(links->link, (links->count ? 2 * links->count : 1) * sizeof(*more));
		if (!more)
			return fors_fail_memory(error);
		links->link = more;
	}
	links->link[links->count++] = *link;
	return FORS_OK;
}

static bool is_same_link(const struct fors_link *a, const struct fors_link *b)
{
	return a->a_port == b->a_port && a->b_port == b->b_port && !strcmp(a->a, b->a) && !strcmp(a->b, b->b);
}

/* The only one with these ends; NULL: there is none, or several. */
static struct fors_link *only_like(const struct fors_links *links, const struct fors_link *link)
{
	struct fors_link *found = NULL;

	for (size_t i = 0; i < links->count; i++) {
		if (!is_same_link(&links->link[i], link))
			continue;
		if (found)
			return NULL;
		found = &links->link[i];
	}
	return found;
}

void fors_links_inherit(struct fors_links *links, struct fors_links *before)
{
	size_t kept = 0;

	for (size_t i = 0; i < before->count; i++) {
		struct fors_link *now = only_like(links, &before->link[i]);

		if (!now)
			continue;
		if (now->since_ms < 0)
			now->since_ms = before->link[i].since_ms;
		before->link[kept++] = before->link[i];
	}
	before->count = kept;
}

/* Each cable into the lists that it belongs to. Errors: FORS_ENOMEM. */
static enum fors_err list_cables(struct fors_status *status, const struct fors_fattree *tree, struct fors_error *error)
{
	const struct {
		bool (*has)(const struct fors_fattree_cable *cable);
		struct fors_links *links;
	} lists[] = {{is_dead, &status->dead_links},
		     {is_degraded, &status->degraded_links},
		     {is_flapping, &status->flapping_links},
		     {is_excluded, &status->excluded_links},
		     {is_held, &status->held_links}};
	struct fors_fattree_cable cable;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < tree->ncables; i++)
		for (size_t k = 0; !err && tree->kind->get(tree, i, &cable) && k < sizeof(lists) / sizeof(lists[0]);
		     k++)
			if (lists[k].has(&cable)) {
				struct fors_link link = describe_cable(tree, &cable);

				err = fors_links_add(lists[k].links, &link, error);
			}
	return err;
}

static void describe_slow(const struct fors_fattree *tree, const struct fors_fattree_slot *stand,
			  struct fors_link *link)
{
	const struct fors_port *port = fors_net_port(tree->net, stand->node, stand->ca_port);

	snprintf(link->b, sizeof(link->b), "%s", fors_node_name(tree->net, stand->node));
	link->b_port = stand->ca_port;
	link->is_used = true;
	link->is_planned = stand->plays;
	link->is_degraded = port->is_degraded;
	fors_rate_text(port->width, (enum fors_speed)port->speed, link->rate);
}

static void describe_lost(const struct fors_fattree_slot *stand, struct fors_link *link)
{
	snprintf(link->b, sizeof(link->b), "0x%016" PRIx64, stand->seen);
	snprintf(link->host, sizeof(link->host), "%s", stand->name);
}

/* Does nobody wait for its cable, which is to be mended all the same? */
static bool is_left_slow(const struct fors_fattree *tree, const struct fors_fattree_slot *stand)
{
	return stand->node != FORS_NONE && !stand->plays &&
	       fors_net_port(tree->net, stand->node, stand->ca_port)->is_degraded;
}

/* Slow servers, and lost ones; slow cables of those that take no part are links like others. Errors: FORS_ENOMEM. */
static enum fors_err list_servers(struct fors_status *status, const struct fors_fattree *tree, struct fors_error *error)
{
	uint32_t full = fors_fattree_full(tree);
	enum fors_err err = FORS_OK;
	struct fors_fattree_slot stand;

	for (uint32_t i = 0; !err && i < tree->nslots; i++) {
		struct fors_link link = {.since_ms = FORS_UNKNOWN};
		bool slow, left_slow;

		if (!tree->kind->slot(tree, i, &stand))
			continue;
		left_slow = is_left_slow(tree, &stand);
		slow = fors_fattree_is_slow(tree, &stand, full);
		link.a_port = stand.port;
		snprintf(link.a, sizeof(link.a), "%s", tree->kind->at(tree, stand.leaf).name);
		if (slow || left_slow)
			describe_slow(tree, &stand, &link);
		else if (stand.seen)
			describe_lost(&stand, &link);
		if (slow || fors_fattree_is_lost(tree, &stand))
			err = fors_links_add(slow ? &status->slow_servers : &status->lost_servers, &link, error);
		else if (left_slow)
			err = fors_links_add(&status->degraded_links, &link, error);
	}
	return err;
}

/* A host's own cable, and what is known of it. */
static void describe_flap(const struct fors_fattree *tree, const struct fors_flap *flap,
			  const struct fors_fattree_slot *stand, struct fors_link *link)
{
	const char *name = stand->node == FORS_NONE ? stand->name : fors_node_name(tree->net, stand->node);

	*link = (struct fors_link){.a_port = stand->port,
				   .b_port = stand->ca_port ? stand->ca_port : 1,
				   .changes = flap->changes,
				   .is_used = stand->node != FORS_NONE,
				   .is_planned = stand->plays,
				   .since_ms = flap->since_ms ? (int64_t)flap->since_ms : FORS_UNKNOWN};
	snprintf(link->a, sizeof(link->a), "%s", tree->kind->at(tree, stand->leaf).name);
	if (*name)
		snprintf(link->b, sizeof(link->b), "%s", name);
	else
		snprintf(link->b, sizeof(link->b), "0x%016" PRIx64, stand->seen);
	snprintf(link->host, sizeof(link->host), "%s", link->b);
}

enum fors_err fors_status_flaps(struct fors_status *status, const struct fors_fattree *tree,
				const struct fors_flap *flap, uint32_t count, struct fors_error *error)
{
	struct fors_fattree_slot stand;
	struct fors_link link;
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; !err && i < count; i++) {
		if (!tree->kind->slot(tree, flap[i].slot, &stand))
			continue;
		describe_flap(tree, &flap[i], &stand, &link);
		if (flap[i].changes >= FORS_FLAPPING)
			err = fors_links_add(&status->flapping_links, &link, error);
		if (!err && flap[i].is_held && stand.node != FORS_NONE)
			err = fors_links_add(&status->held_links, &link, error);
	}
	return err;
}

/* --- switches that are gone --------------------------------------------------------------------------------------- */

static const char *level_of(const struct fors_fattree *tree, uint32_t number)
{
	if (number < tree->nleaves)
		return "leaf";
	if (!tree->pods)
		return "spine";
	return number < tree->nleaves + tree->pods->nmids ? "middle" : "top";
}

/* What there is at one switch. */
struct stock {
	uint32_t dead, passing; /* cables to other switches */
	uint32_t lost, living;	/* servers */
};

static void count_cable(const struct fors_fattree_cable *cable, struct stock *stock)
{
	stock->dead += is_dead(cable);
	stock->passing += fors_fattree_passes(cable);
}

static void take_stock(const struct fors_fattree *tree, struct stock *stock)
{
	struct fors_fattree_cable cable;
	struct fors_fattree_slot stand;

	for (uint32_t i = 0; i < tree->ncables; i++)
		if (tree->kind->get(tree, i, &cable)) {
			count_cable(&cable, &stock[cable.low]);
			count_cable(&cable, &stock[cable.high]);
		}
	for (uint32_t i = 0; i < tree->nslots; i++)
		if (tree->kind->slot(tree, i, &stand)) {
			stock[stand.leaf].living += stand.node != FORS_NONE;
			stock[stand.leaf].lost += fors_fattree_is_lost(tree, &stand);
		}
}

/*
 * A switch is gone when cables of it are dead and nothing lives there: no cable, no server. That it is not in the net
 * follows; one that somebody took down in a copy of a net is still in it.
 */
static bool is_gone(const struct stock *stock)
{
	return stock->dead && !stock->passing && !stock->living;
}

/* Errors: FORS_ENOMEM. */
static enum fors_err list_switches(struct fors_status *status, const struct fors_fattree *tree,
				   struct fors_error *error)
{
	struct fors_dead_switches list = {.one = calloc(tree->nswitches + (size_t)1, sizeof(*list.one))};
	struct stock *stock = calloc(tree->nswitches + (size_t)1, sizeof(*stock));
	bool has_memory = list.one && stock;

	if (has_memory)
		take_stock(tree, stock);
	for (uint32_t number = 0; has_memory && number < tree->nswitches; number++) {
		struct fors_dead_switch *one = &list.one[list.count];

		if (!is_gone(&stock[number]))
			continue;
		snprintf(one->name, sizeof(one->name), "%s", tree->kind->at(tree, number).name);
		snprintf(one->level, sizeof(one->level), "%s", level_of(tree, number));
		one->cables = stock[number].dead;
		one->servers = stock[number].lost;
		list.count++;
	}
	free(stock);
	status->dead_switches = list;
	return has_memory ? FORS_OK : fors_fail_memory(error);
}

const struct fors_dead_switch *fors_dead_end(const struct fors_status *status, const struct fors_link *link)
{
	for (size_t i = 0; i < 2 * status->dead_switches.count; i++) {
		const struct fors_dead_switch *one = &status->dead_switches.one[i % status->dead_switches.count];

		if (!strcmp(one->name, i < status->dead_switches.count ? link->b : link->a))
			return one;
	}
	return NULL;
}

static void set_numbers(struct fors_status *status, const struct fors_fattree *tree)
{
	struct fors_fattree_sum sum = fors_fattree_sum(tree);

	status->held_until_ms = tree->held_until_ms ? (int64_t)tree->held_until_ms : FORS_UNKNOWN;
	status->servers = sum.servers;
	status->leaves = tree->nleaves;
	status->spines = tree->fabric ? (int64_t)sum.spines : FORS_UNKNOWN;
	status->pods = tree->pods ? (int64_t)sum.npods : FORS_UNKNOWN;
	status->mids = tree->pods ? (int64_t)sum.nmids : FORS_UNKNOWN;
	status->tops = tree->pods ? (int64_t)sum.ntops : FORS_UNKNOWN;
	status->f = sum.reduction;
	status->affected_spines = sum.affected;
	status->capacity = sum.capacity < 0 ? FORS_UNKNOWN : sum.capacity;
	status->unreachable_pairs = sum.unreachable_pairs;
	status->lmc = sum.lmc < 0 ? FORS_UNKNOWN : sum.lmc;
	status->full_speed_mbits = sum.full ? (int64_t)sum.full : FORS_UNKNOWN;
	status->cable_flows = sum.least_flows ? (int64_t)sum.least_flows : FORS_UNKNOWN;
	status->cable_flows_most = sum.most_flows ? (int64_t)sum.most_flows : FORS_UNKNOWN;
}

enum fors_err fors_status_tree(struct fors_status *status, const struct fors_fattree *tree, struct fors_error *error)
{
	struct fors_account account;
	struct fors_status found;
	enum fors_err err = fors_account_take(tree, &account, error);

	fors_status_init(&found);
	if (!err)
		err = list_cables(&found, tree, error);
	if (!err)
		err = list_servers(&found, tree, error);
	if (!err)
		err = list_switches(&found, tree, error);
	if (err) {
		fors_status_clear(&found);
		return err;
	}
	move_lists(&found, status);
	set_numbers(status, tree);
	status->ca_ports = account.ports;
	status->not_participants = account.not_participants;
	status->guests = account.guests;
	status->left_out = fors_account_left_out(&account);
	status->partitioned_pairs = account.cut_pairs < 0 ? FORS_UNKNOWN : account.cut_pairs;
	fors_others_text(tree->net, status->not_hosts);
	return FORS_OK;
}

void fors_status_pace(struct fors_status *status, const struct fors_pace *pace)
{
	if (pace->full)
		status->full_speed_mbits = pace->full;
	status->length = pace->length;
	status->slow_phases = pace->slow_phases;
}

void fors_status_slow(struct fors_status *status, const struct fors_slow *slow)
{
	fors_slow_choice(slow, status->degraded_choice, sizeof(status->degraded_choice));
	status->fast_bound = slow->fast_bound ? (int64_t)slow->fast_bound : FORS_UNKNOWN;
	if (!slow->ncables)
		return;
	status->ignored_length = slow->ignored < 0 ? FORS_UNKNOWN : slow->ignored;
	status->drained_length = slow->drained < 0 ? FORS_UNKNOWN : slow->drained;
}

double fors_status_share(const struct fors_status *status)
{
	double length = status->length > (double)status->phases ? status->length : (double)status->phases;

	if (status->servers <= 0 || status->phases <= 0)
		return -1;
	return length > (double)status->servers ? (double)status->servers / length : 1;
}

void fors_gain_name(struct fors_fattree tree, const struct fors_repair *repair, struct fors_gain *gain)
{
	struct fors_fattree_cable cable;
	uint32_t count;

	memset(gain, 0, sizeof(*gain));
	if (repair->leaf != FORS_NONE) {
		tree.kind->get(&tree, tree.kind->above(&tree, repair->leaf, &count) + repair->lane, &cable);
		gain->link = describe_cable(&tree, &cable);
		return;
	}
	snprintf(gain->link.b, sizeof(gain->link.b), "%s", tree.kind->at(&tree, repair->spine).name);
	gain->link.since_ms = FORS_UNKNOWN;
}

bool fors_status_is_foreign(const struct fors_status *status)
{
	return status->state != FORS_SHADOW && status->tables_by[0] && strcmp(status->tables_by, "fors");
}

/* Of another engine's tables, that they are such, and who takes part. */
static bool knows_fabric(const struct fors_status *status)
{
	return status->leaves >= 0 || status->servers >= 0 || status->tables_by[0];
}

void fors_status_end(struct fors_status *status, int64_t unix_ms)
{
	status->state = FORS_INACTIVE;
	status->held_until_ms = FORS_UNKNOWN; /* nobody lets them go */
	if (knows_fabric(status) && status->known_until_ms < 0)
		status->known_until_ms = unix_ms;
}

void fors_status_schedule(struct fors_status *status, const struct fors_schedule *schedule)
{
	status->epoch = schedule->epoch && schedule->epoch <= INT64_MAX ? (int64_t)schedule->epoch : FORS_UNKNOWN;
	status->phases = schedule->nphases ? (int64_t)schedule->nphases : FORS_UNKNOWN;
	snprintf(status->method, sizeof(status->method), "%s", schedule->method);
	if (!schedule->nphases)
		snprintf(status->reason, sizeof(status->reason), "%s", schedule->reason);
}
