/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * forsched.h - read the schedule that fors publishes: in each phase, to whom do I send, over which LID?
 *
 * fors, the routing engine inside OpenSM, plans an all-to-all exchange so that in no phase a link of the fabric
 * carries two flows, and publishes the plan as one file. This library reads that file. It needs no OpenSM, no
 * InfiniBand library and no configuration; C99 and C++.
 *
 * The shortest use, without error handling:
 *
 *	struct forsched *schedule;
 *	struct forsched_flow flow;
 *	uint32_t me;
 *
 *	forsched_open("/net/fors/schedule", &schedule, NULL);
 *	forsched_find_guid(schedule, 0x0002c90300a1b2c3, &me, NULL);
 *	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
 *		forsched_flow(schedule, me, phase, &flow);
 *		if (flow.to != FORSCHED_NOBODY)
 *			post_send(flow.to, flow.dlid, flow.src_path_bits);
 *		if (flow.from != FORSCHED_NOBODY)
 *			wait_for_data(flow.from);
 *	}
 *	forsched_close(schedule);
 *
 * A long-running program that follows failovers, alone (each process by itself) at the end of each iteration:
 *
 *	uint64_t newest;
 *
 *	if (!forsched_newest(schedule, &newest, &error) && newest > forsched_epoch(schedule))
 *		if (forsched_refresh(&schedule, &error))       // the old schedule stays in use
 *			log_warning(error.text);
 *
 * Processes that must change over in the same iteration agree first. Each holds the newer schedule beside the one
 * in use, and all of them switch when all hold the same one (here with MPI; any reduction will do):
 *
 *	if (!next)
 *		forsched_open_newer(schedule, &next, NULL);
 *	mine[0] = next ? forsched_epoch(next) : 0, mine[1] = ~mine[0];
 *	MPI_Allreduce(mine, all, 2, MPI_UINT64_T, MPI_MIN, comm);
 *	if (all[0] && all[0] == ~all[1]) {                     // least and greatest are the same, and not 0
 *		forsched_close(schedule);
 *		schedule = next, next = NULL;
 *	} else if (next && mine[0] < ~all[1]) {                // somebody has seen a newer one: look again
 *		forsched_close(next);
 *		next = NULL;
 *	}
 *
 * Servers are numbered 0 .. forsched_nservers()-1, phases 0 .. forsched_nphases()-1. The numbers of servers are
 * those of ONE schedule: another epoch may have other servers, so find yourself again after each switch.
 *
 * A withdrawn schedule (fors does not route the fabric at present) is a schedule too: it opens, with no servers,
 * 0 phases and a reason. Do then what you would do without fors.
 *
 * What is checked when: forsched_open() checks the header and the list of servers; a server's row of the plan is
 * read and checked when it is first asked for, so hundreds of processes each read what concerns them, and no
 * more. Nothing is believed before its checksum is right, and before each other server comes exactly once in the
 * row, in both directions (of a demand: before each piece fits its phase). What was read lies in memory of its own: neither cutting the file, nor writing into
 * it, nor losing the file server can change an answer or raise a signal. (A mapped file could do both, so files
 * are read and not mapped. To map one all the same, map it yourself and use forsched_open_memory().)
 *
 * Errors: functions that can fail return an enum forsched_err, 0 when all is well. Outputs are set only then. The
 * struct forsched_error, which may be NULL, gets a sentence for a person. The library prints nothing, and never
 * ends the process.
 *
 * Threads: any number of threads may use one schedule at the same time, with every function that takes it
 * as `const struct forsched *`, also when they are the first to ask for a server. forsched_refresh() and
 * forsched_close() want to be alone: no other thread may use that schedule during the call, nor the old pointer after
 * it. A program whose threads do not know when the last of them is done counts its users, and closes at the end of the last
 * one; one that changes over while others look takes forsched_open_newer(), and closes the old schedule when nobody has
 * it any more. Different schedules have nothing in common. No function is safe in a signal handler. After fork() the child may
 * go on using a schedule when no other thread was asking for a server's first flow at that moment.
 */
