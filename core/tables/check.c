/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* check.c - both invariants in one walk: reach.c says what arrives, loops.c what waits for what. */
#include "check.h"

#include <stdlib.h>

#include "holes.h"
#include "loops.h"
#include "reach.h"
#include "switches.h"

static void warn(const struct fors_switches *switches, const struct fors_reach *reach, struct fors_warnings *warnings)
{
	if (reach->detours)
		fors_warn(
			warnings,
			"%s and %s have no spine in common: what they send each other goes down and up again at another "
			"leaf (%u such ways between leaves); repair one of their uplinks",
			fors_switches_name(switches, reach->detour_first[0]),
			fors_switches_name(switches, reach->detour_first[1]), reach->detours);
	if (reach->guest_detours)
		fors_warn(
			warnings,
			"hosts on %s and %s, of which a spine is one, get to each other only down and up again at another "
			"leaf (%u such ways of guests on spines); plug guests into leaves, or cable the spine to the leaf",
			fors_switches_name(switches, reach->guest_first[0]),
			fors_switches_name(switches, reach->guest_first[1]), reach->guest_detours);
}

/* Both, of what was built, which is freed. tree may be NULL. */
static enum fors_err check(struct fors_switches *switches, const struct fors_fattree *tree,
			   struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error)
{
	struct fors_loops *loops = fors_loops_new(switches);
	struct fors_reach reach;
	enum fors_err err = loops ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_reach_check(switches, loops, &reach, error);
	if (!err)
		err = fors_loops_check(loops, error);
	if (!err && warnings) {
		warn(switches, &reach, warnings);
		err = fors_holes_warn(switches, &reach, tree, warnings, error);
	}
	if (!err && nowhere)
		*nowhere = reach.to_switches.entries + reach.to_hosts.entries;
	fors_loops_free(loops);
	fors_switches_free(switches);
	return err;
}

enum fors_err fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error)
{
	struct fors_fattree tree = fors_fattree_of_fabric(fabric);
	struct fors_switches *switches;
	enum fors_err err = fors_switches_build(fabric, lfts, &switches, error);

	return err ? err : check(switches, &tree, warnings, nowhere, error);
}

enum fors_err fors_tables_check_levels(const struct fors_net *net, const uint8_t *level, const struct fors_lfts *lfts,
				       uint32_t *nowhere, struct fors_error *error)
{
	struct fors_switches *switches;
	enum fors_err err = fors_switches_build_levels(net, level, lfts, &switches, error);

	return err ? err : check(switches, NULL, NULL, nowhere, error);
}

enum fors_err fors_tables_check_pods(const struct fors_pods *pods, const struct fors_lfts *lfts,
				     struct fors_warnings *warnings, struct fors_error *error)
{
	struct fors_fattree tree = fors_fattree_of_pods(pods);
	uint8_t *level = fors_pods_levels_now(pods);
	struct fors_switches *switches;
	enum fors_err err =
		level ? fors_switches_build_levels(pods->now, level, lfts, &switches, error) : fors_fail_memory(error);

	if (!err)
		err = check(switches, &tree, warnings, NULL, error);
	free(level);
	return err;
}
