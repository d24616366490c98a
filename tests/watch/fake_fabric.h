/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fake_fabric.h - what the nodes of a net in memory answer, as bytes of the wire. */
#ifndef FORS_TESTS_FAKE_FABRIC_H
#define FORS_TESTS_FAKE_FABRIC_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "watch/mads.h"

struct fake_fabric {
	const struct fors_net *net;
	const struct fors_lfts *lfts;
	uint32_t from; /* the node that is asked from, by its port 1 */
};

/* Who is at the end of a way, and at which port; false: nobody. */
bool fake_follow(const struct fake_fabric *fabric, const struct fors_directed_route *way, uint32_t *node,
		 uint8_t *port);
/* The 64 bytes of its answer, in *data, zeros at first; `port` is the one that the question came by. */
void fake_say(const struct fake_fabric *fabric, uint32_t node, uint8_t port, uint16_t attribute, uint32_t modifier,
	      uint8_t *data);
/* SMInfo of a master whose count of packets is `count`. */
void fake_say_manager(uint32_t count, uint8_t *data);

#endif
