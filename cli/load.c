/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * load.c - from what the user named to a fabric with tables.
 *
 * The intact net comes first: it says what has a place. Only then is anything taken down, in a copy, so that
 * what is dead keeps its place and the tables of all that lives stay as they are. The same two steps answer
 * "what would it be with everything healthy" and "what would it be with another LMC".
 */
#include "cli/cli.h"
#include "cli/clock.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/guidlist.h"
#include "core/fabric/lids.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "core/fabric/account.h"
#include "core/fabric/drained.h"
#include "core/net/dump_lids.h"
#include "core/net/endpoints.h"
#include "core/net/lftfile.h"
#include "core/net/others.h"
#include "core/net/spec.h"
#include "core/planners/routing.h"
#include "core/planners/slow.h"
#include "core/tables/lanes.h"

/* --- the intact net ------------------------------------------------------------------------------------------- */

static int load_synthetic(const char *text, struct fors_net **net)
{
	struct fors_error error = {0};
	struct fors_spec spec = {0};
	enum fors_err err;

	err = fors_spec_parse(text, &spec, &error);
	if (err && cli_is_there(text))
		return cli_usage_error("--synthetic makes up a fabric; to read one from the file: --fabric %s", text);
	if (err)
		return cli_fail(&error);
	err = fors_spec_net(&spec, net, &error);
	fors_spec_clear(&spec);
	return err ? cli_fail(&error) : CLI_GOOD;
}

/* Does it look like what --synthetic takes? */
static bool is_spec(const char *text)
{
	static const char *const heads[] = {"FT(", "XGFT(", "PGFT("};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (!strncasecmp(text, heads[i], strlen(heads[i])))
			return true;
	return false;
}

static int load_file(const char *path, struct fors_net **net)
{
	if (is_spec(path) && !cli_is_there(path))
		return cli_usage_error(
			"--fabric reads a file, and there is no '%s'; to make that fabric up: --synthetic '%s'", path,
			path);
	return cli_read_net(path, net);
}

int cli_net_named(const char *name, struct fors_net **net)
{
	return is_spec(name) && !cli_is_there(name) ? load_synthetic(name, net) : cli_read_net(name, net);
}

static int load_intact(const struct cli_source *source, struct fors_net **net)
{
	int code;

	if (source->fabric && source->synthetic)
		return cli_usage_error("--fabric and --synthetic exclude each other");
	if (!source->fabric && !source->synthetic)
		return cli_usage_error("which fabric? --fabric FILE or --synthetic SPEC is missing");
	code = source->fabric ? load_file(source->fabric, net) : load_synthetic(source->synthetic, net);
	if (!code)
		fors_others_mark(*net, &source->not_hosts);
	return code;
}

static enum fors_err take_down(const struct fors_net *intact, const char *const *down, size_t ndown,
			       struct fors_net *net, struct fors_error *error)
{
	for (size_t i = 0; i < ndown; i++) {
		enum fors_err err = fors_net_down(intact, net, down[i], error);

		if (err)
			return err;
	}
	return FORS_OK;
}

/* A copy of the intact net, without what is down. */
static int copy_net(const struct cli_source *source, const struct fors_net *intact, struct fors_net **net)
{
	struct fors_error error = {0};
	struct fors_net *copy = NULL;
	enum fors_err err = fors_net_copy(intact, &copy, &error);

	if (!err)
		err = take_down(intact, source->down, source->ndown, copy, &error);
	if (!err) {
		*net = copy;
		return CLI_GOOD;
	}
	fors_net_free(copy);
	return cli_fail(&error);
}

int cli_net_load(const struct cli_source *source, struct fors_net **net)
{
	struct fors_net *intact = NULL;
	int code = load_intact(source, &intact);

	if (code)
		return code;
	code = copy_net(source, intact, net);
	fors_net_free(intact);
	return code;
}

/* --- participants --------------------------------------------------------------------------------------------- */

