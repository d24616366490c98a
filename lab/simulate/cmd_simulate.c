/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmd_simulate.c - `fors simulate`: a pattern over a fabric in time, packet by packet. */
#include "simulation.h"
#include "lab/options.h"
#include "lab/page/page.h"

#include <stdlib.h>
#include "core/base/text.h"

#define LISTED 5 /* for people; --json lists all */

/* --- for people ------------------------------------------------------------------------------------------------- */

/* "12.3 us" of picoseconds, in text. */
static const char *duration(uint64_t ps, char text[32])
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ps / 1000;
	unsigned unit = 0;

	while (value >= 1000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, 32, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[unit]);
	return text;
}

static void print_barrier(const struct cli_simulation *sim)
{
	char cost[32], jitter[32];

	if (!sim->set.has_barrier) {
		printf("barrier     none: servers do not wait for one another%s\n",
		       sim->set.keeps_idle ? "; idle phases take their time" : "; idle phases are skipped");
		return;
	}
	if (sim->set.barrier)
		printf("barrier     %s after each phase", duration(sim->set.barrier, cost));
	else
		printf("barrier     after each phase, no barrier cost");
	printf("%s%s%s\n", sim->has_fitted ? ", fitted to what was measured" : "",
	       sim->set.jitter ? ", then up to " : "", sim->set.jitter ? duration(sim->set.jitter, jitter) : "");
}

static void print_heading(const struct cli_settings *settings, const struct cli_simulation *sim)
{
	const struct cli_analysis *a = &sim->analysis;

	printf("fabric      %s: %u %s, %u %s, cables of servers %g Gbit/s\n", a->title, sim->program->nservers,
	       fors_plural(sim->program->nservers, "server", "servers"), a->router.graph->nlinks,
	       fors_plural(a->router.graph->nlinks, "directed link", "directed links"), sim->line);
	printf("routing     %s%s%s\n", a->routing, sim->set.policy ? ", but in switches " : "",
	       sim->set.policy ? cli_policies[sim->set.policy] : "");
	printf("pattern     %s: %llu %s of %llu bytes%s in %u phase%s\n", a->pattern_name,
	       (unsigned long long)sim->result->nmessages, fors_plural(sim->result->nmessages, "message", "messages"),
	       (unsigned long long)sim->set.message, sim->program->size ? " or so" : "", sim->program->nsteps,
	       sim->program->nsteps == 1 ? "" : "s");
	if (cli_lab(settings)->simulate.waiting)
		cli_simulation_print_wait(&cli_lab(settings)->simulate, sim);
	else if (sim->load > 0)
		printf("load        %g of each server's cable, at random moments\n", sim->load);
	else
		print_barrier(sim);
}

static void print_deadlock(const struct cli_simulation *sim)
{
	const struct fors_sim_result *r = sim->result;
	char name[2 * FORS_NAME_MAX + 32];

	/* always several: one link cannot wait for itself */
	printf("%sdeadlock%s    %u links wait for one another; %llu packets never arrive:\n", cli_colour(CLI_RED),
	       cli_colour(CLI_PLAIN), r->ncycle, (unsigned long long)(r->sent - r->arrived));
	for (uint32_t i = 0; i < r->ncycle; i++) {
		cli_simulation_link(sim, r->cycle[i], name, sizeof(name));
		printf("              %s\n", name);
	}
}

static void print_figures(const struct cli_simulation *sim)
{
	const struct fors_sim_result *r = sim->result;
	double gbits = fors_sim_gbits(r, sim->program->nservers);
	uint32_t senders = cli_simulation_senders(sim);
	char time[32], bound[32];

	if (r->bound)
		printf("time        %s; the fullest links alone need %s\n", duration(r->time, time),
		       duration(r->bound, bound));
	else
		printf("time        %s\n", duration(r->time, time));
	printf("rate        %s%.1f Gbit/s%s per server, %.3f of its cable", cli_colour(CLI_BOLD), gbits,
	       cli_colour(CLI_PLAIN), sim->line > 0 ? gbits / sim->line : 0);
	if (sim->healthy > 0)
		printf("; %.3f of healthy, %g", gbits / sim->healthy, sim->healthy);
	if (sim->crossbar > 0)
		printf("; %.3f of one switch for all, %.1f", gbits / sim->crossbar, sim->crossbar);
	if (senders && senders < sim->program->nservers)
		printf("; %u of %u send, %.1f each", senders, sim->program->nservers,
		       gbits * sim->program->nservers / senders);
	printf("\n");
}

/* How long, which link was the fullest, and who had to wait for room. */
static void print_step(const struct cli_simulation *sim, uint32_t i)
{
	const struct fors_sim_step *step = &sim->result->step[i];
	char name[2 * FORS_NAME_MAX + 32], text[32];

	printf("              phase %u: %s", sim->program->phase[i], duration(step->end - step->begin, text));
	if (step->full != FORS_NONE) {
		cli_simulation_link(sim, step->full, name, sizeof(name));
		printf("; %s had %u message%s, %s alone", name, step->full_messages,
		       step->full_messages == 1 ? "" : "s", duration(step->bound, text));
	}
	printf("\n");
	if (step->link == FORS_NONE)
		return;
	cli_simulation_link(sim, step->link, name, sizeof(name));
	printf("                %u link%s waited for room, %u of them of servers; longest %s: %s\n",
	       step->waiting_links, step->waiting_links == 1 ? "" : "s", step->waiting_servers, name,
	       duration(step->stall, text));
}

