/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: the order of spines, leaves and slots decides every table entry, so an opensm
 * that starts while something is dead must know what it cannot see. A lost or broken file
 * costs no more than that: the order is learnt from the fabric then, and the file that could not
 * be read stays beside it under another name.
 *
 * The folder may be on a file system that hangs. So all that is done there is done in the background (background.h), by one errand
 * that goes to and fro; while it is away there are no requests, and no order of an earlier opensm. Should that come
 * late, it replaces what was learnt meanwhile, as it would have at the start: the next sweep writes its tables.
 *
 * What fors declines to route is not learnt: a stray cable to another fabric must not leave that fabric's switches
 * behind.
 */
#include "kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/guidlist.h"
#include "core/fabric/places.h"
#include "core/fabric/places_file.h"
#include "daemon/base/background.h"
#include "daemon/base/digest.h"
#include "daemon/base/log.h"

#define PLACES "places"
#define FORGET "forget"
#define STATUS "status.json"
#define STATUS_OF_BEFORE "status-before.json"
#define PLACES_MAX_BYTES (64u << 20)
#define FORGET_MAX_BYTES (1u << 20)
#define MAX_BAD 100u /* files renamed to NAME.bad-N; the last one is replaced then */

/* What is done in the state folder, by a thread that may hang there: see background.h. */
struct fors_kept_errand {
	enum { READ_PLACES, READ_REQUEST, END_SWEEP } what;
	struct fors_log *log;
	struct fors_folder folder;  /* its own */
	uint64_t done;		    /* END_SWEEP: digest of a request that was dealt with; FORS_DIGEST_NONE: none was */
	enum fors_err err;	    /* FORS_ENOMEM, or FORS_OK */
	struct fors_places *places; /* brought along by READ_PLACES, or NULL; owned */
	uint64_t request;	    /* READ_REQUEST: its digest; FORS_DIGEST_NONE: there is none */
	uint64_t *forget;	    /* the GUIDs in it, owned */
	size_t nforget;
	bool has_places; /* END_SWEEP */
};

/* --- files: all by the thread --------------------------------------------- */

/* Rename a file that cannot be used, so that it is neither lost nor in the way. `text`: why. */
static void rename_bad(struct fors_kept_errand *errand, enum fors_code code, const char *file, const char *text)
{
	struct fors_error error;
	unsigned n = 0;
	char name[64];

	do
		snprintf(name, sizeof(name), "%s.bad-%u", file, ++n);
	while (fors_publish_has(&errand->folder, name) && n < MAX_BAD);
	if (fors_publish_rename(&errand->folder, file, name, &error))
		fors_log_error(errand->log, code, "%s; it cannot be renamed: %s", text, error.text);
	else
		fors_log_error(errand->log, code, "%s; it is now called %s", text, name);
}

/*
 * Did the other mode run last? Then its order is the one that goes on, for what it knows is newer. A shadow leaves a status in
 * its folder for as long as nobody has taken over from it.
 */
static bool is_elsewhere(const struct fors_kept_errand *errand, struct fors_folder *other)
{
	struct fors_folder shadow = errand->folder;

	shadow.is_shadow = true;
	*other = errand->folder;
	other->is_shadow = !errand->folder.is_shadow;
	return other->is_shadow == fors_publish_has(&shadow, STATUS);
}

/*
 * Copy the order of the other mode, as it is. A shadow changes nothing outside its folder; who takes over from one tells
 * so by renaming its status, when the copy is safe.
 */
static void bring_places(struct fors_kept_errand *errand)
{
	struct fors_folder other;
	struct fors_error error;
	void *bytes = NULL;
	size_t size = 0;
	bool is_there;
	enum fors_err err;

	if (!is_elsewhere(errand, &other))
		return;
	err = fors_published(&other, PLACES, PLACES_MAX_BYTES, &bytes, &size, &error);
	if (!err && bytes)
		err = fors_publish(&errand->folder, PLACES, bytes, size, true, &error);
	is_there = bytes;
	free(bytes);
	if (!err && other.is_shadow)
		err = fors_publish_rename(&other, STATUS, STATUS_OF_BEFORE, &error);
	if (err)
		fors_log_error(errand->log, FORS_F_PLACES, "the kept order is not taken over %s: %s",
			       other.is_shadow ? "from the shadow" : "by the shadow", error.text);
	else if (is_there)
		fors_log_info(errand->log, "the kept order is taken over %s",
			      other.is_shadow ? "from the shadow" : "by the shadow");
}

