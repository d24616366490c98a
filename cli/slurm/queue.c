/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A job as a text tells it, not looked into yet. */
struct raw {
	uint64_t id;
	bool runs, has_begun; /* has_begun: it has nodes for certain */
	struct fors_span partition, nodes, comment;
};

struct maker {
	struct slurm_queue queue;
	uint32_t room, nread; /* jobs that are understood, also those that do not run */
	const struct slurm_marking *marking;
	struct fors_error *error;
};

static struct fors_span span_of(const char *text)
{
	return (struct fors_span){text, text + strlen(text)};
}

/* Is `word` one of the words of `text`, which blanks and `separators` part? */
static bool has_word(struct fors_span text, struct fors_span word, const char *separators)
{
	size_t length = (size_t)(word.end - word.at);

	while (text.at < text.end) {
		const char *begin = text.at;

		while (text.at < text.end && !strchr(separators, *text.at))
			text.at++;
		if (length && (size_t)(text.at - begin) == length && !memcmp(begin, word.at, length))
			return true;
		text.at += text.at < text.end;
	}
	return false;
}

/* The first word "fors-demand=NAME" whose name is one: users write comments, and what they write is to lead nowhere else. */
static void take_demand(const struct maker *m, struct fors_span text, char demand[FORS_JOBNAME_ROOM])
{
	static const char begin[] = "fors-demand=";

	while (m->marking->has_demands && text.at < text.end && !*demand) {
		struct fors_span word = {text.at, text.at};

		while (word.end < text.end && !strchr(" \t\r\n,;", *word.end))
			word.end++;
		text.at = word.end + (word.end < text.end);
		if (!fors_starts_with(word, begin))
			continue;
		word.at += strlen(begin);
		if (fors_jobname_is_good(word))
			snprintf(demand, FORS_JOBNAME_ROOM, "%.*s", (int)(word.end - word.at), word.at);
	}
}

/* What a user asks for comes first; of several words the one that asks for most. */
static enum slurm_mark mark_of(const struct maker *m, const struct raw *raw)
{
	static const struct {
		const char *word;
		enum slurm_mark mark;
	} asked[] = {{"fors=exclusive", SLURM_EXCLUSIVE},
		     {"fors=job-index", SLURM_JOB_INDEX},
		     {"fors=shared", SLURM_SHARED}};

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		if (has_word(raw->comment, span_of(asked[i].word), " \t\r\n,;"))
			return asked[i].mark;
	if (m->marking->exclusive && has_word(span_of(m->marking->exclusive), raw->partition, ","))
		return SLURM_EXCLUSIVE;
	return m->marking->usual;
}

/* A job that is not understood. The first one is told. */
static void leave_out(struct maker *m, const struct fors_error *why)
{
	if (!m->queue.nbad++)
		m->queue.error = *why;
}

static bool make_room(struct maker *m)
{
	struct slurm_job *more;

	if (m->queue.count < m->room)
		return true;
	more = realloc(m->queue.job, (m->room * 2 + (size_t)16) * sizeof(*more));
	if (!more)
		return false;
	m->queue.job = more;
	m->room = m->room * 2 + 16;
	return true;
}

static enum fors_err add(struct maker *m, const struct raw *raw)
{
	struct slurm_job job = {.id = raw->id, .mark = mark_of(m, raw), .order = m->queue.count};
	struct fors_error list, why;
	enum fors_err err;

	take_demand(m, raw->comment, job.demand);
	m->nread++;
	if (!raw->runs || (fors_span_is_empty(raw->nodes) && !raw->has_begun))
		return FORS_OK;
	if (!make_room(m))
		return fors_fail_memory(m->error);
	err = fors_hostlist_read(raw->nodes, &job.hosts, &list);
	if (err == FORS_ENOMEM)
		return fors_fail_memory(m->error);
	if (!err && !job.hosts.count)
		err = fors_fail(&list, FORS_EINPUT, "it runs, and its nodes are not where they are known to be");
	if (err) {
		m->nread--;
		fors_fail(&why, err, "job %" PRIu64 ": %s", raw->id, list.text);
		leave_out(m, &why);
	}
	m->queue.job[m->queue.count++] = job;
	return FORS_OK;
}

static int by_id(const void *left, const void *right)
{
	const struct slurm_job *a = left, *b = right;

	return a->id != b->id ? (a->id < b->id ? -1 : 1) : a->order < b->order ? -1 : a->order > b->order;
}

/* Sorted; a job that is told twice is taken as it was told first. Where none is understood the text is of another kind. */
static enum fors_err finish(struct maker *m, enum fors_err err, struct slurm_queue *queue)
{
	uint32_t n = 0;

