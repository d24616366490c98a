/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pods_account.h - who takes part in the exchange of a tree of three levels, and where every CA port has gone.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_PODS_ACCOUNT_H
#define FORS_CORE_FABRIC_PODS_ACCOUNT_H

#include "account.h"
#include "pods.h"

/*
 * Which servers take part, plays[nslots], owned by the caller, and how many. participants: NULL for all. A server
 * without a LID takes no part. Errors: FORS_ENOMEM.
 */
enum fors_err fors_pods_players(const struct fors_pods *pods, const struct fors_participants *participants,
				bool **plays, uint32_t *count, struct fors_error *error);

/* Their GUIDs, as a list that the caller frees; guests are never on it. Errors: FORS_ENOMEM. */
enum fors_err fors_pods_list(const struct fors_pods *pods, const bool *plays, uint32_t count,
			     struct fors_participants *list, struct fors_error *error);

/* As fors_account_take(); guests are CA ports on middle switches and tops. plays: fors_pods_players(). */
struct fors_account fors_pods_account(const struct fors_pods *pods, const bool *plays);

#endif
