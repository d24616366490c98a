/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_planes.h - which middle switches of different pods belong together (for pods.c and its tests only).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PODS_PLANES_H
#define FORS_CORE_FABRIC_PODS_PLANES_H

#include "pods.h"

/*
 * Give every mid of `pods`, which has its switches, and every top a plane; nplanes and mid_of, which is allocated. Errors:
 * FORS_ENOTREE (planes that do not line up, with the top and its two mids), FORS_ENOMEM.
 */
enum fors_err fors_pods_planes(struct fors_pods *pods, struct fors_error *error);

#endif
