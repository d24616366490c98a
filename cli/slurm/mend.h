/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mend.h - what squeue prints has texts of users in it, which may be any bytes: make it something that strict readers take.
 *
 * In place, and of the same length; pure, any thread. Nothing is taken away but what a strict reader would refuse the whole text for.
 */
#ifndef FORS_CLI_SLURM_MEND_H
#define FORS_CLI_SLURM_MEND_H

#include <stddef.h>

/* A text of lines: no zero bytes. */
void slurm_mend_text(char *text, size_t size);

/*
 * A text that is meant to be JSON. In strings: what is no UTF-8, half of a surrogate pair, an escape that there is not, a zero or
 * another raw control byte. Beside them: NaN, Infinity and the like become 0, and a whole number of more than 18 digits is cut.
 */
void slurm_mend_json(char *text, size_t size);

#endif
