/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A draft: what readers will get, made before they may have it. A schedule of 360 servers is a megabyte where each flow
 * has a way of its own, and to make and write that takes longer than all else between the switches' last word and the
 * new epoch. Only the epoch is not known before; it is in the first bytes.
 */
#include "publisher_inside.h"

#include <stdlib.h>

#include "core/schedule/schedule_file.h"

void fors_publisher_draft(struct fors_publisher *publisher, const struct fors_schedule *schedule,
			  struct fors_draft *draft)
{
	fors_publisher_drop_draft(publisher, draft);
	if (fors_schedule_encode(schedule, &draft->bytes, &draft->size, NULL))
		return;
	draft->is_written = fors_publish_ahead(publisher->folder, "schedule", draft->bytes, draft->size);
}

void fors_publisher_drop_draft(struct fors_publisher *publisher, struct fors_draft *draft)
{
	if (draft->is_written)
		fors_publish_drop(publisher->folder, "schedule");
	free(draft->bytes);
	*draft = (struct fors_draft){.bytes = NULL};
}

bool fors_publisher_encode(struct fors_publisher *publisher, const struct fors_schedule *schedule, void **bytes,
			   size_t *size)
{
	struct fors_draft *draft = publisher->draft;

	if (!draft || !draft->bytes)
		return !fors_schedule_encode(schedule, bytes, size, NULL);
	fors_schedule_renumber(draft->bytes, schedule->epoch);
	*bytes = draft->bytes;
	*size = draft->size;
	draft->bytes = NULL;
	return true;
}

bool fors_publisher_show_draft(struct fors_publisher *publisher, const void *bytes, size_t size)
{
	struct fors_draft *draft = publisher->draft;
	size_t head = size < FORS_SCHEDULE_HEAD ? size : FORS_SCHEDULE_HEAD;

	if (!draft || !draft->is_written || draft->size != size)
		return false;
	if (!fors_publish_ready(publisher->folder, "schedule", bytes, head, size))
		return false;
	draft->is_written = false;
	return true;
}
