/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_keys.h - which keys the status has, for this module only: tables as object.h has them.
 *
 * A metric is in seconds where a key is in milliseconds, and is called so (status_metrics.c): such a key ends in _ms.
 *
 * The names are a contract with whoever reads status.json and metrics.prom: they stay, whatever a member is called.
 * Thread rules: constants, and functions without state.
 */
#ifndef FORS_CORE_STATUS_STATUS_KEYS_H
#define FORS_CORE_STATUS_STATUS_KEYS_H

#include <string.h>

#include "object.h"
#include "status.h"

extern const struct fors_object fors_status_object;
/* Of struct fors_gain, fors_failover and fors_shadow_facts. */
extern const struct fors_object fors_gain_object, fors_failover_object, fors_shadow_object;
/* Names of enum fors_state, NULL ends them. */
extern const char *const fors_state_words[];

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

/* What a key of kind FORS_KEY_LIST holds: a pointer to the first one, and how many. Plain data. */
struct fors_key_list {
	void *first;
	size_t count;
};

static inline struct fors_key_list fors_key_list(const struct fors_status *status, const struct fors_key *key)
{
	struct fors_key_list list;

	memcpy(&list, fors_key_member(status, key), sizeof(list));
	return list;
}

#endif
