/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owned.h - pictures of several jobs: the fabric, with the cables that each job owns in a colour of its own.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_OWNED_H
#define FORS_CLI_OWNED_H

#include "cli/jobs_made.h"

/* What a page tells of a job beside the picture. */
struct cli_owned_row {
	uint32_t nlanes;   /* (leaf, lane) that it owns */
	int64_t phases;	   /* FORS_UNKNOWN: it has no plan */
	double speed;	   /* 1: as many phases as servers */
	const char *whose; /* which lanes its plan goes over */
};

/*
 * Write what --svg and --html name. row[]: by job. Returns an exit code.
 */
int cli_draw_owned(const struct cli_settings *settings, const struct cli_site *site, const struct cli_fabric *made,
		   const struct cli_jobs *jobs, const struct cli_owned_row *row);

#endif
