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
	const char *dir;
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

static void print_text(const void *context)
{
	const struct history *history = context;

	printf("%s%s%s: %zu %s, the newest last\n", cli_colour(CLI_BOLD), history->dir, cli_colour(CLI_PLAIN),
	       history->count, fors_plural(history->count, "epoch", "epochs"));
	for (size_t i = 0; i < history->count; i++)
		print_event(&history->event[i]);
}

static int print_json(const struct history *history)
{
	json_t *list = json_array(), *object;

	for (size_t i = 0; list && i < history->count; i++) {
		const struct fors_event *event = &history->event[i];

		json_array_append_new(list,
				      json_pack("{s:I, s:I, s:I, s:s, s:o}", "unix_ms", (json_int_t)event->unix_ms,
						"epoch", (json_int_t)event->epoch, "phases", (json_int_t)event->phases,
						"method", event->method, "cause", fors_json_text(event->cause)));
	}
	object = json_pack("{s:o, s:o}", "state_dir", fors_json_text(history->dir), "epochs", list);
	return cli_print_json(object);
}

/* nth: how many were shown before it, -1: it is the only one. */
static int show(const char *dir, bool is_json, int nth)
{
	struct history history = {.dir = dir};
	int code = cli_use_in(dir, "history", false, read_history, &history);

	if (!code && !history.event) {
		cli_error("%s/history: nothing was published here since this fors keeps a history", dir);
		return CLI_NO;
	}
	if (!code && nth > 0)
		printf(is_json ? ",\n" : "\n");
	if (!code && is_json)
		code = print_json(&history);
	else if (!code)
		cli_print_page(print_text, &history);
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
