/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "joblines.h"

static struct fors_span strip(struct fors_span text)
{
	fors_skip_blanks(&text);
	while (text.end > text.at && (text.end[-1] == ' ' || text.end[-1] == '\t' || text.end[-1] == '\r'))
		text.end--;
	return text;
}

static struct fors_span without_comment(struct fors_span line)
{
	const char *hash = memchr(line.at, '#', (size_t)(line.end - line.at));

	if (hash)
		line.end = hash;
	return strip(line);
}

/* "NAME [MARK]" */
static void split_mark(struct fors_span head, struct fors_jobline *job)
{
	struct fors_span name = head;

	job->name = head;
	job->mark = (struct fors_span){head.end, head.end};
	if (fors_span_is_empty(head) || head.end[-1] != ']' || !fors_take_until(&head, '[', &name))
		return;
	head.end--;
	job->name = strip(name);
	job->mark = strip(head);
}

enum fors_err fors_jobline_next(struct fors_lines *lines, struct fors_jobline *job, bool *is_there,
				struct fors_error *error)
{
	struct fors_span line, head;

	*is_there = false;
	do {
		if (!fors_lines_next(lines, &line))
			return FORS_OK;
		line = without_comment(line);
	} while (fors_span_is_empty(line));
	if (!fors_take_until(&line, ':', &head) || fors_span_is_empty(strip(head)))
		return fors_lines_fail(lines, lines->number, error, "\"NAME: SERVER, SERVER, ...\" is expected");
	split_mark(strip(head), job);
	if (fors_span_is_empty(job->name))
		return fors_lines_fail(lines, lines->number, error, "a job without a name");
	job->members = line;
	*is_there = true;
	return FORS_OK;
}

bool fors_jobline_member(struct fors_jobline *job, struct fors_span *member)
{
	while (!fors_span_is_empty(job->members)) {
		if (!fors_take_until(&job->members, ',', member)) {
			*member = job->members;
			job->members.at = job->members.end;
		}
		*member = strip(*member);
		if (!fors_span_is_empty(*member))
			return true;
	}
	return false;
}
