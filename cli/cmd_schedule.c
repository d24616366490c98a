/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_schedule.c - `fors schedule`: who sends to whom in which phase, on which LIDs.
 *
 * A flow (s, d) goes to d's base LID + the path index that the plan gives it. It is sent FROM s's base LID + the
 * path index of the flow back, (d, s): then one RC queue pair per pair of servers serves both directions. So the
 * path indices of all pairs are collected first, and the rows are written in one walk over the phases.
 *
 * A schedule of version 2 has more to say: its name, and of each flow the switches on its way and the service level. One of
 * version 3, which is of a demand, also says how much each flow sends, and how long each phase is. There a pair may send over
 * several path indices, and has a queue pair for each of them.
 * One of version 1 has the columns of version 1 only, header and all: programs read these.
 */
#include "cli/cli.h"
#include "core/base/text.h"
#include "core/schedule/schedule.h"
#include "cli/json.h"
#include "libforsched/forsched.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY FORS_NONE

/* A schedule made ready to be written. */
struct view {
	const struct fors_schedule *schedule;
	uint32_t only;	  /* the server whose rows are wanted, NOBODY: all */
	uint32_t *order;  /* servers by GUID */
	uint32_t *sender; /* in the present phase, to each server; NOBODY */
	uint8_t *path;	  /* path index of flow (s, d) at path[s * P + d] */
	uint64_t nrows;	  /* written so far */
	bool has_more;	  /* of version 2 or 3 */
};

struct row {
	uint32_t phase, src, dst; /* src, dst: servers */
	unsigned src_lid, dst_lid;
	uint64_t spine_guid; /* 0 inside a leaf, or where that has no meaning */
	uint32_t nhops;	     /* switches on its way; 0: not told */
	uint8_t sl;	     /* FORS_NO_SL: not told */
	uint64_t bytes;	     /* of a demand */
	struct fors_way_hop hop[FORS_WAY_MAX];
};

/* One way to write a schedule. */
struct format {
	void (*begin)(const struct view *view);
	void (*begin_phase)(const struct view *view, uint32_t phase); /* may be NULL */
	void (*row)(const struct view *view, const struct row *row);
	void (*end_phase)(const struct view *view, uint32_t phase); /* may be NULL */
	void (*end)(const struct view *view);			    /* may be NULL */
};

/* --- CSV ------------------------------------------------------------------------------------------------------ */

static void csv_begin(const struct view *view)
{
	printf("phase,src_guid,dst_guid,src_lid,dst_lid,spine_guid%s%s\n", view->has_more ? ",via,sl" : "",
	       view->schedule->length ? ",bytes" : "");
}

static void csv_more(const struct row *row)
{
	putchar(',');
	for (uint32_t i = 0; i < row->nhops; i++)
		printf("%s0x%016" PRIx64, i ? " " : "", row->hop[i].guid);
	putchar(',');
	if (row->sl != FORS_NO_SL)
		printf("%u", row->sl);
}

static void csv_row(const struct view *view, const struct row *row)
{
	const struct fors_schedule_server *server = view->schedule->server;

	printf("%u,0x%016" PRIx64 ",0x%016" PRIx64 ",%u,%u,", row->phase, server[row->src].guid, server[row->dst].guid,
	       row->src_lid, row->dst_lid);
	if (row->spine_guid)
		printf("0x%016" PRIx64, row->spine_guid);
	if (view->has_more)
		csv_more(row);
	if (view->schedule->length)
		printf(",%" PRIu64, row->bytes);
	putchar('\n');
}

/* --- JSON ----------------------------------------------------------------------------------------------------- */

/* Quoted and escaped, or null when empty. */
static void print_json_text(const char *text)
{
	cli_print_json_value(*text ? fors_json_text(text) : json_null());
}

static void json_server(const struct fors_schedule_server *server, bool is_first)
{
	printf("%s\n    {\"guid\": \"0x%016" PRIx64
	       "\", \"lid\": %u, \"lmc\": %u, \"leaf\": %u, \"rank\": %u, \"desc\": ",
	       is_first ? "" : ",", server->guid, server->lid, server->lmc, server->leaf, server->rank);
	print_json_text(server->desc);
	putchar('}');
}

static void json_sizes(const struct fors_schedule *schedule)
{
	printf(",\n  \"unit\": \"%s\",\n  \"granule\": %" PRIu64 ",\n  \"lengths\": [",
	       schedule->is_unit ? "messages" : "bytes", schedule->granule);
	for (uint32_t phase = 0; phase < schedule->nphases; phase++)
		printf("%s%" PRIu64, phase ? ", " : "", schedule->length[phase]);
	putchar(']');
}

