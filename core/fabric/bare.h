/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bare.h - switches that hang together with nothing.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_BARE_H
#define FORS_CORE_FABRIC_BARE_H

#include "core/base/warnings.h"
#include "core/net/net.h"

/*
 * A warning of the switches of an intact net (indexed) that have no cable at all, with their number and the first of them: they
 * are in no tree, whatever it was meant to be. None: no warning.
 */
void fors_bare_warn(const struct fors_net *intact, struct fors_warnings *warnings);

#endif
