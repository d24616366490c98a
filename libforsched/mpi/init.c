/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The path index of a job. Where one belongs to jobs (doc/jobs.md) all flows of a job's schedule are over it, and UCX can
 * follow it: it adds UCX_IB_LID_PATH_BITS to the base LIDs of all peers, and to its own. UCX reads that once, in MPI_Init,
 * so before that it is set, unless it is set already. At that moment ranks cannot speak with each other, so here each
 * reads the schedule for itself, and a rank that cannot does as it would without the library: an index is a way, and
 * decides nothing that ranks have to agree on. A schedule that cannot be opened is none of its business: rank 0 says so
 * at the first call that would follow it.
 *
 * A schedule that comes later than MPI_Init comes too late for it; so does another index. Then rank 0 says that the order
 * is followed, and not the paths.
 */
#include "config.h"

#include "follow.h"

#include <stdio.h>
#include <stdlib.h>

#define VARIABLE "UCX_IB_LID_PATH_BITS"

/* What was set before MPI_Init, for the person who asks; "": nothing. */
static char told[FORSCHED_ERROR_TEXT];

/* The index of the schedule, if it has one and that is not the base LIDs', comes into the environment. */
static void give(const struct forsched *schedule)
{
	struct forsched_error error;
	struct forsched_info info;
	char text[8];
	uint8_t index = 0;

	if (forsched_path_index(schedule, &index, &error))
		snprintf(told, sizeof(told), VARIABLE " is not set: %.400s", error.text);
	if (!index)
		return;
	snprintf(text, sizeof(text), "%u", index);
	if (setenv(VARIABLE, text, true))
		return;
	forsched_info(schedule, &info);
	snprintf(told, sizeof(told), VARIABLE "=%u: the path index of %.400s", index, info.name);
}

static void prepare(void)
{
	const char *path = forsched_mpi_setting("FORSCHED_SCHEDULE"), *given = getenv(VARIABLE);
	struct forsched *schedule = NULL;
	char *found = NULL;

	if (!path)
		return;
	if (given) {
		snprintf(told, sizeof(told), VARIABLE "=%.80s was set already", given);
		return;
	}
	if (!forsched_job_path(path, NULL, &found, NULL) && !forsched_open(found, &schedule, NULL))
		give(schedule);
	forsched_close(schedule);
	free(found);
}

/* Afterwards ranks have numbers, and one of them speaks. */
static void report(int err)
{
	int rank = 1;

	if (!err && *told)
		PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		forsched_mpi_say(true, "%s", told);
}

/* One number is what the library gives; a list, as UCX takes it too, is a person's own matter: its first counts. */
uint8_t forsched_mpi_path_in_use(void)
{
	const char *given = getenv(VARIABLE);

	return given ? (uint8_t)strtoul(given, NULL, 10) : 0;
}

void forsched_mpi_warn_of_paths(const struct forsched *schedule)
{
	struct forsched_error error;
	uint8_t index = 0;
	enum forsched_err err = forsched_path_index(schedule, &index, &error);

	if (err == FORSCHED_ENOTFOUND)
		forsched_mpi_say(false, "the schedule uses path indices above 0, and MPI sends to base LIDs: "
					"its order is followed, but not its paths");
	else if (!err && index != forsched_mpi_path_in_use())
		forsched_mpi_say(false,
				 "the schedule uses path index %u, and " VARIABLE
				 " was %u when MPI began: its order is followed, but not its paths",
				 index, forsched_mpi_path_in_use());
}

int MPI_Init(int *argc, char ***argv)
{
	int err;

	prepare();
	err = PMPI_Init(argc, argv);
	report(err);
	return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err;

	prepare();
	err = PMPI_Init_thread(argc, argv, required, provided);
	report(err);
	return err;
}
