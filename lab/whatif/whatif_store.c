/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * whatif_store.c - results that survive the end of the program.
 *
 * A text file: the first line says for which fabric it is, then one line per result, in the order in which they were
 * found:
 *
 *     engine TAB failure TAB throughput TAB shift TAB planned TAB phases TAB max_load TAB broken TAB changed TAB note
 *
 * and with --simulate before the note Gbit/s of the plan TAB Gbit/s of the linear shift; the first line then has the
 * settings too.
 *
 * A line that was cut short (the machine went down) is ignored, and found out again.
 */
#include "whatif.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/simulate/simulation.h"

#define NFIELDS 12
#define NOT_SIMULATED 2 /* of them */

#define PRIME 1099511628211u /* FNV-1a */

/* Of any net: its nodes and cables, and who takes part. */
static uint64_t print_of(const struct fors_net *net, const struct fors_participants *them)
{
	uint64_t print = 14695981039346656037u;

	for (uint32_t node = 0; node < net->nnodes; node++) {
		print = (print ^ net->node[node].guid) * PRIME;
		for (unsigned port = 1; port <= net->node[node].nports; port++) {
			const struct fors_port *p = fors_net_port(net, node, port);

			print = (print ^ p->guid) * PRIME;
			if (p->peer != FORS_NONE)
				print = (print ^ net->node[p->peer].guid ^ p->peer_port ^ port << 8) * PRIME;
		}
	}
	for (size_t i = 0; i < them->count; i++)
		print = (print ^ them->guid[i]) * PRIME;
	return print;
}

/* How it is simulated. */
static void print_settings(const struct whatif *whatif, char *text, size_t room)
{
	const struct fors_sim_settings set = cli_simulation_settings(&whatif->simulate, NULL);

	snprintf(text, room, " simulated message %" PRIu64 " barrier %" PRId64 " speed %g adapter %g", set.message,
		 set.has_barrier ? (int64_t)set.barrier : -1, whatif->simulate.speed, set.adapter_rate);
}

static void first_line(const struct whatif *whatif, char *text, size_t room)
{
	int used = snprintf(text, room, "fors whatif 2 fabric %016" PRIx64 " servers %u lmc %u",
			    whatif->intact.fabric ? whatif->intact.fabric->fingerprint
						  : print_of(whatif->intact.net, &whatif->site.participants),
			    whatif->nservers, whatif->lmc);
	if (whatif->simulate.is_wanted && used > 0 && (size_t)used < room)
		print_settings(whatif, text + used, room - (size_t)used);
}

static uint32_t find_engine(const struct whatif *whatif, const char *name)
{
	for (uint32_t i = 0; i < whatif->nengines; i++)
		if (!strcmp(whatif->engine[i], name))
			return i;
	return FORS_NONE;
}

/* Cases by name, for bsearch(). */
struct named {
	const char *name;
	uint32_t number;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static struct named *sorted_names(const struct whatif *whatif)
{
	struct named *list = malloc(whatif->ncases * sizeof(*list));

	for (uint32_t i = 0; list && i < whatif->ncases; i++)
		list[i] = (struct named){whatif->cases[i].name, i};
	if (list)
		qsort(list, whatif->ncases, sizeof(*list), by_name);
	return list;
}

static unsigned nfields(const struct whatif *whatif)
{
	return whatif->simulate.is_wanted ? NFIELDS : NFIELDS - NOT_SIMULATED;
}

/* Cut `line` at its tabs; how many fields there are, `most` at most. */
static unsigned split(char *line, char **field, unsigned most)
{
	unsigned n = 0;

	while (n < most && line) {
		field[n++] = line;
		line = strchr(line, '\t');
		if (line)
			*line++ = '\0';
	}
	return n;
}

static bool read_result(char **field, unsigned last, struct whatif_result *result)
{
	char *end;

	*result = (struct whatif_result){.is_known = true};
	result->throughput = strtod(field[2], &end);
	result->shift = strtod(field[3], NULL);
	result->planned = strtod(field[4], NULL);
	result->phases = (uint32_t)strtoul(field[5], NULL, 10);
	result->max_load = (uint32_t)strtoul(field[6], NULL, 10);
	result->broken = strtoull(field[7], NULL, 10);
	result->changed = strtoull(field[8], NULL, 10);
	result->gbits = last > 9 ? strtod(field[9], NULL) : 0;
	result->shift_gbits = last > 9 ? strtod(field[10], NULL) : 0;
	snprintf(result->note, sizeof(result->note), "%s", field[last]);
	return end != field[2] && !*end && result->throughput >= 0 && result->throughput <= 1e6;
}

/* A result of this question; what belongs to another question (other engines, other random failures) is left alone. */
static bool take_line(struct whatif *whatif, const struct named *names, char *line)
{
	char *field[NFIELDS];
	struct whatif_result result;
	const struct named *found;
	uint32_t engine, same;
	unsigned n = nfields(whatif);

	if (split(line, field, n) != n || !read_result(field, n - 1, &result))
		return false;
	engine = find_engine(whatif, field[0]);
	found = bsearch(&(struct named){field[1], 0}, names, whatif->ncases, sizeof(*names), by_name);
	if (engine == FORS_NONE || !found)
		return true;
	while (found > names && !strcmp(found[-1].name, field[1]))
		found--;
	for (same = 0; found + same < names + whatif->ncases && !strcmp(found[same].name, field[1]); same++) {
		struct whatif_result *at = whatif_at(whatif, found[same].number, engine);

		whatif->done += !at->is_known;
		*at = result;
	}
	return true;
}

static enum fors_err take_all(struct whatif *whatif, const struct named *names, const char *path, char *text,
			      struct fors_error *error)
{
	char *end;

