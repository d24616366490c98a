/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_roles.h - which switches are leaves, which are in the middle, which are tops (for pods.c and its tests only).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PODS_ROLES_H
#define FORS_CORE_FABRIC_PODS_ROLES_H

#include "pods.h"

/*
 * The level of every node of `net` (indexed) in level[net->nnodes], the caller's, and the pod of leaves and mids in
 * pod[net->nnodes], FORS_NONE: none, *npods of them, in the order of their first leaf. Errors: FORS_ENOTREE, FORS_ENOMEM.
 */
enum fors_err fors_pods_roles(const struct fors_net *net, const uint64_t *root_guids, size_t nroots, uint8_t *level,
			      uint32_t *pod, uint32_t *npods, struct fors_error *error);

#endif
