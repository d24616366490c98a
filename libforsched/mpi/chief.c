/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rank 0 of a communicator sees and decides. It alone reads settings, the schedule and the heartbeat, and remembers
 * how long calls took (choice.c); what follows from that goes into its word, which all ranks obey.
 *
 * Looking at the file costs some microseconds, and asking all ranks a reduction and a broadcast. Both are done where they
 * are little beside the call: the file is looked at before large calls, a thousand times a second at most, and on a
 * communicator without a schedule ten times a second; there, and where MPI's own way has won again and again, ranks are
 * told to leave the next calls to MPI without a word. After small calls they speak while MPI does the next one, and where
 * that hides too little, not before as many more. Large calls are left to MPI then until ranks speak, when they tell of them;
 * and each time that this happens it takes twice as many small calls. A schedule is taken up in steps over several calls, so
 * few in each that they are a small part of it. Where calls are too short for that, it is taken up when taking up the last one was a
 * fiftieth of the time that large calls have taken here; meanwhile most of them are left to MPI without a word.
 *
 * Whose heartbeat: a schedule that no subnet manager stands behind any more stays right until a link changes, and after
 * that it is slower than planned, but still an exchange. So it is followed, and a person is told once. With
 * FORSCHED_STRICT=1 it is not: rank 0 looks at the heartbeat as often as at the schedule, and tells the others to
 * forget the schedule when it is stale, or missing, and broadcasts it again when it is fresh again.
 */
#include "config.h"

#include "follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BYTES 16384	  /* FORSCHED_MIN_BYTES, usually */
#define LOOK_LARGE 0.001  /* seconds between looks at the file, before large calls */
#define LOOK_SELDOM 0.1	  /* where there is no schedule to follow */
#define MOST_QUIET 65536  /* calls without a word */
#define LONG_CALL 0.0005  /* seconds: below, asking may cost what it costs */
#define ASKING_SHARE 0.02 /* of a long call that is left to MPI */
#define MOST_UNASKED 64	  /* calls, where there is a schedule */
#define LONG_ASKING 0.03  /* of a long call: ranks speak while MPI does it */
#define OPEN_ASKING 0.1	  /* of a long call: more is not hidden by that */
#define FORGOTTEN 0.7	  /* of what asking takes is believed after that: it is not seen then, and may be less again */
#define FADED 0.95	  /* the same of small calls, most of which nobody asks about */
#define TAKING_UP_SHARE 0.02 /* of the time of large calls */
#define STEPS_SHARE 0.02     /* of a call in which steps of that are done, usually; */
#define MOST_SHARE 0.04	     /* of a call, by the heaviest step, */
#define HEAVIEST 4	     /* which takes as long as asking so often, */
#define WHOLE 14	     /* and all together so often */
#define PIECES 64	     /* a call sends so many times what a step broadcasts of the schedule, */
#define LEAST_PIECE 16384    /* bytes, but not less than these */
#define LESS 0.5	     /* how much counts that asking took less than was known, */
#define MORE 0.125	     /* and that it took more: ranks that come late are no cost of asking */

struct chief {
	struct forsched *file; /* the newest schedule seen */
	bool is_fit;	       /* it is not withdrawn */
	bool is_refused;       /* nobody stands behind it, and FORSCHED_STRICT is set */
	bool is_unusable;      /* ranks could not take it up */
	bool is_untold;	       /* the others do not know of it */
	struct demand_file demand_file;
	double looked, spoke;	      /* when, last */
	uint64_t looked_at, spoke_at; /* before which call */
	double spent, last;	      /* in large calls, since a schedule was taken up; in the last one */
	double asking;		      /* what it takes; 0: not known */
	uint64_t waits;		      /* calls that were left unasked the last time, before a schedule is followed */
	struct memory memory;
	struct waiting waiting;
	uint64_t smalls, enough; /* small calls in a row, and after how many ranks speak beside them */
	uint64_t unasked;	 /* that nobody will ask about */
	double small;		 /* seconds of one; 0: not known */
	bool is_timed;		 /* the last call was large: */
	struct demand demand;	 /* what it was, */
	uint64_t bytes;		 /* of each message where all are alike, or 0 */
	enum way way;		 /* and how it went */
	double unlearned;	 /* seconds of a call whose turns were not known yet; 0: none */
	uint64_t said;		 /* what was said of it, */
	uint64_t said_before;	 /* and of barriers */
};

