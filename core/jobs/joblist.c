/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * joblist.c - a text becomes jobs on the servers of a fabric.
 *
 * Each server is claimed by a member of a line. With the strict way a second claim is an error. With the other one it is
 * decided by rules that depend on no order but that of lines, and the servers of each job are written down when
 * all claims are decided.
 */
#include "joblist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/joblines.h"

/* By which member a server is in a job. */
struct claim {
	uint32_t job; /* number + 1, 0: none */
	bool by_guid; /* or by node id: not by a description */
	struct fors_span word;
};

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	const struct fors_fabric *fabric;
	struct fors_joblist *list;
	uint32_t room;	     /* of list->job */
	struct claim *claim; /* per server */
	uint32_t *server_of; /* per node of the net: its first server, FORS_NONE */
	bool is_lenient;     /* what is not there is left out; of what follows is anything only then */
	struct fors_jobknown known;
	struct fors_directory directory;
	struct claim *word; /* all members, nwords of them */
	size_t nwords, word_room;
};

#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

bool fors_jobname_is_good(struct fors_span name)
{
	if (name.at == name.end || *name.at == '.' || name.end - name.at >= FORS_JOBNAME_ROOM)
		return false;
	for (; name.at < name.end; name.at++)
		if (!*name.at || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", *name.at))
			return false;
	return true;
}

static bool is_word(struct fors_span span, const char *word)
{
	return fors_starts_with(span, word) && (size_t)(span.end - span.at) == strlen(word);
}

/* ---- members ---- */

/* The member of a job, by its number, is no server of it, because ...; `why` empty: it is not there. */
static void miss(struct reader *r, uint32_t job, struct fors_span what, const char *why)
{
	struct fors_jobentry *entry = &r->list->job[job];

	if (entry->nmissing++)
		return;
	snprintf(entry->missing, sizeof(entry->missing), "%.*s", fors_span_width(what), what.at);
	snprintf(entry->why, sizeof(entry->why), "%s", why);
}

/* Does `mine` go before `other`, which stands in an earlier line, as regards server s? */
static bool goes_before(const struct reader *r, uint32_t s, const struct claim *mine, const struct claim *other)
{
	const struct fors_members *last = r->known.last;
	uint64_t guid = r->fabric->server[s].guid;
	bool had = last && fors_members_have(last, r->list->job[mine->job - 1].name, guid);
	bool other_had = last && fors_members_have(last, r->list->job[other->job - 1].name, guid);

	return had != other_had ? had : mine->by_guid && !other->by_guid;
}

/* Two jobs name a server, in different words. */
static void decide(struct reader *r, uint32_t s, struct claim mine)
{
	struct claim other = r->claim[s];
	bool is_mine = goes_before(r, s, &mine, &other);
	const struct claim *winner = is_mine ? &mine : &other, *loser = is_mine ? &other : &mine;
	char why[FORS_JOBDOUBT_ROOM];

	snprintf(why, sizeof(why), "works for job \"%s\" of line %u", r->list->job[winner->job - 1].name,
		 r->list->job[winner->job - 1].line);
	miss(r, loser->job - 1, loser->word, why);
	r->claim[s] = *winner;
}

/* Server `s` works for the job that is being read, which is the last of the list. */
static enum fors_err take_server(struct reader *r, uint32_t s, struct claim mine)
{
	uint32_t other = r->claim[s].job;

	if (!other || other == mine.job) {
		r->claim[s] = mine;
	} else if (r->is_lenient) {
		decide(r, s, mine);
	} else {
		return FAIL(r, "\"%.*s\" works for job \"%s\" of line %u already: a server has one job",
			    fors_span_width(mine.word), mine.word.at, r->list->job[other - 1].name,
			    r->list->job[other - 1].line);
	}
	return FORS_OK;
}

/* What there is to say of a name that several nodes have, or claim. */
static void tell_naming(const struct fors_naming *naming, bool is_meant, char *text, size_t room)
{
	static const char *const first[] = {[FORS_NAMED_SHARED] = ", which had it first and is meant,",
					    [FORS_NAMED_MOVED] = ", which had it first and is called otherwise now,",
					    [FORS_NAMED_TAKEN] = ", which had it first and is not there,",
					    [FORS_NAMED_TWINS] = ""};

	snprintf(text, room, "two nodes have this description: 0x%016" PRIx64 "%s and 0x%016" PRIx64 "%s",
		 naming->owner, first[naming->what], naming->other,
		 is_meant && naming->what == FORS_NAMED_MOVED ? "; the first is meant"
		 : is_meant				      ? ""
							      : "; nobody is meant");
}

/* Did a server of this node work for the job that is being read? */
static bool has_worked(const struct reader *r, uint32_t node)
{
	const struct fors_fabric *fabric = r->fabric;
	const char *job = r->list->job[r->list->count].name;

	for (uint32_t s = r->server_of[node]; s < fabric->nservers; s++)
		if (fabric->server[s].node == node && r->known.last &&
		    fors_members_have(r->known.last, job, fabric->server[s].guid))
			return true;
	return false;
}

/* Whom a description means; *node is FORS_NONE, and the member counted: nobody. */
static void find_named(struct reader *r, const char *name, struct fors_span what, uint32_t *node)
{
	struct fors_jobentry *job = &r->list->job[r->list->count];
	struct fors_naming naming = fors_namebook_find(r->known.book, &r->directory, name);
	char text[FORS_JOBDOUBT_ROOM] = "";

	*node = naming.node;
	if (naming.what == FORS_NAMED_MOVED && !has_worked(r, naming.node))
		*node = FORS_NONE;
	if (naming.other)
		tell_naming(&naming, *node != FORS_NONE, text, sizeof(text));
	if (naming.other && !job->ndoubts++) {
		snprintf(job->doubtful, sizeof(job->doubtful), "%.*s", fors_span_width(what), what.at);
		memcpy(job->doubt, text, sizeof(job->doubt));
	}
	if (*node == FORS_NONE)
		miss(r, r->list->count, what, text);
}

/* *node is FORS_NONE: it was left out. */
static enum fors_err find_present(struct reader *r, const char *text, struct fors_span what, struct claim *claim,
				  uint32_t *node, unsigned *port)
{
	struct fors_address address;

	*node = FORS_NONE;
	*port = 0;
	if (fors_directory_address(&r->directory, text, &address, NULL)) {
		miss(r, r->list->count, what, "");
		return FORS_OK;
	}
	*port = address.port;
	*node = address.node;
	claim->by_guid = address.node != FORS_NONE;
	if (address.node == FORS_NONE && address.is_guid)
		miss(r, r->list->count, what, "");
	else if (address.node == FORS_NONE)
		find_named(r, address.name, what, node);
	if (*node != FORS_NONE && *port > r->fabric->net->node[*node].nports) {
		miss(r, r->list->count, what, "it has no such port");
		*node = FORS_NONE;
	}
	return FORS_OK;
}

static enum fors_err find_node(struct reader *r, struct fors_span what, struct claim *claim, uint32_t *node,
			       unsigned *port)
{
	char text[2 * FORS_NAME_MAX + 16];
	struct fors_error why;

	if ((size_t)(what.end - what.at) >= sizeof(text))
		return FAIL(r, "\"%.*s...\" is no node of the fabric", fors_span_width(what), what.at);
	snprintf(text, sizeof(text), "%.*s", (int)(what.end - what.at), what.at);
	if (r->is_lenient)
		return find_present(r, text, what, claim, node, port);
	if (fors_net_find(r->fabric->net, text, node, port, &why))
		return FAIL(r, "there is no node \"%.*s\" in the fabric, or more than one: %.300s",
			    fors_span_width(what), what.at, why.text);
	return FORS_OK;
}

/* The port of a server, through the CA's port table. */
static bool is_port(const struct fors_fabric *fabric, uint32_t s, unsigned port)
{
	return !port || fors_net_port(fabric->net, fabric->server[s].node, port)->guid == fabric->server[s].guid;
}

/* Servers of one node stand anywhere behind its first. */
static enum fors_err take_servers(struct reader *r, const struct claim *claim, uint32_t node, unsigned port)
{
	const struct fors_fabric *fabric = r->fabric;
	enum fors_err err = FORS_OK;
	uint32_t found = 0;

	for (uint32_t s = r->server_of[node]; s < fabric->nservers && !err; s++)
		if (fabric->server[s].node == node && is_port(fabric, s, port)) {
			err = take_server(r, s, *claim);
			found++;
		}
	if (err || found)
		return err;
	if (!r->is_lenient)
		return FAIL(r, "\"%.*s\" is no server that takes part", fors_span_width(claim->word), claim->word.at);
	miss(r, r->list->count, claim->word, "");
	return FORS_OK;
}

/* What members are written is looked at as a whole at the end. */
static enum fors_err note_word(struct reader *r, const struct claim *claim)
{
	struct claim *more;

	if (r->nwords == r->word_room) {
		more = realloc(r->word, (2 * r->word_room + 64) * sizeof(*more));
		if (!more)
			return fors_fail_memory(r->error);
		r->word = more;
		r->word_room = 2 * r->word_room + 64;
	}
	r->word[r->nwords++] = *claim;
	return FORS_OK;
}

static enum fors_err add_member(struct reader *r, struct fors_span what)
{
	struct claim claim = {.job = r->list->count + 1, .word = what};
	uint32_t node;
	unsigned port = 0;
	enum fors_err err = find_node(r, what, &claim, &node, &port);

	if (!err && r->is_lenient)
		err = note_word(r, &claim);
	return err || node == FORS_NONE ? err : take_servers(r, &claim, node, port);
}

/* ---- marks ---- */

/* "demand=NAME" */
static enum fors_err take_demand(struct reader *r, struct fors_span name, struct fors_jobentry *job)
{
	if (*job->demand)
		return FAIL(r, "job \"%s\" has two demands", job->name);
	if (!fors_jobname_is_good(name))
		return FAIL(
			r,
			"\"%.*s\" is no name of a demand: letters, digits, '.', '_' and '-', at most %u, no '.' first",
			fors_span_width(name), name.at, FORS_JOBNAME_ROOM - 1);
	if (strlen(job->name) > FORS_JOBDEMAND_NAME_MAX)
		return FAIL(r, "the name of a job with a demand has at most %d characters", FORS_JOBDEMAND_NAME_MAX);
	snprintf(job->demand, sizeof(job->demand), "%.*s", (int)(name.end - name.at), name.at);
	return FORS_OK;
}

/* One of the words of [], *has_kind: one of the first three was there before. */
static enum fors_err take_mark(struct reader *r, struct fors_span word, struct fors_jobentry *job, bool *has_kind)
{
	static const char demand[] = "demand=";
	bool is_index = is_word(word, "job-index"), is_exclusive = is_index || is_word(word, "exclusive");

	if (fors_starts_with(word, demand)) {
		word.at += strlen(demand);
		return take_demand(r, word, job);
	}
	if (*has_kind || (!is_exclusive && !is_word(word, "shared")))
		return FAIL(r, "[%.*s]: [exclusive], [job-index] or [shared] is expected, or demand=NAME",
			    fors_span_width(word), word.at);
	*has_kind = true;
	job->has_index = is_index;
	job->is_exclusive = is_exclusive;
	return FORS_OK;
}

static enum fors_err take_marks(struct reader *r, struct fors_span marks, struct fors_jobentry *job)
{
	struct fors_jobline words = {.members = marks};
	struct fors_span word;
	bool has_kind = false;
	enum fors_err err = FORS_OK;

	while (!err && fors_jobline_member(&words, &word))
		err = take_mark(r, word, job, &has_kind);
	return err;
}

/* ---- jobs ---- */

static enum fors_err make_room(struct reader *r)
{
	struct fors_jobentry *more;

	if (r->list->count == FORS_JOBLIST_MAX)
		return fors_fail(r->error, FORS_ELIMIT, "%s:%u: more than %u jobs", r->lines.name, r->lines.number,
				 FORS_JOBLIST_MAX);
	if (r->list->count < r->room)
		return FORS_OK;
	more = realloc(r->list->job, (r->room * 2 + (size_t)16) * sizeof(*more));
	if (!more)
		return fors_fail_memory(r->error);
	r->list->job = more;
	r->room = r->room * 2 + 16;
	return FORS_OK;
}

static enum fors_err begin_job(struct reader *r, const struct fors_jobline *line)
{
	struct fors_jobentry *job = &r->list->job[r->list->count];

	*job = (struct fors_jobentry){.line = r->lines.number};
	if (!fors_jobname_is_good(line->name))
		return FAIL(r,
			    "\"%.*s\" is no name of a job: letters, digits, '.', '_' and '-', at most %u, no '.' first",
			    fors_span_width(line->name), line->name.at, FORS_JOBNAME_ROOM - 1);
	snprintf(job->name, sizeof(job->name), "%.*s", (int)(line->name.end - line->name.at), line->name.at);
	return take_marks(r, line->mark, job);
}

/* Servers are in the order of leaves. */
static uint32_t count_leaves(const struct fors_fabric *fabric, const struct fors_jobentry *job)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->count; i++)
		n += !i || fabric->server[job->server[i]].leaf != fabric->server[job->server[i - 1]].leaf;
	return n;
}

