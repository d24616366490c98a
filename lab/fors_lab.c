/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fors_lab.c - the program `fors-lab`: all commands of fors, those of the lab included, and what `fors watch --explain` says. */
#include <string.h>

#include "cli/cli.h"
#include "lab/whatif/explain.h"

int main(int argc, char **argv)
{
	cli_set_name("watch");
	if (argc == 4 && !strcmp(argv[1], "explain"))
		return cli_explain(argv[2], argv[3]);
	return cli_main(argc, argv);
}
