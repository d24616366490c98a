/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * slurm.h - what the scheduler Slurm wants to know of a net: topology.conf, and topology.yaml of newer versions.
 * Thread rules: pure; what is written belongs to the caller.
 */
#ifndef FORS_CORE_NET_SLURM_H
#define FORS_CORE_NET_SLURM_H

#include "net.h"

/*
 * The file for Slurm's plugin topology/tree, as text in *text (terminated), owned by the caller (free()): topology.conf,
 * or with is_yaml topology.yaml. The net is indexed, and may have any number of levels. Same net, same bytes, whatever
 * its order.
 * Errors: FORS_EINPUT when no switch has a host (there is nothing to say), FORS_ENOMEM.
 */
enum fors_err fors_slurm_write(const struct fors_net *net, bool is_yaml, char **text, struct fors_error *error);

#endif
