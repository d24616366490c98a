/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "wish.h"

#include <stdlib.h>

enum fors_err fors_wish_new(const struct fors_fabric *fabric, struct fors_wish **wish, struct fors_error *error)
{
	struct fors_wish *made = calloc(1, sizeof(*made));
	enum fors_err err = made ? fors_fabric_copy(fabric, NULL, &made->fabric, error) : fors_fail_memory(error);

	if (err) {
		free(made);
		return err;
	}
	made->holders = 1;
	*wish = made;
	return FORS_OK;
}

struct fors_wish *fors_wish_hold(struct fors_wish *wish)
{
	if (wish)
		__atomic_add_fetch(&wish->holders, 1, __ATOMIC_RELAXED);
	return wish;
}

void fors_wish_drop(struct fors_wish *wish)
{
	if (!wish || __atomic_sub_fetch(&wish->holders, 1, __ATOMIC_ACQ_REL))
		return;
	fors_entries_clear(&wish->entries);
	fors_owners_clear(&wish->owners);
	fors_joblist_clear(&wish->list);
	fors_fabric_free(wish->fabric);
	free(wish);
}

enum fors_err fors_wish_entries(const struct fors_wish *wish, const struct fors_fabric *fabric,
				struct fors_entries *now, struct fors_error *error)
{
	*now = (struct fors_entries){0};
	return wish ? fors_entries_again(wish->fabric, &wish->entries, fabric, now, error) : FORS_OK;
}

enum fors_err fors_wish_write(const struct fors_wish *wish, const struct fors_fabric *fabric, struct fors_lfts *lfts,
			      struct fors_error *error)
{
	struct fors_entries now;
	enum fors_err err = fors_wish_entries(wish, fabric, &now, error);

	if (!err && now.up) {
		fors_entries_prune(fabric, &now);
		fors_entries_apply(fabric, &now, wish->index, lfts);
	}
	fors_entries_clear(&now);
	return err;
}