/* What it took the last time, on any communicator, in nanoseconds; 0: not known. */
static uint64_t taking_up;

struct chief *forsched_mpi_chief_new(void)
{
	struct chief *chief = calloc(1, sizeof(*chief));

	if (chief)
		chief->enough = 1;
	return chief;
}

void forsched_mpi_chief_free(struct chief *chief)
{
	if (chief)
		forsched_close(chief->file);
	if (chief)
		forsched_close(chief->demand_file.file);
	free(chief);
}

/* ---- settings ---- */

/* What FORSCHED_WAY says; NWAYS: the quickest. */
static enum way wanted_way(void)
{
	static const char *const name[NWAYS] = {"mpi", "phases", "chunks", "demand"};
	const char *value = forsched_mpi_setting("FORSCHED_WAY");

	for (enum way way = WAY_MPI; value && way < NWAYS; way++)
		if (strcmp(value, name[way]) == 0)
			return way;
	if (value && strcmp(value, "auto") != 0)
		forsched_mpi_say(false, "FORSCHED_WAY=%.100s is none of auto, phases, chunks, demand, mpi; taking auto",
				 value);
	return NWAYS;
}

/* Who says which way wants it for all calls. */
static uint64_t min_bytes(void)
{
	return forsched_mpi_number("FORSCHED_MIN_BYTES", wanted_way() == NWAYS ? MIN_BYTES : 0);
}

/* FORSCHED_CHUNK, in whole elements; what is not set, or 0, is chosen. */
static uint64_t chunk_of(const struct demand *demand, const struct choice *choice)
{
	uint64_t bytes = forsched_mpi_number("FORSCHED_CHUNK", 0);

	if (!bytes || !choice->chunk || bytes > UINT32_MAX)
		return choice->chunk;
	return (bytes + demand->unit - 1) / demand->unit * demand->unit;
}

/* Every so many calls the file is looked at; *is_counted is false where it goes by the clock. */
static uint64_t check_every(bool *is_counted)
{
	*is_counted = forsched_mpi_setting("FORSCHED_CHECK") != NULL;
	return forsched_mpi_number("FORSCHED_CHECK", 1);
}

/* ---- the schedule ---- */

char *forsched_mpi_find(const char *path)
{
	struct forsched_error error;
	char *found = NULL;

	if (forsched_job_path(path, NULL, &found, &error))
		forsched_mpi_say(false, "%s", error.text);
	return found;
}

/*
 * Is the file in use another one than would be opened now? So it is when the job's schedule has come after the first
 * look.
 */
static bool is_elsewhere(const struct forsched *file, const char *path)
{
	struct forsched_info info;

	forsched_info(file, &info);
	return strncmp(info.name, path, strlen(path)) != 0;
}

/* A newer schedule than that in use, checked as a whole; NULL: none. */
static struct forsched *look(const struct chief *chief, const char *path)
{
	struct forsched *newer = NULL;
	struct forsched_error error;
	char *found = forsched_mpi_find(path);
	enum forsched_err err;

	if (!found)
		return NULL;
	err = chief->file && !is_elsewhere(chief->file, found) ? forsched_open_newer(chief->file, &newer, &error)
							       : forsched_open(found, &newer, &error);
	free(found);

	if (!err && newer)
		err = forsched_check(newer, &error);
	if (!err)
		return newer;
	forsched_mpi_say(false, "%s", error.text);
	forsched_close(newer);
	return NULL;
}

/*
 * Is there nobody behind the schedule any more? A person is told. One without a heartbeat may have been made by hand,
 * or brought by a publish_command: only the strict want to hear more of it.
 */
static bool is_abandoned(const struct forsched *schedule, bool is_strict)
{
	struct forsched_heartbeat beat = {0};
	struct forsched_info info;
	enum forsched_err err = forsched_heartbeat(schedule, &beat, NULL);
	const char *what = err == FORSCHED_EFILE ? "cannot be read"
			   : err		 ? "cannot be understood"
			   : beat.age_ms < 0	 ? "is in the future"
						 : "is old";

	if ((!err && !forsched_heartbeat_is_stale(&beat)) || (err == FORSCHED_EFILE && !is_strict))
		return false;
	forsched_info(schedule, &info);
	forsched_mpi_say(
		false, "%s: the heartbeat beside it %s: %s", info.name, what,
		is_strict ? "left to MPI, for FORSCHED_STRICT is set"
			  : "no subnet manager stands behind the schedule. It is followed all the same, since it "
			    "stays right until a link changes; FORSCHED_STRICT=1 leaves it to MPI");
	return true;
}