static void json_begin(const struct view *view)
{
	const struct fors_schedule *schedule = view->schedule;

	printf("{\n  \"epoch\": %" PRIu64 ",\n  \"fingerprint\": \"0x%016" PRIx64 "\",\n  \"phases\": %u,\n",
	       schedule->epoch, schedule->fingerprint, schedule->nphases);
	printf("  \"method\": ");
	print_json_text(schedule->method);
	printf(",\n  \"reason\": ");
	print_json_text(schedule->reason);
	if (view->has_more) {
		printf(",\n  \"name\": ");
		print_json_text(schedule->name);
		printf(",\n  \"fabric_epoch\": %" PRIu64,
		       schedule->fabric_epoch ? schedule->fabric_epoch : schedule->epoch);
	}
	if (schedule->length)
		json_sizes(schedule);
	printf(",\n  \"servers\": [");
	for (uint32_t s = 0; s < schedule->nservers; s++)
		json_server(&schedule->server[s], s == 0);
	printf("\n  ],\n  \"flows\": [");
}

static void json_more(const struct row *row)
{
	printf(", \"via\": ");
	for (uint32_t i = 0; i < row->nhops; i++)
		printf("%s\"0x%016" PRIx64 "\"", i ? ", " : "[", row->hop[i].guid);
	printf("%s, \"sl\": ", row->nhops ? "]" : "null");
	if (row->sl == FORS_NO_SL)
		printf("null");
	else
		printf("%u", row->sl);
}

static void json_row(const struct view *view, const struct row *row)
{
	const struct fors_schedule_server *server = view->schedule->server;

	printf("%s\n    {\"phase\": %u, \"src_guid\": \"0x%016" PRIx64 "\", \"dst_guid\": \"0x%016" PRIx64
	       "\", \"src_lid\": %u, \"dst_lid\": %u, \"spine_guid\": ",
	       view->nrows ? "," : "", row->phase, server[row->src].guid, server[row->dst].guid, row->src_lid,
	       row->dst_lid);
	if (row->spine_guid)
		printf("\"0x%016" PRIx64 "\"", row->spine_guid);
	else
		printf("null");
	if (view->has_more)
		json_more(row);
	if (view->schedule->length)
		printf(", \"bytes\": %" PRIu64, row->bytes);
	putchar('}');
}

static void json_end(const struct view *view)
{
	printf("\n  ]\n}\n");
}

/* --- text ----------------------------------------------------------------------------------------------------- */

static void text_begin(const struct view *view)
{
	const struct fors_schedule *schedule = view->schedule;

	printf("# %u %s, %u %s, method %s, epoch %" PRIu64 "\n", schedule->nservers,
	       fors_plural(schedule->nservers, "server", "servers"), schedule->nphases,
	       fors_plural(schedule->nphases, "phase", "phases"), schedule->method, schedule->epoch);
	if (schedule->name[0])
		printf("# %s %s, over the tables of epoch %" PRIu64 "\n", schedule->length ? "demand" : "job",
		       schedule->name, schedule->fabric_epoch ? schedule->fabric_epoch : schedule->epoch);
	if (view->only != NOBODY)
		printf("# %s 0x%016" PRIx64 "\n", schedule->server[view->only].desc, schedule->server[view->only].guid);
	printf("# phase  sender -> receiver  from LID -> to LID  by %s%s\n",
	       view->has_more ? "switch  SL  via switches [and ports]" : "spine",
	       !schedule->length   ? ""
	       : schedule->is_unit ? "  messages"
				   : "  bytes");
}

static void text_row(const struct view *view, const struct row *row)
{
	const struct fors_schedule_server *server = view->schedule->server;

	printf("%6u  %s -> %s  %u -> %u", row->phase, server[row->src].desc, server[row->dst].desc, row->src_lid,
	       row->dst_lid);
	if (row->spine_guid)
		printf("  by 0x%016" PRIx64, row->spine_guid);
	if (row->sl != FORS_NO_SL)
		printf("  SL %u", row->sl);
	for (uint32_t i = 0; i < row->nhops; i++) {
		printf("%s0x%016" PRIx64, i ? " " : "  via ", row->hop[i].guid);
		if (row->hop[i].port)
			printf("[%u]", row->hop[i].port);
	}
	if (view->schedule->length)
		printf("  %" PRIu64, row->bytes);
	putchar('\n');
}

