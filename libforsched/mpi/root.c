/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What rank 0 of a communicator, its root, sees and decides. It alone reads settings, the schedule and the heartbeat, and times calls
 * (decision.c); what follows from that goes into its word, which all ranks obey.
 *
 * Everything besides the calls themselves may take COST_SHARE of their time. To ask all ranks costs a reduction and a broadcast: so
 * many calls pass without a word that asking is that part of their time. To take up a schedule costs some dozen collective
 * calls: ranks do that when calls have taken so long that it is that part of them. The file is looked at before large calls, a
 * thousand times a second at most, and on a communicator without a schedule ten times a second.
 *
 * Whose heartbeat: a schedule that no subnet manager stands behind any more stays right until a link changes, and after
 * that it is slower than planned, but still an exchange. So it is followed, and a person is told once. With
 * FORSCHED_STRICT=1 it is not: the root looks at the heartbeat as often as at the schedule, and tells the others to
 * forget the schedule when it is stale, or missing, and broadcasts it again when it is fresh again.
 */
#include "config.h"

#include "follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_BYTES 16384	 /* FORSCHED_MIN_BYTES, usually */
#define COST_SHARE 0.05	 /* of the time of calls, for whatever is done besides */
#define LOOK_LARGE 0.001 /* seconds between looks at the file, before large calls */
#define LOOK_SELDOM 0.1	 /* where there is no schedule to follow */
#define MOST_QUIET 65536 /* calls without a word */
#define WHOLE 20	 /* to take up a schedule takes as long as asking so often, as long as nobody knows better */

struct root {
	struct forsched *file; /* the newest schedule seen */
	bool is_fit;	       /* it is not withdrawn */
	bool is_refused;       /* nobody stands behind it, and FORSCHED_STRICT is set */
	bool is_unusable;      /* ranks could not take it up */
	bool is_untold;	       /* the others do not know of it */
	double looked;	       /* when, last */
	uint64_t looked_at;    /* before which call */
	double seconds;	       /* of the calls since the last word, */
	uint64_t calls;	       /* so many */
	double spent;	       /* seconds of the calls since a schedule was taken up */
	double asking;	     /* seconds that asking took the last time, on the rank that waited longest; 0: not known */
	double least_asking; /* of all times so far: without waiting for ranks that come late */
	struct decision decision; /* which way calls go */
	struct sizes sizes;	  /* of the call that the last word was about, */
	enum way way;		  /* and how it went */
	uint64_t said;		  /* of that */
};

/* What it took to take up a schedule the last time, on any communicator, in nanoseconds; 0: not known. */
static uint64_t taking_up;

struct root *forsched_mpi_root_new(int size)
{
	struct root *root = calloc(1, sizeof(*root));

	if (root)
		forsched_mpi_begin_deciding(&root->decision, (uint32_t)size - 1, 0);
	return root;
}

void forsched_mpi_root_free(struct root *root)
{
	if (root)
		forsched_close(root->file);
	free(root);
}

/* ---- settings ---- */

/* What FORSCHED_WAY says; NWAYS: the quickest. */
static enum way wanted_way(void)
{
	static const char *const name[NWAYS] = {"mpi", "phases", "chunks"};
	const char *value = forsched_mpi_setting("FORSCHED_WAY");

	for (enum way way = WAY_MPI; value && way < NWAYS; way++)
		if (strcmp(value, name[way]) == 0)
			return way;
	if (value && strcmp(value, "auto") != 0)
		forsched_mpi_say(false, "FORSCHED_WAY=%.100s is none of auto, phases, chunks, mpi; taking auto", value);
	return NWAYS;
}

/* Who says which way wants it for all calls. */
static uint64_t min_bytes(void)
{
	return forsched_mpi_number("FORSCHED_MIN_BYTES", wanted_way() == NWAYS ? MIN_BYTES : 0);
}

/* FORSCHED_CHUNK; 0: not set. */
static uint64_t wanted_chunk(void)
{
	uint64_t bytes = forsched_mpi_number("FORSCHED_CHUNK", 0);

	return bytes > UINT32_MAX ? 0 : bytes;
}

/* Every so many calls the file is looked at; *is_counted is false where it goes by the clock. */
static uint64_t check_every(bool *is_counted)
{
	*is_counted = forsched_mpi_setting("FORSCHED_CHECK") != NULL;
	return forsched_mpi_number("FORSCHED_CHECK", 1);
}

/* ---- the schedule ---- */