	if (!err && m->queue.nbad && !m->nread)
		err = fors_fail(m->error, FORS_EINPUT, "%s", m->queue.error.text);
	if (err) {
		slurm_queue_clear(&m->queue);
		return err;
	}
	if (m->queue.count)
		qsort(m->queue.job, m->queue.count, sizeof(*m->queue.job), by_id);
	for (uint32_t i = 0; i < m->queue.count; i++)
		if (n && m->queue.job[n - 1].id == m->queue.job[i].id)
			fors_hostlist_clear(&m->queue.job[i].hosts);
		else
			m->queue.job[n++] = m->queue.job[i];
	m->queue.count = n;
	*queue = m->queue;
	return FORS_OK;
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

static bool is_state(struct fors_span state, const char *name)
{
	return fors_starts_with(state, name) && (size_t)(state.end - state.at) == strlen(name);
}

/* One line of SLURM_FORMAT; false: it is none. */
static bool take_line(struct fors_span line, struct raw *raw)
{
	struct fors_span state;

	*raw = (struct raw){0};
	if (!fors_take_word(&line, "fors-job ") || !fors_take_number(&line, 10, UINT64_MAX, &raw->id) || !raw->id ||
	    !fors_take_char(&line, '|') || !fors_take_until(&line, '|', &state) ||
	    !fors_take_until(&line, '|', &raw->partition) || !fors_take_until(&line, '|', &raw->nodes))
		return false;
	raw->has_begun = is_state(state, "RUNNING");
	raw->runs = raw->has_begun || is_state(state, "CONFIGURING");
	return true;
}

/* What users wrote, ascending by job. */
struct comment {
	uint64_t id;
	struct fors_span text;
};

struct comments {
	struct comment *comment;
	size_t count, room;
};

static int by_job(const void *a, const void *b)
{
	const struct comment *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static enum fors_err add_comment(struct comments *list, uint64_t id, struct fors_span text, struct fors_error *error)
{
	struct comment *more = list->comment;

	if (list->count == list->room) {
		more = realloc(list->comment, (list->room * 2 + 64) * sizeof(*more));
		if (!more)
			return fors_fail_memory(error);
		list->comment = more;
		list->room = list->room * 2 + 64;
	}
	more[list->count++] = (struct comment){id, text};
	return FORS_OK;
}

/* A line that does not begin as ours do is still of the comment before it. */
static enum fors_err read_comments(const struct slurm_text *text, struct comments *list, struct fors_error *error)
{
	struct fors_lines lines = {0};
	struct fors_span line;
	enum fors_err err =
		text && text->size ? fors_lines_start(&lines, text->text, text->size, "squeue", error) : FORS_OK;

	while (!err && fors_lines_next(&lines, &line)) {
		struct fors_span rest = line;
		uint64_t id;

		if (fors_take_word(&rest, SLURM_COMMENT_HEAD) && fors_take_number(&rest, 10, UINT64_MAX, &id) &&
		    fors_take_char(&rest, '|'))
			err = add_comment(list, id, rest, error);
		else if (list->count)
			list->comment[list->count - 1].text.end = line.end;
	}
	if (list->count)
		qsort(list->comment, list->count, sizeof(*list->comment), by_job);
	return err;
}

static struct fors_span comment_of(const struct comments *list, uint64_t id)
{
	const struct comment key = {.id = id}, *found = NULL;

	if (list->count)
		found = bsearch(&key, list->comment, list->count, sizeof(key), by_job);
	return found ? found->text : (struct fors_span){NULL, NULL};
}

/* Each line of ours costs at most its own job; what squeue or a program around it says besides is not ours. */
static enum fors_err take_lines(struct maker *m, const struct slurm_text *text, const struct comments *comments)
{
	struct fors_lines lines = {0};
	struct fors_span line;
	struct fors_error why;
	struct raw raw;
	enum fors_err err = text->size ? fors_lines_start(&lines, text->text, text->size, "squeue", m->error) : FORS_OK;

	while (!err && fors_lines_next(&lines, &line)) {
		if (take_line(line, &raw)) {
			raw.comment = comment_of(comments, raw.id);
			err = add(m, &raw);
			continue;
		}
		fors_skip_blanks(&line);
		if (fors_span_is_empty(line))
			continue;
		fors_lines_fail(&lines, lines.number, &why, "\"%.*s\" is no line of the format asked for",
				fors_span_width(line), line.at);
		leave_out(m, &why);
	}
	return err;
}

/* A comment may have them, and lines of a text have none. */
static void drop_zeros(const struct slurm_text *text)
{
	for (size_t i = 0; i < text->size; i++)
		if (!text->text[i])
			text->text[i] = '?';
}

enum fors_err slurm_read_lines(struct slurm_text text, const struct slurm_text *comments,
			       const struct slurm_marking *marking, struct slurm_queue *queue, struct fors_error *error)
{
	struct maker m = {.marking = marking, .error = error};
	struct comments list = {0};
	enum fors_err err;

	drop_zeros(&text);
	if (comments)
		drop_zeros(comments);
	err = read_comments(comments, &list, error);
	if (!err)
		err = take_lines(&m, &text, &list);
	free(list.comment);
	return finish(&m, err, queue);
}

void slurm_queue_clear(struct slurm_queue *queue)
{
	for (uint32_t i = 0; i < queue->count; i++)
		fors_hostlist_clear(&queue->job[i].hosts);
	free(queue->job);
	*queue = (struct slurm_queue){0};
}