#ifndef FORSCHED_H
#define FORSCHED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
/* Structs and functions share names, as stat and stat() do: say `struct forsched_flow flow`, also in C++. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#endif

#define FORSCHED_NOBODY 0xFFFFFFFFu /* in place of a server's number: nobody in this phase */
#define FORSCHED_NO_SL 255	    /* in place of a service level: the schedule does not say */
#define FORSCHED_STALE_MS 60000	    /* a heartbeat older than this is stale, as in `fors status` */
#define FORSCHED_SKEW_MS 30000	    /* and one that is ahead of this machine's clock by more than this */

enum forsched_err {
	FORSCHED_OK = 0,
	FORSCHED_ERANGE = 1,	 /* no such server or phase, or an argument that makes no sense */
	FORSCHED_EFILE = 2,	 /* the file cannot be opened or read */
	FORSCHED_EFORMAT = 3,	 /* not a schedule, or empty, truncated, corrupted, of another version or byte order */
	FORSCHED_ENOTFOUND = 4,	 /* no server has that GUID or LID */
	FORSCHED_EWITHDRAWN = 5, /* the schedule is withdrawn: it has no servers and no phases */
	FORSCHED_ECHANGED = 6,	 /* changed in place or taken away before this part was read: open it again */
	FORSCHED_ENOMEM = 7	 /* out of memory */
};

#define FORSCHED_ERROR_TEXT 512

struct forsched_error {
	enum forsched_err code;
	char text[FORSCHED_ERROR_TEXT]; /* one line: which file, what is wrong, what to do */
};

/* A schedule, open; opaque. */
struct forsched;

/* A server: a host's port that takes part in the exchange. */
struct forsched_server {
	uint64_t guid; /* port GUID */
	uint16_t lid;  /* base LID; the port has the LIDs lid .. lid + 2^lmc - 1 */
	uint16_t leaf; /* number of its leaf switch: the switch that it is cabled to, whatever the topology */
	uint16_t rank; /* number among the servers of its leaf */
	uint8_t lmc;
	char desc[65]; /* node description, mostly the host's name */
};

/* What one server does in one phase. */
struct forsched_flow {
	uint32_t to;	/* number of the server that it sends to, or FORSCHED_NOBODY */
	uint32_t from;	/* number of the server that it receives from, or FORSCHED_NOBODY */
	uint64_t spine; /* node GUID of the spine that the flow to `to` crosses, in a tree of more levels of the topmost
			   * switch; 0 inside a leaf, to nobody, or where that has no meaning */
	uint16_t dlid;	/* LID to send to: base LID of `to` + path; 0: to nobody */
	uint16_t in_dlid; /* own LID at which the flow from `from` arrives: own base LID + in_path; 0: from nobody */
	uint8_t path;	  /* path index of the flow to `to` */
	uint8_t in_path;  /* path index of the flow from `from` */
	uint8_t src_path_bits; /* source path bits for the flow to `to`: path index of the opposite flow, so that one
				* reliable queue pair per pair of servers serves both directions */
	uint8_t reserved;      /* 0 */
};

/* A schedule as a whole. Texts belong to the schedule, and live as long. */
struct forsched_info {
	uint64_t epoch;	      /* number of this plan; a newer plan has a higher one */
	uint64_t fingerprint; /* of the fabric that it was made for */
	uint32_t nservers;
	uint32_t nphases; /* 0: withdrawn */
	uint32_t nleaves;
	uint32_t nlanes;    /* cables from each leaf to spines, dead ones included; 0 in versions 2 and 3 */
	const char *method; /* name of the planner; "" when withdrawn */
	const char *reason; /* why it is withdrawn; "" when it is not */
	const char *name;   /* the file that it was read from, or the name given to forsched_open_memory() */
};

