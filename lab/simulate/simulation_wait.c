/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* simulation_wait.c - who waits for whom, and for what: --wait, --ahead, --chunk, --ranks, --sigma. */
#include "simulation.h"
#include "lab/options.h"

#include "core/base/text.h"

#define CHUNKS_UNDER_WAY 4 /* of a rank, as libforsched-mpi has them */
#define MIN_CHUNK 8192
#define MAX_CHUNK 1048576

void cli_simulation_wait_settings(const struct cli_simulate *given, struct fors_sim_settings *set)
{
	static const enum fors_wait waits[] = {[CLI_WAIT_BARRIER] = FORS_WAIT_NONE,
					       [CLI_WAIT_OWN] = FORS_WAIT_OWN,
					       [CLI_WAIT_TOKENS] = FORS_WAIT_TOKENS,
					       [CLI_WAIT_TREE] = FORS_WAIT_TREE,
					       [CLI_WAIT_CHUNKS] = FORS_WAIT_NONE};

	set->has_barrier = !given->has_no_barrier;
	set->wait = waits[given->waiting];
	set->ahead = given->ahead ? given->ahead : 1;
	set->token = given->token.is_given ? given->token.value : set->token;
	set->message_jitter = given->message_jitter;
	set->window = given->window || given->waiting != CLI_WAIT_CHUNKS ? given->window : CHUNKS_UNDER_WAY;
}

/* As libforsched-mpi cuts messages of this size. */
static uint64_t chunk_of(const struct cli_simulate *given, uint64_t message)
{
	uint64_t half = message / 2;

	if (given->chunk.is_given && given->chunk.value)
		return given->chunk.value;
	return half < MIN_CHUNK ? MIN_CHUNK : half > MAX_CHUNK ? MAX_CHUNK : half;
}

static void replace(struct cli_simulation *sim, struct fors_program *program)
{
	fors_program_free(sim->program);
	sim->program = program;
}

int cli_simulation_reshape(const struct cli_simulate *given, struct cli_simulation *sim)
{
	struct fors_program *program = NULL;
	struct fors_error error = {0};
	enum fors_err err = FORS_OK;

	if (given->ranks > 1)
		err = fors_program_share(sim->program, given->ranks, &program, &error);
	if (!err && program)
		replace(sim, program);
	if (!err && given->sigma > 0)
		err = fors_program_vary(sim->program, given->sigma, sim->set.message, sim->set.seed, &error);
	if (err || given->waiting != CLI_WAIT_CHUNKS)
		return err ? cli_fail(&error) : CLI_GOOD;
	err = fors_program_cut(sim->program, sim->set.message, chunk_of(given, sim->set.message), &program, &error);
	if (err)
		return cli_fail(&error);
	replace(sim, program);
	return CLI_GOOD;
}

void cli_simulation_print_wait(const struct cli_simulate *given, const struct cli_simulation *sim)
{
	double token = (double)sim->set.token / 1e6;

	if (given->waiting == CLI_WAIT_OWN)
		printf("waiting     for a server's own messages of a phase, sent and received; %g us a token\n", token);
	else if (given->waiting == CLI_WAIT_TOKENS)
		printf("waiting     for those who had a link before; %g us a token\n", token);
	else if (given->waiting == CLI_WAIT_TREE)
		printf("waiting     for all, by a tree, %u %s later; %g us a token\n", sim->set.ahead,
		       fors_plural(sim->set.ahead, "phase", "phases"), token);
	else
		printf("waiting     for nobody; chunks of %llu %s to each in turn, %u under way\n",
		       (unsigned long long)chunk_of(given, sim->set.message),
		       fors_plural(chunk_of(given, sim->set.message), "byte", "bytes"), sim->set.window);
}

void cli_simulation_wait_json(const struct cli_simulate *given, const struct cli_simulation *sim, json_t *object)
{
	bool has_tokens = sim->set.wait != FORS_WAIT_NONE;

	json_object_set_new(object, "wait", json_string(given->has_no_barrier ? "none" : cli_waitings[given->waiting]));
	json_object_set_new(object, "token_ns", has_tokens ? json_real((double)sim->set.token / 1000) : json_null());
	json_object_set_new(object, "ahead",
			    sim->set.wait == FORS_WAIT_TREE ? json_integer(sim->set.ahead) : json_null());
	json_object_set_new(object, "chunk_bytes",
			    given->waiting == CLI_WAIT_CHUNKS
				    ? json_integer((json_int_t)chunk_of(given, sim->set.message))
				    : json_null());
	json_object_set_new(object, "ranks_per_server", json_integer(sim->program->nranks));
	json_object_set_new(object, "sigma", json_real(given->sigma));
	json_object_set_new(object, "payload_bytes", json_integer((json_int_t)sim->result->bytes));
}
