/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * history.c - `fors status --history`: what was that at three o'clock?
 */
#include "cli/cli.h"
#include "cli/json.h"
#include "core/base/text.h"
#include "core/status/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct history {
	struct fors_event *event; /* owned */
	size_t count;
};

static enum fors_err read_history(const char *text, size_t size, const char *path, void *context,
				  struct fors_error *error)
{
	struct history *history = context;

	if (strlen(text) != size)
		return fors_fail(error, FORS_EINPUT, "%s: the history is damaged: a zero byte", path);
	return fors_history_parse(text, path, &history->event, &history->count, error);
}

static void print_event(const struct fors_event *event)
{
	time_t at = (time_t)(event->unix_ms / 1000);
	char date[32] = "?", phases[48];
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(phases, sizeof(phases), "%" PRIu32 " %s, %s", event->phases,
		 fors_plural(event->phases, "phase", "phases"), event->method);
	printf("%s  epoch %" PRIu64 ", %s: %s\n", date, event->epoch, event->phases ? phases : "withdrawn",
	       event->cause);
}

static void print_text(const char *dir, const struct history *history)
{
	printf("%s%s%s: %zu %s, the newest last\n", cli_colour(CLI_BOLD), dir, cli_colour(CLI_PLAIN), history->count,
	       fors_plural(history->count, "epoch", "epochs"));
	for (size_t i = 0; i < history->count; i++)
		print_event(&history->event[i]);
}

/* Long lines are broken, which takes whole lines, as the status. */
static void print_page(const char *dir, const struct history *history)
{
	FILE *screen = stdout, *page;
	char *text = NULL;
	size_t size;

	page = open_memstream(&text, &size);
	stdout = page ? page : screen;
	print_text(dir, history);
	stdout = screen;
	if (page && !fclose(page))
		cli_print_page(text);
	free(text);
}

static int print_json(const char *dir, const struct history *history)
{
	json_t *list = json_array(), *object;

	for (size_t i = 0; list && i < history->count; i++) {
		const struct fors_event *event = &history->event[i];

		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:I, s:s, s:o}", "unix_ms", (json_int_t)event->unix_ms,
						"epoch", (json_int_t)event->epoch, "phases", (json_int_t)event->phases,
						"method", event->method, "cause", cli_json_text(event->cause)));
	}
	object = json_pack("{s:o, s:o}", "state_dir", cli_json_text(dir), "epochs", list);
	return cli_print_json(object);
}

/* nth: how many were shown before it, -1: it is the only one. */
static int show(const char *dir, bool is_json, int nth)
{
	struct history history = {NULL, 0};
	char path[CLI_PATH_ROOM];
	int code;

	if (!cli_make_path(dir, "history", path))
		return CLI_BAD;
	if (!cli_is_there(path)) {
		cli_error("%s: nothing was published here since this fors keeps a history", path);
		return CLI_NO;
	}
	code = cli_use_file(path, read_history, &history);
	if (!code && nth > 0)
		printf(is_json ? ",\n" : "\n");
	if (!code && is_json)
		code = print_json(dir, &history);
	else if (!code)
		print_page(dir, &history);
	free(history.event);
	return code;
}

int cli_show_history(const char *dir, bool is_json)
{
	struct cli_folders folders;
	int code = cli_folders_find(dir, &folders), worst = code, shown = 0;
	bool is_list = !code && folders.is_list;

	printf(is_list && is_json ? "[\n" : "");
	for (size_t i = 0; !code && i < folders.count; i++) {
		int one = show(folders.path[i], is_json, is_list ? shown : -1);

		shown += one == CLI_GOOD;
		worst = one > worst ? one : worst;
	}
	printf(is_list && is_json ? "]\n" : "");
	cli_folders_clear(&folders);
	return worst;
}