/*
 * A schedule that is withdrawn is for nobody, and one of a demand has not all pairs: it is followed beside one that has.
 * Whether another is for this communicator, ranks find out together.
 */
static bool is_for_nobody(const struct forsched *schedule)
{
	struct forsched_sizes sizes;
	struct forsched_info info;

	forsched_info(schedule, &info);
	if (!info.nphases)
		forsched_mpi_say(true, "epoch %llu: withdrawn: %s: left to MPI", (unsigned long long)info.epoch,
				 info.reason);
	forsched_sizes(schedule, &sizes);
	if (sizes.has_demand)
		forsched_mpi_say(false, "%s: the schedule of a demand: left to MPI; FORSCHED_DEMAND is for it",
				 info.name);
	return !info.nphases || sizes.has_demand;
}

/* Take over a newer schedule when there is one. Has anything changed of what the others were told? */
static bool has_news(struct member *member, const char *path)
{
	struct chief *chief = member->chief;
	struct forsched *newer = look(chief, path);
	bool was_refused = chief->is_refused, is_strict;

	chief->looked = forsched_mpi_now();
	chief->looked_at = member->calls;
	if (newer) {
		forsched_close(chief->file);
		chief->file = newer;
		chief->is_fit = !is_for_nobody(newer);
		chief->is_unusable = false;
	}
	if (chief->is_fit) {
		forsched_mpi_look_for_demand(&chief->demand_file, chief->file);
		is_strict = forsched_mpi_number("FORSCHED_STRICT", 0) != 0;
		chief->is_refused = is_abandoned(chief->file, is_strict) && is_strict;
	}
	return newer || chief->is_refused != was_refused;
}

/* Is it time to look at the file? The first call always does. */
static bool is_due(const struct member *member, bool is_large)
{
	const struct chief *chief = member->chief;
	bool is_counted;
	uint64_t every = check_every(&is_counted), since = member->calls - chief->looked_at;

	if (!chief->looked_at)
		return true;
	if (is_counted)
		return every && since >= every;
	if (!since || (member->is_weighing && !is_large))
		return false;
	return forsched_mpi_now() - chief->looked >= (member->is_weighing ? LOOK_LARGE : LOOK_SELDOM);
}

static bool is_usable(const struct chief *chief)
{
	return chief->file && chief->is_fit && !chief->is_refused && !chief->is_unusable;
}

/* ---- taking up a schedule ---- */

/* The weight of the steps that are a small part of a call like the last one; asking weighs 1. */
static double weight_of_a_call(const struct chief *chief)
{
	return chief->asking > 0 ? STEPS_SHARE * chief->last / chief->asking : 0;
}

/* Is any step a small part of a call like the last one? */
static bool are_steps_short(const struct chief *chief)
{
	return HEAVIEST * chief->asking <= MOST_SHARE * chief->last;
}

/*
 * Calls to be left to MPI without asking, where asking is no small part of a call and no schedule is followed: twice as
 * many each time. What machine and program do, changes at times.
 */
static uint64_t calls_to_wait(struct chief *chief)
{
	if (chief->last < LONG_CALL || are_steps_short(chief))
		return chief->waits = 0;
	chief->waits = chief->waits ? 2 * chief->waits : 1;
	return chief->waits = chief->waits > MOST_UNASKED ? MOST_UNASKED : chief->waits;
}

/* Is it worth its time to have all ranks take up the schedule now? */
static bool is_worth_it(const struct chief *chief, bool is_large)
{
	double cost = (double)__atomic_load_n(&taking_up, __ATOMIC_RELAXED) * 1e-9;
	enum way way = wanted_way();

	if (way != NWAYS)
		return way != WAY_MPI;
	if (!is_large || !chief->spent)
		return false;
	return are_steps_short(chief) || chief->spent * TAKING_UP_SHARE >= (cost > 0 ? cost : WHOLE * chief->asking);
}

