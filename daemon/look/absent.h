/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * absent.h - participants that are listed and not there.
 * Thread rules: pure.
 */
#ifndef FORS_DAEMON_LOOK_ABSENT_H
#define FORS_DAEMON_LOOK_ABSENT_H

#include "core/base/warnings.h"
#include "core/fabric/fattree.h"

/*
 * A participant may be switched off, or misspelt; nobody can tell, so operators are told, and it is no error: adds
 * one warning, which says how many of `listed` (each GUID once; NULL: all servers take part) are no servers of the
 * tree and names the first of them; none when all are. `key`: what the list is called. Called under OpenSM's lock:
 * n log n. Errors: FORS_ENOMEM.
 */
enum fors_err fors_absent_warn(const struct fors_participants *listed, const char *key, const struct fors_fattree *tree,
			       struct fors_warnings *warnings, struct fors_error *error);

#endif
