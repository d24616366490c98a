/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: every question has a number, and whoever asks, or drops one, counts on. The thread compares the number
 * that it works for with the newest one whenever a planner asks whether to go on; so breaking off takes no lock and no
 * answer, and an answer to an old question is no answer.
 *
 * Method ilp takes minutes for a plan: the advisor plans by auto in its place, which is not worse where the paper's
 * integer program is of use.
 */
#include "config.h"

#include "advisor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "core/fabric/repairs.h"
#include "core/planners/mended.h"
#include "daemon/base/log.h"
#include "daemon/base/thread.h"

#define NICE 19

struct question {
	struct fors_mended now; /* the fabric as it is; owned */
	struct fors_plan_limits limits;
	uint32_t phases;
	uint64_t basis, fingerprint;
	uint64_t number;
};

struct fors_advisor {
	pthread_t thread;
	atomic_uint_fast64_t newest; /* number of the newest question, or of its drop */
	uint64_t until_ms;	     /* the thread's: processor time that ends the question in work */
	struct fors_log *log;
	pthread_mutex_t mutex; /* guards all below; held for moments */
	pthread_cond_t wake;
	struct question *question;   /* that waits, owned; or NULL */
	uint64_t fingerprint, basis; /* of the newest question; 0: it was dropped, basis also: it is done */
	struct fors_gains answer;    /* to it */
	bool is_answered;	     /* and nobody took it yet */
	bool stop;
};

static void free_question(struct question *question)
{
	if (question)
		fors_mended_free(&question->now);
	free(question);
}

/* --- the thread ----------------------------------------------------------- */

/* What the planners are given. */
struct work {
	struct fors_advisor *advisor;
	const struct question *question;
};

static bool is_dropped(const struct work *work)
{
	return atomic_load(&work->advisor->newest) != work->question->number;
}

static bool is_late(const struct work *work)
{
	return fors_clock_thread_ms() > work->advisor->until_ms;
}

static bool is_over(void *context)
{
	return is_dropped(context) || is_late(context);
}

/* Among the best, behind those that lead to as few phases. */
static void add_gain(struct fors_gains *gains, const struct fors_gain *gain)
{
	uint32_t at = gains->count;

	while (at && gains->gain[at - 1].phases > gain->phases)
		at--;
	if (at == FORS_GAINS_MAX)
		return;
	if (gains->count < FORS_GAINS_MAX)
		gains->count++;
	memmove(&gains->gain[at + 1], &gains->gain[at], (gains->count - 1 - at) * sizeof(*gain));
	gains->gain[at] = *gain;
}

/* The phases with this repair alone. */
static enum fors_err ask(struct work *work, const struct fors_repair *repair, uint32_t *phases)
{
	const struct question *question = work->question;
	const struct fors_task task = {.cancelled = is_over, .context = work, .threads = 1, .limits = question->limits};

	return fors_phases_mended(&task, question->now.tree, repair, question->phases, phases, NULL);
}

/* Errors: FORS_ENOMEM; any other leaves what comes behind it untried. */
static enum fors_err try_repairs(struct work *work, const struct fors_repair *list, uint32_t count,
				 struct fors_gains *gains)
{
	const struct question *question = work->question;
	uint32_t phases = 0;

	for (uint32_t i = 0; i < count; i++) {
		enum fors_err err = is_over(work) ? FORS_ECANCELLED : ask(work, &list[i], &phases);
		struct fors_gain gain;

		if (err) {
			gains->untried = count - i;
			return err == FORS_ENOMEM ? err : FORS_OK;
		}
		if (!phases || (question->phases && phases >= question->phases))
			continue;
		fors_gain_name(question->now.tree, &list[i], &gain);
		gain.phases = phases;
		add_gain(gains, &gain);
	}
	return FORS_OK;
}

static void log_memory(struct fors_advisor *advisor)
{
	fors_log_error(advisor->log, FORS_F_MEMORY, "out of memory: what to mend first is said later");
}

/* Memory is short: there is no answer, and whoever asks once more gets one. */
static void forget(struct fors_advisor *advisor, const struct work *work)
{
	pthread_mutex_lock(&advisor->mutex);
	if (!is_dropped(work))
		advisor->basis = 0;
	pthread_mutex_unlock(&advisor->mutex);
	log_memory(advisor);
}

/* Errors: FORS_ENOMEM. */
static enum fors_err find_gains(struct work *work, struct fors_gains *gains)
{
	struct fors_repair *list;
	uint32_t count;
	enum fors_err err = fors_repairs_list(work->question->now.tree, &list, &count, NULL);

	if (err)
		return err;
	if (fors_fattree_sum(&work->question->now.tree).servers > FORS_ADVISOR_SERVERS)
		gains->untried = count;
	else
		err = try_repairs(work, list, count, gains);
	free(list);
	return err;
}

/* What those cost that take no part, where there is a plan. Errors: FORS_ENOMEM. */
static enum fors_err find_alone(struct work *work, struct fors_gains *gains)
{
	const struct question *question = work->question;
	const struct fors_task task = {.cancelled = is_over, .context = work, .threads = 1, .limits = question->limits};
	uint32_t phases = 0;
	enum fors_err err = FORS_OK;

	if (question->phases && fors_fattree_sum(&question->now.tree).servers <= FORS_ADVISOR_SERVERS)
		err = fors_phases_alone(&task, &question->now.tree, &phases, NULL);
	gains->alone = err ? 0 : phases;
	return err == FORS_ENOMEM ? err : FORS_OK;
}

