/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads.h - questions to a fabric, a few at a time: management datagrams (MADs) over libibumad.
 *
 * A fabric belongs to its subnet manager, and this program is a guest: it asks (Get, GetTable), subscribes
 * (Set of InformInfo, the only Set that can be sent at all) and thanks for reports (ReportResp). At most `window`
 * questions are out at a time, at most `rate` leave in a second. A question that is not answered in time is sent again, and
 * in the end its asker hears that there is no answer.
 *
 * A question is queued with a function that gets the answer; that function may queue more. Nothing is sent or
 * received but inside fors_mads_run() and fors_mads_wait().
 * Threads: one.
 */
#ifndef FORS_WATCH_MADS_H
#define FORS_WATCH_MADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_WAY_HOPS 63
#define FORS_MADS_WINDOW 4
#define FORS_MADS_TIMEOUT_MS 200

/* A directed route, a way by port numbers: from the port that is asked from, out of these ports. */
struct fors_directed_route {
	uint8_t hops;		     /* 0: the port itself */
	uint8_t port[FORS_WAY_HOPS]; /* port[0] is the number of that port, then those of switches */
};

struct fors_mads_setup {
	const char *ca;			   /* as in "mlx5_0"; NULL: the first one with an active port */
	unsigned port;			   /* of it; 0: its first active one */
	unsigned window;		   /* questions out at a time; 0: 4 */
	unsigned rate;			   /* that leave in a second; 0: any */
	unsigned timeout_ms;		   /* of one sending; 0: 200 */
	unsigned retries;		   /* further sendings; the caller's choice, 0 is none */
	uint64_t m_key;			   /* of the fabric, in each subnet management packet; 0: none */
	bool wants_reports;		   /* register for Reports of the subnet administration */
	bool (*is_stopped)(void *context); /* asked often; true: run() and wait() return. NULL: never */
	void *context;			   /* of it */
};

/* What has come of a question. */
enum fors_mad_end {
	FORS_MAD_ANSWERED,
	FORS_MAD_LOST,	  /* no answer to any sending */
	FORS_MAD_REFUSED, /* an answer with a status */
};

struct fors_mad {
	uint16_t attribute, status; /* status: of a refusal, as the wire has it */
	uint32_t modifier;
	const uint8_t *data; /* answered: of a subnet management packet 64 bytes; of the administration's all records */
	size_t size;	     /* of the administration's perhaps 0 */
	uint16_t record;     /* of these: bytes from one record to the next, 0: there is none */
};

typedef void (*fors_mad_done)(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad);

struct fors_mads_counts {
	uint64_t sent, again, lost, refused,
		reports,  /* sendings in all; of these, second ones and later; ends of questions */
		managers; /* sendings of SMInfo, each of which a manager that counts may count */
};

struct fors_mads_port {
	char ca[64];
	unsigned number;
	uint64_t guid;	      /* of the port */
	uint16_t lid, sm_lid; /* as the kernel knows them */
	uint8_t sm_sl;
};

struct fors_mads;

/*
 * Open a port. Errors: FORS_EIO (no such adapter or port, no right to open it; what to do is in the text), FORS_ENOMEM.
 */
enum fors_err fors_mads_open(const struct fors_mads_setup *setup, struct fors_mads **mads, struct fors_error *error);
/* NULL is allowed. What is out and queued is forgotten, without a word. */
void fors_mads_close(struct fors_mads *mads);
/* Did the port fail, so that only another fors_mads_open() helps? */
bool fors_mads_is_broken(const struct fors_mads *mads);

const struct fors_mads_port *fors_mads_port(const struct fors_mads *mads);
/* The manager has this LID now, and is reached at this service level. */
void fors_mads_set_manager(struct fors_mads *mads, uint16_t lid, uint16_t sm_lid, uint8_t sm_sl);
const struct fors_mads_counts *fors_mads_counts(const struct fors_mads *mads);

/*
 * Queue a Get of a subnet management attribute, along a way or to a LID. `done` gets the end of it, with `context` and
 * `tag`. Errors: FORS_ENOMEM; done is not called then.
 */
enum fors_err fors_mads_get(struct fors_mads *mads, const struct fors_directed_route *way, uint16_t attribute,
			    uint32_t modifier, fors_mad_done done, void *context, uint64_t tag);
enum fors_err fors_mads_get_at(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
			       fors_mad_done done, void *context, uint64_t tag);

/* As fors_mads_get_at(), before all that is queued: for who may call inside fors_mads_run(). */
enum fors_err fors_mads_get_soon(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
				 fors_mad_done done, void *context, uint64_t tag);

/* A question to the subnet administration: a record of at most 200 bytes of which `mask` tells the components. */
struct fors_sa_question {
	enum {
		FORS_SA_GET,
		FORS_SA_TABLE,
		FORS_SA_SUBSCRIBE
	} what;		    /* SUBSCRIBE: Set, and the attribute is InformInfo */
	uint16_t attribute; /* of GET and TABLE */
	uint64_t mask;
	const uint8_t *record; /* size bytes, copied */
	size_t size;
};

/* Queue it; as fors_mads_get(). One for a table leaves when no other one is out at the administration. */
enum fors_err fors_mads_ask(struct fors_mads *mads, const struct fors_sa_question *question, fors_mad_done done,
			    void *context, uint64_t tag);

/* Does the kernel hand us Reports? Not where another program of this host has them. */
bool fors_mads_get_reports(const struct fors_mads *mads);

/* The Notice (80 bytes) of a Report that came and has been answered. */
typedef void (*fors_mads_report)(void *context, const uint8_t *notice);
void fors_mads_on_report(struct fors_mads *mads, fors_mads_report report, void *context);

/*
 * Send and receive until nothing is queued or out any more. Errors: FORS_ECANCELLED (is_stopped() said so), FORS_EIO (the
 * port is gone); what was not answered by then is forgotten, without a word.
 */
enum fors_err fors_mads_run(struct fors_mads *mads, struct fors_error *error);
/* Forget all questions that are queued or out, without a word; for a `done` that wants no more answers. */
void fors_mads_forget(struct fors_mads *mads);
/* Receive reports until a time of fors_clock_exact_ms(), or until one has come. Errors: the same. */
enum fors_err fors_mads_wait(struct fors_mads *mads, double until_ms, struct fors_error *error);

#endif
