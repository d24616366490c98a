/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cube.h - the coordinates of switches in a hypercube. Private to this room.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_PLANNERS_FLOWS_CUBE_H
#define FORS_CORE_PLANNERS_FLOWS_CUBE_H

#include "problem.h"

/*
 * Numbers for the switches, each below their count, in number[] (room for nswitches). Where the lengths of the first ways
 * are the distances in a hypercube: its coordinates, a bit for each dimension. Else the numbers that they have.
 */
void fors_flows_cube(const struct fors_flows_problem *problem, uint32_t *number);

#endif
