/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model. A call cannot be quicker than its fullest port: port bytes / rate of the link. Four ways come near to that
 * in different cases:
 *
 *	phases with barriers	turns x s + barriers	each phase lasts as long as its longest message
 *	chunks in turn		port x s		nobody waits for anybody, so flows may meet
 *	a demand's schedule	planned x s		where the call fits the demand: it was made for such sizes
 *	MPI's own		port x s		in whatever order MPI has
 *
 * s are seconds for each byte, and what a way loses to conflicts is in them. turns and port are of this call; the time
 * of a barrier is measured when a schedule is taken up. Before a call that does not go MPI's own way ranks speak, which
 * is added. Nobody tells the rate of the links, and what is on paper is not what a fabric gives to this program: s is what
 * earlier calls took, for each way and each class of demands. A way that was never taken is expected to have the best s
 * that MPI's own or chunks were seen to have: as if these had no conflicts at all. That is the most careful guess for
 * phases, for a link is no slower than what went over it. Where all messages are alike it would be too careful: a schedule
 * has more phases than a port has messages only where cables are too few, and what waits for them in phases does so in any
 * order. There MPI's time has turns / port in it already, and phases are expected to take that time and barriers.
 *
 * A demand's schedule may be longer than its fullest port needs where a leaf or a cable holds it up; these hold up the other
 * ways as well, which is in their s. So at first it is expected to take what its fullest port needs, and something for each
 * phase: a message or two one after another. ASKING_OF_A_PHASE is that in terms of what asking all ranks takes.
 *
 * So each class begins with MPI's own way, and another one is tried
 *
 * - at once, when it is expected to take at most AT_ONCE longer than the best known, and soon again, when SOON;
 * - later, when what that is expected to cost is a small part of the class's calls since the last time: NEW_SHARE of
 *   them, OLD_SHARE for a way that is known well;
 * - and never when it is expected to take more than LONGEST longer than MPI's own, for no call shall take much longer
 *   than it would without us. Only the first time that a way was so slow may be bad luck: it is tried once more, unless
 *   it took more than HOPELESS longer than the best.
 *
 * Whatever the guesses are worth, trials take a few hundredths of the time of all calls at most, and each choice but a
 * trial is one between times that were measured: the lower quartile of the last CHOICE_KEPT, for a machine has other
 * things to do now and then, and one time may be luck. MPI's own way is left only for one that is better by GAIN. The
 * first times are those of new connections, so a way that is little behind is soon tried again until it is well known.
 */
#include "config.h"

#include "choice.h"

#include <stddef.h>
#include <string.h>

#define AT_ONCE 0.02
#define SOON 0.03
#define LONGEST 0.05
#define NEW_SHARE 0.02
#define OLD_SHARE 0.01
#define HOPELESS 0.3
#define WELL_KNOWN CHOICE_KEPT /* samples */
#define PAUSE 16	       /* calls between two trials of a way that is known well, */
#define SHORT_PAUSE 4	       /* and of one that is not */
#define ASKING_OF_A_PHASE 0.25
#define GAIN 0.05      /* what another way than MPI's has to be better by */
#define MIN_CHUNK 8192 /* bytes; below that messages cost more than what they carry */
#define MAX_CHUNK 1048576

const char *forsched_mpi_way_name(enum way way)
{
	static const char *const name[NWAYS] = {"MPI's own way", "phases", "chunks", "the demand's phases"};

	return name[way];
}

/* ---- classes ---- */

static uint32_t size_of(const struct demand *demand)
{
	uint32_t size = 0;

	for (uint64_t left = demand->port >> 14; left && size + 1 < CHOICE_SIZES; left >>= 2)
		size++;
	return size;
}

static uint32_t skew_of(const struct demand *demand)
{
	static const double limit[CHOICE_SKEWS - 1] = {1.1, 1.35, 2};
	uint32_t skew = 0;

	while (skew + 1 < CHOICE_SKEWS && (double)demand->turns > limit[skew] * (double)demand->port)
		skew++;
	return skew;
}

/* ---- what is expected ---- */

static double bytes_waited_for(const struct demand *demand, enum way way)
{
	return (double)(way == WAY_PHASES ? demand->turns : way == WAY_DEMAND ? demand->planned : demand->port);
}

