/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unknown.h - a number that nobody knows.
 * Thread rules: none; a constant.
 */
#ifndef FORS_CORE_BASE_UNKNOWN_H
#define FORS_CORE_BASE_UNKNOWN_H

#define FORS_UNKNOWN (-1) /* a number that is not known: null in JSON, absent in metrics */

#endif