static void read_places(struct fors_kept_errand *errand)
{
	struct fors_error error;
	void *bytes = NULL;
	size_t size = 0;
	enum fors_err err;

	bring_places(errand);
	err = fors_published(&errand->folder, PLACES, PLACES_MAX_BYTES, &bytes, &size, &error);

	if (!err && bytes)
		err = fors_places_decode(bytes, size, PLACES, &errand->places, &error);
	if (!err && bytes && fors_places_is_former(bytes, size))
		fors_log_info(errand->log,
			      "the kept order that an earlier version of fors wrote is read; nothing is learnt anew");
	free(bytes);
	errand->err = err == FORS_ENOMEM ? err : FORS_OK;
	if (err && !errand->err)
		rename_bad(errand, FORS_F_PLACES, PLACES, error.text);
}

/* The text of `forget`, or NULL. */
static char *read_text(struct fors_kept_errand *errand, size_t *size)
{
	struct fors_error error;
	void *bytes = NULL;

	if (!fors_published(&errand->folder, FORGET, FORGET_MAX_BYTES, &bytes, size, &error))
		return bytes;
	if (error.code != FORS_ENOMEM)
		rename_bad(errand, FORS_F_FORGET, FORGET, error.text);
	return NULL;
}

static void read_request(struct fors_kept_errand *errand)
{
	struct fors_error error;
	enum fors_err err;
	size_t size;
	char *text = read_text(errand, &size);

	if (!text)
		return;
	err = fors_guidlist_read(text, size, FORGET, &errand->forget, &errand->nforget, &error);
	if (!err)
		errand->request = fors_digest(FORS_DIGEST_EMPTY, text, size);
	else if (err != FORS_ENOMEM)
		rename_bad(errand, FORS_F_FORGET, FORGET, error.text);
	free(text);
}

/* A request that was dealt with goes; one that came meanwhile stays for the next sweep. */
static void end_sweep(struct fors_kept_errand *errand)
{
	struct fors_error error;
	size_t size = 0;
	char *now = errand->done == FORS_DIGEST_NONE ? NULL : read_text(errand, &size);

	if (now && fors_digest(FORS_DIGEST_EMPTY, now, size) == errand->done &&
	    fors_publish_remove(&errand->folder, FORGET, &error))
		fors_log_error(errand->log, FORS_F_FORGET, "%s", error.text);
	free(now);
	errand->has_places = fors_publish_has(&errand->folder, PLACES);
}

static void run(void *context)
{
	struct fors_kept_errand *errand = context;

	if (errand->what == READ_PLACES)
		read_places(errand);
	else if (errand->what == READ_REQUEST)
		read_request(errand);
	else
		end_sweep(errand);
}

/* --- the errand ----------------------------------------------------------- */

static void drop_request(struct fors_kept *kept)
{
	free(kept->forget);
	kept->request = FORS_DIGEST_NONE;
	kept->forget = NULL;
	kept->nforget = 0;
}

static void take_places(struct fors_kept *kept, struct fors_kept_errand *errand)
{
	if (errand->err)
		return; /* memory was short: to be read again */
	kept->is_read = true;
	if (!errand->places)
		return;
	fors_places_free(kept->places);
	fors_places_free(kept->reference); /* to be adopted anew */
	kept->places = errand->places;
	kept->reference = NULL;
	kept->handed = FORS_DIGEST_NONE;
	errand->places = NULL;
}

/* What the errand has brought. */
static void unload(struct fors_kept *kept)
{
	struct fors_kept_errand *errand = kept->errand;

	if (errand->what == READ_PLACES) {
		take_places(kept, errand);
	} else if (errand->what == READ_REQUEST) {
		kept->request = errand->request;
		kept->forget = errand->forget;
		kept->nforget = errand->nforget;
		errand->forget = NULL;
	} else if (!errand->has_places) { /* somebody cleared the folder: write it again */
		kept->handed = FORS_DIGEST_NONE;
	}
}

/* Say it once when the folder begins to hang, and once when it answers. */
static void tell_trouble(struct fors_kept *kept)
{
	bool was_told = *kept->trouble;

	if (!kept->is_away)
		*kept->trouble = '\0';
	else if (!was_told)
		fors_background_trouble(kept->background, kept->trouble, sizeof(kept->trouble));
	if (!was_told && *kept->trouble)
		fors_log_error(kept->log, FORS_F_HANGS, "%s; the sweeps go on without the state folder", kept->trouble);
	if (was_told && !*kept->trouble)
		fors_log_info(kept->log, "the state folder answers again");
}

