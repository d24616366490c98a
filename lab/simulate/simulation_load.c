/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulation_load.c - what servers offer at random moments: --load, --messages, --server-load. */
#include <stdlib.h>
#include <string.h>

#include "simulation.h"

#define USUAL_MESSAGES 1000
#define MOST_PS 1000000000000000ull  /* 1,000 s */
#define MOST_GAP ((uint64_t)1 << 39) /* ps */

double *cli_simulation_server_speeds(const struct cli_simulation *sim)
{
	const struct fors_graph *graph = sim->analysis.router.graph;
	double *gbits = calloc(2 * (size_t)graph->nservers + 1, sizeof(*gbits));
	uint32_t *server = gbits ? malloc((graph->nnodes + (size_t)1) * sizeof(*server)) : NULL;

	if (!server) {
		free(gbits);
		return NULL;
	}
	memset(server, 0xff, graph->nnodes * sizeof(*server));
	for (uint32_t s = 0; s < graph->nservers; s++)
		server[graph->server[s]] = s;
	for (uint32_t l = 0; l < graph->nlinks; l++) {
		if (server[graph->from[l]] != FORS_NONE)
			gbits[server[graph->from[l]]] = sim->gbits[l];
		if (server[graph->to[l]] != FORS_NONE)
			gbits[graph->nservers + server[graph->to[l]]] = sim->gbits[l];
	}
	free(server);
	return gbits;
}

/* The gap between messages with which payload fills that part of a server's cable, ps. */
static uint64_t gap_of(const struct cli_simulation *sim, double gbits, double part)
{
	double ps = gbits > 0 ? 8000. * (double)sim->set.message / (gbits * part) : 0;

	if (ps < 1)
		return 1;
	return ps < MOST_GAP ? (uint64_t)ps : MOST_GAP;
}

/* "BEGIN,END" into an offer. */
static bool read_times(char *text, struct fors_offer *offer)
{
	char *comma = strchr(text, ',');

	if (!comma) {
		cli_usage_error("--server-load has a BEGIN, '%s', and no END, as in 3=0.45,10ms,30ms", text);
		return false;
	}
	*comma = '\0';
	if (!cli_time("server-load", text, &offer->begin) || !cli_time("server-load", comma + 1, &offer->end))
		return false;
	if (offer->begin < offer->end && offer->end <= MOST_PS)
		return true;
	cli_usage_error("--server-load: it has to end after it begins, and before 1000 s");
	return false;
}

/* SERVER=PART[,BEGIN,END] */
static bool read_offer(const struct cli_simulation *sim, const double *gbits, const char *argument,
		       struct fors_offer *offers)
{
	char text[128], *sign, *comma;
	struct fors_offer *offer;
	unsigned long server;
	double part;

	snprintf(text, sizeof(text), "%s", argument);
	server = strtoul(text, &sign, 10);
	if (strlen(argument) >= sizeof(text) || text[0] < '0' || text[0] > '9' || *sign != '=') {
		cli_usage_error("--server-load is '%s', but has to be SERVER=PART[,BEGIN,END], as in 3=0.45,10ms,30ms",
				argument);
		return false;
	}
	if (server >= sim->program->nservers) {
		cli_usage_error("--server-load: server %lu: there are %u, numbered from 0", server,
				sim->program->nservers);
		return false;
	}
	comma = strchr(sign, ',');
	if (comma)
		*comma = '\0';
	if (!cli_rate_of("server-load", sign + 1, 1, &part))
		return false;
	offer = &offers[server];
	offer->gap = gap_of(sim, gbits[server], part);
	return !comma || read_times(comma + 1, offer);
}

/* Is there an end to it? */
static bool is_too_long(const struct fors_offer *offer)
{
	return offer->gap == MOST_GAP || (!offer->end && offer->gap > MOST_PS / offer->count);
}

/* What each server offers, as the options say. Returns an exit code. */
static int fill_offers(const struct cli_simulate *given, const struct cli_simulation *sim, const double *gbits,
		       struct fors_offer *offers)
{
	for (uint32_t s = 0; s < sim->program->nservers; s++)
		offers[s] = (struct fors_offer){.gap = gap_of(sim, gbits[s], given->load),
						.count = given->messages ? given->messages : USUAL_MESSAGES};
	for (size_t i = 0; i < given->server_load.count; i++)
		if (!read_offer(sim, gbits, given->server_load.text[i], offers))
			return CLI_BAD;
	for (uint32_t s = 0; s < sim->program->nservers; s++)
		if (is_too_long(&offers[s]))
			return cli_usage_error("so many messages at this load take more than 1000 s");
	return CLI_GOOD;
}

int cli_simulation_offer(const struct cli_simulate *given, struct cli_simulation *sim)
{
	double *gbits = cli_simulation_server_speeds(sim);
	struct fors_offer *offers = calloc(sim->program->nservers + (size_t)1, sizeof(*offers));
	struct fors_program *load = NULL;
	struct fors_error error = {FORS_ENOMEM, "out of memory"};
	int code = gbits && offers ? fill_offers(given, sim, gbits, offers) : cli_fail(&error);

	if (!code && fors_program_offer(sim->program, offers, sim->set.seed, &load, &error))
		code = cli_fail(&error);
	free(gbits);
	free(offers);
	if (code)
		return code;
	fors_program_free(sim->program);
	sim->program = load;
	return CLI_GOOD;
}