/* The same, for what a byte of MPI's own way or of chunks took. */
static double bytes_to_guess_by(const struct memory *memory, const struct demand *demand, enum way way)
{
	bool is_uniform = demand->longest * memory->messages == demand->port;

	if (way == WAY_DEMAND)
		return (double)demand->planned_port;
	return is_uniform && demand->turns > demand->port ? (double)demand->port : bytes_waited_for(demand, way);
}

static double fixed(const struct memory *memory, const struct demand *demand, enum way way)
{
	return way == WAY_PHASES && !demand->runs_free ? memory->barriers : 0;
}

/* The lower quartile of the last ones: the second least of five. What disturbs a call makes it longer. */
static double rate_of(const struct seen *seen)
{
	uint32_t n = seen->samples < CHOICE_KEPT ? seen->samples : CHOICE_KEPT;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t below = 0, equal = 0;

		for (uint32_t k = 0; k < n; k++) {
			below += seen->rate[k] < seen->rate[i];
			equal += seen->rate[k] == seen->rate[i];
		}
		if (below <= (n - 1) / 4 && (n - 1) / 4 < below + equal)
			return seen->rate[i];
	}
	return -1;
}

/* What a way was seen to take in the class nearest to this one; NULL: never taken. */
static const struct seen *nearest(const struct memory *memory, enum way way, uint32_t size, uint32_t skew)
{
	const struct seen *best = NULL;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < CHOICE_SIZES; i++) {
		for (uint32_t k = 0; k < CHOICE_SKEWS; k++) {
			uint32_t away = (i > size ? i - size : size - i) + 2 * (k > skew ? k - skew : skew - k);

			if (memory->seen[way][i][k].samples && away < least) {
				least = away;
				best = &memory->seen[way][i][k];
			}
		}
	}
	return best;
}

/* The fewest seconds for a byte of the fullest port that were seen so far. */
static double best_rate(const struct memory *memory)
{
	static const enum way by_port[] = {WAY_MPI, WAY_CHUNKS};
	double best = -1;

	for (uint32_t i = 0; i < 2 * CHOICE_SIZES * CHOICE_SKEWS; i++) {
		uint32_t class = i / 2;
		const struct seen *seen = &memory->seen[by_port[i % 2]][class / CHOICE_SKEWS][class % CHOICE_SKEWS];

		if (seen->samples && (best < 0 || rate_of(seen) < best))
			best = rate_of(seen);
	}
	return best;
}

static bool is_possible(const struct demand *demand, const struct choice *choice, enum way way)
{
	return way == WAY_CHUNKS ? choice->chunk > 0 : way == WAY_DEMAND ? demand->planned > 0 : true;
}

static double expect(const struct memory *memory, const struct demand *demand, const struct choice *choice,
		     enum way way)
{
	const struct seen *seen = nearest(memory, way, choice->size, choice->skew);
	double rate = seen ? rate_of(seen) : way == WAY_MPI ? -1 : best_rate(memory);
	double bytes = seen ? bytes_waited_for(demand, way) : bytes_to_guess_by(memory, demand, way);
	double phases = seen || way != WAY_DEMAND ? 0 : memory->phases * ASKING_OF_A_PHASE * memory->asking;

	if (rate < 0 || !is_possible(demand, choice, way))
		return -1;
	return bytes * rate + fixed(memory, demand, way) + phases + (way == WAY_MPI ? 0 : memory->asking);
}

double forsched_mpi_barrier_share(const struct memory *memory, const struct demand *demand)
{
	const struct seen *seen = nearest(memory, WAY_PHASES, size_of(demand), skew_of(demand));
	double rate = seen ? rate_of(seen) : best_rate(memory);
	double bytes = seen ? (double)demand->turns : bytes_to_guess_by(memory, demand, WAY_PHASES);

	return rate > 0 && bytes > 0 ? memory->barriers / (bytes * rate) : -1;
}

/* ---- the choice ---- */

