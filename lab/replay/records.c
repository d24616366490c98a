/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "records.h"

#include <stdlib.h>

#define COLUMNS 16
#define FIELD_MAX 100000000000 /* 3,000 years in seconds: sums of ten million stay in range */

enum column { JOB_ID, START, END, NNODES, NODE_LIST, NCOLUMNS };
static const char *const columns[NCOLUMNS] = {"JobID", "Start", "End", "NNodes", "NodeList"};

struct reader {
	struct fors_lines lines;
	struct fors_error *error;
	struct fors_records past;
	uint32_t room, cores;
	unsigned at[NCOLUMNS]; /* which column of sacct's, NONE: there is none */
};

#define NONE UINT32_MAX
#define FAIL(r, ...) fors_lines_fail(&(r)->lines, (r)->lines.number, (r)->error, __VA_ARGS__)

static enum fors_err add(struct reader *r, const struct fors_record *job)
{
	if (r->past.count == FORS_RECORDS_MAX)
		return fors_fail(r->error, FORS_ELIMIT, "%s: more than %u jobs", r->lines.name, FORS_RECORDS_MAX);
	if (r->past.count == r->room) {
		struct fors_record *more = realloc(r->past.job, (r->room * 2 + (size_t)64) * sizeof(*more));

		if (!more)
			return fors_fail_memory(r->error);
		r->past.job = more;
		r->room = r->room * 2 + 64;
	}
	r->past.job[r->past.count++] = *job;
	return FORS_OK;
}

/* --- sacct ------------------------------------------------------------------------------------------------------ */

