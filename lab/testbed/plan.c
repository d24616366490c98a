/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "plan.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_place(const char *line, struct place *place)
{
	return sscanf(line, "%63s 0x%" SCNx64 " %" SCNu16, place->name, &place->guid, &place->lid) == 3;
}

uint32_t places_read(const char *file, struct place place[MAX_RANKS])
{
	FILE *in = fopen(file, "re");
	uint32_t count = 0;
	bool is_good = true;
	char line[256];

	while (in && is_good && fgets(line, sizeof line, in)) {
		is_good = count < MAX_RANKS && is_place(line, &place[count]);
		count += is_good;
	}
	if (!in || !is_good || !count) {
		fprintf(stderr, "exchange: %s:%u: expected at most %d lines of \"namespace 0xGUID LID\"\n", file,
			count + 1, MAX_RANKS);
		count = 0;
	}
	if (in)
		fclose(in);
	return count;
}

void plan_shift(const struct place *place, uint32_t nranks, struct plan *plan)
{
	plan->epoch = 1;
	plan->nranks = plan->nphases = nranks;
	for (uint32_t a = 0; a < nranks; a++)
		for (uint32_t p = 0; p < nranks; p++) {
			plan->step[p][a] = (struct step){.to = (uint16_t)((a + p) % nranks),
							 .from = (uint16_t)((a + nranks - p) % nranks)};
			plan->ends[a][p] = (struct ends){.lid = place[a].lid, .peer_lid = place[p].lid};
		}
}
