/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fake_mads.h - watch/mads.h over a net in memory, whose nodes may lie. In place of the real one. */
#ifndef FORS_TESTS_FAKE_MADS_H
#define FORS_TESTS_FAKE_MADS_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "watch/mads.h"

struct fake {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t from;	  /* the node that is asked from, by its port 1 */
	uint64_t asked;	  /* questions so far */
	uint32_t counted; /* what the manager says of itself; rises by one with each question to it */
	/* May change the 64 bytes of an answer; false: it is lost. NULL: all tell the truth. */
	bool (*lie)(struct fake *fake, uint16_t attribute, uint32_t node, uint32_t modifier, uint8_t *data);
	uint64_t state; /* of lie() */
	/* Service level of the path between two LIDs; 16: it tells of none. NULL: the administration does not answer. */
	uint8_t (*level)(uint16_t src, uint16_t dst);
	uint32_t most_records; /* in one answer of the administration */
	/* In place of waiting for Reports; what fors_mads_wait() returns. NULL: it comes back at once. */
	enum fors_err (*pause)(struct fake *fake, double until_ms);
};

struct fors_mads *fake_mads(struct fake *fake);

#endif
