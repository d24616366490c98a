/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads.c - the window: what is queued, what is out, when it is sent again.
 *
 * The kernel would send again by itself, but then nobody could count it, and a fabric in trouble would get more packets than the
 * budget says. So each sending is one of ours, under an id of its own: an answer that comes after the next sending is dropped
 * with it, and the next one counts.
 *
 * Of questions to the subnet administration those for tables go one at a time: it is one process for a whole fabric.
 */
#include "mads_inside.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "daemon/base/clock.h"
#include "wire.h"

#define LONGEST_WAIT_MS 20 /* before somebody is asked whether to stop */
#define ANSWER_MS 5	   /* the same while questions are out */

/* ---- the queue ---- */

static enum fors_err make_room(struct fors_mads *mads)
{
	size_t room = mads->room ? 2 * mads->room : 256;
	struct question *queue = mads->nqueued < mads->room ? mads->queue : malloc(room * sizeof(*queue));

	if (!queue)
		return FORS_ENOMEM;
	if (queue == mads->queue)
		return FORS_OK;
	for (size_t i = 0; i < mads->nqueued; i++)
		queue[i] = mads->queue[(mads->first + i) % mads->room];
	free(mads->queue);
	mads->queue = queue;
	mads->room = room;
	mads->first = 0;
	return FORS_OK;
}

static enum fors_err enqueue(struct fors_mads *mads, const struct question *question)
{
	if (make_room(mads))
		return FORS_ENOMEM;
	mads->queue[(mads->first + mads->nqueued++) % mads->room] = *question;
	return FORS_OK;
}

enum fors_err fors_mads_get(struct fors_mads *mads, const struct fors_directed_route *way, uint16_t attribute,
			    uint32_t modifier, fors_mad_done done, void *context, uint64_t tag)
{
	const struct question question = {.kind = KIND_WAY,
					  .method = FORS_METHOD_GET,
					  .attribute = attribute,
					  .modifier = modifier,
					  .way = *way,
					  .done = done,
					  .context = context,
					  .tag = tag};

	return enqueue(mads, &question);
}

enum fors_err fors_mads_get_at(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
			       fors_mad_done done, void *context, uint64_t tag)
{
	const struct question question = {.kind = KIND_LID,
					  .method = FORS_METHOD_GET,
					  .attribute = attribute,
					  .modifier = modifier,
					  .lid = lid,
					  .done = done,
					  .context = context,
					  .tag = tag};

	return enqueue(mads, &question);
}

enum fors_err fors_mads_get_soon(struct fors_mads *mads, uint16_t lid, uint16_t attribute, uint32_t modifier,
				 fors_mad_done done, void *context, uint64_t tag)
{
	enum fors_err err = fors_mads_get_at(mads, lid, attribute, modifier, done, context, tag);
	struct question last;

	if (err)
		return err;
	last = mads->queue[(mads->first + mads->nqueued - 1) % mads->room];
	mads->first = (mads->first + mads->room - 1) % mads->room; /* the place of the last one, or a free one */
	mads->queue[mads->first] = last;
	return FORS_OK;
}

enum fors_err fors_mads_ask(struct fors_mads *mads, const struct fors_sa_question *asked, fors_mad_done done,
			    void *context, uint64_t tag)
{
	static const uint8_t methods[] = {
		[FORS_SA_GET] = FORS_METHOD_GET,
		[FORS_SA_TABLE] = FORS_METHOD_GET_TABLE,
		[FORS_SA_SUBSCRIBE] = FORS_METHOD_SET,
	};
	struct question question = {.kind = KIND_SA,
				    .method = methods[asked->what],
				    .attribute =
					    asked->what == FORS_SA_SUBSCRIBE ? FORS_ATTR_INFORM_INFO : asked->attribute,
				    .lid = mads->port.sm_lid,
				    .record = calloc(1, SA_RECORD),
				    .done = done,
				    .context = context,
				    .tag = tag};

	if (!question.record)
		return FORS_ENOMEM;
	fors_put64(question.record, asked->mask);
	memcpy(question.record + SA_MASK, asked->record, asked->size < SA_DATA ? asked->size : SA_DATA);
	if (!enqueue(mads, &question))
		return FORS_OK;
	free(question.record);
	return FORS_ENOMEM;
}