struct forsched_heartbeat {
	uint64_t unix_ms; /* when the subnet manager wrote it, by its own clock */
	uint64_t epoch;	  /* that it stands behind */
	int64_t age_ms;	  /* by this machine's clock; negative: in the future, the clocks disagree */
};

/*
 * What a schedule has besides, since FORSCHED_1.2. One of version 1 is a plan of all servers over the lanes of a
 * two-level tree. One of version 2 may be of any fabric and under any routing engine, or of one job. One of version 3 is of
 * a demand.
 */
struct forsched_more {
	const char *job;       /* name of the job or demand whose servers exchange; "": all servers of the fabric */
	uint64_t fabric_epoch; /* under which the routing tables that the plan goes over were first published */
	uint32_t version;      /* of the format: 1, 2 or 3 */
	uint32_t nswitches;    /* on ways, 0: ways are not told */
	uint32_t nways;	       /* different ways; 0: ways are not told */
	uint32_t reserved;     /* 0 */
};

/* A switch on the way of a flow. */
struct forsched_hop {
	uint64_t guid; /* node GUID */
	uint8_t port;  /* out of it; 0 at the last switch: to the server */
	uint8_t reserved[7];
};

/*
 * How much is sent, since FORSCHED_1.8. A schedule of version 3 is one of a demand: messages have sizes, and may be cut into
 * pieces that go in several phases; some servers only send or only receive, some do neither. In versions 1 and 2 each server
 * sends one message to each other; that is told in the same words, with 1 for each length and size.
 */
struct forsched_sizes {
	uint64_t length;   /* of all phases one after another */
	uint64_t granule;  /* all pieces are whole multiples of it */
	uint32_t checksum; /* of the demand: the same for the same sizes between the same servers; 0 without a demand */
	uint8_t has_demand;  /* 1: version 3 */
	uint8_t is_unit;     /* 1: bytes are numbers of messages of one size, which the schedule does not know */
	uint8_t reserved[2]; /* 0 */
};

/* What of its messages a server sends and receives in a phase: bytes `offset` to `offset` + `bytes` - 1 of `total`. */
struct forsched_piece {
	uint64_t bytes;				/* to forsched_flow.to; 0: to nobody */
	uint64_t offset;			/* so much went to the same server in phases before */
	uint64_t total;				/* all that goes there in all phases; 0: to nobody */
	uint64_t in_bytes, in_offset, in_total; /* the same of what comes from forsched_flow.from */
};

#define FORSCHED_SENDS 1u
#define FORSCHED_RECEIVES 2u

/* ---- open and close ---- */

/*
 * Open the schedule in `path`, in *schedule, owned by the caller: forsched_close(). When `path` is a directory, the
 * file `schedule` in it is meant. The file stays open (one descriptor, close-on-exec) for rows that are asked for
 * later. Errors: FORSCHED_EFILE, FORSCHED_EFORMAT, FORSCHED_ECHANGED, FORSCHED_ENOMEM.
 */
enum forsched_err forsched_open(const char *path, struct forsched **schedule, struct forsched_error *error);

/*
 * The same from `size` bytes in memory, received from another process or mapped by the caller; they have to
 * stay until forsched_close(). `name` opens error texts. Errors as with forsched_open().
 */
enum forsched_err forsched_open_memory(const void *bytes, size_t size, const char *name, struct forsched **schedule,
				       struct forsched_error *error);

/* Done with it; NULL is allowed. */
void forsched_close(struct forsched *schedule);

/*
 * Where fors is told of jobs (jobs_file in fors.conf), each has a schedule of its own, in jobs/NAME beside the
 * fabric's. The path of what this process has to follow, for forsched_open() and forsched_watch_open():
 * `path`/jobs/`job` when there is such a schedule, else `path` (a folder, or a file in it). job NULL: what FORSCHED_JOB
 * in the environment says, else SLURM_JOB_ID, else none. In *found, owned by the caller: free(). A job's schedule may
 * come a moment after its processes: who has got the fabric's may ask again. Errors: FORSCHED_ERANGE (that is no name
 * of a job), FORSCHED_ENOMEM. (Since FORSCHED_1.4.)
 */