/*
 * The schedule that this process has to follow: of its job, if there is one. Owned by the caller; NULL: there is none,
 * and a person has been told.
 */
static char *find(const char *path)
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
static struct forsched *look(const struct root *root, const char *path)
{
	struct forsched *newer = NULL;
	struct forsched_error error;
	char *found = find(path);
	enum forsched_err err;

	if (!found)
		return NULL;
	err = root->file && !is_elsewhere(root->file, found) ? forsched_open_newer(root->file, &newer, &error)
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
 * A schedule that is withdrawn is for nobody, and one of a demand has not all pairs: a program follows that itself (doc/demands.md).
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
		forsched_mpi_say(false, "%s: the schedule of a demand: left to MPI", info.name);
	return !info.nphases || sizes.has_demand;
}

/* Take over a newer schedule when there is one. Has anything changed of what the others were told? */
static bool has_news(struct member *member, const char *path)
{
	struct root *root = member->root;
	struct forsched *newer = look(root, path);
	bool was_refused = root->is_refused, is_strict;

	root->looked = forsched_mpi_now();
	root->looked_at = member->calls;
	if (newer) {
		forsched_close(root->file);
		root->file = newer;
		root->is_fit = !is_for_nobody(newer);
		root->is_unusable = false;
	}
	if (root->is_fit) {
		is_strict = forsched_mpi_number("FORSCHED_STRICT", 0) != 0;
		root->is_refused = is_abandoned(root->file, is_strict) && is_strict;
	}
	return newer || root->is_refused != was_refused;
}

/* Is it time to look at the file? The first call always does. */
static bool is_due(const struct member *member, bool is_large)
{
	const struct root *root = member->root;
	bool is_counted;
	uint64_t every = check_every(&is_counted), since = member->calls - root->looked_at;

	if (!root->looked_at)
		return true;
	if (is_counted)
		return every && since >= every;
	if (!since || (member->is_weighing && !is_large))
		return false;
	return forsched_mpi_now() - root->looked >= (member->is_weighing ? LOOK_LARGE : LOOK_SELDOM);
}

static bool is_usable(const struct root *root)
{
	return root->file && root->is_fit && !root->is_refused && !root->is_unusable;
}

/* ---- taking up a schedule ---- */

/* Is it worth its time to have all ranks take up the schedule now? Who says a way wants it at once. */
static bool is_worth_it(const struct root *root, bool is_large)
{
	double cost = (double)__atomic_load_n(&taking_up, __ATOMIC_RELAXED) * 1e-9;

	if (wanted_way() != NWAYS)
		return wanted_way() != WAY_MPI;
	if (!is_large || !root->least_asking)
		return false;
	return root->spent * COST_SHARE >= (cost > 0 ? cost : WHOLE * root->least_asking);
}

/* Put what others do not know into the word, if it is time for it. */
static void tell(struct member *member, bool is_large, struct word *word, void **bytes)
{
	struct root *root = member->root;
	struct forsched_error error;
	size_t size = 0;

	if (!root->is_untold || (is_usable(root) && !is_worth_it(root, is_large)))
		return;
	root->is_untold = false;
	forsched_mpi_begin_deciding(&root->decision, root->decision.peers, 0);
	word->is_new = 1;
	word->epoch = forsched_epoch(root->file);
	if (!is_usable(root))
		return;
	forsched_mpi_warn_of_paths(root->file);
	if (forsched_copy(root->file, bytes, &size, &error))
		forsched_mpi_say(false, "%s", error.text);
	word->size = size;
	root->is_unusable = !size;
}

void forsched_mpi_taken_up(struct member *member, double seconds, double waiting)
{
	struct root *root = member->root;

	root->is_unusable = !member->is_following;
	root->spent = 0;
	__atomic_store_n(&taking_up, (uint64_t)(seconds * 1e9), __ATOMIC_RELAXED);
	forsched_mpi_begin_deciding(&root->decision, root->decision.peers, waiting);
}

/* ---- time ---- */

void forsched_mpi_called(struct member *member, double seconds)
{
	struct root *root = member->root;

	root->seconds += seconds;
	root->calls++;
	root->spent += seconds;
}

/* Do ranks speak before each call, because somebody said a way, or when to look? */
static bool is_always(void)
{
	bool is_counted;

	check_every(&is_counted);
	return wanted_way() != NWAYS || is_counted;
}

/* Calls as long as those since the last word that take so many seconds together. */
static uint64_t calls_in(const struct root *root, double seconds)
{
	double calls = root->seconds > 0 ? seconds / root->seconds * (double)root->calls : 0;

	return calls < MOST_QUIET ? (uint64_t)calls : MOST_QUIET;
}

