/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pattern.c - communication patterns: by formula, at random, from a file, from a plan.
 *
 * There are five ways to hold a pattern, and one function that asks for a pair. The linear shift, all-to-all, plans and
 * what stands in formula.h are formulas over (phase, i); all others are lists. Processes are mapped to servers when a
 * pair is asked for, so a random mapping is one array, whatever the pattern.
 *
 * What is random is drawn when the pattern is made, in a fixed order, from one generator: first the mapping, then
 * the pattern, so the same seed gives the same mapping to all patterns.
 */
#include "pattern.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "formula.h"
#include "torus.h"
#include "core/base/random.h"

#define MAX_PAIRS ((uint64_t)1 << 28) /* of one phase, and of all that are in a list */

enum kind { LINEAR_SHIFT, ALL_TO_ALL, LIST, PLAN, FORMULA };

struct fors_pattern {
	enum kind kind;
	uint32_t nservers, nphases;
	uint32_t *map; /* process -> server, NULL: the same number */
	const struct fors_schedule *schedule;
	const struct fors_formula *formula;
	uint32_t number;	/* of FORMULA, in brackets; 0: none */
	struct fors_pair *pair; /* of LIST */
	size_t *first; /* of LIST, nphases + 1: pairs of phase p are pair[first[p]] .. pair[first[p + 1] - 1] */
	size_t npairs, pair_room;
	uint32_t phase_room;
	struct fors_random random;
	double average,
		busiest; /* of a schedule with sizes: bytes of a phase, of the server that sends or receives most */
};

/* ---- lists ---- */

static bool grow_pairs(struct fors_pattern *p)
{
	size_t room = p->pair_room ? 2 * p->pair_room : 1024;
	struct fors_pair *larger = realloc(p->pair, room * sizeof(*larger));

	if (!larger)
		return false;
	p->pair = larger;
	p->pair_room = room;
	return true;
}

static enum fors_err too_many(struct fors_error *error)
{
	return fors_fail(error, FORS_ELIMIT, "the pattern has more than %llu pairs", (unsigned long long)MAX_PAIRS);
}

static enum fors_err add(struct fors_pattern *p, uint32_t src, uint32_t dst, uint32_t path, struct fors_error *error)
{
	if (p->npairs == MAX_PAIRS)
		return too_many(error);
	if (p->npairs == p->pair_room && !grow_pairs(p))
		return fors_fail_memory(error);
	p->pair[p->npairs++] = (struct fors_pair){src, dst, path};
	p->first[p->nphases] = p->npairs;
	return FORS_OK;
}

/* What is added from here on belongs to a new phase. */
static enum fors_err add_phase(struct fors_pattern *p, struct fors_error *error)
{
	if (p->nphases + 1 >= p->phase_room) {
		uint32_t room = 2 * p->phase_room + 4;
		size_t *larger = realloc(p->first, room * sizeof(*larger));

		if (!larger)
			return fors_fail_memory(error);
		p->first = larger;
		p->phase_room = room;
	}
	p->first[p->nphases] = p->npairs;
	p->first[++p->nphases] = p->npairs;
	return FORS_OK;
}

/* ---- one phase at random ---- */

static enum fors_err make_shift_by(struct fors_pattern *p, uint32_t distance, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (uint32_t i = 0; i < p->nservers && distance && !err; i++)
		err = add(p, i, (uint32_t)(((uint64_t)i + distance) % p->nservers), 0, error);
	return err;
}

static enum fors_err make_shift(struct fors_pattern *p, uint32_t distance, struct fors_error *error)
{
	if (!distance && p->nservers > 1)
		distance = 1 + fors_random_below(&p->random, p->nservers - 1);
	if (distance >= p->nservers && p->nservers > 1)
		return fors_fail(error, FORS_EINPUT, "a shift by %u is too far: there are %u servers", distance,
				 p->nservers);
	return make_shift_by(p, distance, error);
}

static bool has_fixed_point(const uint32_t *list, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == i)
			return true;
	return false;
}