/* A server also wants to know from whom it receives. */
static void text_end_phase(const struct view *view, uint32_t phase)
{
	if (view->only == NOBODY)
		return;
	if (view->sender[view->only] != NOBODY)
		printf("%6u  receives from %s\n", phase, view->schedule->server[view->sender[view->only]].desc);
	else
		printf("%6u  receives from nobody\n", phase);
}

/* Of a demand. */
static void text_phase(const struct view *view, uint32_t phase)
{
	const struct fors_schedule *schedule = view->schedule;

	if (schedule->length)
		printf("%6u  is %" PRIu64 " %s long\n", phase, schedule->length[phase],
		       schedule->is_unit ? fors_plural(schedule->length[phase], "message", "messages") : "bytes");
}

/* --- who takes part, as a participants file ------------------------------------------------------------------- */

static void participants_begin(const struct view *view)
{
	const struct fors_schedule_server *server = view->schedule->server;

	for (uint32_t s = 0; s < view->schedule->nservers; s++)
		printf("0x%016" PRIx64 "%s%s\n", server[s].guid, *server[s].desc ? " # " : "", server[s].desc);
}

static void participants_row(const struct view *view, const struct row *row)
{
	(void)view;
	(void)row;
}

/* --- the walk ------------------------------------------------------------------------------------------------- */

static const struct format formats[] = {
	[CLI_SCHEDULE_TEXT] = {.begin = text_begin,
			       .begin_phase = text_phase,
			       .row = text_row,
			       .end_phase = text_end_phase},
	[CLI_SCHEDULE_PARTICIPANTS] = {.begin = participants_begin, .row = participants_row},
	[CLI_SCHEDULE_CSV] = {.begin = csv_begin, .row = csv_row},
	[CLI_SCHEDULE_JSON] = {.begin = json_begin, .row = json_row, .end = json_end},
};

static const struct fors_schedule_server *sorting; /* of compare_guids(), which qsort() gives no context */

static int compare_guids(const void *a, const void *b)
{
	uint64_t guid_a = sorting[*(const uint32_t *)a].guid, guid_b = sorting[*(const uint32_t *)b].guid;

	return (guid_a > guid_b) - (guid_a < guid_b);
}

static void collect_paths(const struct view *view)
{
	const struct fors_schedule *schedule = view->schedule;

	for (uint32_t s = 0; s < schedule->nservers; s++)
		for (uint32_t phase = 0; phase < schedule->nphases; phase++) {
			struct fors_cell cell = fors_schedule_flow(schedule, s, phase);

			if (cell.dst != FORS_IDLE)
				view->path[(size_t)s * schedule->nservers + cell.dst] = cell.path;
		}
}

static bool make_view(const struct fors_schedule *schedule, struct view *view)
{
	size_t n = schedule->nservers;

	*view = (struct view){.schedule = schedule, .only = NOBODY, .has_more = fors_schedule_version(schedule) > 1};
	view->order = calloc(n + 1, sizeof(*view->order));
	view->sender = calloc(n + 1, sizeof(*view->sender));
	view->path = calloc(n * n + 1, sizeof(*view->path));
	if (!view->order || !view->sender || !view->path)
		return false;
	for (uint32_t s = 0; s < n; s++)
		view->order[s] = s;
	sorting = schedule->server;
	qsort(view->order, n, sizeof(*view->order), compare_guids);
	collect_paths(view);
	return true;
}

static void free_view(struct view *view)
{
	free(view->order);
	free(view->sender);
	free(view->path);
}

static void tell_way(const struct fors_schedule *schedule, uint32_t s, struct fors_cell cell, struct row *row)
{
	uint32_t way = fors_schedule_way(schedule, s, cell);

	row->sl = fors_schedule_sl(schedule, s, cell.dst);
	if (way == FORS_NONE)
		return;
	row->spine_guid = fors_waylist_top(schedule->ways, way);
	row->nhops = fors_waylist_get(schedule->ways, way, row->hop, FORS_WAY_MAX);
}

static void write_flow(struct view *view, const struct format *format, uint32_t phase, uint32_t s,
		       struct fors_cell cell)
{
	const struct fors_schedule *schedule = view->schedule;
	unsigned back = view->path[(size_t)cell.dst * schedule->nservers + s];
	struct row row;

