/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_spec.c - reading networks that are no trees.
 *
 * A torus is a list of sizes with x between them; the others are a fixed number of numbers. What is too large is found by
 * multiplying up in 64 bits, before anything is allocated.
 */
#include "graph_spec.h"

#include <stdlib.h>

#include "net.h"
#include "tree.h"

#define MAX_PORTS 254
#define MOST_CUBE 18 /* dimensions: with one server each as many as a tree has */

static const struct {
	const char *name;
	unsigned numbers; /* before the servers; 0: a list of sizes */
	bool is_flat;	  /* servers in the same list, then the seed */
	const char *hint;
} kinds[FORS_NGRAPH_KINDS] = {
	[FORS_TORUS] = {"TORUS", 0, false, "write TORUS(4x4x4;SERVERS), up to eight sizes from 2 on"},
	[FORS_CUBE] = {"CUBE", 1, false, "write CUBE(DIMENSIONS;SERVERS)"},
	[FORS_DRAGONFLY] =
		{"DRAGONFLY", 3, false,
		 "write DRAGONFLY(A,H,G;SERVERS): G groups of A switches with H cables to other groups each"},
	[FORS_DFPLUS] =
		{"DFPLUS", 4, false,
		 "write DFPLUS(L,S,H,G;SERVERS): G groups of L leaves and S spines with H cables to other groups each"},
	[FORS_RANDOM_REGULAR] = {"RRG", 2, true, "write RRG(SWITCHES,DEGREE,SERVERS;SEED)"},
	[FORS_FLEXFLY] =
		{"FLEXFLY", 3, false,
		 "write FLEXFLY(A,H,G;SERVERS;traffic=I-J:WEIGHT,+K:WEIGHT): G blocks of A switches with H cables to others each"},
	[FORS_FLEXSPANDER] =
		{"FLEXSPANDER", 4, false,
		 "write FLEXSPANDER(A,D,H,G;SERVERS;seed=SEED;traffic=I-J:WEIGHT,+K:WEIGHT): G blocks of A switches, D cables inside and H to others each"},
};

/* A network that is being read. */
struct parser {
	struct fors_spec_text text;
	struct fors_graph_spec spec;
	uint64_t cables; /* between switches */
	uint64_t ports;	 /* of a switch with servers, these included */
	uint64_t above;	 /* of one without */
};

/* ---- what follows from the numbers ---- */

static enum fors_err fail_value(const struct parser *p, const char *what)
{
	return fors_fail(p->text.error, FORS_EINPUT, "\"%.100s\": %s; %s", p->text.start, what, p->text.hint);
}

static enum fors_err count_torus(struct parser *p)
{
	struct fors_graph_spec *spec = &p->spec;
	uint64_t n = 1;

	p->ports = spec->servers;
	for (unsigned i = 0; i < spec->ndims; i++) {
		if (spec->size[i] < 2)
			return fail_value(p, "a torus has at least two switches in each dimension");
		n *= spec->size[i];
		p->ports += spec->size[i] == 2 ? 1 : 2;
		if (n > FORS_TREE_CABLES)
			break;
	}
	p->cables = n * (p->ports - spec->servers) / 2;
	spec->nswitches = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	return FORS_OK;
}

static enum fors_err count_cube(struct parser *p)
{
	unsigned dims = p->spec.size[0];

	if (dims > MOST_CUBE)
		return fors_fail(p->text.error, FORS_ELIMIT,
				 "\"%.100s\": %u dimensions; fors takes cubes of at most %u", p->text.start, dims,
				 MOST_CUBE);
	p->spec.nswitches = 1u << dims;
	p->cables = ((uint64_t)dims << dims) / 2;
	p->ports = p->spec.servers + (uint64_t)p->spec.size[0];
	return FORS_OK;
}

/* Cables that leave a group and find another one: all groups get equally many, what is left over stays free. */
static enum fors_err count_groups(struct parser *p, uint64_t global, uint64_t groups)
{
	if (groups > 1 && global < groups - 1)
		return fail_value(p, "a group has fewer cables to other groups than there are other groups");
	if (groups > 1)
		p->cables += groups * (global / (groups - 1) * (groups - 1)) / 2;
	return FORS_OK;
}

