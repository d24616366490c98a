/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * synthetic.h - fabrics from a specification (man fors):
 * FT(2;S,M1[;servers=N][;cables=C][;empty=LEAF/SLOT,...])
 * Thread rules: pure.
 */
#ifndef FORS_CORE_NET_SYNTHETIC_H
#define FORS_CORE_NET_SYNTHETIC_H

#include "net.h"

struct fors_spec {
	unsigned spines, leaves;
	unsigned servers; /* per leaf; default: spines, as in the paper (M0) */
	unsigned cables;  /* per leaf and spine; default 1 */
	size_t nempty;
	struct fors_spec_place {
		unsigned leaf, slot;
	} * empty; /* owned; sorted, no duplicates */
};

/* Parse `text` into *spec (fors_spec_clear() frees it). Errors: FORS_EINPUT (says what and where), FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_spec_parse(const char *text, struct fors_spec *spec, struct fors_error *error);
void fors_spec_clear(struct fors_spec *spec);
/* The canonical text of `spec` in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_spec_format(const struct fors_spec *spec, char **text, struct fors_error *error);

/* The net of `spec`, indexed, without LIDs, in *net, owned by the caller. GUIDs as ibsim would number them. Errors: FORS_ENOMEM, FORS_ELIMIT. */
enum fors_err fors_synthetic(const struct fors_spec *spec, struct fors_net **net, struct fors_error *error);

#endif
