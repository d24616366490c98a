/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_inside.h - the steps of understanding a tree of three levels (for pods.c, pods_*.c and their tests only).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PODS_INSIDE_H
#define FORS_CORE_FABRIC_PODS_INSIDE_H

#include "pods.h"

/*
 * pods_roles.c: which switches are leaves, which are in the middle, which are tops.
 * The level of every node of `net` (indexed) in level[net->nnodes], the caller's, and the pod of leaves and mids in
 * pod[net->nnodes], FORS_NONE: none, *npods of them, in the order of their first leaf. Errors: FORS_ENOTREE, FORS_ENOMEM.
 */
enum fors_err fors_pods_roles(const struct fors_net *net, const uint64_t *root_guids, size_t nroots, uint8_t *level,
			      uint32_t *pod, uint32_t *npods, struct fors_error *error);

/*
 * pods_crossed.c, for pods_roles.c only: a cable between a leaf of one pod and a middle switch of another.
 * Are the pods of `net` (indexed), by level and pod of each node as fors_pods_roles() has them, a pod each?
 * FORS_ENOTREE where a cable joins two, with both ends of it; and where a switch that has servers (adapters[node] > 0)
 * and was taken for a top is cabled as a leaf of a pod is, and to another pod as well. has_roots: levels are beyond
 * doubt. Errors: FORS_ENOMEM, too.
 */
enum fors_err fors_pods_crossed(const struct fors_net *net, const uint8_t *level, const uint32_t *pod,
				const uint32_t *adapters, bool has_roots, struct fors_error *error);

/*
 * pods_planes.c: which middle switches of different pods belong together.
 * Give every mid of `pods`, which has its switches, and every top a plane; nplanes, napart, and mid_of, which is allocated. Errors:
 * FORS_ENOTREE (planes that do not line up, with the top and its two mids), FORS_ENOMEM.
 */
enum fors_err fors_pods_planes(struct fors_pods *pods, struct fors_error *error);

#endif
