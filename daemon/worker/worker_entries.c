/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Table entries for jobs (job_index, job_routes in fors.conf): which are wanted, when a sweep is asked for to write
 * them, and whether they have come.
 *
 *	wanted	  found for the text in force on the fabric of the look; running jobs keep what they have (core/jobs/entries.h)
 *	settled	  the tables of the look have just these entries, or they are refused: then lanes and entries are the wanted ones
 *	granted	  whose the lanes are, and who has all entries, for plans over a look: when settled as wanted, else as the
 *		  claim says that is in its tables, so that lanes and tables never speak of different things
 *
 * Tables before schedules: a job that starts waits until its entries are in the switches. Who ran before is planned at
 * once, over its entries while they are whole, else over what the tables have in their place, shared, until better ones
 * have come.
 *
 * A sweep for entries is asked for every ten seconds at most; whatever other sweep comes takes them along.
 *
 * What starts or ends is searched for in haste, which with scattered jobs costs speed. When all has come, jobs are slower than
 * they might be, and nothing happens for ten seconds, the search is made once as long as if all jobs were new, and what
 * it finds is wanted if that gains more than the epochs of those who move cost (core/jobs/holdings_worth.c).
 */
#include "worker_inside.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/unknown.h"
#include "core/jobs/running.h"
#include "core/planners/jobplan_index.h"
#include "core/tables/home.h"
#include "daemon/base/clock.h"
#include "daemon/base/digest.h"
#include "daemon/base/log.h"

#define SWEEP_EVERY_MS 10000
#define WAIT_MS 60000 /* then a job gets a schedule over what the tables have */

/*
 * Of the search, when most that there is stays: a job has started or ended, and the worker has a twentieth of a second
 * for it. The rest is made up for when things have calmed down.
 */
#define CHANGE_PART 24
#define LEISURE_PART 2

int64_t fors_worker_job_index(const struct fors_look *look)
{
	int lmc;

	if (!look->floors.count || !(look->job_index || look->job_routes))
		return FORS_UNKNOWN;
	lmc = look->floors.floor[0]->lmc;
	if (!lmc)
		return look->job_routes ? 0 : FORS_UNKNOWN;
	return look->job_index ? (int64_t)fors_home_nindices(lmc) - 1 : FORS_UNKNOWN;
}

const char *fors_worker_why_no_index(const struct fors_look *look)
{
	int lmc;

	if (!look->job_index && !look->job_routes)
		return NULL;
	if (!look->tree.kind)
		return "job_index and job_routes need tables that fors makes: jobs of the mark job-index share";
	if (!look->floors.count)
		return "job_index and job_routes need planes with tops of their own, and no switch with too many cables upwards: jobs of the mark job-index share";
	lmc = look->floors.floor[0]->lmc;
	if (look->job_index && !lmc && !look->job_routes)
		return "job_index = yes needs LMC 1 or more, and here servers have one LID: jobs of the mark job-index share";
	if (look->job_routes && lmc && !look->job_index)
		return "job_routes = owned is for LMC 0; here job_index = yes gives jobs a path index: jobs of the mark job-index share";
	return NULL;
}

/* --- what is wanted --------------------------------------------------------------------------------------------- */

/* Have the source write this (NULL: nothing) from now on. */
static void claim_for(struct fors_worker *worker, struct fors_claim *claim)
{
	fors_claim_drop(worker->jobs.wanted);
	worker->jobs.wanted = claim;
	fors_mail_put_claim(&worker->mail, claim);
}

void fors_worker_want_no_entries(struct fors_worker *worker)
{
	if (worker->jobs.wanted)
		claim_for(worker, NULL);
	worker->jobs.unsettled_ms = 0;
}

struct fors_claim *fors_worker_claim(struct fors_worker *worker)
{
	return fors_mail_claim(&worker->mail);
}

static uint64_t basis_of(const struct fors_worker_jobs *jobs, int64_t index)
{
	return fors_digest(fors_digest(FORS_DIGEST_EMPTY, jobs->text, jobs->size), &index, sizeof(index));
}

/* Was it found for these jobs on this fabric? */
static bool is_current(const struct fors_worker_jobs *jobs, const struct fors_look *look)
{
	return jobs->wanted && jobs->text && jobs->wanted->basis == basis_of(jobs, fors_worker_job_index(look)) &&
	       fors_floors_same(&jobs->wanted->floors, &look->floors);
}