/* Days since 1970-01-01 (Hinnant's days_from_civil). */
static int64_t days_of(int64_t year, unsigned month, unsigned day)
{
	int64_t y = year - (month <= 2), era = y / 400;
	unsigned of_era = (unsigned)(y - era * 400);
	unsigned of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* "2024-01-31T10:35:53" in seconds; false: it is no time, as Unknown. */
static bool take_time(struct fors_span text, int64_t *seconds)
{
	static const char parts[] = "--T::";
	uint64_t n[6];

	for (unsigned i = 0; i < 6; i++)
		if (!fors_take_number(&text, 10, 9999, &n[i]) || (i < 5 && !fors_take_char(&text, parts[i])))
			return false;
	if (n[0] < 1970 || !n[1] || n[1] > 12 || !n[2] || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 60 ||
	    !fors_span_is_empty(text))
		return false;
	*seconds = days_of((int64_t)n[0], (unsigned)n[1], (unsigned)n[2]) * 86400 +
		   (int64_t)(n[3] * 3600 + n[4] * 60 + n[5]);
	return true;
}

/* The parts of a line between '|'; how many. */
static unsigned split(struct fors_span line, struct fors_span *part)
{
	unsigned n = 0;

	while (n < COLUMNS - 1 && fors_take_until(&line, '|', &part[n]))
		n++;
	part[n++] = line;
	return n;
}

static bool is_word(struct fors_span span, const char *word)
{
	return fors_starts_with(span, word) && (size_t)(span.end - span.at) == strlen(word);
}

static enum fors_err read_head(struct reader *r, struct fors_span line)
{
	struct fors_span part[COLUMNS];
	unsigned n = split(line, part);

	for (unsigned c = 0; c < NCOLUMNS; c++) {
		r->at[c] = NONE;
		for (unsigned i = 0; i < n; i++)
			if (is_word(part[i], columns[c]))
				r->at[c] = i;
		if (r->at[c] == NONE && c != NODE_LIST)
			return FAIL(r, "there is no column %s: sacct -a -X -P -o JobID,Start,End,NNodes,NodeList",
				    columns[c]);
	}
	return FORS_OK;
}

static enum fors_err read_sacct(struct reader *r, struct fors_span line)
{
	struct fors_span part[COLUMNS];
	struct fors_record job = {0};
	unsigned n = split(line, part);
	uint64_t count;

	for (unsigned c = 0; c < NCOLUMNS; c++)
		if (r->at[c] != NONE && r->at[c] >= n)
			return FAIL(r, "fewer columns than the first line has");
	if (!fors_take_number(&part[r->at[JOB_ID]], 10, UINT64_MAX, &job.id))
		return FAIL(r, "a JobID is expected");
	if (!fors_span_is_empty(part[r->at[JOB_ID]]) && *part[r->at[JOB_ID]].at == '.')
		return FORS_OK; /* a step of a job */
	if (!take_time(part[r->at[START]], &job.start) || !take_time(part[r->at[END]], &job.end))
		return FORS_OK; /* it never began, or still runs */
	if (!fors_take_number(&part[r->at[NNODES]], 10, UINT32_MAX - 1, &count) || job.end < job.start)
		return FAIL(r, "a number of nodes, and an end behind the start, are expected");
	job.nservers = (uint32_t)count;
	if (r->at[NODE_LIST] != NONE && !is_word(part[r->at[NODE_LIST]], "None assigned"))
		job.hosts = part[r->at[NODE_LIST]];
	return count ? add(r, &job) : FORS_OK;
}

/* --- the Standard Workload Format ------------------------------------------------------------------------------- */

/* A number that may be -1: unknown. Fractions, which some logs have, are cut off. */
static bool take_field(struct fors_span *line, int64_t *value)
{
	bool is_negative;
	uint64_t n, fraction;

	fors_skip_blanks(line);
	is_negative = fors_take_char(line, '-');
	if (!fors_take_number(line, 10, FIELD_MAX, &n))
		return false;
	if (fors_take_char(line, '.'))
		fors_take_number(line, 10, INT64_MAX, &fraction);
	*value = is_negative ? -(int64_t)n : (int64_t)n;
	return fors_span_is_empty(*line) || *line->at == ' ' || *line->at == '\t' || *line->at == '\r';
}

/* Job, submitted, waited, ran, processors, ..., the eighth: processors asked for. */
static enum fors_err read_swf(struct reader *r, struct fors_span line)
{
	struct fors_record job = {0};
	int64_t field[8], processors;

	for (unsigned i = 0; i < 8; i++)
		if (!take_field(&line, &field[i]))
			return FAIL(
				r,
				"18 numbers of the Standard Workload Format, or the columns of sacct -P, are expected");
	processors = field[4] > 0 ? field[4] : field[7];
	if (field[1] < 0 || field[3] < 0 || processors <= 0 || processors > UINT32_MAX - r->cores)
		return FORS_OK; /* it never ran */
	job.id = (uint64_t)(field[0] > 0 ? field[0] : 0);
	job.start = field[1] + (field[2] > 0 ? field[2] : 0);
	job.end = job.start + field[3];
	job.nservers = (uint32_t)((processors + r->cores - 1) / r->cores);
	return add(r, &job);
}

/* --- all -------------------------------------------------------------------------------------------------------- */

static int by_start(const void *left, const void *right)
{
	const struct fors_record *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static bool is_empty(struct fors_span line)
{
	fors_skip_blanks(&line);
	return fors_span_is_empty(line) || *line.at == ';' || *line.at == '#' || *line.at == '\r';
}

static enum fors_err read_all(struct reader *r)
{
	struct fors_span line;
	bool is_sacct = false, is_first = true;
	enum fors_err err = FORS_OK;

	while (!err && fors_lines_next(&r->lines, &line)) {
		if (is_empty(line))
			continue;
		if (is_first && memchr(line.at, '|', (size_t)(line.end - line.at))) {
			is_sacct = true;
			err = read_head(r, line);
		} else {
			err = is_sacct ? read_sacct(r, line) : read_swf(r, line);
		}
		is_first = false;
	}
	return err;
}

enum fors_err fors_records_read(const char *text, size_t size, const char *name, uint32_t cores,
				struct fors_records *past, struct fors_error *error)
{
	struct reader r = {.error = error, .cores = cores};
	enum fors_err err = fors_lines_start(&r.lines, text, size, name, error);

	if (!err)
		err = read_all(&r);
	if (!err && r.past.count)
		qsort(r.past.job, r.past.count, sizeof(*r.past.job), by_start);
	if (err)
		free(r.past.job);
	else
		*past = r.past;
	return err;
}
