/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lfts.c - linear forwarding tables as data.
 *
 * A table that nobody filled in says FORS_NO_PATH everywhere: what is forgotten is an entry without a way, which
 * every check finds, and never port 0. Rows are sorted by GUID, so a switch is found without an index beside them.
 */
#include "lfts.h"

#include <stdlib.h>
#include <string.h>

struct fors_lfts *fors_lfts_new(uint32_t nswitches, uint32_t nlids)
{
	struct fors_lfts *lfts = calloc(1, sizeof(*lfts));

	if (!lfts)
		return NULL;
	lfts->nswitches = nswitches;
	lfts->nlids = nlids;
	lfts->guid = calloc((size_t)nswitches + 1, sizeof(*lfts->guid));
	lfts->port = malloc((size_t)nswitches * nlids + 1);
	if (!lfts->guid || !lfts->port) {
		fors_lfts_free(lfts);
		return NULL;
	}
	memset(lfts->port, FORS_NO_PATH, (size_t)nswitches * nlids);
	return lfts;
}

struct fors_lfts *fors_lfts_copy(const struct fors_lfts *lfts)
{
	struct fors_lfts *made = fors_lfts_new(lfts->nswitches, lfts->nlids);

	if (!made)
		return NULL;
	memcpy(made->guid, lfts->guid, lfts->nswitches * sizeof(*lfts->guid));
	memcpy(made->port, lfts->port, (size_t)lfts->nswitches * lfts->nlids);
	return made;
}

void fors_lfts_free(struct fors_lfts *lfts)
{
	if (!lfts)
		return;
	free(lfts->guid);
	free(lfts->port);
	free(lfts);
}

uint32_t fors_lfts_row(const struct fors_lfts *lfts, uint64_t guid)
{
	uint32_t low = 0, high = lfts->nswitches;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lfts->guid[middle] == guid)
			return middle;
		if (lfts->guid[middle] < guid)
			low = middle + 1;
		else
			high = middle;
	}
	return FORS_NONE;
}
