/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * worker_names.c - the book of names (core/net/namebook.h) as the worker has it.
 *
 * It is learnt from each fabric while there is a jobs file, from the reference fabric, and kept in the file `names` of the
 * state folder. Where there is no such file the schedules that an earlier opensm left tell names and GUIDs of those who
 * were in jobs. A file that cannot be used is logged and renamed, and the book begins anew.
 */
#include "worker_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/digest.h"
#include "daemon/base/log.h"
#include "worker_inside.h"

#define NAMES "names"
#define NAMES_BAD "names.bad"
#define NAMES_MAX_BYTES (64u << 20)

void fors_worker_close_names(struct fors_worker_names *names)
{
	fors_namebook_free(names->book);
	fors_members_clear(&names->last);
	*names = (struct fors_worker_names){.book = NULL};
}

/* --- what was kept ---------------------------------------------------------------------------------------------- */

static void put_aside(struct fors_worker *worker, const char *why)
{
	struct fors_error error;

	if (fors_publish_rename(worker->publisher.folder, NAMES, NAMES_BAD, &error))
		fors_log_error(worker->setup.log, FORS_F_OLDFILE, "%s; it cannot be renamed: %s", why, error.text);
	else
		fors_log_error(worker->setup.log, FORS_F_OLDFILE, "%s; it is now called " NAMES_BAD, why);
}

/* The file; *book stays NULL: there is none, or none that can be used. Errors: FORS_ENOMEM. */
static enum fors_err read_file(struct fors_worker *worker, struct fors_namebook **book)
{
	struct fors_error error;
	void *bytes = NULL;
	size_t size = 0;
	enum fors_err err = fors_published(worker->publisher.folder, NAMES, NAMES_MAX_BYTES, &bytes, &size, &error);

	if (!err && bytes)
		err = fors_namebook_decode(bytes, size, NAMES, book, &error);
	if (!err && bytes)
		worker->jobs.names.written = fors_digest(FORS_DIGEST_EMPTY, bytes, size);
	free(bytes);
	if (err && err != FORS_ENOMEM) {
		put_aside(worker, error.text);
		err = FORS_OK;
	}
	return err;
}

/* Who was in jobs by the schedules that there are; their names too, where no file tells them. */
static enum fors_err recall(struct fors_worker *worker, struct fors_namebook *book, bool wants_names)
{
	struct fors_jobpublishers *publisher = &worker->jobs.publisher;
	struct fors_members *last = &worker->jobs.names.last;
	enum fors_err err = FORS_OK;

	fors_members_clear(last);
	for (size_t i = 0; i < publisher->count; i++) {
		const struct fors_schedule *plan = publisher->item[i]->schedule;

		for (uint32_t s = 0; plan && s < plan->nservers && !err; s++) {
			err = fors_members_add(last, publisher->item[i]->told.name, plan->server[s].guid, NULL);
			if (!err && wants_names)
				err = fors_namebook_recall(book, plan->server[s].desc, plan->server[s].guid, NULL);
		}
	}
	fors_members_sort(last);
	return err;
}

static bool load(struct fors_worker *worker)
{
	struct fors_namebook *book = NULL;
	enum fors_err err = read_file(worker, &book);
	bool has_file = book;

	if (!err && !book && !(book = fors_namebook_new()))
		err = FORS_ENOMEM;
	if (!err)
		err = recall(worker, book, !has_file);
	if (err) {
		fors_namebook_free(book);
		return false;
	}
	worker->jobs.names.book = book;
	worker->jobs.names.has_news = true;
	return true;
}

/* --- learning ----------------------------------------------------------------------------------------------------- */

/* Names, GUIDs and places of the end nodes. */
static uint64_t digest_nodes(const struct fors_net *net)
{
	uint64_t digest = FORS_DIGEST_EMPTY;

	for (uint32_t n = 0; n < net->nnodes; n++) {
		const struct fors_node *node = &net->node[n];

		if (node->type == FORS_SWITCH)
			continue;
		digest = fors_digest_text(digest, node->desc);
		digest = fors_digest(digest, &node->guid, sizeof(node->guid));
		for (unsigned p = 1; p <= node->nports; p++) {
			const struct fors_port *port = fors_net_port(net, n, p);
			uint64_t peer = port->peer == FORS_NONE ? 0 : net->node[port->peer].guid;

			digest = fors_digest(digest, &peer, sizeof(peer));
			digest = fors_digest(digest, &port->peer_port, sizeof(port->peer_port));
		}
	}
	return digest;
}

static void forget_one(struct fors_worker *worker, const struct fors_directory *now, uint64_t guid)
{
	struct fors_namebook *book = worker->jobs.names.book;
	uint32_t node = fors_directory_guid(now, guid);
	char text[FORS_ERROR_TEXT / 2];

	if (node != FORS_NONE)
		guid = now->net->node[node].guid;
	if (!fors_namebook_names(book, guid, text, sizeof(text))) {
		fors_log_error(worker->setup.log, FORS_F_FORGET,
			       "0x%016" PRIx64 " has no place, and no name of it is known: nothing to forget", guid);
		return;
	}
	fors_namebook_forget(book, guid);
	fors_log_info(worker->setup.log, "the names of 0x%016" PRIx64 " are forgotten, as requested: %s", guid, text);
}