/* Drawn again until nobody sends to himself: 2.7 times on average. */
static enum fors_err make_permutation(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	uint32_t *to = malloc(p->nservers * sizeof(*to));
	enum fors_err err = to ? FORS_OK : fors_fail_memory(error);

	(void)unused;
	if (err || p->nservers < 2) {
		free(to);
		return err;
	}
	do
		fors_random_order(&p->random, to, p->nservers);
	while (has_fixed_point(to, p->nservers));
	for (uint32_t i = 0; i < p->nservers && !err; i++)
		err = add(p, i, to[i], 0, error);
	free(to);
	return err;
}

static enum fors_err make_bisect(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	uint32_t *order = malloc(p->nservers * sizeof(*order));
	enum fors_err err = order ? FORS_OK : fors_fail_memory(error);

	(void)unused;
	if (!err)
		fors_random_order(&p->random, order, p->nservers);
	for (uint32_t i = 0; i + 1 < p->nservers && !err; i += 2) {
		err = add(p, order[i], order[i + 1], 0, error);
		if (!err)
			err = add(p, order[i + 1], order[i], 0, error);
	}
	free(order);
	return err;
}

/* k different others for each: a list of all others, its first k shuffled. */
static enum fors_err make_randn(struct fors_pattern *p, uint32_t k, struct fors_error *error)
{
	uint32_t n = p->nservers;
	uint32_t *list = malloc(n * sizeof(*list));
	enum fors_err err = list ? FORS_OK : fors_fail_memory(error);

	if (!err && k >= n)
		err = fors_fail(error, FORS_EINPUT, "RANDN(%u): each of %u servers has only %u %s", k, n, n - 1,
				fors_plural(n - 1, "other", "others"));
	for (uint32_t i = 0; i < n && !err; i++)
		list[i] = i;
	for (uint32_t src = 0; src < n && !err; src++) {
		for (uint32_t i = 0, at = 0; i < k && !err; at++) {
			uint32_t other = at + fors_random_below(&p->random, n - at), dst = list[other];

			list[other] = list[at];
			list[at] = dst;
			if (dst == src)
				continue;
			err = add(p, src, dst, 0, error);
			i++;
		}
	}
	free(list);
	return err;
}

static enum fors_err make_random(struct fors_pattern *p, uint32_t k, struct fors_error *error)
{
	uint64_t count = (uint64_t)k * p->nservers;
	enum fors_err err = FORS_OK;

	if (p->nservers < 2)
		return FORS_OK;
	for (uint64_t i = 0; i < count && !err; i++) {
		uint32_t src = fors_random_below(&p->random, p->nservers);
		uint32_t dst = fors_random_below(&p->random, p->nservers - 1);

		err = add(p, src, dst + (dst >= src), 0, error);
	}
	return err;
}

/* ---- neighbours on a torus ---- */

static bool is_among(const uint32_t *list, unsigned n, uint32_t what)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i] == what)
			return true;
	return false;
}

/* On short sides two directions lead to the same server, or back: each neighbour counts once. */
static enum fors_err add_neighbours(struct fors_pattern *p, const struct fors_torus *torus, unsigned dimensions,
				    bool with_diagonals, uint32_t i, struct fors_error *error)
{
	uint32_t seen[27] = {i};
	unsigned nseen = 1;
	enum fors_err err = FORS_OK;

	for (int way = 0; way < 27 && !err; way++) {
		const int step[3] = {way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1};
		int nsteps = abs(step[0]) + abs(step[1]) + abs(step[2]);
		uint32_t to = fors_torus_neighbour(torus, i, step);

		if ((dimensions == 2 && step[2]) || (!with_diagonals && nsteps != 1) || is_among(seen, nseen, to))
			continue;
		seen[nseen++] = to;
		err = add(p, i, to, 0, error);
	}
	return err;
}

static enum fors_err make_neighbours(struct fors_pattern *p, unsigned dimensions, bool with_diagonals,
				     struct fors_error *error)
{
	struct fors_torus torus = {{p->nservers, 1, 1}};
	enum fors_err err = FORS_OK;

	for (uint32_t least = 3; least > 0; least--)
		if (fors_torus_draw(&p->random, p->nservers, dimensions, least, &torus))
			break;
	for (uint32_t i = 0; i < p->nservers && !err; i++)
		err = add_neighbours(p, &torus, dimensions, with_diagonals, i, error);
	return err;
}