void fors_mads_forget(struct fors_mads *mads)
{
	for (; mads->nqueued; mads->nqueued--) {
		free(mads->queue[mads->first].record);
		mads->first = (mads->first + 1) % mads->room;
	}
	for (unsigned i = 0; i < mads->setup.window; i++) {
		if (mads->pending[i].is_out)
			free(mads->pending[i].question.record);
		mads->pending[i].is_out = false;
	}
	mads->nout = 0;
}

/* ---- sending ---- */

static enum fors_err send_pending(struct fors_mads *mads, struct pending *pending, double now, struct fors_error *error)
{
	pending->id = ++mads->last_id;
	pending->sendings++;
	pending->due_ms = now + mads->setup.timeout_ms;
	mads->counts.sent++;
	mads->counts.again += pending->sendings > 1;
	mads->counts.managers += pending->question.attribute == FORS_ATTR_SM_INFO;
	if (mads->setup.rate)
		mads->next_ms = (now > mads->next_ms + 1 ? now : mads->next_ms) + 1e3 / mads->setup.rate;
	return fors_mads_put(mads, &pending->question, pending->id, error);
}

static bool may_send(const struct fors_mads *mads, double now)
{
	return !mads->setup.rate || now >= mads->next_ms;
}

/* The question is answered, or given up. */
static void end_pending(struct fors_mads *mads, struct pending *pending, enum fors_mad_end end,
			const struct fors_mad *mad)
{
	struct question question = pending->question;

	pending->is_out = false;
	mads->nout--;
	mads->counts.lost += end == FORS_MAD_LOST;
	mads->counts.refused += end == FORS_MAD_REFUSED;
	free(question.record);
	question.done(question.context, question.tag, end, mad);
}

/* A question whose answer may be long: it goes alone. */
static bool is_long(const struct question *question)
{
	return question->kind == KIND_SA && question->method == FORS_METHOD_GET_TABLE;
}

/* Has the first of the queue to wait for an answer of the administration? */
static bool has_to_wait(const struct fors_mads *mads)
{
	const struct question *first = &mads->queue[mads->first];

	for (unsigned i = 0; first->kind == KIND_SA && i < mads->setup.window; i++)
		if (mads->pending[i].is_out && mads->pending[i].question.kind == KIND_SA &&
		    (is_long(first) || is_long(&mads->pending[i].question)))
			return true;
	return false;
}

/* May the first of the queue leave, and into which place? NULL: not now. */
static struct pending *free_pending(struct fors_mads *mads, double now)
{
	if (!mads->nqueued || mads->nout == mads->setup.window || !may_send(mads, now) || has_to_wait(mads))
		return NULL;
	for (unsigned i = 0; i < mads->setup.window; i++)
		if (!mads->pending[i].is_out)
			return &mads->pending[i];
	return NULL;
}

static enum fors_err fill_window(struct fors_mads *mads, struct fors_error *error)
{
	for (;;) {
		double now = fors_clock_exact_ms();
		struct pending *pending = free_pending(mads, now);
		enum fors_err err;

		if (!pending)
			return FORS_OK;
		*pending = (struct pending){.is_out = true, .question = mads->queue[mads->first]};
		mads->first = (mads->first + 1) % mads->room;
		mads->nqueued--;
		mads->nout++;
		err = send_pending(mads, pending, now, error);
		if (err)
			return err;
	}
}

/* Send again, or give up, what is due. */
static enum fors_err look_after(struct fors_mads *mads, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	for (unsigned i = 0; i < mads->setup.window && !err; i++) {
		struct pending *pending = &mads->pending[i];
		double now = fors_clock_exact_ms();

		if (!pending->is_out || pending->due_ms > now)
			continue;
		if (pending->sendings > mads->setup.retries)
			end_pending(mads, pending, FORS_MAD_LOST, NULL);
		else if (may_send(mads, now))
			err = send_pending(mads, pending, now, error);
	}
	return err;
}

/* ---- receiving ---- */