	if (schedule->length)
		back = cell.path & ((1u << schedule->server[s].lmc) - 1);
	row.phase = phase;
	row.src = s;
	row.dst = cell.dst;
	row.src_lid = schedule->server[s].lid + back;
	row.dst_lid = schedule->server[cell.dst].lid + (unsigned)cell.path;
	row.spine_guid = cell.lane == FORS_NO_LANE ? 0 : schedule->lane_spine[cell.lane];
	row.nhops = 0;
	row.bytes = schedule->length ? schedule->bytes[(size_t)s * schedule->nphases + phase] : 0;
	tell_way(schedule, s, cell, &row);
	format->row(view, &row);
	view->nrows++;
}

static void write_phase(struct view *view, const struct format *format, uint32_t phase)
{
	const struct fors_schedule *schedule = view->schedule;

	memset(view->sender, 0xff, schedule->nservers * sizeof(*view->sender));
	if (format->begin_phase)
		format->begin_phase(view, phase);
	for (uint32_t i = 0; i < schedule->nservers; i++) {
		uint32_t s = view->order[i];
		struct fors_cell cell = fors_schedule_flow(schedule, s, phase);

		if (cell.dst == FORS_IDLE)
			continue;
		view->sender[cell.dst] = s;
		if (view->only == NOBODY || view->only == s)
			write_flow(view, format, phase, s, cell);
	}
	if (format->end_phase)
		format->end_phase(view, phase);
}

static void write_schedule(struct view *view, const struct format *format)
{
	format->begin(view);
	for (uint32_t phase = 0; phase < view->schedule->nphases; phase++)
		write_phase(view, format, phase);
	if (format->end)
		format->end(view);
}

/* --- the command ---------------------------------------------------------------------------------------------- */

static int choose_server(struct view *view, const struct cli_settings *settings)
{
	if (!settings->has_server || !view->schedule->nphases)
		return CLI_GOOD;
	view->only = fors_schedule_find(view->schedule, settings->server);
	if (view->only != NOBODY)
		return CLI_GOOD;
	cli_error("no server of this schedule has the port GUID 0x%016" PRIx64, settings->server);
	return CLI_BAD;
}

static int print_schedule(const struct fors_schedule *schedule, const struct cli_settings *settings)
{
	struct view view;
	int code = CLI_BAD;

	if (!make_view(schedule, &view))
		cli_error("out of memory");
	else
		code = choose_server(&view, settings);
	if (!code)
		write_schedule(&view, &formats[settings->format]);
	free_view(&view);
	if (!code && !schedule->nphases) {
		cli_error("this schedule is withdrawn (epoch %" PRIu64 "): %s", schedule->epoch, schedule->reason);
		code = CLI_NO;
	}
	return code;
}

/* As programs ask for it, who read no more of the file than that takes: it is asked for by each process of a job. */
static int print_path_index(const char *path)
{
	struct forsched *schedule;
	struct forsched_error error;
	uint8_t index = 0;
	enum forsched_err err = forsched_open(path, &schedule, &error);

	if (!err) {
		err = forsched_path_index(schedule, &index, &error);
		forsched_close(schedule);
	}
	if (!err) {
		printf("%u\n", index);
		return CLI_GOOD;
	}
	cli_error("%s", error.text);
	return err == FORSCHED_ENOTFOUND || err == FORSCHED_EWITHDRAWN ? CLI_NO : CLI_BAD;
}

static int run(const struct cli_settings *settings, char **operand)
{
	struct fors_schedule *schedule = NULL;
	int code;

	if (settings->path_index && (settings->has_server || settings->has_format || !strcmp(operand[0], "-")))
		return cli_usage_error("--path-index prints one number of a file: without --format, --server and -");
	if (settings->path_index)
		return print_path_index(operand[0]);
	code = cli_read_schedule(operand[0], &schedule);

	if (!code)
		code = print_schedule(schedule, settings);
	fors_schedule_free(schedule);
	return code;
}

const struct cli_command cli_schedule_command = {
	.id = CLI_CMD_SCHEDULE,
	.name = "schedule",
	.summary = "Print a schedule: who sends to whom in which phase, on which LIDs",
	.usage = "FILE [--format text|csv|json|participants] [--server GUID] [--path-index]",
	.details = "FILE is what fors publishes, or what 'fors plan --output' writes; - is stdin.\n"
		   "A withdrawn schedule has no rows, and the exit code is 1.\n"
		   "With --path-index it is 1 too when flows differ in their path index.\n",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
