/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* reading.c - readings that belong together, by the manager's count or by being equal. */
#include "reading.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/clock.h"

void fors_reading_clear(struct fors_reading *reading)
{
	fors_survey_free(reading->survey);
	fors_net_free(reading->net);
	fors_lfts_free(reading->lfts);
	*reading = (struct fors_reading){.survey = NULL};
}

static enum fors_err read_all(struct fors_mads *mads, const struct fors_survey *before, bool is_trusted,
			      bool only_active, struct fors_reading *made, struct fors_error *error)
{
	enum fors_err err = fors_survey_make(mads, before, is_trusted, &made->survey, error);

	if (!err)
		err = fors_survey_tables(made->survey, mads, error);
	if (!err)
		made->is_doubtful = fors_survey_doubt(made->survey) > 0;
	if (!err)
		err = fors_survey_net(made->survey, only_active, &made->net, error);
	if (!err)
		err = fors_survey_lfts(made->survey, &made->lfts, error);
	return err;
}

enum fors_err fors_reading_make(struct fors_mads *mads, const struct fors_reading *before, bool is_trusted,
				bool only_active, struct fors_reading *reading, struct fors_error *error)
{
	struct fors_reading made = {.began_ms = fors_clock_exact_ms(),
				    .asked = fors_mads_counts(mads)->sent,
				    .is_all = !before || !is_trusted};
	struct fors_sm first;
	uint64_t managers;
	enum fors_err err;

	err = fors_sm_find(mads, error);
	if (!err)
		err = fors_sm_ask(mads, &first, error);
	managers = fors_mads_counts(mads)->managers;
	if (!err)
		err = read_all(mads, before ? before->survey : NULL, is_trusted, only_active, &made, error);
	if (!err)
		err = fors_sm_ask(mads, &made.sm, error);
	if (err) {
		fors_reading_clear(&made);
		return err;
	}
	managers = fors_mads_counts(mads)->managers - managers;
	made.is_quiet = fors_sm_is_same(&first, &made.sm) && !fors_sm_rise(&first, &made.sm, (uint32_t)managers);
	made.ended_ms = fors_clock_exact_ms();
	made.asked = fors_mads_counts(mads)->sent - made.asked;
	*reading = made;
	return FORS_OK;
}

/* ---- equal readings ---- */

static bool is_equal_port(const struct fors_port *a, const struct fors_port *b)
{
	return a->guid == b->guid && a->peer == b->peer && a->peer_port == b->peer_port && a->lmc == b->lmc &&
	       a->lid == b->lid && a->is_sm == b->is_sm && a->width == b->width && a->speed == b->speed;
}

static bool is_equal_net(const struct fors_net *a, const struct fors_net *b)
{
	if (a->nnodes != b->nnodes || a->nports != b->nports)
		return false;
	for (uint32_t i = 0; i < a->nnodes; i++)
		if (a->node[i].guid != b->node[i].guid || a->node[i].nports != b->node[i].nports ||
		    strcmp(a->node[i].desc, b->node[i].desc) != 0)
			return false;
	for (uint32_t i = 0; i < a->nports; i++)
		if (!is_equal_port(&a->port[i], &b->port[i]))
			return false;
	return true;
}

static bool is_equal_lfts(const struct fors_lfts *a, const struct fors_lfts *b)
{
	return a->nswitches == b->nswitches && a->nlids == b->nlids &&
	       !memcmp(a->guid, b->guid, a->nswitches * sizeof(*a->guid)) &&
	       !memcmp(a->port, b->port, (size_t)a->nswitches * a->nlids);
}

bool fors_reading_is_equal(const struct fors_reading *a, const struct fors_reading *b)
{
	return is_equal_net(a->net, b->net) && is_equal_lfts(a->lfts, b->lfts);
}

/* ---- until one counts ---- */

/* Nothing but reports for a second. */
static enum fors_err pause_for(struct fors_mads *mads, double ms, struct fors_error *error)
{
	double until = fors_clock_exact_ms() + ms;
	enum fors_err err = FORS_OK;

	while (!err && fors_clock_exact_ms() < until)
		err = fors_mads_wait(mads, until, error);
	return err;
}

/* Does `reading` count, after a second that began with this answer, or beside the reading before? */
static const char *proof_of(const struct fors_sm *second, const struct fors_reading *reading,
			    const struct fors_reading *before)
{
	if (reading->is_quiet && fors_sm_is_same(second, &reading->sm) && !fors_sm_rise(second, &reading->sm, 2))
		return "the subnet manager sent nothing meanwhile, nor in the second before";
	if (before->net && reading->began_ms - before->ended_ms >= FORS_QUIET_MS &&
	    fors_reading_is_equal(before, reading))
		return "two readings a second apart are equal";
	return NULL;
}

enum fors_err fors_reading_wait(struct fors_mads *mads, double most_ms, struct fors_reading *reading, const char **how,
				struct fors_error *error)
{
	double until = fors_clock_exact_ms() + most_ms;
	struct fors_reading before = {.survey = NULL}, made = {.survey = NULL};
	enum fors_err err;

	for (*how = NULL;;) {
		struct fors_sm second;

		err = fors_sm_ask(mads, &second, error);
		if (!err)
			err = pause_for(mads, FORS_QUIET_MS + 1, error);
		if (!err)
			err = fors_reading_make(mads, &before, false, false, &made, error);
		if (err == FORS_ECANCELLED || err == FORS_ENOMEM)
			break;
		*how = err ? NULL : proof_of(&second, &made, &before);
		if (*how || fors_clock_exact_ms() >= until)
			break;
		fors_reading_clear(&before);
		before = made;
		made = (struct fors_reading){.survey = NULL};
	}
	fors_reading_clear(&before);
	if (!err && !*how)
		err = fors_fail(
			error, FORS_ETIMEOUT,
			"the fabric does not come to rest: no two readings in %.0f s are equal; try again when the subnet "
			"manager has finished",
			most_ms / 1e3);
	if (err)
		fors_reading_clear(&made);
	else
		*reading = made;
	return err;
}
