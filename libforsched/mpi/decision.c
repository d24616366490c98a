/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call that follows the schedule waits in each phase, and that has to be little beside its messages. Two measurements
 * tell how little. When a schedule is taken up its phases run with empty messages: all that they take is waiting, in the
 * barriers where there are any, and for the partner where there are none. And the calls that are left to MPI before tell how
 * long a byte takes here, with this fabric, this MPI and this host. Both give the least message that follows: that of which
 * waiting is WAITING_SHARE.
 *
 * A rate holds for messages of about the size that it was measured with: short ones take longer for each byte. So it is
 * measured with the longest messages so far. A call of more than REACH times these is left to MPI, and measured.
 *
 * What phases take without data need not be what they take with it, where ranks share processors. So there is a safeguard: after two
 * calls in a row that followed and took SLOW of what MPI takes by its rate, the least message is twice theirs. That holds until
 * there is another schedule, or calls of far longer messages are measured anew.
 *
 * Equal messages go in phases. Unequal ones go in chunks in the order of the phases, for a phase would wait for its longest
 * message.
 */
#include "config.h"

#include "decision.h"

#include <stddef.h>

#define WAITING_SHARE 0.05
#define REACH 2
#define SLOW 1.1
#define MIN_CHUNK 8192 /* bytes; below that messages cost more than what they carry */
#define MAX_CHUNK 1048576

const char *forsched_mpi_way_name(enum way way)
{
	static const char *const name[NWAYS] = {"MPI's own way", "phases", "chunks"};

	return name[way];
}

void forsched_mpi_note_number(struct three *three, double number)
{
	three->number[three->n++ % 3] = number;
}

double forsched_mpi_middle(const struct three *three)
{
	double a = three->number[0], b = three->number[1], c = three->number[2];
	double low = a < b ? a : b, high = a < b ? b : a;

	return three->n < 3 ? -1 : c < low ? low : c > high ? high : c;
}

void forsched_mpi_begin_deciding(struct decision *decision, uint32_t peers, double waiting)
{
	*decision = (struct decision){.peers = peers, .waiting = waiting, .least = UINT64_MAX};
}

uint64_t forsched_mpi_mean(const struct decision *decision, const struct sizes *sizes)
{
	return sizes->rank / decision->peers;
}

uint64_t forsched_mpi_most(const struct decision *decision)
{
	return decision->reach > UINT64_MAX / REACH ? UINT64_MAX : REACH * decision->reach;
}

uint64_t forsched_mpi_chunk(const struct decision *decision, const struct sizes *sizes, uint64_t wanted)
{
	uint64_t chunk = forsched_mpi_mean(decision, sizes) / 2;

	chunk = chunk < MIN_CHUNK ? MIN_CHUNK : chunk > MAX_CHUNK ? MAX_CHUNK : chunk;
	if (!sizes->unit || sizes->is_whole || sizes->unit > 2 * chunk)
		return 0;
	chunk = wanted ? wanted : chunk;
	return (chunk + sizes->unit - 1) / sizes->unit * sizes->unit;
}

enum way forsched_mpi_decide(const struct decision *decision, const struct sizes *sizes)
{
	uint64_t mean = forsched_mpi_mean(decision, sizes);

	if (mean < decision->least || mean > forsched_mpi_most(decision))
		return WAY_MPI;
	if (sizes->longest == mean)
		return WAY_PHASES;
	return forsched_mpi_chunk(decision, sizes, 0) ? WAY_CHUNKS : WAY_MPI;
}

static uint64_t least_of(double bytes)
{
	return bytes < (double)INT64_MAX ? (uint64_t)bytes : UINT64_MAX - 1;
}

/* MPI's own way took so long: of messages about as long as the longest ones so far that counts. */
static void learn_rate(struct decision *decision, const struct sizes *sizes, double seconds)
{
	uint64_t mean = forsched_mpi_mean(decision, sizes);
	double rate;

	if (mean > forsched_mpi_most(decision)) {
		decision->rate.n = 0;
		decision->least = UINT64_MAX;
		decision->reach = mean;
	}
	if (mean < decision->reach / REACH)
		return;
	forsched_mpi_note_number(&decision->rate, seconds / (double)sizes->rank);
	rate = forsched_mpi_middle(&decision->rate);
	if (rate > 0 && decision->waiting > 0 && decision->least == UINT64_MAX)
		decision->least = least_of(decision->waiting / WAITING_SHARE / rate / decision->peers);
}

void forsched_mpi_learn(struct decision *decision, const struct sizes *sizes, enum way way, double seconds)
{
	if (!sizes->rank)
		return;
	if (way == WAY_MPI) {
		learn_rate(decision, sizes, seconds);
		return;
	}
	decision->slow++;
	if (seconds <= SLOW * forsched_mpi_middle(&decision->rate) * (double)sizes->rank)
		decision->slow = 0;
	if (decision->slow < 2)
		return;
	decision->slow = 0;
	decision->least = 2 * forsched_mpi_mean(decision, sizes);
}
