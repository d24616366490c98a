/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "absent.h"

#include <inttypes.h>
#include <stdlib.h>

static int by_guid(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* The GUIDs of the fabric's servers in order, owned by the caller; NULL: out of memory. */
static uint64_t *sorted_servers(const struct fors_fabric *fabric)
{
	uint64_t *guid = malloc(fabric->nservers * sizeof(*guid) + 1);

	for (uint32_t s = 0; guid && s < fabric->nservers; s++)
		guid[s] = fabric->server[s].guid;
	if (guid && fabric->nservers)
		qsort(guid, fabric->nservers, sizeof(*guid), by_guid);
	return guid;
}

enum fors_err fors_absent_warn(const struct fors_participants *listed, const char *key,
			       const struct fors_fabric *fabric, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	uint64_t *there, first = 0;
	size_t absent = 0;

	if (!listed || listed->count <= fabric->nservers)
		return FORS_OK; /* every server here is one of them, and no GUID is in the list twice */
	there = sorted_servers(fabric);
	if (!there)
		return fors_fail_memory(error);
	for (size_t i = 0; i < listed->count; i++) {
		if (bsearch(&listed->guid[i], there, fabric->nservers, sizeof(*there), by_guid))
			continue;
		if (!absent++)
			first = listed->guid[i];
	}
	free(there);
	fors_warn(warnings, "%s: %zu of its %zu GUIDs are no living server under a leaf, the first is 0x%016" PRIx64,
		  key, absent, listed->count, first);
	return FORS_OK;
}