	for (unsigned number = 1; (end = strchr(text, '\n')); text = end + 1, number++) {
		*end = '\0';
		if (number > 1 && !take_line(whatif, names, text))
			return fors_fail(error, FORS_EINPUT,
					 "%s:%u: this is no line of 'fors whatif --resume'; give another file or "
					 "delete this one",
					 path, number);
	}
	return FORS_OK;
}

static enum fors_err take_lines(struct whatif *whatif, const char *path, const char *text, struct fors_error *error)
{
	struct named *names = sorted_names(whatif);
	char *copy = strdup(text); /* to be cut up */
	enum fors_err err = names && copy ? take_all(whatif, names, path, copy, error) : fors_fail_memory(error);

	free(copy);
	free(names);
	return err;
}

/* May this program have written it? Without a whole line it may be the beginning of the heading, and nothing else. */
static bool is_ours(const char *text, size_t size, const char *heading)
{
	size_t length = strlen(heading);

	if (!memchr(text, '\n', size))
		return size <= length && !memcmp(text, heading, size);
	return !strncmp(text, heading, length) && text[length] == '\n';
}

struct store {
	struct whatif *whatif;
	const char *heading;
	long whole; /* where the last whole line ends */
};

/* What is in the file already. */
static enum fors_err read_store(const char *text, size_t size, const char *path, void *context,
				struct fors_error *error)
{
	struct store *store = context;
	const char *last = size ? strrchr(text, '\n') : NULL;

	store->whole = last ? last + 1 - text : 0;
	if (!is_ours(text, size, store->heading))
		return fors_fail(error, FORS_EINPUT,
				 "%s: this is no file of 'fors whatif --resume', or of another fabric, LMC or version; "
				 "give another file or delete this one",
				 path);
	return last ? take_lines(store->whatif, path, text, error) : FORS_OK;
}

static int report(const char *path)
{
	cli_error("%s: cannot be written: %s", path, strerror(errno));
	return CLI_BAD;
}

int whatif_store_open(struct whatif *whatif, const char *path)
{
	char heading[256];
	struct store store = {whatif, heading, 0};
	int code = CLI_GOOD;

	first_line(whatif, heading, sizeof(heading));
	if (cli_is_there(path))
		code = cli_use_file(path, read_store, &store);
	if (code)
		return code;
	whatif->store = fopen(path, store.whole ? "r+" : "w");
	if (!whatif->store || ftruncate(fileno(whatif->store), store.whole) ||
	    fseek(whatif->store, store.whole, SEEK_SET))
		return report(path);
	if (!store.whole && fprintf(whatif->store, "%s\n", heading) < 0)
		return report(path);
	return fflush(whatif->store) ? report(path) : CLI_GOOD;
}

void whatif_store_add(struct whatif *whatif, uint32_t number, uint32_t engine)
{
	const struct whatif_result *r = whatif_at(whatif, number, engine);

	if (!whatif->store)
		return;
	fprintf(whatif->store, "%s\t%s\t%.17g\t%.17g\t%.17g\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t",
		whatif->engine[engine], whatif->cases[number].name, r->throughput, r->shift, r->planned, r->phases,
		r->max_load, r->broken, r->changed);
	if (whatif->simulate.is_wanted)
		fprintf(whatif->store, "%.17g\t%.17g\t", r->gbits, r->shift_gbits);
	fprintf(whatif->store, "%s\n", r->note);
	fflush(whatif->store);
}

int whatif_store_close(struct whatif *whatif, const char *path)
{
	FILE *store = whatif->store;
	bool is_whole = !store || !ferror(store);

	whatif->store = NULL;
	if ((!store || !fclose(store)) && is_whole)
		return CLI_GOOD;
	cli_error("%s: not all results could be written, is the disk full? What is missing will be found out again",
		  path);
	return CLI_BAD;
}