/* Calls without a word after this one. */
static uint64_t quiet_calls(const struct root *root, bool is_there)
{
	bool is_counted;
	uint64_t every = check_every(&is_counted);

	if (!is_there && is_counted)
		return every ? every - 1 : 0;
	if (!is_there)
		return calls_in(root, LOOK_SELDOM);
	return is_always() ? 0 : calls_in(root, root->asking / COST_SHARE);
}

/* ---- the way of a call ---- */

static void say_way(const struct member *member, const struct heard *heard, enum way way)
{
	struct root *root = member->root;
	const struct decision *decision = &root->decision;
	uint64_t what = 1 + (uint64_t)way + 8 * (uint64_t)(decision->least != UINT64_MAX);
	char least[48] = "not known yet";

	if (what == root->said)
		return;
	root->said = what;
	if (decision->least != UINT64_MAX)
		snprintf(least, sizeof(least), "%" PRIu64 " to %" PRIu64 " bytes", decision->least,
			 forsched_mpi_most(decision));
	forsched_mpi_say(true,
			 "call %" PRIu64 ": %s: longest message %" PRIu64 " bytes, %" PRIu64
			 " on average on the fullest rank; those that follow have %s%s",
			 member->calls, forsched_mpi_way_name(way), heard->sizes.longest,
			 forsched_mpi_mean(decision, &heard->sizes), least,
			 heard->is_even ? "" : "; ranks expect other sizes than are sent");
}

static void say_small(const struct member *member, const struct heard *heard, uint64_t least)
{
	if (member->root->said == UINT64_MAX)
		return;
	member->root->said = UINT64_MAX;
	forsched_mpi_say(
		true, "call %" PRIu64 ": left to MPI: longest message %" PRIu64 " bytes, FORSCHED_MIN_BYTES %" PRIu64,
		member->calls, heard->sizes.longest, least);
}

/* The way that somebody has set; where it is impossible the phases do. */
static enum way possible(enum way way, uint64_t chunk)
{
	return way == WAY_CHUNKS && !chunk ? WAY_PHASES : way;
}

static void decide(struct member *member, const struct heard *heard, struct word *word)
{
	struct root *root = member->root;
	enum way wanted = wanted_way();

	if (heard->sizes.longest < word->min_bytes) {
		say_small(member, heard, word->min_bytes);
		return;
	}
	word->chunk = forsched_mpi_chunk(&root->decision, &heard->sizes, wanted_chunk());
	if (!member->is_following)
		word->way = WAY_MPI;
	else if (wanted != NWAYS)
		word->way = possible(wanted, word->chunk);
	else
		word->way = forsched_mpi_decide(&root->decision, &heard->sizes);
	root->sizes = heard->sizes;
	root->way = (enum way)word->way;
	if (member->is_following)
		say_way(member, heard, root->way);
}

/* What the last call took that a word was about is known now. */
static void learn(struct root *root, const struct heard *heard)
{
	if (heard->took > 0 && root->sizes.rank)
		forsched_mpi_learn(&root->decision, &root->sizes, root->way, heard->took);
	root->sizes.rank = 0;
	root->asking = heard->asking;
	if (heard->asking > 0 && (!root->least_asking || heard->asking < root->least_asking))
		root->least_asking = heard->asking;
}

struct word forsched_mpi_speak(struct member *member, struct heard *heard, void **bytes)
{
	const char *path = forsched_mpi_setting("FORSCHED_SCHEDULE");
	struct root *root = member->root;
	struct word word = {
		.is_over = !path, .way = WAY_MPI, .min_bytes = min_bytes(), .has_barrier = forsched_mpi_has_barrier()};
	bool is_large = heard && heard->sizes.longest >= word.min_bytes, is_counted;

	if (!path)
		return word;
	if (heard)
		learn(root, heard);
	if (is_due(member, is_large) && has_news(member, path))
		root->is_untold = true;
	tell(member, is_large, &word, bytes);
	word.is_weighing = is_usable(root);
	word.is_over = !word.is_weighing && !check_every(&is_counted);
	if (heard && word.is_weighing && !word.is_new)
		decide(member, heard, &word);
	word.quiet = quiet_calls(root, word.is_weighing);
	word.from = root->decision.least;
	word.to = forsched_mpi_most(&root->decision);
	root->seconds = 0;
	root->calls = 0;
	return word;
}
