/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_pods_inside.h - the kept order of a tree of three levels, for places*.c only: see places_pods.h.
 * Thread rules: as fabric.h.
 */
#ifndef FORS_CORE_FABRIC_PLACES_PODS_INSIDE_H
#define FORS_CORE_FABRIC_PLACES_PODS_INSIDE_H

#include "core/base/text.h"
#include "places_inside.h"
#include "pods.h"

/* ---- places_pods.c ---- */

/* Room for the lists of a net of `nnodes` nodes, all zero, without a net; NULL: out of memory. */
struct fors_pod_places *fors_pod_places_new(uint32_t nnodes);
/* NULL is allowed. */
void fors_pod_places_free(struct fors_pod_places *pods);
/* A deep copy, or NULL when out of memory. */
struct fors_pod_places *fors_pod_places_copy(const struct fors_pod_places *from);

/* The node of the switch on one of the levels with this GUID, FORS_NONE: none. */
uint32_t fors_pod_places_switch(const struct fors_pod_places *pods, uint64_t guid);
/*
 * The tree of `known`, whose lists are those of `from`, with what of it lives in `now`. Which switches are tops say
 * those that are marked as roots, if there are any, else the tree. As fors_places_pods().
 */
enum fors_err fors_pod_places_build(const struct fors_pod_places *from, const struct fors_net *known,
				    const struct fors_net *now, struct fors_pods **pods, struct fors_error *error);
struct fors_places_size fors_pod_places_size(const struct fors_pod_places *pods);

/* ---- places_pods_file.c ---- */

/* Between the lines of the reference and of the checksum (places_file.c). */
void fors_pod_places_print(struct fors_buffer *to, const struct fors_pod_places *pods);
/* Back again, in *pods, owned by the caller. Errors: FORS_EINPUT, FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_pod_places_read(struct fors_lines *lines, struct fors_pod_places **pods, struct fors_error *error);

/* ---- places_pods_edit.c ---- */

/* All switches with a place are in the reference (or none is). */
void fors_pod_places_mark(struct fors_pod_places *pods, bool in_reference);
/* Forget names, marks, and who the servers are. */
void fors_pod_places_bare(struct fors_pod_places *pods);
/* What differs from a reference but for what is dead: tell() for each difference. */
void fors_pod_places_compare(const struct fors_pod_places *pods, const struct fors_pod_places *reference,
			     void (*tell)(void *context, const char *text), void *context);
/* Drop a switch, and dead adapters that hang on nothing else. Errors: FORS_ENOMEM; nothing has changed then. */
enum fors_err fors_pod_places_drop(struct fors_pod_places **pods, uint32_t node, struct fors_error *error);

#endif