enum forsched_err forsched_job_path(const char *path, const char *job, char **found, struct forsched_error *error);

/* ---- the whole ---- */

void forsched_info(const struct forsched *schedule, struct forsched_info *info);
void forsched_more(const struct forsched *schedule, struct forsched_more *more); /* since FORSCHED_1.2 */
uint64_t forsched_epoch(const struct forsched *schedule);
uint32_t forsched_nservers(const struct forsched *schedule);
uint32_t forsched_nphases(const struct forsched *schedule);

/*
 * Read and check all of it now: every row, that the rows of senders and receivers agree, and every other rule of
 * schedule_format.h: what it accepts, fors itself accepts, and nothing else. Afterwards no look-up reads the file or
 * allocates memory. Keeps 8 bytes per server and phase, 12 in version 2, 60 in version 3. Errors: FORSCHED_EFORMAT, FORSCHED_ECHANGED,
 * FORSCHED_EFILE, FORSCHED_ENOMEM.
 */
enum forsched_err forsched_check(const struct forsched *schedule, struct forsched_error *error);

/*
 * A copy of the bytes of the file, in *bytes (*size of them), owned by the caller (free()): to hand to other processes,
 * which give them to forsched_open_memory(). Errors: FORSCHED_EFILE, FORSCHED_ECHANGED, FORSCHED_ENOMEM.
 */
enum forsched_err forsched_copy(const struct forsched *schedule, void **bytes, size_t *size,
				struct forsched_error *error);

/* ---- servers ---- */

/* Server number `number`. Errors: FORSCHED_ERANGE. */
enum forsched_err forsched_server(const struct forsched *schedule, uint32_t number, struct forsched_server *server);

/* The number of the server with this port GUID. Errors: FORSCHED_ENOTFOUND, FORSCHED_EWITHDRAWN. */
enum forsched_err forsched_find_guid(const struct forsched *schedule, uint64_t guid, uint32_t *number,
				     struct forsched_error *error);

/* The number of the server that has this LID, the base LID or any other of its 2^lmc. Errors: the same. */
enum forsched_err forsched_find_lid(const struct forsched *schedule, uint16_t lid, uint32_t *number,
				    struct forsched_error *error);

/*
 * The port GUID of the server that this process runs on, in *guid, for forsched_find_guid(). The first of these that is
 * there decides: FORSCHED_SERVER in the environment, a GUID; FORSCHED_MAP, a file of lines "RANK GUID" or "HOST GUID";
 * the InfiniBand ports of this host, of which FORSCHED_DEVICE may name one (forsched_server(3)). `rank`: of this
 * process in MPI_COMM_WORLD, -1: it has none. Of several ports that which is in `schedule` is meant; NULL: the host has to
 * have one only. Whether FORSCHED_SERVER and the map name a server of the schedule is not looked at. Reads files each
 * time; any thread, while nobody changes the environment. Errors: FORSCHED_ENOTFOUND (not to be known, or not certain;
 * the text says what to set), FORSCHED_EFILE, FORSCHED_EFORMAT (the map), FORSCHED_ENOMEM. (Since FORSCHED_1.7.)
 */
enum forsched_err forsched_own_guid(const struct forsched *schedule, int rank, uint64_t *guid,
				    struct forsched_error *error);

/* ---- the exchange ---- */

/*
 * What server `number` does in `phase`: a few nanoseconds, no lock, no allocation, except that the first call for a
 * server does what forsched_prepare() does. Errors: FORSCHED_ERANGE, FORSCHED_EWITHDRAWN, at the first call those of
 * forsched_prepare().
 */
enum forsched_err forsched_flow(const struct forsched *schedule, uint32_t number, uint32_t phase,
				struct forsched_flow *flow);

