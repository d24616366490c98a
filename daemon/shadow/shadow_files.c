/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * shadow_files.c - what a shadow writes: the kept order, the entries that differ, status, metrics, history.
 *
 * Each file is replaced as a whole, so a crash leaves old bytes or new ones. A full disk costs nothing but time: the newest
 * text of each file waits until it can be written, and the log says so once.
 */
#include "config.h"

#include "shadow_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status/history.h"
#include "core/status/status_json.h"
#include "daemon/base/clock.h"

static const char *const names[FORS_SHADOW_NFILES] = {
	[FORS_SHADOW_PLACES] = "places",	[FORS_SHADOW_ENTRIES] = "entries", [FORS_SHADOW_STATUS] = "status.json",
	[FORS_SHADOW_METRICS] = "metrics.prom", [FORS_SHADOW_HISTORY] = "history",
};

void fors_shadow_put(struct fors_shadow_files *files, int which, char *text, size_t size)
{
	free(files->file[which].text);
	files->file[which].text = text;
	files->file[which].size = size;
	files->file[which].is_due = true;
}

/* Once when it begins, once when it is over. */
static void complain(struct fors_shadow_files *files, const struct fors_error *error)
{
	if (error && !files->has_complained)
		fors_log_error(files->log, error->code == FORS_EINPUT ? FORS_F_FOLDER : FORS_F_PUBLISH, "%s",
			       error->text);
	if (!error && files->has_complained)
		fors_log_info(files->log, "the folder of the shadow can be written again");
	files->has_complained = error;
}

void fors_shadow_write(struct fors_shadow_files *files)
{
	struct fors_error error;
	bool has_written = false;

	for (int i = 0; i < FORS_SHADOW_NFILES; i++) {
		if (!files->file[i].is_due)
			continue;
		if (fors_publish(files->folder, names[i], files->file[i].text, files->file[i].size,
				 i == FORS_SHADOW_PLACES || i == FORS_SHADOW_HISTORY, &error)) {
			files->counts.unwritten++;
			complain(files, &error);
			return;
		}
		files->file[i].is_due = false;
		has_written = true;
	}
	if (has_written)
		complain(files, NULL);
}

/* The history of an earlier shadow, once; what cannot be read is renamed, and a new one begins. */
static enum fors_err read_history(struct fors_shadow_files *files, struct fors_error *error)
{
	const char *name = names[FORS_SHADOW_HISTORY];
	struct fors_event *event = NULL;
	size_t size = 0, count;
	void *text = NULL;
	enum fors_err err;

	if (files->is_read)
		return FORS_OK;
	err = fors_published(files->folder, name, FORS_HISTORY_BYTES, &text, &size, error);
	if (!err && text)
		err = fors_history_parse(text, name, &event, &count, error);
	free(event);
	if (err == FORS_ENOMEM) {
		free(text);
		return err;
	}
	files->is_read = true;
	if (err) {
		fors_log_error(files->log, FORS_F_OLDFILE, "shadow: %s; a new history begins", error->text);
		(void)fors_publish_rename(files->folder, name, "history.bad", error);
		free(text);
		return FORS_OK;
	}
	files->file[FORS_SHADOW_HISTORY].text = text;
	files->file[FORS_SHADOW_HISTORY].size = size;
	return FORS_OK;
}

static enum fors_err note_sweep(struct fors_shadow_files *files, const struct fors_status *status,
				struct fors_error *error)
{
	struct fors_event event;
	char *longer;
	enum fors_err err = read_history(files, error);

	fors_shadow_event(status, &event);
	if (!err)
		err = fors_history_add(files->file[FORS_SHADOW_HISTORY].text, &event, &longer, error);
	if (!err)
		fors_shadow_put(files, FORS_SHADOW_HISTORY, longer, strlen(longer));
	return err;
}

static enum fors_err put_metrics(struct fors_shadow_files *files, const struct fors_found *found,
				 struct fors_error *error)
{
	const struct fors_status *status = &found->status;
	const char *fabric = *found->fabric_name ? found->fabric_name : files->folder->name;
	char *facts, *counted = NULL, *whole;
	enum fors_err err = fors_status_prom(status, fabric, &facts, error);
	int length;

	if (err)
		return err;
	files->counts.is_shadow = true;
	files->counts.sweeps = (uint64_t)status->shadow.sweeps;
	err = fors_counts_prom(&files->counts, fabric, &counted, error);
	length = err ? -1 : asprintf(&whole, "%s%s", facts, counted);
	free(facts);
	free(counted);
	if (length < 0)
		return fors_fail_memory(error);
	fors_shadow_put(files, FORS_SHADOW_METRICS, whole, (size_t)length);
	return FORS_OK;
}

static enum fors_err put_entries(struct fors_shadow_files *files, const struct fors_found *found,
				 struct fors_error *error)
{
	char *copy = strdup(found->entries ? found->entries : "not known: fors would not route this fabric\n");

	if (!copy)
		return fors_fail_memory(error);
	fors_shadow_put(files, FORS_SHADOW_ENTRIES, copy, strlen(copy));
	return FORS_OK;
}

enum fors_err fors_shadow_tell_all(struct fors_shadow_files *files, const struct fors_found *found, bool is_sweep,
				   struct fors_error *error)
{
	char *json;
	enum fors_err err = is_sweep ? put_entries(files, found, error) : FORS_OK;

	if (!err)
		err = fors_status_json(&found->status, &json, error);
	if (err)
		return err;
	fors_shadow_put(files, FORS_SHADOW_STATUS, json, strlen(json));
	err = put_metrics(files, found, error);
	return err || !is_sweep ? err : note_sweep(files, &found->status, error);
}

void fors_shadow_files_clear(struct fors_shadow_files *files)
{
	for (int i = 0; i < FORS_SHADOW_NFILES; i++)
		free(files->file[i].text);
}