static enum fors_err make_2dnn(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	(void)unused;
	return make_neighbours(p, 2, false, error);
}

static enum fors_err make_2dnndiag(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	(void)unused;
	return make_neighbours(p, 2, true, error);
}

static enum fors_err make_3dnn(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	(void)unused;
	return make_neighbours(p, 3, false, error);
}

static enum fors_err make_3dnndiag(struct fors_pattern *p, uint32_t unused, struct fors_error *error)
{
	(void)unused;
	return make_neighbours(p, 3, true, error);
}

/* ---- names ---- */

enum parameter { NO_PARAMETER, MAY_HAVE, MUST_HAVE };

/* `make` fills the one phase of a LIST; parameter 0: none was given. */
static const struct named {
	const char *name, *shown;
	enum kind kind;
	enum parameter parameter;
	enum fors_err (*make)(struct fors_pattern *p, uint32_t parameter, struct fors_error *error);
} named[] = {
	{"linearshift", "linear-shift", LINEAR_SHIFT, NO_PARAMETER, NULL},
	{"alltoall", "all-to-all", ALL_TO_ALL, NO_PARAMETER, NULL},
	{"shift", "shift", LIST, MAY_HAVE, make_shift},
	{"permutation", "permutation", LIST, NO_PARAMETER, make_permutation},
	{"bisect", "bisect", LIST, NO_PARAMETER, make_bisect},
	{"2dnn", "2DNN", LIST, NO_PARAMETER, make_2dnn},
	{"2dnndiag", "2DNNDIAG", LIST, NO_PARAMETER, make_2dnndiag},
	{"3dnn", "3DNN", LIST, NO_PARAMETER, make_3dnn},
	{"3dnndiag", "3DNNDIAG", LIST, NO_PARAMETER, make_3dnndiag},
	{"randn", "RANDN(k)", LIST, MUST_HAVE, make_randn},
	{"random", "RANDOM(k)", LIST, MUST_HAVE, make_random},
};

#define NNAMED (sizeof(named) / sizeof(named[0]))

/* Small letters, without '-' and '_', up to a '('. */
static void plain_name(const char *name, char *plain, size_t room)
{
	size_t n = 0;

	for (; *name && *name != '(' && n + 1 < room; name++)
		if (*name != '-' && *name != '_')
			plain[n++] = (char)tolower((unsigned char)*name);
	plain[n] = '\0';
}

static void list_name(char *list, size_t room, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, room - used, "%s%s", used ? ", " : "", name);
}

static enum fors_err unknown_name(const char *name, struct fors_error *error)
{
	char list[400] = "";

	for (size_t i = 0; i < NNAMED; i++)
		list_name(list, sizeof(list), named[i].shown);
	for (size_t i = 0; fors_formula_at(i); i++)
		list_name(list, sizeof(list), fors_formula_at(i)->shown);
	return fors_fail(error, FORS_EINPUT, "there is no pattern '%.40s'; known are %s", name, list);
}

/* The number in "NAME(NUMBER)" in *parameter, 0 when there is none. */
static enum fors_err read_parameter(const char *shown, enum parameter wanted, const char *name, uint32_t *parameter,
				    struct fors_error *error)
{
	const char *bracket = strchr(name, '(');
	struct fors_span rest = {bracket ? bracket + 1 : name, name + strlen(name)};
	uint64_t number = 0;

	if (!bracket && wanted == MUST_HAVE)
		return fors_fail(error, FORS_EINPUT, "pattern %s needs a number, as in %.*s(20)", shown,
				 (int)strcspn(shown, "("), shown);
	if (bracket && wanted == NO_PARAMETER)
		return fors_fail(error, FORS_EINPUT, "pattern %s takes no number", shown);
	if (bracket && (!fors_take_number(&rest, 10, UINT32_MAX - 1, &number) || !number ||
			!fors_take_char(&rest, ')') || !fors_span_is_empty(rest)))
		return fors_fail(error, FORS_EINPUT,
				 "pattern '%.40s': a number from 1 in brackets is expected, as in %.*s(20)", name,
				 (int)strcspn(shown, "("), shown);
	*parameter = (uint32_t)number;
	return FORS_OK;
}

