/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ahead.h - what `fors plan` says beside the plan: which cables the text may lack, and what one more dead cable would cost.
 */
#ifndef FORS_CLI_AHEAD_H
#define FORS_CLI_AHEAD_H

#include "cli/cli.h"
#include "core/fabric/missing.h"
#include "core/fabric/repairs.h"

#define CLI_DOWN_ROOM 40

struct cli_ahead {
	struct fors_missing *missing; /* by comparison of siblings; none where something says what was there */
	uint32_t nmissing;
	struct fors_unclear unclear; /* and what comparison cannot say */
	bool has_compared;
	struct fors_narrowest narrowest; /* where one more dead cable costs most */
	int64_t phases;			 /* of the plan with that cable dead; FORS_UNKNOWN: none was made */
};

/* Look at a tree that came of this source. To be cleared in any case; phases is left to the caller. Errors: FORS_ENOMEM. */
enum fors_err cli_ahead_look(const struct cli_source *source, const struct fors_fattree *tree, struct cli_ahead *ahead,
			     struct fors_error *error);
void cli_ahead_clear(struct cli_ahead *ahead);

/*
 * Is it worth while to plan with that cable dead, too, beside this plan (NULL: there is none)? Then what is down, as cli_fabric_make() takes it: that of the
 * source, and the cable behind it, in *down, owned by the caller; its last text is text[CLI_DOWN_ROOM]. False: no, or no
 * memory.
 */
bool cli_ahead_down(const struct cli_source *source, const struct fors_fattree *tree, const struct cli_ahead *ahead,
		    const struct fors_schedule *plan, char *text, const char ***down);

/* Rows for people: what is dead, and missing; what one more would cost. */
void cli_ahead_print_dead(const struct cli_ahead *ahead, const struct fors_fattree *tree,
			  const struct fors_status *status);
void cli_ahead_print_next(const struct cli_ahead *ahead, const struct fors_fattree *tree);

#endif
