/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The readers of files, each fed with arbitrary bytes; what they accept goes on to what comes after
 * them, as far as it is small. Nothing is expected but that they come back: the sanitizers watch.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "core/guidlist.h"
#include "core/lftfile.h"
#include "core/netfile.h"
#include "core/planner.h"
#include "core/schedule_file.h"
#include "core/status.h"
#include "core/synthetic.h"
#include "core/tables.h"
#include "core/verify.h"

#define SMALL_NODES 200   /* larger nets are only read */
#define SMALL_SERVERS 64  /* more servers are not planned for */

/* The text with an end, for readers of strings. */
static char *terminated(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* A published plan that its own tables refute would be the worst of bugs. */
static void check_plan(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
		       const struct fors_schedule *schedule)
{
	struct fors_verdict verdict;
	struct fors_error error;

	if (fors_verify(fabric->net, lfts, schedule, NULL, NULL, &verdict, &error) == FORS_OK && !verdict.is_good)
		abort();
}

static void plan(const struct fors_fabric *fabric, const struct fors_lfts *lfts)
{
	struct fors_schedule *schedule = NULL;
	struct fors_lanes *lanes = NULL;
	struct fors_error error;

	if (fabric->nservers > SMALL_SERVERS || fors_lanes_read(fabric, lfts, &lanes, &error) != FORS_OK)
		return;
	const struct fors_task task = {.fabric = fabric, .lanes = lanes, .threads = 1};
	if (fors_plan(&task, "auto", &schedule, &error) == FORS_OK)
		check_plan(fabric, lfts, schedule);
	fors_schedule_free(schedule);
	fors_lanes_free(lanes);
}

static void route(const struct fors_net *net, const struct fors_places *places)
{
	struct fors_fabric *fabric = NULL;
	struct fors_lfts *lfts = NULL;
	struct fors_error error;

	if (fors_fabric_build(net, places, NULL, &fabric, &error) == FORS_OK &&
	    fors_tables_build(fabric, &lfts, &error) == FORS_OK)
		plan(fabric, lfts);
	fors_lfts_free(lfts);
	fors_fabric_free(fabric);
}

static void use_net(struct fors_net *net)
{
	struct fors_places *places = fors_places_new();
	struct fors_error error;

	if (places && net->nnodes <= SMALL_NODES &&
	    fors_places_learn(places, net, NULL, 0, &error) == FORS_OK &&
	    fors_assign_lids(net, places, 1, true, &error) == FORS_OK)
		route(net, places);
	fors_places_free(places);
}

static void fuzz_netfile(const uint8_t *data, size_t size)
{
	struct fors_net *net = NULL;
	struct fors_error error;
	char *text = NULL;
	size_t length;

	if (fors_netfile_read((const char *)data, size, "fuzz", &net, &error) != FORS_OK)
		return;
	if (fors_netfile_write(net, &text, &length, &error) == FORS_OK)
		free(text);
	use_net(net);
	fors_net_free(net);
}

static void fuzz_lftfile(const uint8_t *data, size_t size)
{
	struct fors_lfts *lfts = NULL;
	struct fors_error error;

	if (fors_lftfile_read((const char *)data, size, "fuzz", &lfts, &error) == FORS_OK)
		fors_lfts_free(lfts);
}

static void fuzz_guidlist(const uint8_t *data, size_t size)
{
	uint64_t *guid = NULL;
	size_t count;
	struct fors_error error;

	if (fors_guidlist_read((const char *)data, size, "fuzz", &guid, &count, &error) == FORS_OK)
		free(guid);
}

static void fuzz_schedule(const uint8_t *data, size_t size)
{
	struct fors_schedule *schedule = NULL;
	struct fors_error error;
	void *bytes = NULL;
	size_t length;

	if (fors_schedule_decode(data, size, "fuzz", &schedule, &error) != FORS_OK)
		return;
	for (uint32_t s = 0; s < schedule->nservers && s < SMALL_SERVERS; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++)
			fors_schedule_flow(schedule, s, phase);
	if (fors_schedule_encode(schedule, &bytes, &length, &error) == FORS_OK)
		free(bytes);
	fors_schedule_free(schedule);
}

static void fuzz_spec(const uint8_t *data, size_t size)
{
	char *text = terminated(data, size), *canonical = NULL;
	struct fors_net *net = NULL;
	struct fors_spec spec = {0};
	struct fors_error error;

	if (fors_spec_parse(text, &spec, &error) == FORS_OK) {
		if (fors_spec_format(&spec, &canonical, &error) == FORS_OK)
			free(canonical);
		if (spec.spines < 10 && spec.leaves < 10 && spec.servers < 10 && spec.cables < 4 &&
		    fors_synthetic(&spec, &net, &error) == FORS_OK)
			use_net(net);
		fors_net_free(net);
		fors_spec_clear(&spec);
	}
	free(text);
}

static void fuzz_status(const uint8_t *data, size_t size)
{
	char *text = terminated(data, size);
	struct fors_status status;
	struct fors_error error;

	fors_status_init(&status);
	fors_status_parse(text, "fuzz", &status, &error);
	fors_status_clear(&status);
	free(text);
}

const struct fuzz_target fuzz_targets[] = {
	{"netfile", fuzz_netfile}, {"lftfile", fuzz_lftfile}, {"guidlist", fuzz_guidlist},
	{"schedule", fuzz_schedule}, {"spec", fuzz_spec}, {"status", fuzz_status},
	{NULL, NULL},
};
