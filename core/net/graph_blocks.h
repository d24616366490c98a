/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * graph_blocks.h - how many cables between blocks, where optical switches let that follow the traffic: Flexfly (Wen et
 * al., SC16) and Flexspander, as in "TAGO: Rethinking Routing Design in High Performance Reconfigurable Networks" (Teh et
 * al.).
 *
 * Each block has so many ports to other blocks. Each pair of blocks gets one cable, since TAGO needs one; each further
 * cable goes to the pair whose cables are the smallest part of its weight, while both blocks have ports left. For whole
 * cables that is the best for the pair that gets least, as long as no block fills up before the others; pairs without
 * weight stay with one cable.
 * Thread rules: pure. Private to core/net.
 */
#ifndef FORS_CORE_NET_GRAPH_BLOCKS_H
#define FORS_CORE_NET_GRAPH_BLOCKS_H

#include "graph_spec.h"

/* Number of the pair of blocks i < j among `groups`: (0,1), (0,2), ... */
static inline size_t fors_block_pair(uint32_t groups, uint32_t i, uint32_t j)
{
	return (size_t)i * groups - (size_t)i * (i + 1) / 2 + j - i - 1;
}

/*
 * Cables of each pair in *cables, owned by the caller (groups * (groups - 1) / 2 of them), `global` ports at each block. No
 * weights: all pairs weigh 1. Errors: FORS_ENOMEM.
 */
enum fors_err fors_blocks_allot(uint32_t groups, uint32_t global, const struct fors_block_weights *weights,
				uint32_t **cables, struct fors_error *error);

#endif
