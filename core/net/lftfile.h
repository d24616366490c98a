/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lftfile.h - forwarding tables as text: opensm-lfts.dump, and what dump_fts prints.
 * Thread rules: pure; what is read belongs to the caller.
 */
#ifndef FORS_CORE_NET_LFTFILE_H
#define FORS_CORE_NET_LFTFILE_H

#include "lfts.h"

/*
 * The tables in `text` in *lfts, owned by the caller; `name` opens error texts ("name:line: ...").
 * Errors: FORS_EINPUT (not such a text, truncated, a switch twice, a LID or port out of range), FORS_ENOTAPPL (groups of
 * ports, of adaptive routing), FORS_ENOMEM.
 */
enum fors_err fors_lftfile_read(const char *text, size_t size, const char *name, struct fors_lfts **lfts,
				struct fors_error *error);
/*
 * What such a text calls its switches: name[row], of each row of `lfts`, clean (fors_text_clean()); "" where it says
 * nothing. `text` is the one that `lfts` was read from.
 */
void fors_lftfile_names(const char *text, size_t size, const struct fors_lfts *lfts, char (*name)[FORS_NAME_MAX + 1]);
/* The tables as opensm-lfts.dump text, which `opensm -R file -U` loads; net names the nodes. Errors: FORS_ENOMEM. */
enum fors_err fors_lftfile_write(const struct fors_net *net, const struct fors_lfts *lfts, char **text, size_t *size,
				 struct fors_error *error);

#endif
