/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a communicator has agreed on. It hangs at the communicator as an attribute, made at the first call.
 *
 * Before each call (or each n-th, FORSCHED_CHECK) rank 0 looks whether its file has a newer epoch, some microseconds,
 * and tells the others: one broadcast of 48 bytes. Mostly it says "as before". When there is a newer schedule of the
 * right number of servers, its bytes are broadcast, each rank finds its server and prepares its row, and all tell all
 * which server they are. The verdict follows from those numbers, and they are the same everywhere: follow when each
 * server has exactly one rank. So all change over in the same call, whenever they see the new file, and only rank 0
 * needs to see it.
 *
 * What rank 0 cannot read changes nothing: the communicator stays with what it has.
 *
 * Whose heartbeat: a schedule that no subnet manager stands behind any more stays right until a link changes, and after
 * that it is slower than planned, but still an exchange. So it is followed, and a person is told once. With
 * FORSCHED_STRICT=1 it is not: rank 0 looks at the heartbeat as often as at the schedule, and tells the others to
 * forget the schedule when it is stale, or missing, and broadcasts it again when it is fresh again.
 */
#include "config.h"

#include "follow.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PIECE (1u << 30) /* of a broadcast: counts are ints */

/* ---- the attribute ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int keyval = MPI_KEYVAL_INVALID;
static uint64_t epochs; /* for forsched_mpi_epochs() */

static void drop_schedule(struct member *member)
{
	forsched_close(member->schedule);
	free(member->bytes);
	free(member->rank_of);
	member->schedule = NULL;
	member->bytes = NULL;
	member->rank_of = NULL;
	member->is_following = false;
}

/* MPI calls it when the communicator is freed; at the end of the program MPI may be too far gone to free another. */
static int delete_member(MPI_Comm comm, int key, void *value, void *extra)
{
	struct member *member = value;
	int is_finalized = 0;

	(void)comm, (void)key, (void)extra;
	drop_schedule(member);
	forsched_close(member->file);
	PMPI_Finalized(&is_finalized);
	if (!is_finalized && member->private_comm != MPI_COMM_NULL)
		PMPI_Comm_free(&member->private_comm);
	free(member);
	return MPI_SUCCESS;
}

static void make_keyval(void)
{
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_member, &keyval, NULL);
}

static int new_member(MPI_Comm comm, struct member **member)
{
	struct member *made = calloc(1, sizeof(*made));
	int err;

	if (!made)
		return MPI_ERR_NO_MEM;
	made->private_comm = MPI_COMM_NULL;
	made->check_every = 1;
	PMPI_Comm_rank(comm, &made->rank);
	PMPI_Comm_size(comm, &made->size);
	err = PMPI_Comm_set_attr(comm, keyval, made);
	if (err)
		free(made);
	else
		*member = made;
	return err;
}

/* ---- what rank 0 sees ---- */

/* What rank 0 tells the others. All numbers are 64 bits wide, to be sent as they are. */
struct word {
	uint64_t is_new;      /* there is a newer epoch, or another verdict: forget the old schedule */
	uint64_t size;	      /* bytes of the new schedule; 0: it is not for this communicator, or not to be followed */
	uint64_t check_every; /* 0: never ask again */
	uint64_t min_bytes;
	uint64_t has_barrier;
	uint64_t epoch;
};

/* A number in the environment; what is none is complained of and counts as the default. */
static uint64_t number_of(const char *name, uint64_t usual)
{
	const char *value = forsched_mpi_setting(name);
	char *end;
	unsigned long long number;

	if (!value)
		return usual;
	number = strtoull(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end)
		return number;
	forsched_mpi_say(false, "%s=%.100s is not a number; taking %llu", name, value, (unsigned long long)usual);
	return usual;
}

static bool wants_barrier(void)
{
	const char *value = forsched_mpi_setting("FORSCHED_BARRIER");

	if (value && strcmp(value, "none") != 0 && strcmp(value, "tree") != 0)
		forsched_mpi_say(false, "FORSCHED_BARRIER=%.100s is neither tree nor none; taking tree", value);
	return !value || strcmp(value, "none") != 0;
}

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
static struct forsched *look(const struct member *member, const char *path)
{
	struct forsched *newer = NULL;
	struct forsched_error error;
	char *found = forsched_mpi_find(path);
	enum forsched_err err;

