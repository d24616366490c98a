/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_mads.h"

#include <stdlib.h>
#include <string.h>

#include "fake_fabric.h"
#include "watch/bytes.h"
#include "watch/wire.h"

struct asked {
	struct fors_directed_route way;
	uint16_t attribute;
	uint32_t modifier;
	bool is_manager;
	uint16_t slid, dlid; /* of the administration: a path; slid 0: it is not asked */
	fors_mad_done done;
	void *context;
	uint64_t tag;
};

struct fors_mads {
	struct fake *fake;
	struct fors_mads_port port;
	struct fors_mads_counts counts;
	struct asked *asked;
	size_t count, next, room;
};

struct fors_mads *fake_mads(struct fake *fake)
{
	struct fors_mads *mads = calloc(1, sizeof(*mads));

	mads->fake = fake;
	mads->port.lid = mads->port.sm_lid = 1;
	return mads;
}

void fors_mads_close(struct fors_mads *mads)
{
	free(mads->asked);
	free(mads);
}

const struct fors_mads_port *fors_mads_port(const struct fors_mads *mads)
{
	return &mads->port;
}

const struct fors_mads_counts *fors_mads_counts(const struct fors_mads *mads)
{
	return &mads->counts;
}

void fors_mads_set_manager(struct fors_mads *mads, uint16_t lid, uint16_t sm_lid, uint8_t sm_sl)
{
	(void)sm_lid;
	(void)sm_sl;
	mads->port.lid = lid;
}

static enum fors_err add(struct fors_mads *mads, const struct asked *asked)
{
	if (mads->count == mads->room) {
		mads->room = mads->room ? 2 * mads->room : 1024;
		mads->asked = realloc(mads->asked, mads->room * sizeof(*asked));
	}
	mads->asked[mads->count++] = *asked;
	return FORS_OK;
}

enum fors_err fors_mads_get(struct fors_mads *mads, const struct fors_directed_route *way, uint16_t attribute,
			    uint32_t modifier, fors_mad_done done, void *context, uint64_t tag)
{
	return add(mads, &(struct asked){*way, attribute, modifier, false, 0, 0, done, context, tag});
}

enum fors_err fors_mads_get_at(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
			       fors_mad_done done, void *context, uint64_t tag)
{
	(void)lid;
	return add(mads, &(struct asked){{0}, attribute, modifier, true, 0, 0, done, context, tag});
}

enum fors_err fors_mads_ask(struct fors_mads *mads, const struct fors_sa_question *question, fors_mad_done done,
			    void *context, uint64_t tag)
{
	return add(mads,
		   &(struct asked){.attribute = question->attribute,
				   .slid = fors_get16(question->record + 42),
				   .dlid = question->what == FORS_SA_TABLE ? 0 : fors_get16(question->record + 40),
				   .done = done,
				   .context = context,
				   .tag = tag});
}

void fors_mads_forget(struct fors_mads *mads)
{
	mads->count = mads->next = 0;
}

/* The manager counts what it is asked; all others are the fabric's. */
static void say(struct fake *fake, const struct asked *asked, uint32_t node, uint8_t port, uint8_t *data)
{
	const struct fake_fabric fabric = {fake->net, fake->lfts, fake->from};

	if (asked->is_manager)
		fake_say_manager(++fake->counted, data);
	else
		fake_say(&fabric, node, port, asked->attribute, asked->modifier, data);
}

/* Paths from a LID: to one, or to all of the fabric, as far as there is room. */
static void answer_path(struct fake *fake, const struct asked *asked)
{
	static uint8_t data[64 * 1024];
	struct fors_mad mad = {.attribute = asked->attribute, .data = data, .record = 64};

	fake->asked++;
	memset(data, 0, sizeof(data));
	for (uint32_t lid = 1; fake->level && lid < fake->lfts->nlids && mad.size < 64 * fake->most_records; lid++) {
		uint8_t *record = data + mad.size;

		if ((asked->dlid && asked->dlid != lid) || fake->level(asked->slid, (uint16_t)lid) > 15)
			continue;
		fors_put16(record + 40, (uint16_t)lid);
		fors_put16(record + 42, asked->slid);
		record[53] = 0xA0 | fake->level(asked->slid, (uint16_t)lid);
		mad.size += 64;
	}
	asked->done(asked->context, asked->tag,
		    !fake->level ? FORS_MAD_LOST
		    : mad.size	 ? FORS_MAD_ANSWERED
				 : FORS_MAD_REFUSED,
		    mad.size ? &mad : NULL);
}

static void answer(struct fors_mads *mads, const struct asked *asked)
{
	struct fake *fake = mads->fake;
	uint8_t data[FORS_SMP_DATA] = {0}, port = 0;
	struct fors_mad mad = {.attribute = asked->attribute, .data = data, .size = sizeof(data)};
	uint32_t node = 0;
	const struct fake_fabric fabric = {fake->net, fake->lfts, fake->from};
	bool is_there = asked->is_manager || fake_follow(&fabric, &asked->way, &node, &port);

	fake->asked++;
	mads->counts.sent++;
	mads->counts.managers += asked->is_manager;
	if (is_there)
		say(fake, asked, node, port, data);
	if (fake->lie)
		is_there = fake->lie(fake, asked->attribute, node, asked->modifier, data);
	asked->done(asked->context, asked->tag, is_there ? FORS_MAD_ANSWERED : FORS_MAD_LOST, is_there ? &mad : NULL);
}

enum fors_err fors_mads_run(struct fors_mads *mads, struct fors_error *error)
{
	(void)error;
	while (mads->next < mads->count) {
		struct asked asked = mads->asked[mads->next++];

		if (asked.slid)
			answer_path(mads->fake, &asked);
		else
			answer(mads, &asked);
	}
	fors_mads_forget(mads);
	return FORS_OK;
}

enum fors_err fors_mads_wait(struct fors_mads *mads, double until_ms, struct fors_error *error)
{
	(void)error;
	return mads->fake->pause ? mads->fake->pause(mads->fake, until_ms) : FORS_OK;
}
