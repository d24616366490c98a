/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mkey.h - the M_Key of a fabric whose nodes do not answer without it (protection levels 2 and 3), from a file. */
#ifndef FORS_WATCH_MKEY_H
#define FORS_WATCH_MKEY_H

#include <stdint.h>

#include "core/base/error.h"

/*
 * The key that a file has: alone, or as OpenSM's guid2mkey has it, a GUID and a key in each line. All keys have to be one. Errors:
 * FORS_EIO (cannot be read), FORS_EINPUT (no key, or several).
 */
enum fors_err fors_mkey_read(const char *path, uint64_t *key, struct fors_error *error);

#endif
