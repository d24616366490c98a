/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_lines.h - what lines of the kept order have in common, for places*_file.c only.
 * Each takes what it finds off the front of the line; false: it is not there. Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PLACES_LINES_H
#define FORS_CORE_FABRIC_PLACES_LINES_H

#include "core/base/text.h"
#include "places_inside.h"

/* "0x0123456789abcdef" */
bool fors_places_take_guid(struct fors_span *line, uint64_t *guid);
/* " alive reference roots" */
bool fors_places_take_marks(struct fors_span *line, struct fors_place_marks *marks);
/* ' "name"', the last on its line; name[FORS_NAME_MAX + 1] was zero. */
bool fors_places_take_name(struct fors_span *line, char *name);
void fors_places_print_marks(struct fors_buffer *to, const struct fors_place_marks *marks);

#endif
