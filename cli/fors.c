/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fors.c - the program `fors`: what no daemon, plan, status or job needs is in fors-lab, and only its name is here. */
#include "cli/beside.h"
#include "cli/combinations.h"

const struct cli_options *const cli_options[] = {&cli_product_options, NULL};
const struct cli_rules *const cli_rules[] = {&cli_product_rules, NULL};
const struct cli_settings_kind cli_settings_kind = {sizeof(struct cli_settings), NULL};

const struct cli_command cli_analyze_command = {
	.id = CLI_CMD_ANALYZE, .name = "analyze", .summary = CLI_ANALYZE_SUMMARY};
const struct cli_command cli_indices_command = {
	.id = CLI_CMD_INDICES, .name = "indices", .summary = CLI_INDICES_SUMMARY};
const struct cli_command cli_simulate_command = {
	.id = CLI_CMD_SIMULATE, .name = "simulate", .summary = CLI_SIMULATE_SUMMARY};
const struct cli_command cli_trial_command = {.id = CLI_CMD_TRIAL, .name = "trial", .summary = CLI_TRIAL_SUMMARY};
const struct cli_command cli_whatif_command = {.id = CLI_CMD_WHATIF, .name = "whatif", .summary = CLI_WHATIF_SUMMARY};

/* settings->argv begins with the command, behind the name of the program. */
int cli_replay(const struct cli_settings *settings)
{
	return cli_become("fors-lab", settings->argv - 1);
}

int cli_write_model(const struct cli_settings *settings, int format)
{
	(void)format;
	return cli_become("fors-lab", settings->argv - 1);
}

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