/*
 * What runs, in the numbers of these floors and this list, in *running, the caller's. Rungs are few: of three levels those
 * without an entry are given up at once.
 */
static enum fors_err find_running(const struct fors_claim *old, const struct fors_floors *floors,
				  const struct fors_joblist *list, struct fors_holdings *running,
				  struct fors_error *error)
{
	uint32_t *was_of = malloc((list->count + (size_t)1) * sizeof(*was_of));
	enum fors_err err = was_of ? fors_jobs_match(&old->list, list, was_of, error) : fors_fail_memory(error);

	if (!err)
		err = fors_holdings_again(&old->floors, &old->holdings, floors, was_of, list->count, running, error);
	if (!err && floors->count > 1)
		err = fors_holdings_narrow(floors, list, running, error);
	free(was_of);
	return err;
}

/* Exclusive jobs get entries, too, where they cannot choose their lanes: for any search. */
static bool has_exclusive(const struct fors_floors *floors)
{
	return !fors_jobtables_has_all(floors);
}

/*
 * Fill owners and entries of a claim for its list. A short search is for jobs that have started or ended, while most that
 * there is stays.
 */
static enum fors_err find(struct fors_worker *worker, const struct fors_look *look, bool is_short,
			  struct fors_claim *claim, struct fors_error *error)
{
	const struct fors_floors *floors = &look->floors;
	const struct fors_claim *old = look->jobs_move ? NULL : worker->jobs.wanted;
	bool is_change = is_short && old && fors_floors_same(&old->floors, floors);
	struct fors_holdings running = {0};
	enum fors_err err = old ? find_running(old, floors, &claim->list, &running, error) : FORS_OK;
	const struct fors_holdings_task task = {.floors = floors,
						.list = &claim->list,
						.has_exclusive = has_exclusive(floors),
						.before = running.nfloors ? &running : NULL,
						.may_move = !is_short,
						.cancelled = fors_worker_cancelled,
						.context = worker,
						.owners_work =
							FORS_OWNERS_WORK / (is_change ? CHANGE_PART : LEISURE_PART)};

	if (!err)
		err = fors_holdings_find(&task, &claim->holdings, error);
	claim->is_brief =
		!err && is_change && fors_holdings_lost(&claim->list, task.has_exclusive, &claim->holdings) > 0;
	fors_holdings_clear(&running);
	return err;
}

/*
 * What a search finds for the text in force, in *found, held by the caller. False: broken off, no memory, or the text is
 * no good here, which the plan will say.
 */
static bool search(struct fors_worker *worker, struct fors_look *look, bool is_short, struct fors_claim **found)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct fors_claim *claim = NULL;
	enum fors_err err = fors_claim_new(&look->floors, &claim, NULL);

	worker->look = look;
	worker->lost_mastership = false;
	if (!err)
		err = fors_worker_read_jobs(worker, jobs->text, jobs->size, look->floors.floor[0], &claim->list, NULL);
	if (!err)
		err = find(worker, look, is_short, claim, NULL);
	if (!err && fors_worker_cancelled(worker))
		err = FORS_ECANCELLED; /* half a search depends on when it was broken off */
	worker->look = NULL;
	if (err == FORS_ENOMEM)
		fors_worker_run_short(worker);
	if (err) {
		fors_claim_drop(claim);
		return false;
	}
	claim->index = (uint32_t)fors_worker_job_index(look);
	claim->basis = basis_of(jobs, claim->index);
	*found = claim;
	return true;
}

/* Jobs that have been found waiting for their entries: the status says what these will allow them. */
static void tell_expected(struct fors_worker_jobs *jobs, const struct fors_claim *claim)
{
	for (uint32_t j = 0; j < claim->list.count; j++) {
		struct fors_jobpublisher_item *item = fors_jobpublisher_have(&jobs->publisher, claim->list.job[j].name);
		uint32_t bound = claim->holdings.bound[j];

		if (!item || !item->is_listed || item->told.state == FORS_JOB_IS_PLANNED || !bound)
			continue;
		item->told.expected_phases = bound;
		jobs->is_told = false;
	}
}

