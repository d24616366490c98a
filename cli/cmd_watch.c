/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_watch.c - `fors watch`: the fabric as it is, read from a port of this host beside whatever subnet manager runs it.
 *
 * Another program does the reading, fors-watch of the package of that name: this one needs no InfiniBand library, nor
 * the right to open a port. It becomes that program, or runs it where fors-lab has more to say.
 */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/beside.h"

#define PROGRAM "fors-watch"
#define CONFIG "/etc/fors/watch.conf"
#define MOST_WORDS 16

/* The words for it. A path that is cut is longer than any that can be opened. */
struct words {
	char text[MOST_WORDS][CLI_PATH_ROOM + 16];
	char *word[MOST_WORDS + 1];
	unsigned count;
};

static void __attribute__((format(printf, 2, 3))) add(struct words *words, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(words->text[words->count], sizeof(words->text[0]), format, args);
	va_end(args);
	words->word[words->count] = words->text[words->count];
	words->word[++words->count] = NULL;
}

static void add_text(struct words *words, const char *name, const char *text)
{
	if (text)
		add(words, "%s=%s", name, text);
}

static void fill(struct words *words, const struct cli_watch *given, const char *verb)
{
	words->count = 0;
	add(words, PROGRAM);
	add(words, "%s", verb);
	add_text(words, "ca", given->ca);
	add(words, "port=%u", given->port);
	add_text(words, "m-key-file", given->m_key_file);
	add(words, "window=%u", given->window);
	add(words, "rate=%u", given->rate);
	add(words, "timeout=%u", given->timeout);
	add(words, "retries=%u", given->retries);
}

/* Read into these files; stays: the command goes on afterwards. Returns an exit code. */
static int read_into(const struct cli_watch *given, const char *net, const char *lfts, bool stays)
{
	struct words words;

	fill(&words, given, "once");
	add_text(&words, "net", net);
	add_text(&words, "lfts", lfts);
	return stays ? cli_run_beside(PROGRAM, words.word) : cli_become(PROGRAM, words.word);
}

/* What the lab says of these files; its exit code. */
static int tell(const char *net, const char *lfts)
{
	struct words words = {.count = 0};

	add(&words, "fors-lab");
	add(&words, "explain");
	add(&words, "%s", net);
	add(&words, "%s", lfts);
	return cli_run_beside("fors-lab", words.word);
}

/* What is to be kept is written where it was asked for; the rest into a folder that goes again. */
static int explain(const struct cli_watch *given)
{
	char folder[] = "/tmp/fors-watch-XXXXXX", net[sizeof(folder) + 4], lfts[sizeof(folder) + 5];
	const char *net_file = given->net ? given->net : net, *lfts_file = given->lfts ? given->lfts : lfts;
	int code;

	if (!mkdtemp(folder)) {
		cli_error("no folder can be made in /tmp: %s", strerror(errno));
		return CLI_BAD;
	}
	snprintf(net, sizeof(net), "%s/net", folder);
	snprintf(lfts, sizeof(lfts), "%s/lfts", folder);
	code = read_into(given, net_file, lfts_file, true);
	if (!code)
		code = tell(net_file, lfts_file);
	unlink(net);
	unlink(lfts);
	rmdir(folder);
	return code;
}

/* The file of settings as an absolute path: that of --config, or the default one where it is there. */
static int serve(const struct cli_watch *given)
{
	char config[PATH_MAX];
	struct words words;

	if (given->config && !realpath(given->config, config)) {
		cli_error("%s: %s", given->config, strerror(errno));
		return CLI_BAD;
	}
	fill(&words, given, "serve");
	if (given->config || !access(CONFIG, F_OK))
		add_text(&words, "config", given->config ? config : CONFIG);
	return cli_become(PROGRAM, words.word);
}

static int run(const struct cli_settings *settings, char **operand)
{
	const struct cli_watch *given = &settings->reading;

	(void)operand;
	if (!given->is_once)
		return serve(given);
	return given->wants_explanation ? explain(given) : read_into(given, given->net, given->lfts, false);
}

const struct cli_command cli_watch_command = {
	.id = CLI_CMD_WATCH,
	.name = "watch",
	.summary = "Keep a schedule true to the fabric as it is, beside any subnet manager, changing nothing",
	.usage = "[--config FILE | --once] [OPTION]...",
	.details =
		"It runs until SIGTERM, and publishes schedule, status and metrics in a state folder, as the plugin\n"
		"would. SIGHUP has it read FILE again, whose keys are those of fors.conf(5). With --once it reads\n"
		"and ends.\n"
		"Only questions leave this host: what the fabric has is read as any diagnostic program may. The\n"
		"reading counts when the subnet manager sent nothing meanwhile, or when two readings a second apart\n"
		"are equal. The exit code is 1 when the fabric does not come to rest within 30 seconds.\n",
	.max_operands = 0,
	.run = run,
};
