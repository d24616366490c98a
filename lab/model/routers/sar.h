/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sar.h - scheduling-aware routing: tables that are balanced for the jobs that run (Domke and Hoefler, "Scheduling-Aware
 * Routing for Supercomputers", SC16, Algorithm 1). Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_SAR_H
#define FORS_LAB_MODEL_ROUTERS_SAR_H

#include "core/net/lfts.h"
#include "core/net/net.h"

/* A server of a job: a port of a CA. It may be in several jobs. */
struct fors_placed {
	uint32_t node, job;
	uint8_t port;
};

/*
 * Tables of all switches of `net` (indexed) for all LIDs of its CA ports, in *lfts, owned by the caller. placed[] is in
 * any order; what is no port with a LID and a switch is left out. Nothing is said of virtual lanes. Errors: FORS_ENOMEM.
 */
enum fors_err fors_sar_tables(const struct fors_net *net, const struct fors_placed *placed, size_t count,
			      struct fors_lfts **lfts, struct fors_error *error);

#endif
