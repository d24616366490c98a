/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* router.c - words for how a path ends. */
#include "router.h"

const char *fors_way_name(enum fors_way way)
{
	static const char *const names[FORS_NWAYS] = {
		[FORS_WAY_GOOD] = "good",	[FORS_WAY_HOLE] = "hole", [FORS_WAY_NO_TABLE] = "no table",
		[FORS_WAY_DEAD] = "dead cable", [FORS_WAY_LOOP] = "loop", [FORS_WAY_ASTRAY] = "astray",
	};

	return (unsigned)way < FORS_NWAYS ? names[way] : "unknown";
}
