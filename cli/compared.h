/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * compared.h - which cables the text of a fabric may lack: what `fors plan` says beside the plan.
 */
#ifndef FORS_CLI_COMPARED_H
#define FORS_CLI_COMPARED_H

#include "cli/cli.h"
#include "core/fabric/missing.h"

struct cli_compared {
	struct fors_missing *missing; /* by comparison of siblings; none where something says what was there */
	uint32_t nmissing;
	unsigned unclear; /* and what comparison cannot say, see fors_missing_list() */
	bool is_done;
};

/* Look at a tree that came of this source. To be cleared in any case. Errors: FORS_ENOMEM. */
enum fors_err cli_compare(const struct cli_source *source, const struct fors_fattree *tree,
			  struct cli_compared *compared, struct fors_error *error);
void cli_compared_clear(struct cli_compared *compared);

/* Rows for people: what is dead, and missing. */
void cli_compared_print(const struct cli_compared *compared, const struct fors_fattree *tree,
			const struct fors_status *status);

#endif