static struct pending *pending_of(struct fors_mads *mads, uint32_t id)
{
	for (unsigned i = 0; i < mads->setup.window; i++)
		if (mads->pending[i].is_out && mads->pending[i].id == id)
			return &mads->pending[i];
	return NULL;
}

/* An answer to what is out, or nothing of ours any more. */
static void take_answer(struct fors_mads *mads, const struct packet *packet)
{
	const struct fors_mad mad = {.attribute = packet->attribute,
				     .status = packet->status,
				     .modifier = packet->modifier,
				     .data = packet->data,
				     .size = packet->size,
				     .record = packet->record};
	struct pending *pending = pending_of(mads, packet->id);

	if (!pending || pending->question.attribute != packet->attribute ||
	    pending->question.modifier != packet->modifier)
		return;
	if (packet->is_timeout)
		pending->due_ms = 0; /* the kernel has given this sending up */
	else
		end_pending(mads, pending, packet->status ? FORS_MAD_REFUSED : FORS_MAD_ANSWERED, &mad);
}

/* Until when there is nothing to do unless something comes. */
static double next_due(const struct fors_mads *mads, double until)
{
	for (unsigned i = 0; i < mads->setup.window; i++)
		if (mads->pending[i].is_out && mads->pending[i].due_ms < until)
			until = mads->pending[i].due_ms;
	if (mads->nqueued && mads->nout < mads->setup.window && mads->next_ms < until && !has_to_wait(mads))
		until = mads->next_ms;
	return until;
}

static enum fors_err receive(struct fors_mads *mads, double until, struct fors_error *error)
{
	double wait = next_due(mads, until) - fors_clock_exact_ms();
	struct packet packet;
	enum fors_err err;

	wait = wait < 0 ? 0 : wait > LONGEST_WAIT_MS ? LONGEST_WAIT_MS : wait;
	err = fors_mads_take(mads, (unsigned)(wait + 0.999), &packet, error);
	if (err)
		return err == FORS_ETIMEOUT ? FORS_OK : err;
	if (packet.method == FORS_METHOD_REPORT) {
		mads->has_report = true;
		if (mads->report)
			mads->report(mads->report_context, packet.data);
		return FORS_OK;
	}
	take_answer(mads, &packet);
	return FORS_OK;
}

static enum fors_err check_stopped(struct fors_mads *mads, struct fors_error *error)
{
	if (mads->setup.is_stopped && mads->setup.is_stopped(mads->setup.context))
		return fors_fail(error, FORS_ECANCELLED, "stopped");
	return FORS_OK;
}

enum fors_err fors_mads_run(struct fors_mads *mads, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	while (!err && (mads->nqueued || mads->nout)) {
		err = check_stopped(mads, error);
		if (!err)
			err = look_after(mads, error);
		if (!err)
			err = fill_window(mads, error);
		if (!err && (mads->nqueued || mads->nout))
			err = receive(mads, fors_clock_exact_ms() + ANSWER_MS, error);
	}
	mads->is_broken |= err == FORS_EIO;
	if (err)
		fors_mads_forget(mads);
	return err;
}

enum fors_err fors_mads_wait(struct fors_mads *mads, double until_ms, struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	mads->has_report = false;
	while (!err && !mads->has_report && fors_clock_exact_ms() < until_ms) {
		err = check_stopped(mads, error);
		if (!err)
			err = receive(mads, until_ms, error);
	}
	mads->is_broken |= err == FORS_EIO;
	return err;
}

bool fors_mads_is_broken(const struct fors_mads *mads)
{
	return mads->is_broken;
}

void fors_mads_on_report(struct fors_mads *mads, fors_mads_report report, void *context)
{
	mads->report = report;
	mads->report_context = context;
}

const struct fors_mads_port *fors_mads_port(const struct fors_mads *mads)
{
	return &mads->port;
}

const struct fors_mads_counts *fors_mads_counts(const struct fors_mads *mads)
{
	return &mads->counts;
}

void fors_mads_close(struct fors_mads *mads)
{
	if (!mads)
		return;
	if (mads->pending)
		fors_mads_forget(mads);
	fors_mads_shut(mads);
	free(mads->queue);
	free(mads->pending);
	free(mads->out);
	free(mads->in);
	free(mads);
}
