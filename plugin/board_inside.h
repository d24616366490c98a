/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * board_inside.h - what the files of the board share.
 * Thread rules: the worker's thread.
 */
#ifndef FORS_PLUGIN_BOARD_INSIDE_H
#define FORS_PLUGIN_BOARD_INSIDE_H

#include "board.h"

/* In the order of writing. */
enum { SHEET_PLACES, SHEET_SCHEDULE, SHEET_STATUS, SHEET_METRICS, SHEET_METRICS_OLD, SHEET_HISTORY, SHEETS };

/* Read what an earlier opensm left and has not been read yet. False: out of memory; the rest is read later. */
bool fors_board_load(struct fors_board *board);

#endif
