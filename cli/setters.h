/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* setters.h - functions for the member set() of options (options.h), and what others are made of. */
#ifndef FORS_CLI_SETTERS_H
#define FORS_CLI_SETTERS_H

#include "cli/options.h"

/* What the option fills. */
void *cli_member_of(const struct cli_option *option, struct cli_settings *settings);
/* One more of them; false: out of memory, and the user has been told. */
bool cli_add_text(struct cli_texts *texts, const char *argument);

bool cli_set_flag(const struct cli_option *option, const char *argument, struct cli_settings *settings);
bool cli_set_text(const struct cli_option *option, const char *argument, struct cli_settings *settings);
/* One of the names. */
bool cli_set_choice_text(const struct cli_option *option, const char *argument, struct cli_settings *settings);
bool cli_set_number(const struct cli_option *option, const char *argument, struct cli_settings *settings);
/* From 1 on. */
bool cli_set_positive(const struct cli_option *option, const char *argument, struct cli_settings *settings);
/* The index of a name. */
bool cli_set_choice(const struct cli_option *option, const char *argument, struct cli_settings *settings);
bool cli_set_lmc(const struct cli_option *option, const char *argument, struct cli_settings *settings);
bool cli_set_count(const struct cli_option *option, const char *argument, struct cli_settings *settings);
bool cli_set_time(const struct cli_option *option, const char *argument, struct cli_settings *settings);

#endif