static enum fors_err count_dragonfly(struct parser *p)
{
	uint64_t a = p->spec.size[0], h = p->spec.size[1], g = p->spec.size[2];

	p->ports = p->spec.servers + a - 1 + h;
	p->cables = g * (a * (a - 1) / 2);
	p->spec.nswitches = a * g > UINT32_MAX ? UINT32_MAX : (uint32_t)(a * g);
	return count_groups(p, a * h, g);
}

static enum fors_err count_dfplus(struct parser *p)
{
	uint64_t l = p->spec.size[0], s = p->spec.size[1], h = p->spec.size[2], g = p->spec.size[3];

	p->ports = p->spec.servers + s;
	p->above = l + h;
	p->cables = g * l * s;
	p->spec.nswitches = (l + s) * g > UINT32_MAX ? UINT32_MAX : (uint32_t)((l + s) * g);
	p->spec.nleaves = l * g > UINT32_MAX ? UINT32_MAX : (uint32_t)(l * g);
	return count_groups(p, s * h, g);
}

/* n switches with `degree` cables each, by chance. */
static enum fors_err check_random(const struct parser *p, uint64_t n, uint64_t degree)
{
	if (degree >= n)
		return fail_value(p, "the degree is not below the number of switches");
	if (n * degree % 2)
		return fail_value(p, "switches times degree is an odd number");
	if (degree < 2 && n > 2)
		return fail_value(p, "with one cable at each switch more than two do not hang together");
	return FORS_OK;
}

static enum fors_err count_random(struct parser *p)
{
	uint64_t n = p->spec.size[0], degree = p->spec.size[1];

	p->ports = p->spec.servers + degree;
	p->cables = n * degree / 2;
	p->spec.nswitches = (uint32_t)n;
	return check_random(p, n, degree);
}

/* All weights are of blocks that are there. */
static enum fors_err check_traffic(const struct parser *p, uint32_t groups)
{
	for (size_t i = 0; i < p->spec.traffic.count; i++) {
		const struct fors_block_weight *w = &p->spec.traffic.list[i];

		if (w->to >= groups || (w->from != FORS_NONE && w->from >= groups))
			return fail_value(p, "traffic= speaks of a block that is not there; they are numbered from 0");
		if (w->from == w->to || (w->from == FORS_NONE && !w->to))
			return fail_value(p, "traffic= of a block to itself");
	}
	return FORS_OK;
}

/* Blocks of `a` switches with so many cables inside each, h at a switch to others. */
static enum fors_err count_blocks(struct parser *p, uint64_t a, uint64_t inside, uint64_t h, uint64_t groups)
{
	p->ports = p->spec.servers + inside + h;
	p->spec.nswitches = a * groups > UINT32_MAX ? UINT32_MAX : (uint32_t)(a * groups);
	p->cables = groups * (a * inside / 2 + a * h / 2);
	if (groups > FORS_FLEX_BLOCKS)
		return fors_fail(p->text.error, FORS_ELIMIT, "\"%.100s\": %llu blocks; fors takes at most %u",
				 p->text.start, (unsigned long long)groups, FORS_FLEX_BLOCKS);
	if (a * h < groups - 1)
		return fail_value(p, "a block has fewer cables to other blocks than there are other blocks");
	return check_traffic(p, (uint32_t)groups);
}

static enum fors_err count_flexfly(struct parser *p)
{
	const uint32_t *size = p->spec.size;

	return count_blocks(p, size[0], size[0] - (uint64_t)1, size[1], size[2]);
}

static enum fors_err count_flexspander(struct parser *p)
{
	const uint32_t *size = p->spec.size;
	enum fors_err err = check_random(p, size[0], size[1]);

	return err ? err : count_blocks(p, size[0], size[1], size[2], size[3]);
}

static enum fors_err check_limits(const struct parser *p)
{
	const struct fors_graph_spec *spec = &p->spec;
	uint64_t servers = (uint64_t)spec->nleaves * spec->servers, ports = p->ports > p->above ? p->ports : p->above;

