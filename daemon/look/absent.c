/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "absent.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/numbers.h"

/* What is `there` is sorted here. */
static void warn(const struct fors_participants *listed, const char *key, const struct fors_participants *there,
		 struct fors_warnings *warnings)
{
	uint64_t first = 0;
	size_t absent = 0;

	qsort(there->guid, there->count, sizeof(*there->guid), fors_by_number);
	for (size_t i = 0; i < listed->count; i++) {
		if (fors_participants_have(there, listed->guid[i]))
			continue;
		if (!absent++)
			first = listed->guid[i];
	}
	fors_warn(warnings, "%s: %zu of its %zu GUIDs are no living server under a leaf, the first is 0x%016" PRIx64,
		  key, absent, listed->count, first);
}

enum fors_err fors_absent_warn(const struct fors_participants *listed, const char *key, const struct fors_fattree *tree,
			       struct fors_warnings *warnings, struct fors_error *error)
{
	struct fors_participants there;
	enum fors_err err = listed ? fors_fattree_players(tree, &there, error) : FORS_OK;

	if (err || !listed)
		return err;
	if (listed->count > there.count) /* else every server here is one of them: no GUID is in the list twice */
		warn(listed, key, &there, warnings);
	free(there.guid);
	return FORS_OK;
}
