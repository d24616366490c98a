/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * certificate.h - the arguments of the bounds of a plan, as JSON: certificates that anybody can check.
 * Thread rules: one thread.
 */
#ifndef FORS_CLI_CERTIFICATE_H
#define FORS_CLI_CERTIFICATE_H

#include <jansson.h>

#include "core/net/net.h"
#include "core/net/witness.h"

/* The bounds of a plan; each is one of the next, too. */
enum cli_bound { CLI_BOUND_LOWER, CLI_BOUND_LUMP, CLI_BOUND_TABLES, CLI_BOUNDS };

#define CLI_WITNESSES 5

/* What is known to bound a plan; all zero: nothing. */
struct cli_witnesses {
	struct fors_witness witness[CLI_WITNESSES]; /* by nothing: left out */
	enum cli_bound of[CLI_WITNESSES];	    /* the first bound that it is an argument for */
	uint32_t count;
	uint32_t npaths; /* path indices that bounds of tables looked at, from the first on */
};

/* Room for one more, all zero, to be filled in. */
struct fors_witness *cli_witness_new(struct cli_witnesses *witnesses, enum cli_bound of);
void cli_witnesses_clear(struct cli_witnesses *witnesses);

/*
 * The certificates of these bounds (phases; below 0: not known): an object with a key for each bound, null where none of the
 * witnesses proves it. Switches are called by their node ids in `net`. NULL: out of memory.
 */
json_t *cli_certificates_json(const struct fors_net *net, const struct cli_witnesses *witnesses,
			      const int64_t bound[CLI_BOUNDS]);

#endif
