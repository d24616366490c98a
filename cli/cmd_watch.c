/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_watch.c - `fors watch`: the fabric as it is, read from a port of this host beside whatever subnet manager runs it.
 *
 * Another program does the reading, fors-watch of the package of that name: this one needs no InfiniBand library, nor
 * the right to open a port. It becomes that program, or runs it where fors-lab has more to say.
 */
#define _GNU_SOURCE /* asprintf */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/beside.h"

#define PROGRAM "fors-watch"
#define CONFIG "/etc/fors/watch.conf"
#define RATE 20000 /* packets in a second */
#define RETRIES 3
#define MOST_WORDS 16

/* The words for it. Owned, as far as they are there. */
struct words {
	char *word[MOST_WORDS + 1];
	unsigned count;
	bool is_short; /* out of memory */
};

static void add(struct words *words, char *word)
{
	words->is_short |= !word || words->count == MOST_WORDS;
	if (!word || words->count == MOST_WORDS)
		free(word);
	else
		words->word[words->count++] = word;
}

static void add_text(struct words *words, const char *name, const char *text)
{
	char *word = NULL;

	if (text)
		add(words, asprintf(&word, "%s=%s", name, text) < 0 ? NULL : word);
}

static void add_number(struct words *words, const char *name, unsigned number)
{
	char *word = NULL;

	add(words, asprintf(&word, "%s=%u", name, number) < 0 ? NULL : word);
}

static void clear(struct words *words)
{
	for (unsigned i = 0; i < words->count; i++)
		free(words->word[i]);
}

static void fill(struct words *words, const struct cli_watch *given, const char *verb)
{
	add(words, strdup(PROGRAM));
	add(words, strdup(verb));
	add_text(words, "ca", given->ca);
	add_number(words, "port", given->port);
	add_text(words, "m-key-file", given->m_key_file);
	add_number(words, "window", given->window);
	add_number(words, "rate", given->has_rate ? given->rate : RATE);
	add_number(words, "timeout", given->timeout);
	add_number(words, "retries", given->has_retries ? given->retries : RETRIES);
}

/* Read into these files; stays: the command goes on afterwards. Returns an exit code. */
static int read_into(const struct cli_watch *given, const char *net, const char *lfts, bool stays)
{
	struct words words = {.count = 0};
	int code = CLI_BAD;

	fill(&words, given, "once");
	add_text(&words, "net", net);
	add_text(&words, "lfts", lfts);
	if (words.is_short)
		cli_error("out of memory");
	else
		code = stays ? cli_run_beside(PROGRAM, words.word) : cli_become(PROGRAM, words.word);
	clear(&words);
	return code;
}

/* What the lab says of these files; its exit code. */
static int tell(const char *net, const char *lfts)
{
	struct words words = {.count = 0};
	int code = CLI_BAD;

	add(&words, strdup("fors-lab"));
	add(&words, strdup("explain"));
	add(&words, strdup(net));
	add(&words, strdup(lfts));
	if (words.is_short)
		cli_error("out of memory");
	else
		code = cli_run_beside("fors-lab", words.word);
	clear(&words);
	return code;
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

/* The file of settings as an absolute path, which may be what it is called by default; NULL: there is none. */
static char *find_config(const struct cli_watch *given)
{
	if (!given->config)
		return access(CONFIG, F_OK) ? NULL : strdup(CONFIG);
	return realpath(given->config, NULL);
}

static int serve(const struct cli_watch *given)
{
	char *config = find_config(given);
	struct words words = {.count = 0};
	int code = CLI_BAD;

	if (given->config && !config) {
		cli_error("%s: %s", given->config, strerror(errno));
		return CLI_BAD;
	}
	fill(&words, given, "serve");
	add_text(&words, "config", config);
	if (words.is_short)
		cli_error("out of memory");
	else
		code = cli_become(PROGRAM, words.word);
	free(config);
	clear(&words);
	return code;
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