void fors_worker_want(struct fors_worker *worker, struct fors_claim *claim)
{
	claim->number = ++worker->jobs.claims;
	worker->jobs.settled_ms = 0;
	tell_expected(&worker->jobs, claim);
	claim_for(worker, claim);
}

/* A new claim for the text in force. False: as search(). */
static bool seek(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_claim *claim;

	if (!search(worker, look, true, &claim))
		return false;
	fors_worker_want(worker, claim);
	return true;
}

/*
 * All goes by what is wanted, which was found in haste, and has been for a while: search as long as if all jobs were new,
 * once, and want that if it pays.
 */
static void refine(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_claim *old = worker->jobs.wanted, *claim;

	worker->jobs.settled_ms = 0;
	if (!search(worker, look, false, &claim))
		return;
	old->is_brief = false;
	if (!fors_holdings_pay(&old->floors, &old->list, has_exclusive(&old->floors), &old->holdings,
			       &claim->holdings)) {
		fors_claim_drop(claim);
		return;
	}
	fors_log_info(worker->setup.log, "a longer search has found faster lanes and table entries for jobs");
	fors_worker_want(worker, claim);
}

/* --- have they come? ---------------------------------------------------------------------------------------------- */

/* Do the tables of the look have what is wanted, no more and no less; or was it refused? */
static enum fors_err has_come(const struct fors_claim *wanted, const struct fors_look *look, bool *is_there)
{
	struct fors_holdings have = {0}, want = {0};
	enum fors_err err;

	*is_there = look->claim == wanted || (wanted && look->refused == wanted->number);
	if (*is_there || !look->floors.count)
		return FORS_OK;
	err = fors_claim_entries(look->claim, &look->floors, &have, NULL);
	if (!err)
		err = fors_claim_entries(wanted, &look->floors, &want, NULL);
	if (!err)
		*is_there = fors_holdings_alike(&have, &want);
	fors_holdings_clear(&have);
	fors_holdings_clear(&want);
	return err;
}

static void ask_for_sweep(struct fors_worker *worker, uint64_t now)
{
	struct fors_worker_jobs *jobs = &worker->jobs;

	if (!worker->setup.source.sweep || (jobs->asked_ms && now < jobs->asked_ms + SWEEP_EVERY_MS))
		return;
	jobs->asked_ms = now;
	fors_log_info(worker->setup.log, "a sweep is asked for, to write the table entries of jobs");
	worker->setup.source.sweep(worker->setup.source.context);
}

/* Is all planned with what is wanted? */
static bool is_settled(struct fors_worker_jobs *jobs, uint64_t now)
{
	if (!jobs->wanted || !jobs->set.is_planned || jobs->is_pending || jobs->set.claimed != jobs->wanted->number)
		return false;
	jobs->unsettled_ms = 0;
	if (!jobs->settled_ms)
		jobs->settled_ms = now;
	return true;
}

/* Plan anew with what is wanted, when it has come; else see to it that it does. */
static void settle(struct fors_worker *worker, struct fors_look *look)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	uint64_t now = fors_clock_ms();
	bool is_there;

	if (is_settled(jobs, now)) {
		if (jobs->wanted->is_brief && look->refused != jobs->wanted->number &&
		    now >= jobs->settled_ms + FORS_LEISURE_AFTER_MS)
			refine(worker, look);
		return;
	}
	jobs->settled_ms = 0;
	if (has_come(jobs->wanted, look, &is_there)) {
		fors_worker_run_short(worker);
		return;
	}
	if (is_there) {
		jobs->unsettled_ms = 0;
		jobs->is_pending |= jobs->text && jobs->wanted;
		return;
	}
	if (!jobs->unsettled_ms)
		jobs->unsettled_ms = now;
	jobs->is_pending |= jobs->text && jobs->set.nwaiting && now >= jobs->unsettled_ms + WAIT_MS;
	ask_for_sweep(worker, now);
}

