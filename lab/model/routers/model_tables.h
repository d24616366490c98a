/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * model_tables.h - tables for any net, as routing engines make them: models of their ideas, not their code.
 * Thread rules: pure; what is made belongs to the caller.
 */
#ifndef FORS_LAB_MODEL_ROUTERS_MODEL_TABLES_H
#define FORS_LAB_MODEL_ROUTERS_MODEL_TABLES_H

#include "core/net/graph_spec.h"
#include "core/net/lfts.h"
#include "core/net/net.h"

enum fors_model {
	FORS_MODEL_SHORTEST, /* shortest ways, each switch takes the cable that has least to carry (minhop's idea) */
	FORS_MODEL_UP_DOWN,  /* up*, then down*, from the switch in the middle: free of deadlock on any net (updn's) */
	FORS_MODEL_SSSP,     /* shortest ways, of them the one whose cables have least to carry in sum (DFSSSP's) */
	FORS_MODEL_DOR,	     /* dimension by dimension, the shorter way round: tori and cubes only */
	FORS_NMODELS
};

/* "shortest", "up-down", "sssp", "dor"; FORS_NMODELS: none of them. */
enum fors_model fors_model_find(const char *name);
const char *fors_model_name(enum fors_model model);

/*
 * Tables of all switches of `net` (indexed) for all LIDs of its CA ports, in *lfts, owned by the caller. Ways are
 * levelled by flows: each server sends one to each LID. A switch that cannot reach a LID has no entry for it. Nothing is
 * said of virtual lanes: shortest ways may lock. `spec` is what the net was made of, for FORS_MODEL_DOR, which goes round
 * nothing that is dead; else NULL. Errors: FORS_ENOTAPPL (dor, and no torus or cube), FORS_ENOMEM.
 */
enum fors_err fors_model_tables(const struct fors_net *net, const struct fors_graph_spec *spec, enum fors_model model,
				struct fors_lfts **lfts, struct fors_error *error);

/*
 * LIDs 1, 2, ... for the CA ports of a net, in its order, when none of them that has a cable has one, LMC 0; switches
 * keep theirs or have none. Beside ports that have LIDs one without has none, and no entries.
 * Errors: FORS_ELIMIT (more ports than LIDs).
 */
enum fors_err fors_model_lids(struct fors_net *net, struct fors_error *error);

#endif
