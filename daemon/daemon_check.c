/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * No switch gets tables that were not looked at, by code that did not make them: that everything arrives that can, and
 * that nothing can wait for itself. Both under OpenSM's lock, for about what filling the tables costs. What people
 * should know of the result is said once, not in each sweep.
 */
#include "daemon_inside.h"

#include "core/fabric/account.h"
#include "core/planners/routing.h"
#include "daemon/base/digest.h"

static void tell(struct fors_daemon *daemon, const struct fors_warnings *found)
{
	uint64_t digest = FORS_DIGEST_EMPTY;

	for (unsigned i = 0; i < fors_warnings_kept(found); i++)
		digest = fors_digest_text(digest, found->text[i]);
	if (!fors_digest_changed(&daemon->told_left, digest))
		return;
	for (unsigned i = 0; i < fors_warnings_kept(found); i++)
		fors_log_error(&daemon->setup.log, FORS_F_LEFT, "%s", found->text[i]);
}

enum fors_err fors_daemon_check(struct fors_daemon *daemon, struct fors_look *look, struct fors_error *error)
{
	struct fors_warnings found = {0};
	struct fors_account account;
	enum fors_err err = fors_account_take(&look->tree, &account, error);

	if (!err)
		err = fors_routing_check(&look->tree, look->lfts, &found, error);
	if (err)
		return err;
	fors_account_warn(look->net, &account, &found);
	fors_warnings_add(&look->warnings, &found);
	tell(daemon, &found);
	return FORS_OK;
}
