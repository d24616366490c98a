/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counters.h - error counters of ports, as ibqueryerrors and perfquery print them.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_COUNTERS_H
#define FORS_CORE_NET_COUNTERS_H

#include "net.h"

#define FORS_NCOUNTERS 6

/* The counters that speak of a cable: what else is counted (discards, waits, bytes) has other causes. */
extern const char *const fors_counter_names[FORS_NCOUNTERS];

/* Of a port; FORS_COUNTER_UNKNOWN: the text says nothing. */
struct fors_counters {
	uint64_t value[FORS_NCOUNTERS];
};
#define FORS_COUNTER_UNKNOWN UINT64_MAX

/* All errors of a port that are known; FORS_COUNTER_UNKNOWN: none is. */
uint64_t fors_counters_sum(const struct fors_counters *counters);

/*
 * Read the output of ibqueryerrors, or of one or more calls of perfquery, in `text` (`size` bytes, a zero byte behind
 * them), into a row by ports of the net (indexed), in *counters, owned by the caller (free()). Of a port that comes
 * more than once the last counts; ports that the net does not have, or that are named by neither LID nor GUID, are
 * counted in *nforeign. `name` opens error texts.
 * Errors: FORS_EINPUT (a line of counters without a port, a value that is no number, no counter at all), FORS_ENOMEM.
 */
enum fors_err fors_counters_read(const char *text, size_t size, const char *name, const struct fors_net *net,
				 struct fors_counters **counters, uint32_t *nforeign, struct fors_error *error);

#endif