/* What others have asked for. False: no memory; it is asked for again. */
static bool take_requests(struct fors_worker *worker, const struct fors_directory *now, bool *is_new)
{
	struct fors_mail_names names = fors_mail_take_names(&worker->mail);
	bool is_good = true;

	*is_new = names.reference || names.nforget;
	if (names.reference)
		is_good = !fors_namebook_refer(worker->jobs.names.book, names.reference, NULL);
	for (size_t i = 0; i < names.nforget; i++)
		forget_one(worker, now, names.forget[i]);
	fors_namebook_free(names.reference);
	free(names.forget);
	return is_good;
}

static bool learn(struct fors_worker *worker, const struct fors_directory *now)
{
	struct fors_worker_names *names = &worker->jobs.names;
	uint64_t seen = digest_nodes(now->net);
	uint32_t nreplaced = 0;
	bool is_asked, is_good = take_requests(worker, now, &is_asked);

	if (!is_good || (!is_asked && seen == names->seen))
		return is_good;
	if (fors_namebook_learn(names->book, now, &nreplaced, NULL))
		return false;
	if (nreplaced)
		fors_log_info(worker->setup.log,
			      "%" PRIu32
			      " names of hosts go with their switch ports to other adapters, as after a repair",
			      nreplaced);
	names->seen = seen;
	names->is_open = names->has_news = true;
	return true;
}

bool fors_worker_learn_names(struct fors_worker *worker, const struct fors_look *look)
{
	struct fors_directory now;
	bool is_good;

	if (!worker->jobs.names.book && !load(worker))
		return false;
	if (look->kind != FORS_LOOK_ROUTED && look->kind != FORS_LOOK_INSTALLED)
		return true; /* it may show half of the fabric */
	if (fors_directory_make(look->net, &now, NULL))
		return false;
	is_good = learn(worker, &now);
	if (!is_good)
		worker->jobs.names.seen = 0;
	fors_directory_clear(&now);
	return is_good;
}

/* --- using it ------------------------------------------------------------------------------------------------------- */

enum fors_err fors_worker_read_jobs(const struct fors_worker *worker, const char *text, size_t size,
				    const struct fors_fabric *fabric, struct fors_joblist *list,
				    struct fors_error *error)
{
	const struct fors_worker_jobs *jobs = &worker->jobs;
	const struct fors_jobknown known = {.book = jobs->names.book, .last = &jobs->names.last};

	return fors_joblist_read_known(text, size, jobs->file, fabric, &known, list, error);
}

void fors_worker_tell_names(struct fors_worker *worker, const struct fors_joblist *list)
{
	struct fors_worker_names *names = &worker->jobs.names;
	const struct fors_jobentry *first = NULL;
	char text[sizeof(names->doubt)] = "", more[40] = "";
	uint32_t count = 0;

	for (uint32_t j = 0; j < list->count; j++) {
		count += list->job[j].ndoubts;
		if (list->job[j].ndoubts && !first)
			first = &list->job[j];
	}
	if (count > 1)
		snprintf(more, sizeof(more), "; and %" PRIu32 " more names", count - 1);
	if (first)
		snprintf(text, sizeof(text), "jobs_file:%u: \"%.40s\": %.*s%s", first->line, first->doubtful,
			 FORS_JOBDOUBT_ROOM, first->doubt, more);
	if (!strcmp(text, names->doubt))
		return;
	memcpy(names->doubt, text, sizeof(names->doubt));
	worker->jobs.is_told = false;
	if (first)
		fors_log_error(worker->setup.log, FORS_F_JOBS, "%s", text);
	else
		fors_log_info(worker->setup.log, "all names in the jobs file mean one node each again");
}

/* Who was in a job and is missed now was so still. */
static enum fors_err keep_missing(const struct fors_members *last, const struct fors_jobentry *job,
				  const struct fors_members *now, struct fors_members *all)
{
	enum fors_err err = FORS_OK;

	for (size_t i = 0; job->nmissing && i < last->count && !err; i++)
		if (!strcmp(last->member[i].job, job->name) && !fors_members_have(now, job->name, last->member[i].guid))
			err = fors_members_add(all, job->name, last->member[i].guid, NULL);
	return err;
}

bool fors_worker_note_members(struct fors_worker *worker, const struct fors_joblist *list,
			      const struct fors_fabric *fabric)
{
	struct fors_members now = {NULL, 0, 0}, all = {NULL, 0, 0}, *last = &worker->jobs.names.last;
	enum fors_err err = FORS_OK;

	for (uint32_t j = 0; j < list->count; j++)
		for (uint32_t i = 0; i < list->job[j].count && !err; i++) {
			uint64_t guid = fabric->server[list->job[j].server[i]].guid;

			err = fors_members_add(&now, list->job[j].name, guid, NULL);
			if (!err)
				err = fors_members_add(&all, list->job[j].name, guid, NULL);
		}
	fors_members_sort(&now);
	for (uint32_t j = 0; j < list->count && !err; j++)
		err = keep_missing(last, &list->job[j], &now, &all);
	fors_members_clear(&now);
	if (err) {
		fors_members_clear(&all);
		return false;
	}
	fors_members_sort(&all);
	fors_members_clear(last);
	*last = all;
	return true;
}

void fors_worker_write_names(struct fors_worker *worker)
{
	struct fors_worker_names *names = &worker->jobs.names;
	struct fors_error error;
	uint64_t now;
	char *text;
	size_t size;

	if (!names->book || !names->has_news || fors_namebook_encode(names->book, &text, &size, NULL))
		return;
	now = fors_digest(FORS_DIGEST_EMPTY, text, size);
	if (now == names->written)
		names->has_news = false;
	else if (!fors_publish(worker->publisher.folder, NAMES, text, size, true, &error)) {
		names->written = now;
		names->has_news = false;
	}
	free(text); /* who writes the status says that the folder cannot be written */
}
