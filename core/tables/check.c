/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* check.c - both invariants in one walk: reach.c says what arrives, loops.c what waits for what. */
#include "check.h"

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
	if (reach->nowhere)
		fors_warn(warnings,
			  "%s does not reach what is plugged into %s: any way round could close a credit loop "
			  "(%u entries without a path); repair one of their cables",
			  fors_switches_name(switches, reach->nowhere_first[0]),
			  fors_switches_name(switches, reach->nowhere_first[1]), reach->nowhere);
}

/* Both, of what was built, which is freed. */
static enum fors_err check(struct fors_switches *switches, struct fors_warnings *warnings, uint32_t *nowhere,
			   struct fors_error *error)
{
	struct fors_loops *loops = fors_loops_new(switches);
	struct fors_reach reach;
	enum fors_err err = loops ? FORS_OK : fors_fail_memory(error);

	if (!err)
		err = fors_reach_check(switches, loops, &reach, error);
	if (!err)
		err = fors_loops_check(loops, error);
	if (!err) {
		warn(switches, &reach, warnings);
		if (nowhere)
			*nowhere = reach.nowhere;
	}
	fors_loops_free(loops);
	fors_switches_free(switches);
	return err;
}

enum fors_err fors_tables_check(const struct fors_fabric *fabric, const struct fors_lfts *lfts,
				struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error)
{
	struct fors_switches *switches;
	enum fors_err err = fors_switches_build(fabric, lfts, &switches, error);

	return err ? err : check(switches, warnings, nowhere, error);
}

enum fors_err fors_tables_check_levels(const struct fors_net *net, const uint8_t *level, const struct fors_lfts *lfts,
				       struct fors_warnings *warnings, uint32_t *nowhere, struct fors_error *error)
{
	struct fors_switches *switches;
	enum fors_err err = fors_switches_build_levels(net, level, lfts, &switches, error);

	return err ? err : check(switches, warnings, nowhere, error);
}
