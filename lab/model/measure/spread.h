/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spread.h - loads of routing that chooses by chance for each packet, and looks at nothing: oblivious policies as flows.
 *
 * On average each link carries a part of each flow, so the load of a pattern is a sum over its flows, and what gets
 * through is 1 / the largest load, without a linear program:
 *
 *      FORS_SPREAD_ANY   at each switch the flow parts evenly among the links of all shortest ways (ECMP, packet by packet)
 *      FORS_SPREAD_VLB   half of the way to each switch with servers in turn (fors_is_detour()), then on, each as above
 *      FORS_SPREAD_TAGO  evenly over all global links from block to block, to them and from them as above (blocks.h)
 *
 * The same rules as those of the policies random, vlb and tago of lab/sim/, where packets also wait.
 * Thread rules: pure.
 */
#ifndef FORS_LAB_MODEL_MEASURE_SPREAD_H
#define FORS_LAB_MODEL_MEASURE_SPREAD_H

#include "lab/model/routers/blocks.h"
#include "lab/model/routers/hops.h"
#include "lab/model/routers/router.h"

enum fors_spread_kind { FORS_SPREAD_ANY, FORS_SPREAD_VLB, FORS_SPREAD_TAGO };

struct fors_spread {
	uint32_t nphases, nlinks;
	uint64_t nbroken;   /* flows whose tables have no way; left out */
	double *phase_load; /* nphases: the largest load of a link over its capacity, in flows; 0: nobody sends */
	double *link_load;  /* nlinks: in its worst phase */
	double max_load;    /* of all phases */
	double time;	    /* of all phases, at least 1 each */
};

/*
 * Loads of `pattern` in *spread, owned by the caller (fors_spread_free()). The router says the servers' own links only.
 * hops are of its graph, for TAGO to all switches; blocks: for TAGO, where each two have a link; may be NULL else.
 * Errors: FORS_ELIMIT (more than some minutes' work), FORS_ENOMEM.
 */
enum fors_err fors_spread_loads(const struct fors_router *router, const struct fors_hops *hops,
				const struct fors_blocks *blocks, enum fors_spread_kind kind,
				const struct fors_pattern *pattern, struct fors_spread **spread,
				struct fors_error *error);
void fors_spread_free(struct fors_spread *spread);

#endif
