/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slow.h - what slow cables cost an exchange, and which of them are better drained.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_SLOW_H
#define FORS_CORE_PLANNERS_SLOW_H

#include "core/fabric/drained.h"

/*
 * Mark in the tree (drained.h) what shall be drained for its slowness; what is excluded or held is marked before, and
 * nothing is taken out yet. *slow is set: what the choice is, and what the others would give. FORS_SLOW_DEAD also marks
 * what is called degraded, however fast. The same tree gives the same marks. Errors: FORS_ENOMEM; then no more
 * is marked.
 */
enum fors_err fors_slow_mark(struct fors_fattree tree, enum fors_slow_how how, struct fors_slow *slow,
			     struct fors_error *error);

#endif
