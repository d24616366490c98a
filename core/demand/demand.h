/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demand.h - who sends how much to whom: an exchange that need not be uniform.
 *
 * Servers are numbers below nservers, in an order that the caller has. Thread rules: plain data.
 */
#ifndef FORS_CORE_DEMAND_DEMAND_H
#define FORS_CORE_DEMAND_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_DEMAND_MOST_BYTES (UINT64_C(1) << 50)  /* of one pair */
#define FORS_DEMAND_MOST_IN_ALL (UINT64_C(1) << 60) /* so that no sum that is made of them overflows */
#define FORS_DEMAND_MOST_MESSAGES (1u << 24)	    /* pairs in a demand: some 4,000 servers, all to all */

/* All that one server sends to another. */
struct fors_demand_message {
	uint32_t src, dst; /* different ones */
	uint64_t bytes;	   /* above 0; in a demand of units: messages of one size, mostly 1 */
};

struct fors_demand {
	struct fors_demand_message *message; /* count of them, ascending by src, then dst; each pair once; owned */
	uint32_t count;
	uint32_t nservers;
	bool is_unit; /* bytes counts messages of one size, nobody said which */
};

/*
 * Make a list in any order a demand: *demand owns `message` (malloc) from now on, also when this fails, and is cleared then. What stands twice
 * is added up. Errors: FORS_ELIMIT (more than FORS_DEMAND_MOST_BYTES of a pair, or FORS_DEMAND_MOST_IN_ALL).
 */
enum fors_err fors_demand_make(struct fors_demand_message *message, uint32_t count, uint32_t nservers, bool is_unit,
			       struct fors_demand *demand, struct fors_error *error);
void fors_demand_clear(struct fors_demand *demand);

#define FORS_DEMAND_NONE UINT32_MAX /* no message */

/* The bytes of a pair's message, or 0. O(log count). */
uint64_t fors_demand_of(const struct fors_demand *demand, uint32_t src, uint32_t dst);

/* All that is sent: bytes, or messages of one size. */
uint64_t fors_demand_total(const struct fors_demand *demand);

/* What all messages have, or 0: they differ. */
uint64_t fors_demand_size(const struct fors_demand *demand);

/* Does everybody send as much to everybody else? */
bool fors_demand_is_uniform(const struct fors_demand *demand);

#endif
