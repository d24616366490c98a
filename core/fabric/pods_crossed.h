/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_crossed.h - a cable between a leaf of one pod and a middle switch of another (for pods_roles.c only).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PODS_CROSSED_H
#define FORS_CORE_FABRIC_PODS_CROSSED_H

#include "pods.h"

/*
 * Are the pods of `net` (indexed), by level and pod of each node as fors_pods_roles() has them, a pod each?
 * FORS_ENOTREE where a cable joins two, with both ends of it; and where a switch that has servers (adapters[node] > 0)
 * and was taken for a top is cabled as a leaf of a pod is, and to another pod as well. has_roots: levels are beyond
 * doubt. Errors: FORS_ENOMEM, too.
 */
enum fors_err fors_pods_crossed(const struct fors_net *net, const uint8_t *level, const uint32_t *pod,
				const uint32_t *adapters, bool has_roots, struct fors_error *error);

#endif