/* One of the two in *found or *formula, and its parameter. */
static enum fors_err find_name(const char *name, const struct named **found, const struct fors_formula **formula,
			       uint32_t *parameter, struct fors_error *error)
{
	char plain[32];

	plain_name(name, plain, sizeof(plain));
	*formula = fors_formula_find(plain);
	if (*formula)
		return read_parameter((*formula)->shown,
				      (*formula)->must_have  ? MUST_HAVE
				      : (*formula)->may_have ? MAY_HAVE
							     : NO_PARAMETER,
				      name, parameter, error);
	for (size_t i = 0; i < NNAMED; i++)
		if (!strcmp(plain, named[i].name)) {
			*found = &named[i];
			return read_parameter(named[i].shown, named[i].parameter, name, parameter, error);
		}
	return unknown_name(name, error);
}

/* ---- making one ---- */

static enum fors_err new_pattern(enum kind kind, uint32_t nservers, const struct fors_pattern_options *options,
				 struct fors_pattern **pattern, struct fors_error *error)
{
	struct fors_pattern *p = calloc(1, sizeof(*p));

	if (!p)
		return fors_fail_memory(error);
	p->kind = kind;
	p->nservers = nservers;
	p->nphases = kind == LINEAR_SHIFT ? nservers : kind == ALL_TO_ALL ? 1 : 0;
	p->random.state = options ? options->seed : 0;
	if (options && options->is_random_map) {
		p->map = malloc((nservers + (size_t)1) * sizeof(*p->map));
		if (!p->map) {
			free(p);
			return fors_fail_memory(error);
		}
		fors_random_order(&p->random, p->map, nservers);
	}
	*pattern = p;
	return FORS_OK;
}

static enum fors_err new_formula(const struct fors_formula *formula, uint32_t nservers, uint32_t number,
				 const struct fors_pattern_options *options, struct fors_pattern **pattern,
				 struct fors_error *error)
{
	struct fors_pattern *p = NULL;
	enum fors_err err = fors_formula_check(formula, nservers, number, error);

	if (!err)
		err = new_pattern(FORMULA, nservers, options, &p, error);
	if (err)
		return err;
	p->formula = formula;
	p->number = number;
	p->nphases = formula->nphases(nservers, number);
	*pattern = p;
	return FORS_OK;
}

enum fors_err fors_pattern_new(const char *name, uint32_t nservers, const struct fors_pattern_options *options,
			       struct fors_pattern **pattern, struct fors_error *error)
{
	const struct named *entry = NULL;
	const struct fors_formula *formula = NULL;
	struct fors_pattern *p = NULL;
	uint32_t parameter = 0;
	enum fors_err err = find_name(name, &entry, &formula, &parameter, error);

	if (!err && !nservers)
		err = fors_fail(error, FORS_EINPUT, "there is no server to send anything");
	if (!err && formula)
		return new_formula(formula, nservers, parameter, options, pattern, error);
	if (!err && entry->kind == ALL_TO_ALL && nservers * (uint64_t)nservers > MAX_PAIRS)
		err = too_many(error);
	if (!err)
		err = new_pattern(entry->kind, nservers, options, &p, error);
	if (!err && entry->make) {
		err = add_phase(p, error);
		if (!err)
			err = entry->make(p, parameter, error);
	}
	if (err) {
		fors_pattern_free(p);
		return err;
	}
	*pattern = p;
	return FORS_OK;
}

/* Bytes of the server that sends or receives most; end[2 nservers] is all 0. */
static double busiest_of(const struct fors_schedule *schedule, double *end)
{
	double most = 0;

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);
			double bytes = (double)schedule->bytes[(size_t)s * schedule->nphases + phase];

			if (cell.dst == FORS_IDLE)
				continue;
			end[2 * s] += bytes;
			end[2 * cell.dst + 1] += bytes;
		}
	for (size_t i = 0; i < 2 * (size_t)schedule->nservers; i++)
		most = end[i] > most ? end[i] : most;
	return most;
}