void fors_worker_seek_entries(struct fors_worker *worker)
{
	struct fors_worker_jobs *jobs = &worker->jobs;
	struct fors_look *look = jobs->set.look;

	if (jobs->is_blocked || worker->incomplete)
		return;
	if (!jobs->text && !*jobs->trouble && jobs->wanted && !jobs->wanted->basis)
		return; /* what an earlier opensm left holds until the file has been read */
	if (!jobs->text || fors_worker_job_index(look) < 0)
		fors_worker_want_no_entries(worker);
	else if (!is_current(jobs, look) && !seek(worker, look))
		return;
	settle(worker, look);
}

/* --- what is granted ---------------------------------------------------------------------------------------------- */

void fors_worker_clear_grant(struct fors_worker_grant *grant)
{
	free(grant->is_held);
	free(grant->waits);
	free(grant->was_of);
	*grant = (struct fors_worker_grant){.index = FORS_UNKNOWN};
}

/* The claim whose lanes and entries are in force over the look; NULL: none. */
static enum fors_err choose(const struct fors_worker_jobs *jobs, const struct fors_look *look,
			    struct fors_worker_grant *grant, const struct fors_claim **claim)
{
	enum fors_err err = FORS_OK;

	grant->is_settled = false;
	if (is_current(jobs, look))
		err = has_come(jobs->wanted, look, &grant->is_settled);
	grant->is_refused = grant->is_settled && look->refused == jobs->wanted->number;
	*claim = grant->is_settled ? jobs->wanted : look->claim;
	grant->claimed = *claim ? (*claim)->number : 0;
	return err;
}

/* Nobody owns anything on a floor. */
static enum fors_err own_nothing(const struct fors_fabric *fabric, struct fors_owners *owners, struct fors_error *error)
{
	size_t size = (size_t)fabric->nleaves * fabric->nlanes;
	uint32_t *job = malloc((size + 1) * sizeof(*job));

	if (!job)
		return fors_fail_memory(error);
	memset(job, 0xFF, size * sizeof(*job)); /* FORS_NO_JOB */
	*owners = (struct fors_owners){.nleaves = fabric->nleaves, .nlanes = fabric->nlanes, .job = job};
	return FORS_OK;
}

/* No lanes and no entries, on all floors. */
static enum fors_err hold_nothing(const struct fors_floors *floors, struct fors_holdings *holdings,
				  struct fors_error *error)
{
	enum fors_err err = FORS_OK;

	holdings->owners = calloc(floors->count, sizeof(*holdings->owners));
	holdings->entries = calloc(floors->count, sizeof(*holdings->entries));
	if (!holdings->owners || !holdings->entries)
		return fors_fail_memory(error);
	holdings->nfloors = floors->count;
	for (uint32_t f = 0; !err && f < floors->count; f++)
		err = own_nothing(floors->floor[f], &holdings->owners[f], error);
	return err;
}

/* Nobody's lanes are those that carry no traffic now. */
static void drop_dead_lanes(const struct fors_fabric *fabric, struct fors_owners *owners)
{
	for (size_t i = 0; i < (size_t)fabric->nleaves * fabric->nlanes; i++)
		if (fabric->cable[i].state != FORS_CABLE_LIVE)
			owners->job[i] = FORS_NO_JOB;
}

/* An entry to this server counts when its job owns the cable. */
static void take_ways(const struct fors_fabric *fabric, const struct fors_owners *owners, uint32_t job, uint32_t d,
		      struct fors_entries *entries)
{
	for (uint32_t leaf = 0; leaf < entries->nleaves; leaf++) {
		uint8_t *lane = &entries->up[(size_t)leaf * entries->nservers + d];

		if (*lane < fabric->nlanes && fors_owner(owners, leaf, *lane) != job)
			*lane = FORS_NO_LANE;
	}
	for (uint32_t spine = 0; spine < entries->nspines; spine++) {
		uint8_t *lane = &entries->down[(size_t)spine * entries->nservers + d];

		if (*lane < fabric->nlanes && fors_owner(owners, fabric->server[d].leaf, *lane) != job)
			*lane = FORS_NO_LANE;
	}
}

static void grant_floor(const struct fors_fabric *fabric, const struct fors_joblist *list, struct fors_owners *owners,
			struct fors_entries *entries)
{
	drop_dead_lanes(fabric, owners);
	for (uint32_t j = 0; entries->up && j < list->count; j++)
		for (uint32_t i = 0; i < list->job[j].count; i++)
			take_ways(fabric, owners, j, list->job[j].server[i], entries);
}

