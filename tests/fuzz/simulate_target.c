/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Command lines of `fors simulate`: an input is its options, one word a line. What is accepted, and small, runs: over one
 * of the fabrics below, without files. So every reader of sizes, times, parts, cables and servers meets what people may
 * write, and the simulator what no test thought of: slow links, buffers of one packet, lanes and policies in any mix.
 *
 * What is said goes to /dev/null; the exit code has to be one of three.
 */
#include "simulate_target.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "lab/simulate/simulation.h"

#define MOST_WORDS 40
#define MOST_PACKETS 64	 /* of a message */
#define MOST_MESSAGES 50 /* of a server, with --load */
#define MOST_DIGITS 3	 /* of numbers in a pattern, and of times in --server-load */

static const char *const fabrics[] = {"FT(2;3,3)",	     "FT(2;4,3;servers=2)",    "XGFT(3;2,2,2;1,2,2)",
				      "PGFT(2;2,3;1,2;1,2)", "TORUS(3x3;1)",	       "CUBE(3;1)",
				      "DRAGONFLY(2,1,3;1)",  "DFPLUS(2,2,1,3;1)",      "RRG(6,3,1;1)",
				      "FLEXFLY(2,2,3;1)",    "FLEXSPANDER(3,2,1,3;1)", NULL};

static bool is_listed(const char *name, const char *const *names)
{
	while (name && *names && strcmp(name, *names))
		names++;
	return name && *names;
}

/* Has no number of more digits than `most`, and none with an exponent. */
static bool has_short_numbers(const char *text, size_t most)
{
	for (; *text; text++) {
		size_t digits = strspn(text, "0123456789");

		if (digits > most || (digits && (text[digits] == 'e' || text[digits] == 'E')))
			return false;
		text += digits ? digits - 1 : 0;
	}
	return true;
}

/* "3=0.45,10us,30us" ends within microseconds. */
static bool ends_soon(const char *offer)
{
	const char *comma = strchr(offer, ',');

	if (!comma)
		return true;
	for (const char *s = strchr(comma, 's'); s; s = strchr(s + 1, 's'))
		if (!strchr("nup", s[-1]))
			return false;
	return has_short_numbers(comma, MOST_DIGITS);
}

static bool has_files(const struct cli_settings *s)
{
	return s->source.fabric || s->source.participants || s->lfts || s->schedule || cli_lab(s)->pattern_file ||
	       cli_lab(s)->html || cli_lab(s)->simulate.blocks;
}

/* Is it done within a moment? */
static bool is_small(const struct cli_settings *s)
{
	const struct cli_simulate *given = &cli_lab(s)->simulate;
	uint64_t message = given->message.is_given ? given->message.value : 65536;
	uint64_t mtu = given->mtu.is_given ? given->mtu.value : 4096;

	if (message / (mtu ? mtu : 1) > MOST_PACKETS || given->messages > MOST_MESSAGES ||
	    (given->load > 0 && !given->messages))
		return false;
	if (given->ranks > 3 || given->sigma > 1 || (given->chunk.is_given && given->chunk.value < 256))
		return false;
	if (given->server_load.count && message < 1024)
		return false;
	for (size_t i = 0; i < given->server_load.count; i++)
		if (!ends_soon(given->server_load.text[i]))
			return false;
	return !cli_lab(s)->pattern || has_short_numbers(cli_lab(s)->pattern, MOST_DIGITS);
}

/* argv of the lines; how many. */
static int split(char *text, char **argv)
{
	int n = 0;

	argv[n++] = (char[]){"simulate"};
	for (char *line = strtok(text, "\n"); line && n < MOST_WORDS; line = strtok(NULL, "\n"))
		argv[n++] = line;
	argv[n] = NULL;
	return n;
}

/* What no option may change: nothing is lost, nothing comes to a full buffer, and one way keeps the order. */
static void check(const struct cli_settings *settings)
{
	struct cli_simulation sim;

	if (cli_simulation_run(settings, &sim) == CLI_GOOD) {
		const struct fors_sim_result *r = sim.result;
		bool has_one_way = sim.set.policy == FORS_POLICY_TABLES || sim.set.policy == FORS_POLICY_HASHED;

		if (r->arrived > r->sent || (r->arrived < r->sent && !r->ncycle) || r->noverflows ||
		    (has_one_way && r->nreordered))
			abort();
		if (!r->ncycle && sim.set.policy == FORS_POLICY_TABLES && r->time < r->bound)
			abort();
	}
	cli_simulation_free(&sim);
}

static int simulate(int argc, char **argv)
{
	struct cli_lab_settings lab = {.phases = 0};
	struct cli_settings *settings = &lab.base;
	char **operand = NULL;
	int code;

	optind = 0; /* glibc: begin anew */
	code = cli_parse(&cli_simulate_command, argc, argv, settings, &operand);
	if (code == CLI_GOOD &&
	    (has_files(settings) || !is_listed(settings->source.synthetic, fabrics) || !is_small(settings)))
		code = CLI_BAD;
	if (code == CLI_GOOD) {
		check(settings);
		code = cli_simulate_command.run(settings, operand);
	}
	cli_settings_clear(settings);
	return code;
}

/* All that is said goes nowhere; a sanitizer writes to its descriptor itself. */
static void be_quiet(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	stdout = stderr = nowhere;
}

bool fuzz_simulate(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[MOST_WORDS + 1];
	FILE *out = stdout, *err = stderr;
	int code;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	be_quiet();
	code = simulate(split(text, argv), argv);
	stdout = out;
	stderr = err;
	free(text);
	if (code < -1 || code > CLI_BAD)
		abort();
	return code == CLI_GOOD;
}
