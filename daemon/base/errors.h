/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * errors.h - every "ERR F0nn" that fors writes to OpenSM's log: one table, which
 * opensm-fors(8) repeats for the administrator.
 *
 * X(number, name, what it means, what to do)
 */
#ifndef FORS_DAEMON_BASE_ERRORS_H
#define FORS_DAEMON_BASE_ERRORS_H

#include "core/base/error.h"

#define FORS_CODES(X)                                                                                                                                               \
	X(1, FORS_F_CONFIG, "fors.conf, or a file that it or opensm.conf names, cannot be used",                                                                    \
	  "correct the file and line named; SIGHUP reads it again")                                                                                                 \
	X(2, FORS_F_START, "fors could not be started inside OpenSM", "see the reason; restart opensm")                                                             \
	X(3, FORS_F_NOTREE, "the fabric is not a fat-tree of two or three levels",                                                                                  \
	  "remove the link named, or leave the fabric to the next routing engine")                                                                                  \
	X(4, FORS_F_NOPATH, "two leaves have no live spine in common", "repair one of their uplinks")                                                               \
	X(5, FORS_F_LIMIT, "the fabric is larger than fors can represent", "use another routing engine")                                                            \
	X(6, FORS_F_MEMORY, "out of memory", "give opensm's host more memory; fors tries again by itself")                                                          \
	X(7, FORS_F_FABRIC, "OpenSM's picture of the fabric contradicts itself",                                                                                    \
	  "look for nodes with the same GUID; the next sweep tries again")                                                                                          \
	X(8, FORS_F_NOPLAN, "the routes are right, but there is no conflict-free schedule for this fabric",                                                         \
	  "see the reason: a larger lmc, another method, or repair the cables named in status.json")                                                                \
	X(9, FORS_F_VERIFY, "a plan did not pass its check against the tables in the switches; it was not published",                                               \
	  "report this in the issue tracker of fors, with the fabric (ibnetdiscover) and opensm-lfts.dump")                                                         \
	X(10, FORS_F_PUBLISH, "the state folder cannot be written; the routes are not affected",                                                                    \
	  "make room, or correct state_dir or its permissions; fors tries again every second")                                                                      \
	X(11, FORS_F_OLDFILE, "a file of an earlier opensm is damaged, or its epoch absurd",                                                                        \
	  "nothing: it is not believed, and will be replaced")                                                                                                      \
	X(12, FORS_F_PLACES, "the order of spines, leaves and slots that an earlier opensm kept cannot be read",                                                    \
	  "nothing, if all switches are alive; else restore the file places from a copy and restart opensm, or set reference_fabric")                               \
	X(13, FORS_F_REFERENCE, "the fabric has what the reference fabric does not know",                                                                           \
	  "see whether it is cabled as it should be; if so, write a new reference when all is alive")                                                               \
	X(14, FORS_F_FORGET, "a place cannot be forgotten",                                                                                                         \
	  "see the reason; only what is dead, and named in no file, can be forgotten")                                                                              \
	X(15, FORS_F_DRAIN, "a link or spine cannot be drained as fors.conf asks",                                                                                  \
	  "correct the name, or mend the links that make the one named necessary")                                                                                  \
	X(16, FORS_F_COPY, "publish_dir cannot be written; routes and state folder are not affected",                                                               \
	  "mount it, make room, or correct its permissions; fors tries again within five seconds")                                                                  \
	X(17, FORS_F_COMMAND, "publish_command failed, took too long, or hangs; the schedule is published anyway",                                                  \
	  "run it by hand with the same environment; where a process hangs, mend what it waits for; see fors.conf(5)")                                              \
	X(18, FORS_F_STRANGE, "the schedule in publish_dir is damaged, or its epoch absurd; it is replaced",                                                        \
	  "see who writes to publish_dir, and whether the clocks of all subnet managers are right")                                                                 \
	X(19, FORS_F_FOLDER, "others could change the state folder; it is not used, the routes are not affected",                                                   \
	  "chown or chmod the folder named; fors tries again every second")                                                                                         \
	X(20, FORS_F_HANGS, "a file system does not answer; what was read from it last stays in force",                                                             \
	  "see to the server or disk of the path named; fors goes on by itself when it answers")                                                                    \
	X(21, FORS_F_SWEEP, "nobody looks at the fabric: failures are not repaired, the heartbeat stops",                                                           \
	  "look at OpenSM's log and at its threads; restart opensm if it does not go on")                                                                           \
	X(22, FORS_F_TABLES, "the tables that fors filled did not pass their check; no switch got them",                                                            \
	  "report this in the issue tracker of fors, with the fabric (ibnetdiscover); the next routing engine takes over meanwhile")                                \
	X(23, FORS_F_LEFT,                                                                                                                                          \
	  "something is reached by a detour only, or not at all, or a CA port is in no schedule, many are guests on spines, or partitions keep pairs from talking", \
	  "see what is named: repair or move its cable, or say which switches are spines; the rest of the fabric is not affected")                                  \
	X(24, FORS_F_JOBS,                                                                                                                                          \
	  "the jobs file cannot be read, or is no such file, or two nodes have a name in it; the jobs of before stay, if there are any",                            \
	  "correct the line named, or write the file again; fors looks at it every second")                                                                         \
	X(25, FORS_F_INDEX,                                                                                                                                         \
	  "no path index can belong to jobs though fors.conf asks for that, or the tables would have been wrong with their entries",                                \
	  "set lmc or the key that is named as the message says; the second is for the issue tracker of fors, with the fabric")                                     \
	X(26, FORS_F_DEMAND,                                                                                                                                        \
	  "the demand file cannot be read, or is no such file, or no schedule can be planned for it; the fabric's own is not affected",                             \
	  "correct the line named, or write the file again; fors looks at it every second")

enum fors_code {
#define X(number, name, meaning, remedy) name = number,
	FORS_CODES(X)
#undef X
};

/* The code under which OpenSM's log reports a failure of the core. */
static inline enum fors_code fors_code_of(enum fors_err err)
{
	switch (err) {
	case FORS_ENOTREE:
		return FORS_F_NOTREE;
	case FORS_ENOPATH:
		return FORS_F_NOPATH;
	case FORS_ELIMIT:
		return FORS_F_LIMIT;
	case FORS_ENOMEM:
		return FORS_F_MEMORY;
	case FORS_ETABLES:
		return FORS_F_TABLES;
	default:
		return FORS_F_FABRIC;
	}
}

#endif