	if (!found)
		return NULL;
	err = member->file && !is_elsewhere(member->file, found) ? forsched_open_newer(member->file, &newer, &error)
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
 * Why a schedule is not for this communicator; false: it may be. That a part of the program's ranks is another number
 * than that of the servers is as it should be; that all of them are, somebody has to be told.
 */
static bool is_unfit(const struct member *member, const struct forsched *schedule)
{
	struct forsched_info info;
	int all = 0;

	PMPI_Comm_size(MPI_COMM_WORLD, &all);
	forsched_info(schedule, &info);
	if (!info.nphases)
		forsched_mpi_say(true, "epoch %llu: withdrawn: %s: left to MPI", (unsigned long long)info.epoch,
				 info.reason);
	else if (info.nservers != (uint32_t)member->size)
		forsched_mpi_say(member->size != all, "epoch %llu: %u servers, a communicator of %d ranks: left to MPI",
				 (unsigned long long)info.epoch, info.nservers, member->size);
	else
		return false;
	return true;
}

/* Take over a newer schedule when there is one. Has anything changed of what the others were told? */
static bool has_news(struct member *member, const char *path)
{
	struct forsched *newer = path ? look(member, path) : NULL;
	bool was_refused = member->is_refused, is_strict;

	if (newer) {
		forsched_close(member->file);
		member->file = newer;
		member->is_fit = !is_unfit(member, newer);
	}
	if (path && member->is_fit) {
		is_strict = number_of("FORSCHED_STRICT", 0) != 0;
		member->is_refused = is_abandoned(member->file, is_strict) && is_strict;
	}
	return newer || member->is_refused != was_refused;
}

/* The word of rank 0; with a schedule to be broadcast, its bytes in *bytes, owned by the caller. */
static struct word speak(struct member *member, void **bytes)
{
	const char *path = forsched_mpi_setting("FORSCHED_SCHEDULE");
	struct word word = {.check_every = path ? number_of("FORSCHED_CHECK", 1) : 0};
	struct forsched_error error;
	size_t size = 0;