/* How much of it in each call: of `whole` bytes. Who says a way has it all at once. */
static void pace(const struct chief *chief, struct word *word, uint64_t whole)
{
	double weight = weight_of_a_call(chief), piece = (double)chief->demand.port / PIECES;

	word->weight = wanted_way() != NWAYS || weight >= ALL_STEPS ? ALL_STEPS : (uint64_t)weight;
	word->piece = piece < LEAST_PIECE ? LEAST_PIECE : (uint64_t)piece;
	if (word->weight == ALL_STEPS)
		word->piece = whole;
}

/* Put what others do not know into the word, if it is time for it. */
static void tell(struct member *member, bool is_large, struct word *word, void **bytes)
{
	struct chief *chief = member->chief;
	struct forsched_error error;
	size_t size = 0;

	if (!chief->is_untold || (is_usable(chief) && !is_worth_it(chief, is_large)))
		return;
	chief->is_untold = false;
	chief->demand_file.is_untold = chief->demand_file.file != NULL; /* who changes over, forgets it */
	word->is_new = 1;
	word->epoch = forsched_epoch(chief->file);
	if (!is_usable(chief))
		return;
	forsched_mpi_warn_of_paths(chief->file);
	if (forsched_copy(chief->file, bytes, &size, &error))
		forsched_mpi_say(false, "%s", error.text);
	word->size = size;
	pace(chief, word, size);
	chief->is_unusable = !size;
}

/* ---- that of a demand ---- */

static bool is_demand_usable(const struct demand_file *demand)
{
	return demand->file && demand->is_fit && !demand->is_unusable;
}

/* Is it worth its time now? It is for MPI_Alltoallv and MPI_Alltoallw, and may have more bytes than the other schedule. */
static bool is_demand_worth_it(const struct member *member, const struct heard *heard, bool is_large)
{
	const struct chief *chief = member->chief;
	double cost = (double)__atomic_load_n(&taking_up, __ATOMIC_RELAXED) * 1e-9;
	uint64_t cells = (uint64_t)member->size * forsched_nphases(chief->demand_file.file);

	if (!heard || heard->bytes || !is_large || !heard->demand.port)
		return false;
	if (wanted_way() != NWAYS)
		return wanted_way() == WAY_DEMAND;
	cost += chief->last / (double)heard->demand.port * (double)(cells * sizeof(struct portion_cell));
	return chief->spent > 0 && (are_steps_short(chief) || chief->spent * TAKING_UP_SHARE >= cost);
}

/* Put news of it into the word, once all follow the schedule that it goes with. */
static void tell_of_demand(struct member *member, const struct heard *heard, bool is_large, struct word *word)
{
	struct chief *chief = member->chief;
	struct demand_file *demand = &chief->demand_file;
	bool is_usable = is_demand_usable(demand);

	if (!demand->is_untold || word->is_new || !member->is_following ||
	    (is_usable && !is_demand_worth_it(member, heard, is_large)))
		return;
	demand->is_untold = false;
	if (!is_usable) {
		word->demand = member->portions.nphases ? DEMAND_GONE : DEMAND_SAME;
		return;
	}
	forsched_mpi_warn_of_paths(demand->file);
	word->demand = DEMAND_NEW;
	word->epoch = forsched_epoch(demand->file);
	pace(chief, word, UINT64_MAX);
}

const struct forsched *forsched_mpi_demand_taken(const struct member *member)
{
	return member->chief->demand_file.file;
}

void forsched_mpi_demand_taken_up(struct member *member, bool is_followed)
{
	struct chief *chief = member->chief;

	chief->demand_file.is_unusable = !is_followed;
	forsched_mpi_forget_rows(&chief->demand_file);
	chief->is_timed = false;
	forsched_mpi_forget_demand(&chief->memory, member->portions.nphases);
}

/* The most messages that a server has for others. */
static uint64_t messages_of_a_port(const struct member *member)
{
	uint64_t most = 1;

	for (uint32_t place = 0; place < member->places.n; place++) {
		uint64_t here = (uint64_t)forsched_mpi_ranks_at(&member->places, place);
		uint64_t messages = here * ((uint64_t)member->size - here);

		most = messages > most ? messages : most;
	}
	return most;
}

