/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: one errand that goes to and fro between the sweeper and a thread (background.h). It carries copies of the names of
 * the files, for OpenSM frees its own when it reads opensm.conf again; and it remembers what the files were when
 * it was done last, so that an errand over files that are what they were is a few calls of stat().
 *
 * While a file system hangs the errand stays away. What it brings when it comes back late counts; then it is sent once
 * more, for the files may have changed while it was held up.
 */
#include "loader.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/background.h"
#include "daemon/base/digest.h"
#include "daemon/files/input.h"

struct errand {
	char *options, *root, *cn; /* owned, or NULL */
	/* remembered */
	bool is_known; /* what follows is the outcome for these files */
	uint64_t names;
	struct fors_stamps stamps;
	enum fors_err err;
	struct fors_error error;
	/* brought along */
	bool is_same;
	struct fors_settings *settings; /* when it is not, and err is FORS_OK; owned */
};

struct fors_loader {
	struct fors_background *background;
	struct errand *errand;
	bool is_away;
	char trouble[FORS_ERROR_TEXT]; /* or "" */
};

/* --- the thread ----------------------------------------------------------- */

static uint64_t digest_names(const struct errand *errand)
{
	uint64_t names = fors_digest_text(FORS_DIGEST_EMPTY, errand->options ? errand->options : "");

	names = fors_digest_text(names, errand->root ? errand->root : "");
	return fors_digest_text(names, errand->cn ? errand->cn : "");
}

/* What cannot be opened, or found no memory, is tried again each time. */
static void run(void *context)
{
	struct errand *errand = context;
	uint64_t names = digest_names(errand);
	const struct fors_sources sources = {.options = errand->options,
					     .root_guid_file = errand->root,
					     .cn_guid_file = errand->cn,
					     .stamps = &errand->stamps};

	errand->settings = NULL;
	errand->is_same = errand->is_known && errand->names == names && fors_stamps_hold(&errand->stamps);
	if (errand->is_same)
		return;
	fors_stamps_clear(&errand->stamps);
	errand->err = fors_settings_load(&sources, &errand->settings, &errand->error);
	errand->names = names;
	errand->is_known = !errand->err || errand->err == FORS_EINPUT;
}

/* --- the sweeper ---------------------------------------------------------- */

static void drop_names(struct errand *errand)
{
	free(errand->options);
	free(errand->root);
	free(errand->cn);
	errand->options = errand->root = errand->cn = NULL;
}

static bool copy_name(const char *name, char **copy)
{
	*copy = name ? strdup(name) : NULL;
	return *copy || !name;
}

static bool set_names(struct errand *errand, const struct fors_sources *sources)
{
	drop_names(errand);
	return copy_name(sources->options, &errand->options) && copy_name(sources->root_guid_file, &errand->root) &&
	       copy_name(sources->cn_guid_file, &errand->cn);
}

static void free_errand(struct errand *errand)
{
	if (!errand)
		return;
	drop_names(errand);
	fors_stamps_clear(&errand->stamps);
	fors_settings_free(errand->settings);
	free(errand);
}

/* What comes of a call. */
struct cargo {
	enum fors_load load;
	struct fors_settings *settings; /* owned; NULL unless load is NEW */
	struct fors_error error;	/* when load is BAD */
};

/* What the errand has brought, over what it brought before. */
static void unload(struct errand *errand, struct cargo *cargo)
{
	if (!errand->is_same) {
		fors_settings_free(cargo->settings);
		cargo->settings = errand->settings;
		errand->settings = NULL;
	}
	if (errand->err)
		cargo->error = errand->error;
	if (errand->err)
		cargo->load = FORS_LOAD_BAD;
	else if (cargo->settings)
		cargo->load = FORS_LOAD_NEW;
}

/* Take in what came late, and send the errand, unless it is still away. False: out of memory. */
static bool fetch(struct fors_loader *loader, const struct fors_sources *sources, struct cargo *cargo)
{
	bool was_away = loader->is_away; /* then news would cause another sweep, and again */

	if (was_away && fors_background_take(loader->background)) {
		loader->is_away = false;
		unload(loader->errand, cargo);
	}
	if (loader->is_away)
		return true;
	if (!set_names(loader->errand, sources)) {
		loader->errand->is_known = false;
		return false;
	}
	loader->is_away = !fors_background_ask(loader->background, loader->errand, !was_away);
	if (!loader->is_away)
		unload(loader->errand, cargo);
	return true;
}

enum fors_load fors_loader_load(struct fors_loader *loader, const struct fors_sources *sources,
				struct fors_settings **settings, struct fors_error *error)
{
	struct cargo cargo = {.load = FORS_LOAD_SAME};

	if (!fetch(loader, sources, &cargo)) {
		fors_settings_free(cargo.settings);
		fors_fail_memory(error);
		return FORS_LOAD_BAD;
	}
	if (!loader->is_away)
		*loader->trouble = '\0';
	else if (!*loader->trouble) /* the same words as long as it lasts */
		fors_background_trouble(loader->background, loader->trouble, sizeof(loader->trouble));
	if (cargo.load == FORS_LOAD_SAME && loader->is_away) {
		cargo.load = FORS_LOAD_LATE;
		fors_fail(&cargo.error, FORS_EIO, "%s", *loader->trouble ? loader->trouble : "a file does not answer");
	}
	if (cargo.load == FORS_LOAD_NEW)
		*settings = cargo.settings;
	else if (error && cargo.load != FORS_LOAD_SAME)
		*error = cargo.error;
	return cargo.load;
}

const char *fors_loader_trouble(const struct fors_loader *loader)
{
	return *loader->trouble ? loader->trouble : NULL;
}

enum fors_err fors_loader_start(void (*news)(void *context), void *context, unsigned patience_ms,
				struct fors_loader **loader, struct fors_error *error)
{
	const struct fors_background_setup setup = {
		.run = run, .news = news, .context = context, .patience_ms = patience_ms};
	struct fors_loader *made = calloc(1, sizeof(*made));
	enum fors_err err = FORS_OK;

	if (made)
		made->errand = calloc(1, sizeof(*made->errand));
	err = made && made->errand ? fors_background_start(&setup, &made->background, error) : fors_fail_memory(error);
	if (!err) {
		*loader = made;
		return FORS_OK;
	}
	if (made)
		free(made->errand);
	free(made);
	return err;
}

void fors_loader_stop(struct fors_loader *loader)
{
	if (!loader)
		return;
	if (fors_background_stop(loader->background))
		free_errand(loader->errand);
	free(loader);
}
