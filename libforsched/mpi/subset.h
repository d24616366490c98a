/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subset.h - phases for a communicator that has some servers of a schedule only.
 *
 * Pure: no MPI; the same input gives the same phases. One thread at a time.
 */
#ifndef FORSCHED_MPI_SUBSET_H
#define FORSCHED_MPI_SUBSET_H

#include <stddef.h>

#include "places.h"

#define MOST_PLACES 1024 /* that are packed */

/*
 * In which phase each place sends to each other: in cell[from x n + to], places->n = n up to MOST_PLACES. *nphases of them;
 * at least *least there have to be. `path`: the path index that ranks use. `bytes` are those of the schedule. False: no memory.
 */
bool forsched_mpi_pack_places(const void *bytes, size_t nbytes, const struct places *places, uint8_t path,
			      uint16_t *cell, uint32_t *nphases, uint32_t *least);

#endif