/* Send the errand, if it is here, and have what it brings in time. */
static void send(struct fors_kept *kept, int what, uint64_t done, bool wants_news)
{
	if (kept->is_away)
		return;
	kept->errand->what = what;
	kept->errand->done = done;
	kept->errand->request = FORS_DIGEST_NONE;
	kept->errand->nforget = 0;
	kept->is_away = !fors_background_ask(kept->background, kept->errand, wants_news);
	if (!kept->is_away)
		unload(kept);
}

static void free_errand(struct fors_kept_errand *errand)
{
	if (!errand)
		return;
	fors_folder_clear(&errand->folder);
	fors_places_free(errand->places);
	free(errand->forget);
	free(errand);
}

static struct fors_kept_errand *make_errand(struct fors_log *log, const struct fors_folder *folder)
{
	struct fors_kept_errand *errand = calloc(1, sizeof(*errand));

	if (!errand)
		return NULL;
	errand->log = log;
	errand->folder = *folder;
	errand->folder.parent = strdup(folder->parent);
	if (errand->folder.parent)
		return errand;
	free(errand);
	return NULL;
}

/* --- beginning and end ---------------------------------------------------- */

enum fors_err fors_kept_open(struct fors_kept *kept, const struct fors_kept_setup *setup, struct fors_error *error)
{
	const struct fors_background_setup background = {
		.run = run, .news = setup->news, .context = setup->context, .patience_ms = setup->patience_ms};
	enum fors_err err = FORS_ENOMEM;

	*kept = (struct fors_kept){.log = setup->log,
				   .places = fors_places_new(),
				   .errand = make_errand(setup->log, setup->folder),
				   .told = fors_digest_text(FORS_DIGEST_EMPTY, "")};
	if (kept->places && kept->errand)
		err = fors_background_start(&background, &kept->background, error);
	else
		fors_fail_memory(error);
	if (!err) {
		send(kept, READ_PLACES, FORS_DIGEST_NONE, true);
		tell_trouble(kept);
		if (!kept->is_away && kept->errand->err)
			err = fors_fail_memory(error);
	}
	if (err)
		fors_kept_close(kept);
	return err;
}

void fors_kept_stop(struct fors_kept *kept)
{
	if (kept->background && fors_background_stop(kept->background))
		free_errand(kept->errand);
	else if (!kept->background)
		free_errand(kept->errand);
	kept->background = NULL;
	kept->errand = NULL;
}

void fors_kept_close(struct fors_kept *kept)
{
	fors_kept_stop(kept);
	drop_request(kept);
	fors_places_free(kept->places);
	fors_places_free(kept->draft);
	fors_places_free(kept->reference);
	fors_places_free(kept->replaced);
	kept->places = kept->draft = kept->reference = kept->replaced = NULL;
}

const char *fors_kept_trouble(const struct fors_kept *kept)
{
	return *kept->trouble ? kept->trouble : NULL;
}

/* --- the reference -------------------------------------------------------- */

static bool has_order(const struct fors_kept *kept)
{
	return fors_places_size(kept->places).leaves > 0;
}

enum fors_err fors_kept_refer(struct fors_kept *kept, const struct fors_places *reference, struct fors_error *error)
{
	struct fors_places *copy = reference ? fors_places_copy(reference) : NULL;
	enum fors_err err = reference && !copy ? fors_fail_memory(error) : FORS_OK;
	struct fors_places *before = copy && has_order(kept) ? fors_places_copy(kept->places) : NULL;
	bool is_new = false;

	if (!err)
		err = fors_places_adopt(&kept->places, copy, &is_new, error);
	if (err || !is_new)
		fors_places_free(before);
	if (err) {
		fors_places_free(copy);
		return err;
	}
	fors_places_free(kept->reference);
	kept->reference = copy;
	if (!is_new)
		return FORS_OK;
	fors_places_free(kept->replaced);
	kept->replaced = before; /* without it (memory is short) nothing is counted */
	fors_log_info(kept->log, "the order of spines, leaves and slots is that of the reference fabric from now on");
	return FORS_OK;
}

/* Say what a new reference should know, once. */
static void tell_differences(struct fors_kept *kept)
{
	char text[FORS_ERROR_TEXT];
	uint32_t count;

	if (!kept->reference)
		return;
	count = fors_places_compare(kept->places, kept->reference, text, sizeof(text));
	if (!fors_digest_changed(&kept->told, fors_digest_text(FORS_DIGEST_EMPTY, text)))
		return;
	if (count)
		fors_log_error(kept->log, FORS_F_REFERENCE, "the reference fabric does not know: %s%s (%u differences)",
			       text, count > 3 ? ", ..." : "", count);
	else
		fors_log_info(kept->log, "the fabric agrees with the reference fabric again, but for what is dead");
}

