/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lacking.h - what the text of a fabric lacks and a status knows to be dead, for pictures.
 */
#ifndef FORS_CLI_LACKING_H
#define FORS_CLI_LACKING_H

#include "core/net/net.h"
#include "core/status/status.h"

/*
 * Add to `intact` the dead cables of the status that it lacks, and to it and `now` alike the dead switches and lost servers
 * that both lack: in `now` without a cable. Nodes keep their numbers, what is new is behind them. A cable whose ports
 * are in use, or that joins nothing known, is left out. Errors: FORS_ENOMEM.
 */
enum fors_err cli_lacking_add(const struct fors_status *status, struct fors_net *intact, struct fors_net *now,
			      struct fors_error *error);

#endif