static enum fors_err measure_sizes(struct fors_pattern *p, struct fors_error *error)
{
	const struct fors_schedule *schedule = p->schedule;
	double *end = calloc(2 * (size_t)schedule->nservers + 1, sizeof(*end));

	if (!end)
		return fors_fail_memory(error);
	p->busiest = busiest_of(schedule, end);
	for (uint32_t phase = 0; phase < schedule->nphases; phase++)
		p->average += (double)schedule->length[phase] / schedule->nphases;
	free(end);
	return FORS_OK;
}

enum fors_err fors_pattern_plan(const struct fors_schedule *schedule, struct fors_pattern **pattern,
				struct fors_error *error)
{
	struct fors_pattern *p = NULL;
	enum fors_err err = new_pattern(PLAN, schedule->nservers, NULL, &p, error);

	if (err)
		return err;
	p->schedule = schedule;
	p->nphases = schedule->nphases;
	if (schedule->length)
		err = measure_sizes(p, error);
	if (err) {
		fors_pattern_free(p);
		return err;
	}
	*pattern = p;
	return FORS_OK;
}

void fors_pattern_free(struct fors_pattern *pattern)
{
	if (!pattern)
		return;
	free(pattern->map);
	free(pattern->pair);
	free(pattern->first);
	free(pattern);
}

/* ---- a file ---- */

#define FAIL(lines, error, ...) fors_lines_fail(lines, (lines)->number, error, __VA_ARGS__)

/* "SRC DST [PATH]" */
static enum fors_err read_pair(struct fors_pattern *p, const struct fors_lines *lines, struct fors_span line,
			       struct fors_error *error)
{
	uint64_t src, dst, path = 0;

	if (!fors_take_number(&line, 10, UINT32_MAX - 1, &src))
		return FAIL(lines, error, "\"SRC DST [PATH]\" or \"phase\" is expected, server numbers from 0");
	fors_skip_blanks(&line);
	if (!fors_take_number(&line, 10, UINT32_MAX - 1, &dst))
		return FAIL(lines, error, "no number of the receiving server");
	fors_skip_blanks(&line);
	if (!fors_span_is_empty(line) && !fors_take_number(&line, 10, (1u << FORS_MAX_LMC) - 1, &path))
		return FAIL(lines, error, "the path index is no number from 0 to %u", (1u << FORS_MAX_LMC) - 1);
	fors_skip_blanks(&line);
	if (!fors_span_is_empty(line))
		return FAIL(lines, error, "surplus \"%.*s\"", fors_span_width(line), line.at);
	if (src >= p->nservers || dst >= p->nservers)
		return FAIL(lines, error, "server %u: there are %u servers, numbered from 0",
			    (unsigned)(src >= p->nservers ? src : dst), p->nservers);
	if (src == dst)
		return FAIL(lines, error, "server %u sends to itself", (unsigned)src);
	return add(p, (uint32_t)src, (uint32_t)dst, (uint32_t)path, error);
}

/* Blanks at both ends and what follows '#' taken off. */
static struct fors_span strip(struct fors_span line)
{
	const char *hash = memchr(line.at, '#', (size_t)(line.end - line.at));

	if (hash)
		line.end = hash;
	fors_skip_blanks(&line);
	while (line.end > line.at && (line.end[-1] == ' ' || line.end[-1] == '\t' || line.end[-1] == '\r'))
		line.end--;
	return line;
}

static enum fors_err read_line(struct fors_pattern *p, const struct fors_lines *lines, struct fors_span line,
			       struct fors_error *error)
{
	struct fors_span rest = strip(line), word = rest;

	if (fors_span_is_empty(rest))
		return FORS_OK;
	if (fors_take_word(&word, "phase") && fors_span_is_empty(word))
		return add_phase(p, error);
	if (!p->nphases) {
		enum fors_err err = add_phase(p, error);

		if (err)
			return err;
	}
	return read_pair(p, lines, rest, error);
}