static bool is_ca_port(const struct fors_net *net, uint64_t guid)
{
	for (uint32_t i = 0; i < net->nnodes; i++)
		for (unsigned p = 1; net->node[i].type == FORS_CA && p <= net->node[i].nports; p++)
			if (fors_net_port(net, i, p)->guid == guid)
				return true;
	return false;
}

/* The line (from 1) of a GUID that stands in a text. */
static unsigned line_of(const char *text, uint64_t guid)
{
	unsigned line = 1;

	for (; text; line++) {
		text += strspn(text, " \t\r"); /* but not the end of a blank line, which strtoull() would skip */
		if (*text != '\n' && strtoull(text, NULL, 0) == guid)
			break;
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return line;
}

static enum fors_err read_participants(const char *text, size_t size, const char *path, void *context,
				       struct fors_error *error)
{
	struct cli_site *site = context;
	struct fors_participants *them = &site->participants;
	enum fors_err err = fors_guidlist_read_bare(text, size, path, &them->guid, &them->count, error);

	site->has_participants = true;
	if (!err && !them->count)
		err = fors_fail(error, FORS_EINPUT, "%s: names no participant", path);
	for (size_t i = 0; !err && i < them->count; i++)
		if (!is_ca_port(site->intact, them->guid[i]))
			err = fors_fail(error, FORS_EINPUT,
					"%s:%u: 0x%016llx is no port of a host in this fabric (port GUIDs are wanted)",
					path, line_of(text, them->guid[i]), (unsigned long long)them->guid[i]);
	return err;
}

/* Has the fabric a switch of the reference? */
static bool is_same_fabric(const struct cli_site *site)
{
	for (uint32_t i = 0; i < site->intact->nnodes; i++)
		if (site->intact->node[i].type == FORS_SWITCH &&
		    fors_places_has(site->places, site->intact->node[i].guid))
			return true;
	return false;
}

/* Places that begin with a reference fabric, or are those of a state folder. */
static int begin_with(const struct cli_source *source, struct cli_site *site)
{
	const char *name = source->reference ? source->reference : source->state;
	struct fors_error error = {0};
	int code;

	if (source->reference) {
		code = cli_read_net(source->reference, &site->reference);
		if (!code)
			fors_others_mark(site->reference, &source->not_hosts);
		if (!code && fors_places_refer(site->reference, NULL, 0, &site->places, &error))
			code = cli_fail(&error);
	} else {
		code = cli_use_in(source->state, "places", true, cli_places_reader, &site->places);
	}
	if (!code && !is_same_fabric(site)) {
		cli_error("%s: this is another fabric: --fabric has no switch of it", name);
		code = CLI_BAD;
	}
	return code;
}

static int begin(const struct cli_source *source, struct cli_site *site)
{
	if (source->reference || source->state)
		return begin_with(source, site);
	site->places = fors_places_new();
	if (site->places)
		return CLI_GOOD;
	cli_error("out of memory");
	return CLI_BAD;
}

/* Without places, when the net is no fat-tree and need not be one. */
static int learn(const struct cli_source *source, struct cli_site *site, bool may_be_any)
{
	struct fors_error error = {0};
	int code = begin(source, site);
	enum fors_err err;

	if (code)
		return code;
	err = fors_places_learn_tree(site->places, site->intact, NULL, 0, &site->neither, &error);
	if (err && (!may_be_any || (err != FORS_ENOTREE && err != FORS_ELIMIT)))
		return cli_fail(&error);
	if (err) {
		fors_places_free(site->places);
		site->places = NULL;
		site->neither = error;
	}
	return CLI_GOOD;
}

bool cli_site_is_two_level(const struct cli_site *site)
{
	return site->places && !fors_places_known(site->places) && !*site->neither.text;
}

static int load_site(const struct cli_source *source, bool may_be_any, struct cli_site *site)
{
	int code;

	*site = (struct cli_site){.degraded = (enum fors_slow_how)source->degraded};
	code = load_intact(source, &site->intact);
	if (!code)
		code = learn(source, site, may_be_any);
	if (!code && source->participants)
		code = cli_use_file(source->participants, read_participants, site);
	return code;
}

int cli_site_net(const struct cli_site *site, const struct cli_source *source, struct fors_net **net)
{
	return copy_net(source, site->intact, net);
}

int cli_site_load(const struct cli_source *source, struct cli_site *site)
{
	return load_site(source, false, site);
}

int cli_any_site_load(const struct cli_source *source, struct cli_site *site)
{
	return load_site(source, true, site);
}

void cli_site_free(struct cli_site *site)
{
	free(site->participants.guid);
	fors_places_free(site->places);
	fors_net_free(site->intact);
	fors_net_free(site->reference);
	*site = (struct cli_site){0};
}

/* --- the fabric at one moment --------------------------------------------------------------------------------- */

static enum fors_err look_at_tables(struct cli_fabric *made, struct fors_error *error)
{
	double start = cli_now_ms();
	enum fors_err err = fors_routing_check(&made->tree, made->lfts, &made->warnings, error);

	made->check_ms = cli_now_ms() - start;
	if (!err)
		err = fors_account_take(&made->tree, &made->account, error);
	if (!err)
		fors_account_warn(made->net, &made->account, &made->warnings);
	return err;
}

/* LIDs are given in the intact net, so that they do not depend on what is down. */
static enum fors_err make_net(const struct cli_site *site, bool has_lmc, unsigned lmc, const char *const *down,
			      size_t ndown, struct fors_net **net, struct fors_error *error)
{
	enum fors_err err = fors_net_copy(site->intact, net, error);

	if (!err)
		err = fors_assign_lids(*net, site->places, has_lmc ? lmc : 0, !has_lmc, error);
	return err ? err : take_down(site->intact, down, ndown, *net, error);
}

static enum fors_err build_tree(const struct cli_site *site, struct cli_fabric *made, struct fors_error *error)
{
	const struct fors_participants *them = site->has_participants ? &site->participants : NULL;
	enum fors_err err = fors_fattree_build(made->net, site->places, them, &made->tree, error);

	made->fabric = made->tree.fabric;
	return err ? err : fors_aside_cut(&made->tree, made->net, &made->warnings, error);
}

enum fors_err cli_fabric_route(const struct cli_site *site, struct cli_fabric *made, struct fors_error *error)
{
	enum fors_err err = build_tree(site, made, error);
	double start;

	if (!err)
		err = fors_slow_mark(made->tree, site->degraded, &made->slow, error);
	if (!err)
		err = fors_drained_apply(made->tree, &made->warnings, error);
	start = cli_now_ms();
	if (!err)
		err = fors_routing_make(&made->tree, false, &made->lfts, &made->rounds, error);
	made->tables_ms = cli_now_ms() - start;
	return err || !made->fabric ? err : fors_lanes_read(made->fabric, made->lfts, &made->lanes, error);
}

int cli_fabric_make(const struct cli_site *site, bool has_lmc, unsigned lmc, const char *const *down, size_t ndown,
		    struct cli_fabric *made)
{
	struct fors_error error = {0};
	enum fors_err err;

	*made = (struct cli_fabric){0};
	err = make_net(site, has_lmc, lmc, down, ndown, &made->net, &error);
	if (!err)
		err = cli_fabric_route(site, made, &error);
	if (!err)
		err = look_at_tables(made, &error);
	if (!err)
		fors_bare_warn(site->intact, &made->warnings);
	return err ? cli_fail(&error) : CLI_GOOD;
}

#define OTHER_WAY "; for any other network: --lfts FILE, with the tables of its switches"

/* It is no tree of three levels, and not one of two in which all leaves have a spine in common: what it is not. */
static int fail_neither(const struct cli_site *site)
{
	const struct cli_site whole = {.intact = site->intact, .places = site->places};
	struct cli_fabric intact;
	struct fors_error error = {0};
	int code;

	if (!site->places) {
		cli_error("%s" OTHER_WAY, site->neither.text);
		return CLI_BAD;
	}
	code = cli_fabric_make(&whole, false, 0, NULL, 0, &intact);
	if (!code) {
		fors_fattree_connected(&intact.tree, &error);
		cli_error("%s; %s" OTHER_WAY, error.text, site->neither.text);
		code = CLI_BAD;
	}
	cli_fabric_free(&intact);
	return code;
}

int cli_own_tables(const struct cli_site *site, const struct cli_source *source, struct cli_fabric *made)
{
	int code;

	*made = (struct cli_fabric){0};
	if (!site->places)
		return fail_neither(site);
	code = cli_fabric_make(site, source->has_lmc, source->lmc, source->down, source->ndown, made);
	if (code || !*site->neither.text || !fors_fattree_connected(&made->tree, NULL))
		return code; /* a tree that is cut may be whole without what is down */
	cli_fabric_free(made);
	return fail_neither(site);
}

int cli_site_narrow(struct cli_site *site, const struct cli_fabric *made)
{
	struct fors_participants players;
	struct fors_error error = {0};

	if (!made->tree.kind || made->fabric)
		return CLI_GOOD;
	if (fors_fattree_players(&made->tree, &players, &error))
		return cli_fail(&error);
	free(site->participants.guid);
	site->participants = players;
	site->has_participants = true;
	return CLI_GOOD;
}

void cli_fabric_free(struct cli_fabric *made)
{
	fors_lanes_free(made->lanes);
	fors_routing_free(made->lfts, made->rounds);
	fors_fattree_free(&made->tree);
	fors_net_free(made->net);
	*made = (struct cli_fabric){0};
}

/* --- tables of anybody ------------------------------------------------------------------------------------------ */

/* Where the tables of a file go, and the LIDs that they name. */
struct tables {
	struct fors_net *net;
	struct fors_lfts *lfts;
};

static enum fors_err read_tables(const char *text, size_t size, const char *path, void *context,
				 struct fors_error *error)
{
	struct tables *tables = context;
	enum fors_err err = fors_lftfile_read(text, size, path, &tables->lfts, error);

	return err ? err : fors_lids_from_dump(tables->net, text, size, path, error);
}

int cli_read_tables(const char *path, struct fors_net *net, struct fors_lfts **lfts)
{
	struct tables tables = {.net = net};
	int code = cli_use_file(path, read_tables, &tables);

	if (code)
		fors_lfts_free(tables.lfts);
	else
		*lfts = tables.lfts;
	return code;
}

/*
 * Servers that hang on the side of the spines take no part in a two-level fat-tree. But many of them mean that
 * it is something else, a torus for example, whose switches fall into two sides by chance.
 */
static enum fors_err is_tree(const struct fors_fabric *fabric, const struct fors_participants *them, bool *answer,
			     struct fors_error *error)
{
	struct fors_endpoint *list = NULL;
	uint32_t count = 0;
	enum fors_err err = fors_endpoints(fabric->net, them, &list, &count, error);

	free(list);
	*answer = !err && (count - fabric->nservers) * 4 <= count;
	return err;
}

/* The net as leaves, spines and lanes, where it can be understood so; else there is no tree. */
static enum fors_err understand(const struct cli_site *site, struct cli_fabric *made, struct fors_error *error)
{
	const struct fors_participants *them = site->has_participants ? &site->participants : NULL;
	bool is_good = false;
	enum fors_err err;

	if (!site->places || fors_places_known(site->places))
		return FORS_OK;
	err = build_tree(site, made, error);
	if (!err)
		err = is_tree(made->fabric, them, &is_good, error);
	if (!err && is_good)
		return fors_lanes_read(made->fabric, made->lfts, &made->lanes, error);
	fors_fattree_free(&made->tree);
	made->fabric = NULL;
	return err;
}

int cli_fabric_understand(const struct cli_site *site, struct cli_fabric *made)
{
	struct fors_error error = {0};

	return understand(site, made, &error) ? cli_fail(&error) : CLI_GOOD;
}
