/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status.h - what fors tells people and programs about itself.
 * Thread rules: a status is plain data of one owner; making text of it is pure.
 */
#ifndef FORS_CORE_STATUS_STATUS_H
#define FORS_CORE_STATUS_STATUS_H

#include "core/fabric/fabric.h"
#include "core/base/warnings.h"
#include "core/schedule/schedule.h"

enum fors_state { FORS_INACTIVE, FORS_PLANNING, FORS_ACTIVE, FORS_FAILED };

struct fors_link {
	char a[FORS_NAME_MAX + 1]; /* leaf */
	char b[FORS_NAME_MAX + 1]; /* spine */
	uint8_t a_port, b_port;
	bool is_used;	  /* servers' traffic goes over it; not of dead ones */
	int64_t since_ms; /* Unix time when it died or came back, FORS_UNKNOWN: before fors looked */
};

/* In the order of leaves and lanes; owned by the status. */
struct fors_links {
	struct fors_link *link;
	size_t count;
};

/* "inactive", "planning", "active" or "failed"; never NULL. */
const char *fors_state_name(enum fors_state state);

#define FORS_UNKNOWN (-1) /* a number that is not known: null in JSON, absent in metrics */

struct fors_status {
	enum fors_state state;
	char reason[FORS_ERROR_TEXT]; /* why it is not active, or a warning; may be empty */
	int64_t epoch;		      /* of the published schedule */
	int64_t servers, leaves, spines;
	int64_t f;		 /* bandwidth reduction */
	int64_t affected_spines; /* m */
	int64_t capacity;	 /* B, when all leaves have as many servers */
	int64_t phases, lower_bound;
	char method[16];	   /* empty: none */
	double plan_ms, tables_ms; /* negative: unknown */
	int64_t unreachable_pairs;
	int64_t lmc;			  /* of the servers */
	int64_t lmc_needed;		  /* that would allow fewer phases (or any plan); unknown: none would */
	int64_t state_since_ms;		  /* Unix time when it became so */
	int64_t held_until_ms;		  /* Unix time when the next held link returns */
	struct fors_links dead_links;	  /* unplugged or down */
	struct fors_links degraded_links; /* below full width or speed */
	struct fors_links excluded_links, held_links;
	struct fors_warnings warnings;
};

/* All unknown, FORS_INACTIVE. */
void fors_status_init(struct fors_status *status);
/* Free what the status owns; the status itself is the caller's. */
void fors_status_clear(struct fors_status *status);

/*
 * Fill what the fabric says (servers .. capacity, unreachable_pairs, the lists of links, held_until_ms, lmc) into an
 * initialised status. Errors: FORS_ENOMEM; the status is unchanged then.
 */
enum fors_err fors_status_fabric(struct fors_status *status, const struct fors_fabric *fabric,
				 struct fors_error *error);
/* Fill what a schedule says: epoch, phases, method (its reason, when withdrawn). */
void fors_status_schedule(struct fors_status *status, const struct fors_schedule *schedule);

/* Links that carry no servers' traffic although they live. */
size_t fors_status_drained(const struct fors_status *status);

/*
 * What will happen next, or what somebody has to do, in one sentence in `text` (`room` bytes, cut to them).
 * unix_ms: now.
 */
void fors_status_next(const struct fors_status *status, int64_t unix_ms, char *text, size_t room);

/* status.json and metrics.prom as text in *text, owned by the caller (free()). Errors: FORS_ENOMEM. */
enum fors_err fors_status_json(const struct fors_status *status, char **text, struct fors_error *error);
enum fors_err fors_status_prom(const struct fors_status *status, char **text, struct fors_error *error);
/*
 * Read status.json back (for `fors status`) into *status, which need not be initialised; afterwards it is to
 * be cleared. Unknown keys are ignored. Errors: FORS_EINPUT, FORS_ENOMEM (*status is unchanged then).
 */
enum fors_err fors_status_parse(const char *text, const char *name, struct fors_status *status,
				struct fors_error *error);

#endif