/*
 * The service level (0 to 15) that the flow server `number` sends in `phase` has to use, in *sl; FORSCHED_NO_SL: the
 * schedule does not say, or it sends to nobody. Put it into the address handle or the path of the queue pair (ah_attr.sl).
 * Under routing engines that keep their tables free of deadlock by virtual lanes (dfsssp, lash, nue, torus-2QoS) a
 * path is safe only on this service level; when it is not told, ask the subnet manager (a PathRecord). As fast as
 * forsched_flow(). Errors: those of forsched_flow(). (Since FORSCHED_1.2.)
 */
enum forsched_err forsched_sl(const struct forsched *schedule, uint32_t number, uint32_t phase, uint8_t *sl);

/*
 * The switches that the flow of server `number` in `phase` crosses, in order, in hop[], at most `room` of them; *nhops is
 * how many there are, also when there is no room for all. 0: the schedule does not say, or it sends to nobody. The first
 * call reads all ways of the schedule. Errors: those of forsched_prepare(). (Since FORSCHED_1.2.)
 */
enum forsched_err forsched_way(const struct forsched *schedule, uint32_t number, uint32_t phase,
			       struct forsched_hop *hop, uint32_t room, uint32_t *nhops, struct forsched_error *error);

/*
 * The links between switches that the flow of server `number` in `phase` takes, as numbers, in link[], at most `room` of
 * them; *nlinks is how many there are, also when there is no room for all, and 0 inside a leaf or to nobody. A number
 * stands for one direction of one cable: two flows meet when they have a number in common, whatever phases they are in.
 * Errors: FORSCHED_ENOTFOUND (the schedule does not tell the way), those of forsched_way(). (Since FORSCHED_1.6.)
 */
enum forsched_err forsched_links(const struct forsched *schedule, uint32_t number, uint32_t phase, uint32_t *link,
				 uint32_t room, uint32_t *nlinks, struct forsched_error *error);

/*
 * The one path index of all flows, in *index: for who cannot choose a LID for each peer, and adds one number to the base
 * LIDs of all, as UCX does (UCX_IB_LID_PATH_BITS). So it is with the schedule of a job to which a path index belongs; one
 * over base LIDs has 0, without a look at its flows. Else all rows are read, until two flows differ, and not kept. Errors:
 * FORSCHED_ENOTFOUND (flows differ in it), FORSCHED_EWITHDRAWN, FORSCHED_EFORMAT, FORSCHED_ECHANGED, FORSCHED_EFILE,
 * FORSCHED_ENOMEM. (Since FORSCHED_1.5.)
 */
enum forsched_err forsched_path_index(const struct forsched *schedule, uint8_t *index, struct forsched_error *error);

/*
 * Read and check the row of server `number` now, so that look-ups for it cannot fail later. Once done it costs nothing.
 * Errors: FORSCHED_ERANGE, FORSCHED_EWITHDRAWN, FORSCHED_EFORMAT, FORSCHED_ECHANGED, FORSCHED_EFILE, FORSCHED_ENOMEM.
 */
enum forsched_err forsched_prepare(const struct forsched *schedule, uint32_t number, struct forsched_error *error);

/* ---- how much: since FORSCHED_1.8 ---- */

/* Is there a demand, how long does it take, in which grains is it cut? */
void forsched_sizes(const struct forsched *schedule, struct forsched_sizes *sizes);

/* The length of `phase` in *bytes: that of its longest piece. Errors: FORSCHED_ERANGE, FORSCHED_EWITHDRAWN. */
enum forsched_err forsched_phase_bytes(const struct forsched *schedule, uint32_t phase, uint64_t *bytes);

/* What server `number` sends and receives in `phase`. As fast as forsched_flow(). Errors: those of forsched_flow(). */
enum forsched_err forsched_piece(const struct forsched *schedule, uint32_t number, uint32_t phase,
				 struct forsched_piece *piece);

/* Whether server `number` sends and receives at all, in *role: FORSCHED_SENDS | FORSCHED_RECEIVES. Errors: those of forsched_flow(). */
enum forsched_err forsched_role(const struct forsched *schedule, uint32_t number, uint32_t *role);