/* Lanes, and entries over them, in the numbers of the look and the list. */
static enum fors_err grant_lanes(const struct fors_claim *claim, const struct fors_look *look,
				 const struct fors_joblist *list, struct fors_worker_grant *grant,
				 struct fors_holdings *holdings, struct fors_error *error)
{
	enum fors_err err = claim ? fors_holdings_again(&claim->floors, &claim->holdings, &look->floors, grant->was_of,
							list->count, holdings, error)
				  : FORS_OK;

	if (!err && !holdings->nfloors)
		err = hold_nothing(&look->floors, holdings, error);
	for (uint32_t f = 0; !err && f < holdings->nfloors; f++)
		grant_floor(look->floors.floor[f], list, &holdings->owners[f], &holdings->entries[f]);
	if (!err)
		fors_holdings_prune(&look->floors, holdings);
	return err;
}

/* Bounds of all floors together, and of floor 0, where it is the only one. */
static enum fors_err alloc_bounds(const struct fors_joblist *list, struct fors_holdings *holdings,
				  struct fors_error *error)
{
	struct fors_entries *first = &holdings->entries[0];

	holdings->bound = calloc(list->count + (size_t)1, sizeof(*holdings->bound));
	first->bound = calloc(list->count + (size_t)1, sizeof(*first->bound));
	first->njobs = list->count;
	return holdings->bound && first->bound ? FORS_OK : fors_fail_memory(error);
}

/* Who has all entries over lanes of its own? */
static enum fors_err grant_entries(const struct fors_look *look, const struct fors_joblist *list,
				   struct fors_worker_grant *grant, struct fors_holdings *holdings,
				   struct fors_error *error)
{
	enum fors_err err = alloc_bounds(list, holdings, error);

	if (!err)
		err = fors_holdings_held(&look->floors, list, holdings, (uint32_t)grant->index, look->lfts,
					 grant->is_held, error);
	for (uint32_t j = 0; !err && j < list->count; j++)
		holdings->bound[j] = holdings->entries[0].bound[j] = grant->is_held[j] ? list->job[j].count : 0;
	return err;
}

/* Lanes of a job that has just started are on their way, unless that takes too long. */
static void let_wait(const struct fors_worker_jobs *jobs, const struct fors_joblist *list,
		     struct fors_worker_grant *grant)
{
	bool is_late = jobs->unsettled_ms && fors_clock_ms() >= jobs->unsettled_ms + WAIT_MS;

	for (uint32_t j = 0; j < list->count; j++) {
		grant->waits[j] = !grant->is_settled && !is_late && grant->was_of[j] == FORS_NO_JOB &&
				  list->job[j].is_exclusive && list->job[j].nleaves > 1;
		grant->nwaiting += grant->waits[j];
	}
}

static bool alloc_grant(const struct fors_joblist *list, struct fors_worker_grant *grant)
{
	grant->is_held = calloc(list->count + (size_t)1, sizeof(*grant->is_held));
	grant->waits = calloc(list->count + (size_t)1, sizeof(*grant->waits));
	grant->was_of = malloc((list->count + (size_t)1) * sizeof(*grant->was_of));
	if (!grant->is_held || !grant->waits || !grant->was_of)
		return false;
	memset(grant->was_of, 0xFF, list->count * sizeof(*grant->was_of)); /* FORS_NO_JOB */
	return true;
}

enum fors_err fors_worker_grant(const struct fors_worker *worker, const struct fors_look *look,
				const struct fors_joblist *list, struct fors_holdings *holdings,
				struct fors_worker_grant *grant, struct fors_error *error)
{
	const struct fors_worker_jobs *jobs = &worker->jobs;
	const struct fors_claim *claim = NULL;
	enum fors_err err;

	grant->index = fors_worker_job_index(look);
	if (!alloc_grant(list, grant) || choose(jobs, look, grant, &claim))
		return fors_fail_memory(error);
	err = claim ? fors_jobs_match(&claim->list, list, grant->was_of, error) : FORS_OK;
	if (!err)
		err = grant_lanes(claim, look, list, grant, holdings, error);
	if (!err)
		err = grant_entries(look, list, grant, holdings, error);
	if (!err)
		let_wait(jobs, list, grant);
	return err;
}
