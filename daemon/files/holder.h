/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * holder.h - which one of several programs publishes in a folder that they share.
 *
 * Terms are files, holder.1, holder.2 and so on, that have the holder's tag in them. A term belongs to who link()s its name
 * first, which one of several can; the newest term counts. A holder stays until the heartbeat in the folder has been the
 * same for FORS_HOLDER_MS of the reader's own clock, so no clocks are compared. Then whoever sees that tries to get the next
 * term. A holder that comes back after a long pause finds the newer term, and publishes nothing any more.
 * Threads: as publish.h.
 */
#ifndef FORS_DAEMON_FILES_HOLDER_H
#define FORS_DAEMON_FILES_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "publish.h"

#define FORS_HOLDER_MS 10000u

/* What was seen there last; zeros at first. */
struct fors_holder {
	uint64_t term;	   /* the newest */
	uint64_t beat;	   /* digest of the heartbeat */
	uint64_t since_ms; /* since when both are so, by fors_clock_ms() */
};

/*
 * Look once, and take the next term if the holder is gone: is folder->tag the holder now? Errors: FORS_EIO (the folder
 * cannot be read or written), FORS_EINPUT (something else has such a name); *is_ours stays.
 */
enum fors_err fors_hold(struct fors_holder *holder, const struct fors_folder *folder, bool *is_ours,
			struct fors_error *error);

#endif
