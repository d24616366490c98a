/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service.h - `fors watch`: a schedule kept true to tables that somebody else writes, for as long as it runs.
 * Threads: one; those of the daemon beside it.
 */
#ifndef FORS_WATCH_SERVICE_H
#define FORS_WATCH_SERVICE_H

#include <stdbool.h>

#include "mads.h"

struct fors_service_setup {
	struct fors_mads_setup mads;	  /* its is_stopped() ends the service; it must be there */
	const char *config;		  /* absolute path of a file of keys as in fors.conf(5); NULL: none */
	bool (*is_reload)(void *context); /* shall the settings be read again? Asked once a round, true once */
	void *context;			  /* of it */
};

/*
 * Serve until it is to stop, which is no error. Errors: those of fors_mads_open(), FORS_EINPUT (settings that no service can
 * begin with), FORS_EIO (the port is gone), FORS_ENOMEM.
 */
enum fors_err fors_service_run(const struct fors_service_setup *setup, struct fors_error *error);

#endif
