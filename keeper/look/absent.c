/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "absent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_guid(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

enum fors_err fors_absent_warn_of(const struct fors_participants *listed, const char *key, const uint64_t *there,
				  size_t nthere, struct fors_warnings *warnings, struct fors_error *error)
{
	uint64_t *sorted, first = 0;
	size_t absent = 0;

	if (!listed || listed->count <= nthere)
		return FORS_OK; /* every server here is one of them, and no GUID is in the list twice */
	sorted = malloc(nthere * sizeof(*sorted) + 1);
	if (!sorted)
		return fors_fail_memory(error);
	if (nthere) {
		memcpy(sorted, there, nthere * sizeof(*sorted));
		qsort(sorted, nthere, sizeof(*sorted), by_guid);
	}
	for (size_t i = 0; i < listed->count; i++) {
		if (bsearch(&listed->guid[i], sorted, nthere, sizeof(*sorted), by_guid))
			continue;
		if (!absent++)
			first = listed->guid[i];
	}
	free(sorted);
	fors_warn(warnings, "%s: %zu of its %zu GUIDs are no living server under a leaf, the first is 0x%016" PRIx64,
		  key, absent, listed->count, first);
	return FORS_OK;
}

enum fors_err fors_absent_warn(const struct fors_participants *listed, const char *key,
			       const struct fors_fabric *fabric, struct fors_warnings *warnings,
			       struct fors_error *error)
{
	uint64_t *there;
	enum fors_err err;

	if (!listed || listed->count <= fabric->nservers)
		return FORS_OK;
	there = malloc(fabric->nservers * sizeof(*there) + 1);
	if (!there)
		return fors_fail_memory(error);
	for (uint32_t s = 0; s < fabric->nservers; s++)
		there[s] = fabric->server[s].guid;
	err = fors_absent_warn_of(listed, key, there, fabric->nservers, warnings, error);
	free(there);
	return err;
}