	if (ports > MAX_PORTS)
		return fors_fail(p->text.error, FORS_ELIMIT, "\"%.100s\": a switch needs %llu ports, it has at most %u",
				 p->text.start, (unsigned long long)ports, MAX_PORTS);
	if (servers > FORS_TREE_SERVERS)
		return fors_fail(p->text.error, FORS_ELIMIT, "\"%.100s\": %llu servers; fors takes at most %u",
				 p->text.start, (unsigned long long)servers, FORS_TREE_SERVERS);
	if (p->cables + servers > FORS_TREE_CABLES)
		return fors_fail(p->text.error, FORS_ELIMIT, "\"%.100s\": %llu cables; fors takes at most %u",
				 p->text.start, (unsigned long long)(p->cables + servers), FORS_TREE_CABLES);
	return FORS_OK;
}

static enum fors_err count_all(struct parser *p)
{
	static enum fors_err (*const count_kind[FORS_NGRAPH_KINDS])(struct parser *) = {
		[FORS_TORUS] = count_torus,
		[FORS_CUBE] = count_cube,
		[FORS_DRAGONFLY] = count_dragonfly,
		[FORS_DFPLUS] = count_dfplus,
		[FORS_RANDOM_REGULAR] = count_random,
		[FORS_FLEXFLY] = count_flexfly,
		[FORS_FLEXSPANDER] = count_flexspander};
	enum fors_err err = count_kind[p->spec.kind](p);

	if (err)
		return err;
	if (p->spec.kind != FORS_DFPLUS)
		p->spec.nleaves = p->spec.nswitches;
	err = check_limits(p);
	p->spec.cables = (uint32_t)p->ports - p->spec.servers;
	p->spec.cables_above = (uint32_t)p->above;
	return err ? err
		   : fors_empty_slots_check(&p->spec.empty, "switches with servers", p->spec.nleaves, p->spec.servers,
					    p->text.error);
}

/* ---- reading ---- */

static enum fors_err take_sizes(struct parser *p)
{
	enum fors_err err;

	do {
		if (p->spec.ndims == FORS_GRAPH_DIMENSIONS)
			return fors_spec_fail(&p->text, "there are more than eight sizes");
		err = fors_spec_take_number(&p->text, 1, &p->spec.size[p->spec.ndims++]);
	} while (!err && fors_spec_take(&p->text, "x"));
	return err;
}

static enum fors_err take_numbers(struct parser *p, unsigned count)
{
	enum fors_err err = FORS_OK;

	for (unsigned i = 0; i < count && !err; i++) {
		if (i && !fors_spec_take(&p->text, ","))
			return fors_spec_fail(&p->text, "a comma and a number are missing");
		err = fors_spec_take_number(&p->text, 1, &p->spec.size[i]);
	}
	return err;
}

/* ;SERVERS, or ,SERVERS;SEED */
static enum fors_err take_servers(struct parser *p)
{
	bool is_flat = kinds[p->spec.kind].is_flat;
	enum fors_err err;

	if (!fors_spec_take(&p->text, is_flat ? "," : ";"))
		return fors_spec_fail(&p->text, is_flat ? "a comma and the servers of a switch are missing"
							: "a ; and the servers of a switch are missing");
	err = fors_spec_take_number(&p->text, 1, &p->spec.servers);
	if (err || !is_flat)
		return err;
	if (!fors_spec_take(&p->text, ";"))
		return fors_spec_fail(&p->text, "a ; and the seed are missing");
	return fors_spec_take_number(&p->text, 0, &p->spec.seed);
}

/* I-J:W or +K:W */
static enum fors_err take_weight(struct parser *p, struct fors_block_weight *weight)
{
	enum fors_err err = FORS_OK;

	weight->from = FORS_NONE;
	if (!fors_spec_take(&p->text, "+")) {
		err = fors_spec_take_number(&p->text, 0, &weight->from);
		if (!err && !fors_spec_take(&p->text, "-"))
			return fors_spec_fail(&p->text, "a - and the other block are missing");
	}
	if (!err)
		err = fors_spec_take_number(&p->text, 0, &weight->to);
	if (!err && !fors_spec_take(&p->text, ":"))
		return fors_spec_fail(&p->text, "a : and a weight are missing");
	return err ? err : fors_spec_take_number(&p->text, 1, &weight->weight);
}

