/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_keys.h - which keys the status has, for this module only.
 *
 * The idea: one table, fors_keys[], says which keys there are, of which kind they are and where they live in
 * struct fors_status. Writing JSON, writing metrics and reading JSON back all walk this table, so the three
 * cannot drift apart; a new number is one new line. Every kind (number, point in time, milliseconds, text, state, links)
 * knows how to become JSON, how to come back from it, and how to become a metric.
 *
 * A metric is in seconds where a key is in milliseconds, and is called so (status_metrics.c): such a key ends in _ms.
 *
 * The names are a contract with whoever reads status.json and metrics.prom: they stay, whatever a member is called.
 * Thread rules: a constant, and a function without state.
 */
#ifndef FORS_CORE_STATUS_STATUS_KEYS_H
#define FORS_CORE_STATUS_STATUS_KEYS_H

#include <jansson.h>

#include "status.h"

enum fors_key_kind {
	FORS_KEY_NUMBER,     /* int64_t, negative: unknown */
	FORS_KEY_UNIX_MS,    /* the same, a point in time */
	FORS_KEY_MS,	     /* double, negative: unknown */
	FORS_KEY_PHASES,     /* double, a time in phases; negative: unknown */
	FORS_KEY_TEXT,	     /* char[size], empty: unknown */
	FORS_KEY_STATE,	     /* enum fors_state */
	FORS_KEY_DEAD_LINKS, /* struct fors_links, without what not everybody knows */
	FORS_KEY_DEAD_SINCE, /* since when those are dead, in their order; has no member of its own */
	FORS_KEY_LINKS,	     /* struct fors_links */
	FORS_KEY_SERVERS,    /* the same, of places of servers */
	FORS_KEY_SWITCHES,   /* struct fors_dead_switches */
	FORS_KEY_REPAIRS,    /* struct fors_gains */
	FORS_KEY_JOBS,	     /* struct fors_jobstats */
	FORS_KEY_WARNINGS,   /* struct fors_warnings */
	FORS_KEY_FAILOVER,   /* struct fors_failover */
	FORS_KEY_SHADOW,     /* struct fors_shadow_facts; there is no such key where there is no shadow */
};

struct fors_key {
	const char *name;
	size_t offset, size; /* of the member, in struct fors_status */
	enum fors_key_kind kind;
	const char *help; /* of the metric; NULL: it has none */
};

extern const struct fors_key fors_keys[]; /* in the order in which they are written */
extern const size_t fors_nkeys;

/* Where the value of a key lives. */
static inline const void *fors_key_member(const struct fors_status *status, const struct fors_key *key)
{
	return (const char *)status + key->offset;
}

/* The value of a key of kind FORS_KEY_NUMBER or FORS_KEY_UNIX_MS. */
static inline int64_t fors_key_number(const struct fors_status *status, const struct fors_key *key)
{
	return *(const int64_t *)fors_key_member(status, key);
}

/* The value of a key of kind FORS_KEY_MS or FORS_KEY_PHASES. */
static inline double fors_key_ms(const struct fors_status *status, const struct fors_key *key)
{
	return *(const double *)fors_key_member(status, key);
}

/* A text as JSON, where it is no UTF-8 with '?' for all that is not ASCII; empty: null. New reference, NULL: out of memory. */
json_t *fors_text_or_null(const char *text);

#endif