/* --- sweeps --------------------------------------------------------------- */

void fors_kept_begin(struct fors_kept *kept)
{
	bool was_away = kept->was_away = kept->is_away;

	if (!kept->background)
		return;
	drop_request(kept);
	if (was_away && fors_background_take(kept->background)) {
		kept->is_away = false;
		unload(kept);
	}
	if (!kept->is_read)
		send(kept, READ_PLACES, FORS_DIGEST_NONE, !was_away);
	if (kept->request == FORS_DIGEST_NONE)
		send(kept, READ_REQUEST, FORS_DIGEST_NONE, !was_away);
	tell_trouble(kept);
}

enum fors_err fors_kept_learn(struct fors_kept *kept, const struct fors_net *net, const uint64_t *root_guids,
			      size_t nroots, struct fors_error *error)
{
	struct fors_error not_three = {0};
	enum fors_err err;

	fors_places_free(kept->draft);
	kept->draft = fors_places_copy(kept->places);
	err = kept->draft ? fors_places_learn_tree(kept->draft, net, root_guids, nroots, &not_three, error)
			  : fors_fail_memory(error);
	memcpy(kept->not_three, not_three.text, sizeof(kept->not_three));
	if (err) {
		fors_places_free(kept->draft);
		kept->draft = NULL;
	}
	return err;
}

bool fors_kept_forget(struct fors_kept *kept)
{
	struct fors_error error;
	bool is_requested = kept->nforget > 0;

	for (size_t i = 0; i < kept->nforget; i++)
		if (fors_places_forget(kept->draft, kept->forget[i], &error))
			fors_log_error(kept->log, FORS_F_FORGET, "%s", error.text);
		else
			fors_log_info(kept->log, "the place of 0x%016" PRIx64 " is forgotten, as requested",
				      kept->forget[i]);
	free(kept->forget);
	kept->forget = NULL;
	kept->nforget = 0;
	return is_requested;
}

void fors_kept_strangers(struct fors_kept *kept, const uint64_t **guid, size_t *count)
{
	size_t all = kept->nforget, known = 0;

	for (size_t i = 0; i < all && has_order(kept); i++)
		if (fors_places_has(kept->places, kept->forget[i])) {
			uint64_t here = kept->forget[i];

			kept->forget[i] = kept->forget[known];
			kept->forget[known++] = here;
		}
	if (has_order(kept))
		kept->nforget = known;
	*guid = kept->forget + kept->nforget;
	*count = all - kept->nforget;
}

/* Two levels, or three? */
static void tell_levels(const struct fors_kept *kept)
{
	bool is_three = fors_places_known(kept->draft);

	if (has_order(kept) && is_three != !!fors_places_known(kept->places))
		fors_log_info(kept->log, "the fabric is a tree of %s levels now; its order was learnt anew",
			      is_three ? "three" : "two");
}

void fors_kept_accept(struct fors_kept *kept)
{
	tell_levels(kept);
	fors_places_free(kept->places);
	kept->places = kept->draft;
	kept->draft = NULL;
}

void fors_kept_end(struct fors_kept *kept)
{
	bool is_done = !kept->nforget; /* what was requested, if anything was */

	if (kept->background && !kept->is_away) {
		send(kept, END_SWEEP, is_done ? kept->request : FORS_DIGEST_NONE, !kept->was_away);
		if (is_done)
			drop_request(kept);
		tell_trouble(kept);
	}
	tell_differences(kept);
	if (fors_places_restarts(kept->places) != kept->nrestarts)
		fors_log_info(kept->log, "%s; the order was learnt anew",
			      fors_places_known(kept->places) ? "cables contradict what was known of the tree"
							      : "spines were taken for leaves before");
	kept->nrestarts = fors_places_restarts(kept->places);
}

bool fors_kept_changed(struct fors_kept *kept, char **text, size_t *size)
{
	char *now;
	size_t now_size;

	if (!kept->is_read) /* what an earlier opensm kept must not be overwritten unread */
		return false;
	if (fors_places_encode(kept->places, &now, &now_size, NULL)) {
		fors_log_error(kept->log, FORS_F_MEMORY,
			       "out of memory: what was learnt of the fabric is kept at the next sweep");
		return false;
	}
	if (!fors_digest_changed(&kept->handed, fors_digest(FORS_DIGEST_EMPTY, now, now_size))) {
		free(now);
		return false;
	}
	*text = now;
	*size = now_size;
	return true;
}