void forsched_mpi_taken_up(struct member *member, double seconds, double barrier)
{
	struct chief *chief = member->chief;

	chief->is_unusable = !member->is_following;
	chief->spent = 0;
	chief->waits = 0;
	chief->is_timed = false;
	__atomic_store_n(&taking_up, (uint64_t)(seconds * 1e9), __ATOMIC_RELAXED);
	memset(&chief->memory, 0, sizeof(chief->memory));
	memset(&chief->waiting, 0, sizeof(chief->waiting));
	if (!member->is_following)
		return;
	chief->memory.messages = messages_of_a_port(member);
	if (member->may_have_barrier)
		chief->memory.barriers = barrier * (member->turns.n - 1);
}

/* ---- the way of a call ---- */

void forsched_mpi_asked(struct member *member, double seconds)
{
	struct chief *chief = member->chief;

	if (!chief->asking)
		chief->asking = seconds;
	else
		chief->asking += (seconds < chief->asking ? LESS : MORE) * (seconds - chief->asking);
}

/* What the last call took is known now. */
static void learn(struct chief *chief, const struct heard *heard)
{
	if (!chief->is_timed || heard->took <= 0)
		return;
	chief->spent += heard->took * (double)(1 + chief->waits); /* those unasked are taken to be alike */
	chief->last = heard->took;
	if (chief->demand.turns && chief->way == WAY_PHASES && chief->bytes)
		forsched_waiting_learn(&chief->waiting, chief->bytes, !chief->demand.runs_free, heard->took);
	if (chief->demand.turns)
		forsched_mpi_learn(&chief->memory, &chief->demand, chief->way, heard->took);
	else
		chief->unlearned = heard->took;
}

/* The call before a schedule was taken up, if it was the same as this one, tells of MPI's own way, too. */
static void learn_late(struct chief *chief, const struct demand *before, const struct demand *now)
{
	if (chief->unlearned > 0 && now->turns && before->port == now->port && before->longest == now->longest)
		forsched_mpi_learn(&chief->memory, now, WAY_MPI, chief->unlearned);
	if (now->turns)
		chief->unlearned = 0;
}

/* Does nobody say which way calls go, or when ranks speak? */
static bool is_free(void)
{
	bool is_counted;

	check_every(&is_counted);
	return wanted_way() == NWAYS && !is_counted;
}

/* Small calls in a row, of which those count that nobody asked about, and how long one takes. */
static void learn_small(struct chief *chief, const struct heard *heard, bool is_large)
{
	if (chief->smalls && !chief->is_timed && heard->took > 0)
		chief->small = heard->took;
	if (is_large && chief->smalls >= chief->enough && heard->is_aside && chief->enough < MOST_QUIET)
		chief->enough *= 2;
	chief->smalls = is_large ? 0 : chief->smalls + 1 + chief->unasked;
	chief->unasked = 0;
}

/* Is asking no small part of the small calls that come now? As long as nobody knows how long one takes, it may be. */
static bool is_asking_long(const struct chief *chief)
{
	return chief->smalls >= chief->enough &&
	       (!chief->small || (chief->small >= LONG_CALL && chief->asking > LONG_ASKING * chief->small));
}

/* Calls to be left to MPI unasked after small ones: where MPI's call does not hide what asking takes, as many as there were. */
static uint64_t small_calls_unasked(struct chief *chief)
{
	double calls = chief->small > 0 ? chief->asking / (ASKING_SHARE * chief->small) : 0;

	if (!is_free() || !is_asking_long(chief) || chief->asking < OPEN_ASKING * chief->small)
		return 0;
	calls = calls < (double)chief->smalls ? calls : (double)chief->smalls;
	return chief->unasked = calls > MOST_UNASKED ? MOST_UNASKED : (uint64_t)calls;
}

/*
 * Are ranks to speak while MPI does the call, as long as no schedule is followed, or calls are small? So they do before
 * anything is known but that calls are large.
 */
static bool is_aside(const struct member *member, const struct word *word, bool is_large)
{
	const struct chief *chief = member->chief;

	if (!word->is_weighing || word->is_new || !is_free())
		return false;
	if (word->is_for_small)
		return is_asking_long(chief);
	if (!is_large || member->is_following)
		return false;
	return !chief->last || (chief->last >= LONG_CALL && chief->asking > LONG_ASKING * chief->last);
}