static void answer(struct fors_advisor *advisor, const struct question *question)
{
	struct work work = {advisor, question};
	struct fors_gains gains = {.is_known = true};

	advisor->until_ms = fors_clock_thread_ms() + FORS_ADVISOR_MS;
	if (find_gains(&work, &gains) || find_alone(&work, &gains)) {
		forget(advisor, &work);
		return;
	}
	pthread_mutex_lock(&advisor->mutex);
	if (!is_dropped(&work)) {
		advisor->answer = gains;
		advisor->is_answered = true;
	}
	pthread_mutex_unlock(&advisor->mutex);
}

static void *run(void *context)
{
	struct fors_advisor *advisor = context;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* which on Linux is for the thread alone */
	pthread_mutex_lock(&advisor->mutex);
	while (!advisor->stop) {
		struct question *question = advisor->question;

		advisor->question = NULL;
		if (!question) {
			fors_clock_wait(&advisor->wake, &advisor->mutex, fors_clock_ms() + 1000);
			continue;
		}
		pthread_mutex_unlock(&advisor->mutex);
		answer(advisor, question);
		free_question(question);
		pthread_mutex_lock(&advisor->mutex);
	}
	pthread_mutex_unlock(&advisor->mutex);
	return NULL;
}

/* --- who asks ------------------------------------------------------------- */

enum fors_err fors_advisor_start(struct fors_log *log, struct fors_advisor **advisor, struct fors_error *error)
{
	struct fors_advisor *made = calloc(1, sizeof(*made));
	int failed;

	if (!made)
		return fors_fail_memory(error);
	made->log = log;
	pthread_mutex_init(&made->mutex, NULL);
	fors_clock_cond(&made->wake);
	failed = fors_thread_start(&made->thread, run, made);
	if (failed) {
		pthread_cond_destroy(&made->wake);
		pthread_mutex_destroy(&made->mutex);
		free(made);
		return fors_fail(error, FORS_ENOMEM, "no thread to say what to mend: %s", strerror(failed));
	}
	*advisor = made;
	return FORS_OK;
}

/* NULL: out of memory. */
static struct question *new_question(const struct fors_look *look, uint32_t phases, uint64_t basis)
{
	struct question *question = calloc(1, sizeof(*question));

	if (!question || fors_mended_copy(look->tree, &question->now, NULL)) {
		free(question);
		return NULL;
	}
	question->limits = look->limits;
	if (!strcmp(look->limits.method, "ilp"))
		fors_limit_method(&question->limits, "auto");
	question->phases = phases;
	question->basis = basis;
	question->fingerprint = fors_look_tree(look);
	return question;
}

/* A question in place of what was asked before; NULL: none. The advisor owns it then. */
static void replace(struct fors_advisor *advisor, struct question *question)
{
	struct question *old;

	pthread_mutex_lock(&advisor->mutex);
	old = advisor->question;
	advisor->question = question;
	advisor->fingerprint = question ? question->fingerprint : 0;
	advisor->basis = question ? question->basis : 0;
	advisor->is_answered = false;
	if (question)
		question->number = advisor->newest + 1;
	atomic_fetch_add(&advisor->newest, 1);
	pthread_cond_signal(&advisor->wake);
	pthread_mutex_unlock(&advisor->mutex);
	free_question(old);
}

void fors_advisor_ask(struct fors_advisor *advisor, const struct fors_look *look, uint32_t phases, uint64_t basis)
{
	struct question *question;
	bool is_asked;

	pthread_mutex_lock(&advisor->mutex);
	is_asked = advisor->basis == basis;
	pthread_mutex_unlock(&advisor->mutex);
	if (is_asked)
		return;
	question = new_question(look, phases, basis);
	if (!question)
		log_memory(advisor);
	replace(advisor, question);
}

void fors_advisor_look(struct fors_advisor *advisor, const struct fors_look *look)
{
	bool is_same;

	if (!fors_look_has_tables(look))
		return;
	pthread_mutex_lock(&advisor->mutex);
	is_same = !advisor->fingerprint || fors_look_tree(look) == advisor->fingerprint;
	pthread_mutex_unlock(&advisor->mutex);
	if (!is_same)
		replace(advisor, NULL);
}

bool fors_advisor_take(struct fors_advisor *advisor, struct fors_gains *gains, uint64_t *basis)
{
	bool has_answer;

	pthread_mutex_lock(&advisor->mutex);
	has_answer = advisor->is_answered;
	if (has_answer) {
		*gains = advisor->answer;
		*basis = advisor->basis;
		advisor->is_answered = false;
		advisor->basis = 0; /* who could not use it, because readers had nothing just then, asks once more */
	}
	pthread_mutex_unlock(&advisor->mutex);
	return has_answer;
}

void fors_advisor_stop(struct fors_advisor *advisor)
{
	if (!advisor)
		return;
	replace(advisor, NULL);
	pthread_mutex_lock(&advisor->mutex);
	advisor->stop = true;
	pthread_cond_signal(&advisor->wake);
	pthread_mutex_unlock(&advisor->mutex);
	pthread_join(advisor->thread, NULL);
	pthread_cond_destroy(&advisor->wake);
	pthread_mutex_destroy(&advisor->mutex);
	free(advisor);
}