/* Bytes of a chunk: half of a usual message of the fullest port, and no element is cut; 0: cannot be. */
static uint64_t chunk_of(const struct memory *memory, const struct demand *demand)
{
	uint64_t chunk = demand->port / (memory->messages ? memory->messages : 1) / 2;

	chunk = chunk < MIN_CHUNK ? MIN_CHUNK : chunk > MAX_CHUNK ? MAX_CHUNK : chunk;
	if (!demand->unit || demand->is_whole || demand->unit > 2 * chunk)
		return 0;
	return (chunk + demand->unit - 1) / demand->unit * demand->unit;
}

/* Would a trial make a call much longer than it is without us, or was that once and may have been bad luck? */
static bool is_too_slow(const struct memory *memory, const struct choice *choice, enum way way, double best)
{
	bool is_once = memory->seen[way][choice->size][choice->skew].samples == 1;

	if (choice->seconds[way] < 0 || choice->seconds[way] > (1 + HOPELESS) * best)
		return true;
	return !is_once && choice->seconds[way] > (1 + LONGEST) * choice->seconds[WAY_MPI];
}

/* Is it time to try a way that is expected to take longer than the best known, or was never taken? */
static bool is_worth_a_trial(const struct memory *memory, const struct choice *choice, enum way way, double best)
{
	const struct seen *seen = &memory->seen[way][choice->size][choice->skew];
	double longer = choice->seconds[way] / best - 1;
	double since = (double)(memory->calls[choice->size][choice->skew] - seen->last);
	bool is_known = seen->samples >= WELL_KNOWN;
	double share = is_known ? OLD_SHARE : NEW_SHARE, pause = is_known ? PAUSE : SHORT_PAUSE;

	if (is_too_slow(memory, choice, way, best) || (seen->samples && since < pause))
		return false;
	if (!is_known && longer <= (seen->samples ? SOON : AT_ONCE))
		return true;
	return longer <= share * since;
}

static bool is_seen(const struct memory *memory, const struct choice *choice, enum way way)
{
	return memory->seen[way][choice->size][choice->skew].samples > 0;
}

/* The quickest of those that were seen in this class; MPI's own was. */
static enum way quickest(const struct memory *memory, const struct choice *choice)
{
	enum way best = WAY_MPI;

	for (enum way way = WAY_PHASES; way < NWAYS; way++)
		if (is_seen(memory, choice, way) && choice->seconds[way] >= 0 &&
		    choice->seconds[way] < choice->seconds[best] * (best == WAY_MPI ? 1 - GAIN : 1))
			best = way;
	return best;
}

static void pick(const struct memory *memory, struct choice *choice)
{
	enum way best = quickest(memory, choice);

	choice->way = best;
	for (enum way way = WAY_MPI; way < NWAYS; way++) {
		if (way != best && is_worth_a_trial(memory, choice, way, choice->seconds[best])) {
			choice->way = way;
			choice->is_trial = true;
			return;
		}
	}
}

void forsched_mpi_choose(struct memory *memory, const struct demand *demand, struct choice *choice)
{
	*choice = (struct choice){.size = size_of(demand), .skew = skew_of(demand), .chunk = chunk_of(memory, demand)};
	choice->slowness = (double)demand->turns / (double)demand->port;
	memory->calls[choice->size][choice->skew]++;
	for (enum way way = WAY_MPI; way < NWAYS; way++)
		choice->seconds[way] = expect(memory, demand, choice, way);
	if (is_seen(memory, choice, WAY_MPI))
		pick(memory, choice);
	else
		choice->is_trial = true; /* MPI's own, the first in this class */
}

void forsched_mpi_learn(struct memory *memory, const struct demand *demand, enum way way, double seconds)
{
	uint32_t size = size_of(demand), skew = skew_of(demand);
	struct seen *seen = &memory->seen[way][size][skew];
	double rate;

	if (fixed(memory, demand, way) > seconds / 2) /* was measured in a bad moment */
		memory->barriers = seconds / 2;
	rate = (seconds - fixed(memory, demand, way)) / bytes_waited_for(demand, way);
	seen->rate[seen->samples % CHOICE_KEPT] = rate;
	seen->samples++;
	seen->last = memory->calls[size][skew];
}

void forsched_mpi_forget_demand(struct memory *memory, uint32_t phases)
{
	memset(memory->seen[WAY_DEMAND], 0, sizeof(memory->seen[WAY_DEMAND]));
	memory->phases = phases;
}