/* Calls to be left to MPI without asking: so many that asking is a small share of the time of all. */
static uint64_t calls_unasked(const struct chief *chief, const struct choice *choice)
{
	double seconds = choice->seconds[WAY_MPI], calls;

	if (choice->way != WAY_MPI || seconds < LONG_CALL)
		return 0;
	calls = chief->asking / (ASKING_SHARE * seconds);
	return calls > MOST_UNASKED ? MOST_UNASKED : (uint64_t)calls;
}

/* What a way is expected to take. */
static void say_seconds(char *text, size_t room, double seconds)
{
	if (seconds < 0)
		snprintf(text, room, "not known");
	else
		snprintf(text, room, "%.3g ms", seconds * 1e3);
}

/* How the call fits the demand; "": none is followed. */
static void say_fit(char *text, size_t room, const struct member *member, const struct heard *heard)
{
	*text = '\0';
	if (!member->portions.nphases)
		return;
	if (!heard->demand.planned)
		snprintf(text, room, " (%s)",
			 heard->bytes		    ? "not for MPI_Alltoall"
			 : heard->ratio == NO_RATIO ? "the demand lacks a message"
						    : "not to be cut");
	else
		snprintf(text, room, " (%.4g times the demand, which takes %.2f of that port)",
			 (double)heard->ratio / RATIO_ONE, (double)heard->demand.planned / (double)heard->demand.port);
}

static void say_choice(const struct member *member, const struct heard *heard, const struct choice *choice)
{
	uint64_t what = 1 | (uint64_t)choice->way << 1 | (uint64_t)choice->is_trial << 3 | (uint64_t)choice->size << 4 |
			(uint64_t)choice->skew << 12 | (uint64_t)(heard->demand.planned > 0) << 20;
	char text[NWAYS][32], fit[96];

	if (what == member->chief->said)
		return;
	member->chief->said = what;
	for (enum way way = WAY_MPI; way < NWAYS; way++)
		say_seconds(text[way], sizeof(text[way]), choice->seconds[way]);
	say_fit(fit, sizeof(fit), member, heard);
	forsched_mpi_say(true,
			 "call %" PRIu64 ": %s%s: longest message %" PRIu64 " bytes, fullest port %" PRIu64
			 ", phases wait for %.2f of that; expected: MPI's own way %s, phases %s (barriers %.3g ms), "
			 "chunks %s, the demand's phases %s%s%s",
			 member->calls, forsched_mpi_way_name(choice->way), choice->is_trial ? " (measuring)" : "",
			 heard->demand.longest, heard->demand.port, choice->slowness, text[WAY_MPI], text[WAY_PHASES],
			 member->chief->memory.barriers * 1e3, text[WAY_CHUNKS], text[WAY_DEMAND], fit,
			 heard->is_even ? "" : " (ranks expect other sizes than are sent)");
}

static void say_small(const struct member *member, const struct heard *heard, uint64_t least)
{
	if (member->chief->said == 2)
		return;
	member->chief->said = 2;
	forsched_mpi_say(
		true, "call %" PRIu64 ": left to MPI: longest message %" PRIu64 " bytes, FORSCHED_MIN_BYTES %" PRIu64,
		member->calls, heard->demand.longest, least);
}

/* The way that somebody has set; where it is impossible the phases do. */
static enum way possible(enum way way, const struct demand *demand, const struct choice *choice)
{
	bool is_possible = way == WAY_CHUNKS ? choice->chunk > 0 : way == WAY_DEMAND ? demand->planned > 0 : true;

	return is_possible ? way : WAY_PHASES;
}

/* Would phases of this call run without barriers? */
static bool runs_free(const struct member *member, const struct heard *heard, enum barrier setting)
{
	const struct chief *chief = member->chief;
	double share = forsched_mpi_barrier_share(&chief->memory, &heard->demand);

	if (setting != BARRIER_AUTO || !member->may_have_barrier)
		return !member->may_have_barrier;
	return !forsched_waiting_has_barrier(&chief->waiting, heard->bytes, share);
}

static void say_barriers(const struct member *member, const struct heard *heard, bool are_there)
{
	struct chief *chief = member->chief;
	double share = forsched_mpi_barrier_share(&chief->memory, &heard->demand);
	uint64_t what = 1 + are_there;
	char text[48];

	if (what == chief->said_before)
		return;
	chief->said_before = what;
	if (share < 0)
		snprintf(text, sizeof(text), "not known yet");
	else
		snprintf(text, sizeof(text), "%.0f %% of the time of messages", 100 * share);
	forsched_mpi_say(true, "call %" PRIu64 ": phases %s barriers (%s)", member->calls,
			 are_there ? "with" : "without", text);
}