	if (!has_news(member, path))
		return word;
	word.is_new = 1;
	word.epoch = forsched_epoch(member->file);
	word.min_bytes = number_of("FORSCHED_MIN_BYTES", 0);
	word.has_barrier = wants_barrier();
	if (!member->is_fit || member->is_refused)
		return word;
	forsched_mpi_warn_of_paths(member->file);
	if (forsched_copy(member->file, bytes, &size, &error))
		forsched_mpi_say(false, "%s", error.text);
	word.size = size;
	return word;
}

/* ---- coming to a verdict ---- */

/* Do all ranks say yes? */
static int all_agree(MPI_Comm comm, bool mine, bool *all)
{
	int yes = mine, least = 0, err = PMPI_Allreduce(&yes, &least, 1, MPI_INT, MPI_MIN, comm);

	*all = least;
	return err;
}

/* The bytes of rank 0 at every rank, in member->bytes; it stays NULL when one of them has no memory. */
static int spread(struct member *member, MPI_Comm comm, void *bytes, uint64_t size)
{
	char *room = member->rank == 0 ? bytes : malloc(size);
	bool have_all;
	int err = all_agree(comm, room != NULL, &have_all);

	for (uint64_t done = 0; !err && have_all && done < size; done += MAX_PIECE) {
		uint64_t piece = size - done < MAX_PIECE ? size - done : MAX_PIECE;

		err = PMPI_Bcast(room + done, (int)piece, MPI_BYTE, 0, comm);
	}
	if (!err && have_all)
		member->bytes = room;
	else
		free(room);
	return err;
}

/* Open what was broadcast, and find this rank's server; false: it is none, `why` says why. */
static bool settle(struct member *member, uint64_t size, char *why)
{
	struct forsched_error error;

	if (forsched_open_memory(member->bytes, size, "the schedule", &member->schedule, &error)) {
		snprintf(why, FORSCHED_ERROR_TEXT, "%s", error.text);
		return false;
	}
	if (!forsched_mpi_whoami(member->schedule, &member->me, why))
		return false;
	if (forsched_prepare(member->schedule, member->me, &error)) {
		snprintf(why, FORSCHED_ERROR_TEXT, "%s", error.text);
		return false;
	}
	return true;
}

/* From which server each rank is (servers[rank], -1: none): rank_of, and whether each server has one rank. */
static bool match(struct member *member, const int *servers, const char *why)
{
	for (int rank = 0; rank < member->size; rank++)
		member->rank_of[rank] = -1;
	for (int rank = 0; rank < member->size; rank++) {
		if (servers[rank] < 0) {
			if (rank == member->rank)
				forsched_mpi_say(false, "rank %d: %s: left to MPI", rank, why);
			return false;
		}
		if (member->rank_of[servers[rank]] >= 0) {
			if (member->rank == 0)
				forsched_mpi_say(false, "ranks %d and %d are on the same server: left to MPI",
						 member->rank_of[servers[rank]], rank);
			return false;
		}
		member->rank_of[servers[rank]] = rank;
	}
	return true;
}

/* Everybody tells everybody. `servers` and member->rank_of have member->size places; have_room is false where they have
 * none. */
static int compare(struct member *member, MPI_Comm comm, uint64_t size, int *servers, bool have_room)
{
	char why[FORSCHED_ERROR_TEXT] = "";
	bool all_have_room;
	int mine = -1, err = all_agree(comm, have_room, &all_have_room);

	if (err || !all_have_room)
		return err;
	if (settle(member, size, why))
		mine = (int)member->me;
	err = PMPI_Allgather(&mine, 1, MPI_INT, servers, 1, MPI_INT, comm);
	if (!err)
		member->is_following = match(member, servers, why);
	if (!err && member->is_following && member->private_comm == MPI_COMM_NULL) {
		err = PMPI_Comm_split(comm, 0, member->rank, &member->private_comm);
		if (!err)
			err = PMPI_Comm_set_errhandler(member->private_comm, MPI_ERRORS_RETURN);
	}
	return err;
}

static int adopt(struct member *member, MPI_Comm comm, const struct word *word, void *bytes)
{
	int *servers = calloc((size_t)member->size, sizeof(*servers));
	int err = spread(member, comm, bytes, word->size);

	member->rank_of = calloc((size_t)member->size, sizeof(*member->rank_of));
	if (!err && member->bytes)
		err = compare(member, comm, word->size, servers, servers && member->rank_of);
	free(servers);
	if (err || !member->is_following) {
		drop_schedule(member);
		return err;
	}
	__atomic_add_fetch(&epochs, 1, __ATOMIC_RELAXED);
	if (member->rank == 0)
		forsched_mpi_say(true, "epoch %llu: followed by %d ranks", (unsigned long long)word->epoch,
				 member->size);
	return MPI_SUCCESS;
}

/* Listen to rank 0, and do what it says. */
static int agree(struct member *member, MPI_Comm comm)
{
	struct word word = {0};
	void *bytes = NULL;
	int err;

	if (member->rank == 0)
		word = speak(member, &bytes);
	err = PMPI_Bcast(&word, sizeof(word) / sizeof(uint64_t), MPI_UINT64_T, 0, comm);
	if (err) {
		free(bytes);
		return err;
	}
	member->check_every = word.check_every;
	if (!word.is_new)
		return MPI_SUCCESS;
	member->min_bytes = word.min_bytes;
	member->has_barrier = word.has_barrier;
	drop_schedule(member);
	return word.size ? adopt(member, comm, &word, bytes) : MPI_SUCCESS;
}

int forsched_mpi_enter(MPI_Comm comm, struct member **member)
{
	int is_inter = 0, is_found = 0, size = 1, err;

	*member = NULL;
	pthread_once(&once, make_keyval);
	err = PMPI_Comm_get_attr(comm, keyval, member, &is_found);
	if (!err && !is_found) {
		*member = NULL;
		PMPI_Comm_test_inter(comm, &is_inter);
		PMPI_Comm_size(comm, &size);
		if (is_inter || size < 2)
			return MPI_SUCCESS;
		err = new_member(comm, member);
	}
	if (err)
		return err;
	if ((*member)->check_every && (*member)->calls++ % (*member)->check_every == 0)
		err = agree(*member, comm);
	return err;
}

uint64_t forsched_mpi_epochs(void)
{
	return __atomic_load_n(&epochs, __ATOMIC_RELAXED);
}
