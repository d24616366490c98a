/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* options.h - names of arguments of the commands of the lab. */
#ifndef FORS_LAB_OPTIONS_H
#define FORS_LAB_OPTIONS_H

/* The routing engines that --engines knows: fors, then those that opensm has without it; NULL ends them. */
extern const char *const cli_engines[];

/* The names of --policy, in the order of enum fors_policy; NULL ends them. */
extern const char *const cli_policies[];
extern const char *const cli_spreads[];
/* Of --wait, in the order of enum cli_waiting. */
extern const char *const cli_waitings[];

#endif