/* ---- the next epoch ---- */

/*
 * The epoch of the file as it is now: opens it anew, reads and checks its header (272, 408 or 440 bytes), some microseconds on a
 * local disk. Opening is also what makes an NFS client ask its server, so this sees what a stat() of a cached inode
 * does not. Errors: FORSCHED_ERANGE (opened from memory), FORSCHED_EFILE, FORSCHED_EFORMAT.
 */
enum forsched_err forsched_newest(const struct forsched *schedule, uint64_t *epoch, struct forsched_error *error);

/*
 * Open the file again when it has a higher epoch: *newer is the new schedule, owned by the caller, or NULL when there
 * is none. The old one is not touched. Errors: those of forsched_newest() and forsched_open().
 */
enum forsched_err forsched_open_newer(const struct forsched *schedule, struct forsched **newer,
				      struct forsched_error *error);

/*
 * Switch to the newer schedule when there is one: *schedule is closed and replaced. When there is none, or on any
 * error, it stays as it is, usable. To be called where nobody is in the middle of an exchange. Errors: those of
 * forsched_open_newer().
 */
enum forsched_err forsched_refresh(struct forsched **schedule, struct forsched_error *error);

/*
 * A watch tells of a newer epoch within a millisecond, on a file system of this machine, by inotify. On NFS and the like,
 * where that tells nothing of what other hosts write, it looks ten times a second. One thread at a time. (Since
 * FORSCHED_1.3.)
 *
 * Watch a schedule's file, or the folder that it is in, which need not be there yet. Errors: FORSCHED_EFILE (no descriptors
 * left), FORSCHED_ENOMEM.
 */
struct forsched_watch;
enum forsched_err forsched_watch_open(const char *path, struct forsched_watch **watch, struct forsched_error *error);
void forsched_watch_close(struct forsched_watch *watch); /* NULL is allowed */

/*
 * A descriptor for poll(2), the watch's own: readable when there may be something new, also when there is nothing.
 * forsched_watch_newest() makes it quiet again.
 */
int forsched_watch_fd(const struct forsched_watch *watch);

/* The epoch of the file as it is now. Errors: FORSCHED_EFILE (there is none yet), FORSCHED_EFORMAT. */
enum forsched_err forsched_watch_newest(struct forsched_watch *watch, uint64_t *epoch, struct forsched_error *error);

/*
 * Wait until the file has an epoch above `after` (0: any), at most timeout_ms milliseconds, negative: for ever; a withdrawn
 * schedule counts. *epoch is the file's, whether or not it is above. Errors: when the time is over, those of
 * forsched_watch_newest().
 */
enum forsched_err forsched_watch_wait(struct forsched_watch *watch, uint64_t after, int timeout_ms, uint64_t *epoch,
				      struct forsched_error *error);

/*
 * The heartbeat that lies beside the schedule's file; for a job's, in jobs/NAME, that of the fabric. A stale one says
 * that no subnet manager stands behind the schedule: it stays right until a link changes, and nobody will say when that
 * is. Errors: FORSCHED_ERANGE (opened from memory), FORSCHED_EFILE (there is none), FORSCHED_EFORMAT.
 */
enum forsched_err forsched_heartbeat(const struct forsched *schedule, struct forsched_heartbeat *heartbeat,
				     struct forsched_error *error);

/*
 * Is it stale: age_ms over FORSCHED_STALE_MS, or below -FORSCHED_SKEW_MS? One from the future was written by a clock
 * that was wrong, or is read by one: nobody can tell how old it is. 1: stale, 0: fresh. (Since FORSCHED_1.1.)
 */
int forsched_heartbeat_is_stale(const struct forsched_heartbeat *heartbeat);

/* ---- the library ---- */

/* A few constant words for a code; never NULL. */
const char *forsched_strerror(enum forsched_err code);

/* The version of fors that the library belongs to, in digits and dots. */
const char *forsched_version(void);

#ifdef __cplusplus
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
}
#endif

#endif