enum fors_err fors_pattern_read(const char *text, size_t size, const char *name, uint32_t nservers,
				const struct fors_pattern_options *options, struct fors_pattern **pattern,
				struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct fors_pattern *p = NULL;
	struct fors_span line;
	enum fors_err err = fors_lines_start(&lines, text, size, name, error);

	if (!err)
		err = new_pattern(LIST, nservers, options, &p, error);
	while (!err && fors_lines_next(&lines, &line))
		err = read_line(p, &lines, line, error);
	if (!err && !p->npairs)
		err = fors_fail(error, FORS_EINPUT, "%s: there is no line \"SRC DST\" in the file", name);
	if (err) {
		fors_pattern_free(p);
		return err;
	}
	*pattern = p;
	return FORS_OK;
}

/* ---- asking ---- */

uint32_t fors_pattern_nphases(const struct fors_pattern *pattern)
{
	return pattern->nphases;
}

size_t fors_pattern_npairs(const struct fors_pattern *pattern, uint32_t phase)
{
	size_t n = pattern->nservers;

	switch (pattern->kind) {
	case LINEAR_SHIFT:
		return phase ? n : 0;
	case ALL_TO_ALL:
		return n * (n - 1);
	case LIST:
		return pattern->first[phase + 1] - pattern->first[phase];
	default:
		return n;
	}
}

static struct fors_pair plan_pair(const struct fors_schedule *schedule, uint32_t phase, uint32_t src)
{
	struct fors_cell cell = fors_schedule_flow(schedule, src, phase);

	return (struct fors_pair){src, cell.dst == FORS_IDLE ? FORS_NONE : cell.dst, cell.path};
}

/* Before processes are mapped to servers. */
static struct fors_pair process_pair(const struct fors_pattern *pattern, uint32_t phase, size_t i)
{
	size_t n = pattern->nservers;
	uint32_t src, dst;

	switch (pattern->kind) {
	case FORMULA:
		dst = pattern->formula->to(pattern->nservers, pattern->number, phase, (uint32_t)i);
		return (struct fors_pair){(uint32_t)i, dst == n || dst == i ? FORS_NONE : dst, 0};
	case LINEAR_SHIFT:
		return (struct fors_pair){(uint32_t)i, (uint32_t)((i + phase) % n), 0};
	case ALL_TO_ALL:
		src = (uint32_t)(i / (n - 1));
		dst = (uint32_t)(i % (n - 1));
		return (struct fors_pair){src, dst + (dst >= src), 0};
	case LIST:
		return pattern->pair[pattern->first[phase] + i];
	default:
		return plan_pair(pattern->schedule, phase, (uint32_t)i);
	}
}

struct fors_pair fors_pattern_pair(const struct fors_pattern *pattern, uint32_t phase, size_t i)
{
	struct fors_pair pair = process_pair(pattern, phase, i);

	if (pattern->map) {
		pair.src = pattern->map[pair.src];
		pair.dst = pair.dst == FORS_NONE ? FORS_NONE : pattern->map[pair.dst];
	}
	return pair;
}

/* ---- sizes ---- */

/* The schedule that has them; NULL: nobody said any. */
static const struct fors_schedule *sized(const struct fors_pattern *pattern)
{
	return pattern->schedule && pattern->schedule->length ? pattern->schedule : NULL;
}

bool fors_pattern_has_sizes(const struct fors_pattern *pattern)
{
	return sized(pattern);
}

bool fors_pattern_is_unit(const struct fors_pattern *pattern)
{
	return sized(pattern) && pattern->schedule->is_unit;
}

uint64_t fors_pattern_bytes(const struct fors_pattern *pattern, uint32_t phase, size_t i)
{
	const struct fors_schedule *schedule = sized(pattern);

	return schedule ? schedule->bytes[i * schedule->nphases + phase] : 0;
}

double fors_pattern_weight(const struct fors_pattern *pattern, uint32_t phase)
{
	const struct fors_schedule *schedule = sized(pattern);

	return schedule ? (double)schedule->length[phase] / pattern->average : 1;
}

double fors_pattern_busiest(const struct fors_pattern *pattern)
{
	return sized(pattern) ? pattern->busiest / pattern->average : 0;
}
