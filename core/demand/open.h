/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * open.h - the receivers to which a switch has a way without a busy link, as bits, where each has one way.
 * Thread rules: plain data.
 */
#ifndef FORS_CORE_DEMAND_OPEN_H
#define FORS_CORE_DEMAND_OPEN_H

#include "problem.h"

/* Receivers of a switch whose ways take a link. */
struct fors_demand_open_cell {
	uint64_t receivers;
	uint32_t word; /* of open[] */
};

struct fors_demand_open {
	uint32_t nswitches, nwords, nlinks;
	uint64_t *open; /* [switch][word]: receivers; some too many after a link became free */
	uint32_t *
		begin; /* per link: where its cells begin; nlinks + 1. NULL: ways are not known by their links, and all of them stay open */
	struct fors_demand_open_cell *cell;
};

/* *open is to be cleared, also after false: out of memory. Where servers have several ways, or cells were too many, all ways stay open. */
bool fors_demand_open_make(const struct fors_demand_problem *problem, struct fors_demand_open *open);
void fors_demand_open_clear(struct fors_demand_open *open);

/* All links are free. */
void fors_demand_open_all(struct fors_demand_open *open);
/* A link becomes busy, or free. */
void fors_demand_open_link(struct fors_demand_open *open, uint32_t link, bool is_free);

#endif
