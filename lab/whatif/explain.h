/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* explain.h - what a fabric loses over the tables that it has, and what a schedule or fors's own tables would give. */
#ifndef FORS_LAB_WHATIF_EXPLAIN_H
#define FORS_LAB_WHATIF_EXPLAIN_H

#include "core/net/lfts.h"
#include "core/net/net.h"

/*
 * Tables as they might be with two LIDs for each server (by its first port), which `wide`, the same net otherwise, has: an
 * estimate from those of today, in *turned, owned by the caller. Errors: FORS_ENOMEM.
 */
enum fors_err cli_turned_tables(const struct fors_net *net, const struct fors_lfts *lfts, const struct fors_net *wide,
				struct fors_lfts **turned, struct fors_error *error);

/* Of a net and its tables, in files: tell it on standard output. Returns an exit code. */
int cli_explain(const char *net, const char *lfts);

#endif
