/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fors_err fors_members_add(struct fors_members *members, const char *job, uint64_t guid, struct fors_error *error)
{
	struct fors_member *more;
	size_t room = 2 * members->room + 64;

	if (members->count == members->room) {
		more = realloc(members->member, room * sizeof(*more));
		if (!more)
			return fors_fail_memory(error);
		members->member = more;
		members->room = room;
	}
	snprintf(members->member[members->count].job, FORS_MEMBER_ROOM, "%s", job);
	members->member[members->count++].guid = guid;
	return FORS_OK;
}

static int compare(const void *left, const void *right)
{
	const struct fors_member *a = left, *b = right;
	int order = strcmp(a->job, b->job);

	return order ? order : (a->guid > b->guid) - (a->guid < b->guid);
}

void fors_members_sort(struct fors_members *members)
{
	if (members->count)
		qsort(members->member, members->count, sizeof(*members->member), compare);
}

void fors_members_clear(struct fors_members *members)
{
	free(members->member);
	*members = (struct fors_members){NULL, 0, 0};
}

bool fors_members_have(const struct fors_members *members, const char *job, uint64_t guid)
{
	struct fors_member wanted = {.guid = guid};

	snprintf(wanted.job, sizeof(wanted.job), "%s", job);
	return members->count && bsearch(&wanted, members->member, members->count, sizeof(wanted), compare);
}