/* What is to be learnt from the time of this call. */
static void note_call(struct chief *chief, const struct heard *heard)
{
	learn_late(chief, &chief->demand, &heard->demand);
	chief->is_timed = heard->demand.port > 0;
	chief->demand = heard->demand;
	chief->bytes = heard->bytes;
}

static void decide(struct member *member, struct heard *heard, struct word *word)
{
	struct chief *chief = member->chief;
	enum way wanted = wanted_way();
	struct choice choice = {0};

	if (heard->demand.longest < word->min_bytes) {
		say_small(member, heard, word->min_bytes);
		return;
	}
	heard->demand.runs_free = runs_free(member, heard, (enum barrier)word->barrier);
	chief->memory.asking = chief->asking;
	if (member->is_following && heard->demand.port)
		forsched_mpi_choose(&chief->memory, &heard->demand, &choice);
	note_call(chief, heard);
	if (!member->is_following) {
		word->quiet = wanted == NWAYS && chief->is_untold ? calls_to_wait(chief) : 0;
		return;
	}
	word->chunk = chunk_of(&heard->demand, &choice);
	word->unit = heard->demand.unit;
	if (wanted != NWAYS) {
		word->way = possible(wanted, &heard->demand, &choice);
		choice.way = (enum way)word->way;
		choice.is_trial = false;
		if (wanted == WAY_DEMAND && heard->demand.port)
			say_choice(member, heard, &choice);
	} else if (heard->demand.port) {
		word->way = choice.way;
		word->quiet = calls_unasked(chief, &choice);
		say_choice(member, heard, &choice);
	}
	chief->way = (enum way)word->way;
	word->has_barrier = chief->way == WAY_PHASES && !heard->demand.runs_free;
	if (chief->way == WAY_PHASES)
		say_barriers(member, heard, word->has_barrier);
}

/* Where there is no schedule: calls until it is time to look again, as calls went since the last word. */
static uint64_t calls_until_look(const struct member *member)
{
	const struct chief *chief = member->chief;
	uint64_t since = member->calls - chief->spoke_at, calls;
	double seconds = forsched_mpi_now() - chief->spoke;
	bool is_counted;
	uint64_t every = check_every(&is_counted);

	if (is_counted)
		return every ? every - 1 : 0;
	if (!chief->spoke_at)
		return 0;
	calls = seconds > 0 ? (uint64_t)(LOOK_SELDOM / seconds * (double)since) : MOST_QUIET;
	calls = calls < 2 * since ? calls : 2 * since;
	return calls < MOST_QUIET ? calls : MOST_QUIET;
}

struct word forsched_mpi_speak(struct member *member, struct heard *heard, void **bytes)
{
	const char *path = forsched_mpi_setting("FORSCHED_SCHEDULE");
	struct word word = {
		.is_over = !path, .way = WAY_MPI, .min_bytes = min_bytes(), .barrier = forsched_mpi_barrier_setting()};
	struct chief *chief = member->chief;
	bool is_large = heard && heard->demand.longest >= word.min_bytes, is_counted;

	if (!path)
		return word;
	if (heard) {
		learn_small(chief, heard, is_large);
		learn(chief, heard);
	}
	if (heard && heard->is_aside)
		chief->asking *= is_large ? FORGOTTEN : FADED;
	chief->is_timed = false;
	if (is_due(member, is_large) && has_news(member, path))
		chief->is_untold = true;
	tell(member, is_large, &word, bytes);
	tell_of_demand(member, heard, is_large, &word);
	word.is_weighing = is_usable(chief);
	word.is_over = !word.is_weighing && !check_every(&is_counted);
	if (!word.is_weighing)
		word.quiet = calls_until_look(member);
	else if (heard && !word.is_new && word.demand == DEMAND_SAME && !(heard->is_aside && member->is_following))
		decide(member, heard, &word);
	word.is_for_small = heard && !is_large && word.is_weighing && !word.is_new;
	if (word.is_for_small)
		word.quiet = small_calls_unasked(chief);
	word.is_aside = is_aside(member, &word, is_large);
	chief->spoke = forsched_mpi_now();
	chief->spoke_at = member->calls;
	return word;
}