static enum fors_err read_job(struct reader *r, struct fors_jobline *line)
{
	struct fors_span member;
	bool has_any = false;
	enum fors_err err = make_room(r);

	if (!err)
		err = begin_job(r, line);
	for (; !err && fors_jobline_member(line, &member); has_any = true)
		err = add_member(r, member);
	if (!err && !has_any)
		err = FAIL(r, "job \"%s\" has no server", r->list->job[r->list->count].name);
	r->list->count += !err;
	return err;
}

/* All claims are decided: the servers of each job. */
static enum fors_err list_servers(struct reader *r)
{
	struct fors_joblist *list = r->list;
	uint32_t nservers = r->fabric->nservers;

	for (uint32_t s = 0; s < nservers; s++)
		if (r->claim[s].job)
			list->job[r->claim[s].job - 1].count++;
	for (uint32_t j = 0; j < list->count; j++) {
		list->job[j].server = malloc((list->job[j].count + (size_t)1) * sizeof(*list->job[j].server));
		if (!list->job[j].server)
			return fors_fail_memory(r->error);
		list->job[j].count = 0;
	}
	for (uint32_t s = 0; s < nservers; s++)
		if (r->claim[s].job) {
			struct fors_jobentry *job = &list->job[r->claim[s].job - 1];

			job->server[job->count++] = s;
		}
	for (uint32_t j = 0; j < list->count; j++)
		list->job[j].nleaves = count_leaves(r->fabric, &list->job[j]);
	return FORS_OK;
}