static void print_steps(const struct cli_simulation *sim)
{
	uint32_t *worst, n = cli_simulation_worst_steps(sim, &worst);

	if (n > 1) {
		printf("slowest\n");
		for (uint32_t i = 0; i < n && i < LISTED; i++)
			print_step(sim, worst[i]);
	}
	free(worst);
}

/* Links that had something to send, and no room for it at the other end. */
static void print_stalls(const struct cli_simulation *sim)
{
	uint32_t *worst, n = cli_simulation_worst_links(sim, &worst);
	char name[2 * FORS_NAME_MAX + 32], text[32];

	printf("stalled     %u %s for room%s\n", n, fors_plural(n, "link waited", "links waited"),
	       n ? ", longest:" : "");
	for (uint32_t i = 0; i < n && i < LISTED; i++) {
		cli_simulation_link(sim, worst[i], name, sizeof(name));
		printf("              %s: %s\n", name, duration(sim->result->link[worst[i]].stall, text));
	}
	free(worst);
}

static void print_latency(const char *label, const struct fors_histogram *h)
{
	char median[32], most[32], p99[32];

	printf("%-12smedian %s, 99 %% within %s, at most %s\n", label, duration(fors_histogram_at(h, 0.5), median),
	       duration(fors_histogram_at(h, 0.99), p99), duration(h->max, most));
}

static void print_simulation(const struct cli_settings *settings, const struct cli_simulation *sim)
{
	const struct fors_sim_result *r = sim->result;

	print_heading(settings, sim);
	if (r->nbroken)
		printf("%sbroken%s      %llu %s, and %s left out (fors analyze says why)\n", cli_colour(CLI_RED),
		       cli_colour(CLI_PLAIN), (unsigned long long)r->nbroken,
		       fors_plural(r->nbroken, "message has no way to its server",
				   "messages have no way to their server"),
		       fors_plural(r->nbroken, "is", "are"));
	if (r->ncycle) {
		print_deadlock(sim);
		return;
	}
	print_figures(sim);
	print_steps(sim);
	print_stalls(sim);
	print_latency("messages", &r->message_ps);
	print_latency("packets", &r->packet_ps);
	printf("order       %llu of %llu packets came out of order\n", (unsigned long long)r->nreordered,
	       (unsigned long long)r->arrived);
	if (sim->set.qcn.has_limiters || sim->set.policy == FORS_POLICY_SWITCH_AR)
		printf("congestion  %llu %s%s\n", (unsigned long long)r->nnotices,
		       fors_plural(r->nnotices, "notification", "notifications"),
		       sim->set.qcn.has_limiters ? "; servers heed them" : "");
	if (r->noverflows)
		printf("%soverflow%s    %llu %s came to a full buffer\n", cli_colour(CLI_RED), cli_colour(CLI_PLAIN),
		       (unsigned long long)r->noverflows, fors_plural(r->noverflows, "packet", "packets"));
}

/* --- the command ------------------------------------------------------------------------------------------------ */

static int tell(const struct cli_settings *settings, const struct cli_simulation *sim)
{
	int code = CLI_GOOD;

	if (cli_lab(settings)->html)
		code = cli_write_page(settings, cli_simulation_page(sim, settings));
	if (code)
		return code;
	if (settings->is_json)
		code = cli_print_json(cli_simulation_json(sim, settings));
	else
		print_simulation(settings, sim);
	if (code || cli_simulation_is_sound(sim))
		return code;
	if (sim->result->ncycle)
		cli_error("deadlock: %u links wait for one another", sim->result->ncycle); /* always several */
	else
		cli_error("%llu %s", (unsigned long long)sim->result->nbroken,
			  fors_plural(sim->result->nbroken, "message has no way to its server",
				      "messages have no way to their server"));
	return CLI_NO;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct cli_simulation simulation;
	int code = cli_simulation_run(settings, &simulation);

	if (!code)
		code = tell(settings, &simulation);
	cli_simulation_free(&simulation);
	return code;
}

const struct cli_command cli_simulate_command = {
	.id = CLI_CMD_SIMULATE,
	.name = "simulate",
	.summary = CLI_SIMULATE_SUMMARY,
	.usage = "(--fabric FILE --lfts FILE | --synthetic SPEC --routing NAME) --pattern NAME",
	.details = "Works for any topology. Exit code 1 when packets wait for one another for ever, or messages\n"
		   "have no way.\n"
		   "Examples: fors simulate --fabric net --lfts lfts --pattern linear-shift --barrier 4us\n"
		   "          fors simulate --synthetic 'FT(2;20,18)' --routing fors --pattern plan --barrier none\n",
	.run = run,
};