static enum fors_err take_traffic(struct parser *p)
{
	struct fors_block_weights *traffic = &p->spec.traffic;
	struct fors_block_weight *more, weight;
	enum fors_err err;

	do {
		err = take_weight(p, &weight);
		if (err)
			return err;
		more = realloc(traffic->list, (traffic->count + 1) * sizeof(*more));
		if (!more)
			return fors_fail_memory(p->text.error);
		more[traffic->count++] = weight;
		traffic->list = more;
	} while (fors_spec_take(&p->text, ","));
	return FORS_OK;
}

/* ;empty=..., and what else a network of this kind has, each once, in any order. */
static enum fors_err take_keys(struct parser *p)
{
	bool has_empty = false, has_traffic = false, has_seed = false, is_flex = p->spec.kind >= FORS_FLEXFLY;
	enum fors_err err = FORS_OK;

	while (!err && fors_spec_take(&p->text, ";")) {
		fors_skip_blanks(&p->text.rest);
		if (fors_spec_take_key(&p->text, "empty", &has_empty))
			err = fors_spec_take_slots(&p->text, &p->spec.empty);
		else if (is_flex && fors_spec_take_key(&p->text, "traffic", &has_traffic))
			err = take_traffic(p);
		else if (p->spec.kind == FORS_FLEXSPANDER && fors_spec_take_key(&p->text, "seed", &has_seed))
			err = fors_spec_take_number(&p->text, 0, &p->spec.seed);
		else
			return fors_spec_fail(
				&p->text,
				is_flex ? "here traffic=, empty= or, of a FLEXSPANDER, seed= is expected, each once"
					: "here empty= is expected");
	}
	return err;
}

/* The network whose name comes next; FORS_NGRAPH_KINDS: none. */
static enum fors_graph_kind take_kind(struct fors_spec_text *text)
{
	for (unsigned kind = 0; kind < FORS_NGRAPH_KINDS; kind++)
		if (fors_spec_take(text, kinds[kind].name))
			return (enum fors_graph_kind)kind;
	return FORS_NGRAPH_KINDS;
}

static enum fors_err parse(struct parser *p)
{
	enum fors_graph_kind kind = take_kind(&p->text);
	enum fors_err err;

	if (kind == FORS_NGRAPH_KINDS)
		return fors_spec_fail(&p->text, "this is no network that is known");
	p->spec.kind = kind;
	p->text.hint = kinds[kind].hint;
	if (!fors_spec_take(&p->text, "("))
		return fors_spec_fail(&p->text, "a ( is missing");
	err = kinds[kind].numbers ? take_numbers(p, kinds[kind].numbers) : take_sizes(p);
	if (!err)
		err = take_servers(p);
	if (!err)
		err = take_keys(p);
	if (!err)
		err = fors_spec_take_end(&p->text, "a ) is expected");
	return err ? err : count_all(p);
}

bool fors_graph_spec_begins(const char *text)
{
	struct fors_spec_text p = fors_spec_text(text, "", NULL);

	return take_kind(&p) != FORS_NGRAPH_KINDS;
}

enum fors_err fors_graph_spec_parse(const char *text, struct fors_graph_spec *spec, struct fors_error *error)
{
	struct parser p = {
		.text = fors_spec_text(
			text,
			"write TORUS(..), CUBE(..), DRAGONFLY(..), DFPLUS(..), RRG(..), FLEXFLY(..) or FLEXSPANDER(..)",
			error)};
	enum fors_err err = parse(&p);

	if (err) {
		fors_graph_spec_clear(&p.spec);
		return err;
	}
	fors_empty_slots_sort(&p.spec.empty);
	*spec = p.spec;
	return FORS_OK;
}

void fors_graph_spec_clear(struct fors_graph_spec *spec)
{
	fors_empty_slots_clear(&spec->empty);
	free(spec->traffic.list);
	*spec = (struct fors_graph_spec){0};
}