/* ---- the text as a whole ---- */

static int by_word(const void *left, const void *right)
{
	const struct claim *a = left, *b = right;
	size_t na = (size_t)(a->word.end - a->word.at), nb = (size_t)(b->word.end - b->word.at);
	int order = memcmp(a->word.at, b->word.at, na < nb ? na : nb);

	if (order || na != nb)
		return order ? order : na < nb ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* A member that stands in two jobs in the same words is in two jobs whatever the fabric. */
static enum fors_err check_words(struct reader *r)
{
	const struct fors_joblist *list = r->list;

	if (r->nwords)
		qsort(r->word, r->nwords, sizeof(*r->word), by_word);
	for (size_t i = 1; i < r->nwords; i++) {
		const struct claim *a = &r->word[i - 1], *b = &r->word[i];
		size_t n = (size_t)(a->word.end - a->word.at);

		if (a->job != b->job && n == (size_t)(b->word.end - b->word.at) && !memcmp(a->word.at, b->word.at, n))
			return fors_lines_fail(&r->lines, list->job[b->job - 1].line, r->error,
					       "\"%.*s\" works for job \"%s\" of line %u already: a server has one job",
					       fors_span_width(b->word), b->word.at, list->job[a->job - 1].name,
					       list->job[a->job - 1].line);
	}
	return FORS_OK;
}

static int by_name(const void *left, const void *right)
{
	const struct fors_jobentry *const *a = left, *const *b = right;
	int order = strcmp((*a)->name, (*b)->name);

	return order ? order : (*a)->line < (*b)->line ? -1 : 1;
}

static enum fors_err check_names(struct reader *r)
{
	const struct fors_joblist *list = r->list;
	const struct fors_jobentry **sorted = malloc((list->count + (size_t)1) * sizeof(*sorted));
	enum fors_err err = FORS_OK;

	if (!sorted)
		return fors_fail_memory(r->error);
	for (uint32_t i = 0; i < list->count; i++)
		sorted[i] = &list->job[i];
	qsort(sorted, list->count, sizeof(*sorted), by_name);
	for (uint32_t i = 1; i < list->count && !err; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			err = fors_lines_fail(&r->lines, sorted[i]->line, r->error,
					      "job \"%s\" is that of line %u already", sorted[i]->name,
					      sorted[i - 1]->line);
	free(sorted);
	return err;
}

static enum fors_err read_all(struct reader *r)
{
	struct fors_jobline line;
	bool is_there = true;
	enum fors_err err = FORS_OK;

	while (!err && is_there) {
		err = fors_jobline_next(&r->lines, &line, &is_there, r->error);
		if (!err && is_there)
			err = read_job(r, &line);
	}
	if (!err)
		err = check_names(r);
	if (!err)
		err = check_words(r);
	return err ? err : list_servers(r);
}

static enum fors_err prepare(struct reader *r)
{
	const struct fors_fabric *fabric = r->fabric;

	r->claim = calloc(fabric->nservers + (size_t)1, sizeof(*r->claim));
	r->server_of = malloc((fabric->net->nnodes + (size_t)1) * sizeof(*r->server_of));
	if (!r->claim || !r->server_of)
		return fors_fail_memory(r->error);
	for (uint32_t node = 0; node < fabric->net->nnodes; node++)
		r->server_of[node] = FORS_NONE;
	for (uint32_t s = fabric->nservers; s-- > 0;)
		r->server_of[fabric->server[s].node] = s;
	return r->is_lenient ? fors_directory_make(fabric->net, &r->directory, r->error) : FORS_OK;
}

static enum fors_err read_text(struct reader *r, const char *text, size_t size, const char *name,
			       struct fors_joblist *list)
{
	struct fors_joblist made = {NULL, 0};
	enum fors_err err;

	r->list = &made;
	err = size ? fors_lines_start(&r->lines, text, size, name, r->error) : FORS_OK;
	if (!err)
		err = prepare(r);
	if (!err && size)
		err = read_all(r);
	free(r->claim);
	free(r->server_of);
	free(r->word);
	fors_directory_clear(&r->directory);
	if (err)
		fors_joblist_clear(&made);
	else
		*list = made;
	return err;
}

enum fors_err fors_joblist_read(const char *text, size_t size, const char *name, const struct fors_fabric *fabric,
				struct fors_joblist *list, struct fors_error *error)
{
	struct reader r = {.error = error, .fabric = fabric};

	return read_text(&r, text, size, name, list);
}

enum fors_err fors_joblist_read_known(const char *text, size_t size, const char *name, const struct fors_fabric *fabric,
				      const struct fors_jobknown *known, struct fors_joblist *list,
				      struct fors_error *error)
{
	struct reader r = {.error = error, .fabric = fabric, .is_lenient = true, .known = *known};

	return read_text(&r, text, size, name, list);
}

void fors_joblist_clear(struct fors_joblist *list)
{
	for (uint32_t i = 0; i < list->count; i++)
		free(list->job[i].server);
	free(list->job);
	*list = (struct fors_joblist){NULL, 0};
}

bool fors_joblist_same(const struct fors_joblist *a, const struct fors_fabric *on_a, const struct fors_joblist *b,
		       const struct fors_fabric *on_b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t j = 0; j < a->count; j++) {
		if (strcmp(a->job[j].name, b->job[j].name) != 0 || a->job[j].count != b->job[j].count)
			return false;
		for (uint32_t i = 0; i < a->job[j].count; i++)
			if (on_a->server[a->job[j].server[i]].guid != on_b->server[b->job[j].server[i]].guid)
				return false;
	}
	return true;
}
