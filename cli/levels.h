/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * levels.h - service levels of paths, from a file.
 * Thread rules: plain data once read.
 */
#ifndef FORS_CLI_LEVELS_H
#define FORS_CLI_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* All zero: none. */
struct cli_levels {
	struct cli_level {
		uint32_t pair; /* SLID << 16 | DLID */
		uint32_t line; /* where it stands */
		uint8_t sl;
	} * level;
	size_t count, room;
};

/* Lines "SLID DLID SL" of a file, '#' begins a comment. Returns an exit code; to be cleared in any case. */
int cli_levels_read(const char *path, struct cli_levels *levels);
void cli_levels_clear(struct cli_levels *levels);

/* The service level between two LIDs, FORS_NO_SL: not in the file. */
uint8_t cli_level(const struct cli_levels *levels, uint32_t src, uint32_t dst);

#endif
