/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The idea: the order of spines, leaves and slots decides every table entry, so an opensm
 * that starts while something is dead must know what it cannot see. A lost or broken file
 * costs no more than that: the order is learnt from the fabric then, and the file that could not
 * be read stays beside it under another name.
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
#include "digest.h"
#include "log.h"

#define PLACES "places"
#define FORGET "forget"
#define PLACES_MAX_BYTES (64u << 20)
#define FORGET_MAX_BYTES (1u << 20)
#define MAX_BAD 100u /* files renamed to NAME.bad-N; the last one is replaced then */

/* --- files ---------------------------------------------------------------- */

/* Rename a file that cannot be used, so that it is neither lost nor in the way. `text`: why. */
static void rename_bad(struct fors_kept *kept, enum fors_code code, const char *file, const char *text)
{
	struct fors_error error;
	unsigned n = 0;
	char name[64];

	do
		snprintf(name, sizeof(name), "%s.bad-%u", file, ++n);
	while (fors_publish_has(kept->folder, name) && n < MAX_BAD);
	if (fors_publish_rename(kept->folder, file, name, &error))
		fors_log_error(kept->log, code, "%s; it cannot be renamed: %s", text, error.text);
	else
		fors_log_error(kept->log, code, "%s; it is now called %s", text, name);
}

/* Replace the new places with those of the file, if there is one. */
static enum fors_err read_places(struct fors_kept *kept, struct fors_error *error)
{
	struct fors_places *places = NULL;
	void *bytes = NULL;
	size_t size = 0;
	enum fors_err err = fors_published(kept->folder, PLACES, PLACES_MAX_BYTES, &bytes, &size, error);

	if (!err && bytes)
		err = fors_places_decode(bytes, size, PLACES, &places, error);
	if (places) {
		fors_places_free(kept->places);
		kept->places = places;
	}
	free(bytes);
	return err;
}

enum fors_err fors_kept_open(struct fors_kept *kept, struct osm_log *log, const struct fors_folder *folder,
			     struct fors_error *error)
{
	struct fors_error why;
	enum fors_err err;

	*kept = (struct fors_kept){.log = log,
				   .folder = folder,
				   .places = fors_places_new(),
				   .told = fors_digest_text(FORS_DIGEST_EMPTY, "")};
	err = kept->places ? read_places(kept, &why) : FORS_ENOMEM;
	if (err == FORS_ENOMEM) {
		fors_kept_close(kept);
		return fors_fail_memory(error);
	}
	if (err)
		rename_bad(kept, FORS_F_PLACES, PLACES, why.text);
	return FORS_OK;
}

static void drop_request(struct fors_kept *kept)
{
	free(kept->forget);
	kept->request = FORS_DIGEST_NONE;
	kept->forget = NULL;
	kept->nforget = 0;
}

void fors_kept_close(struct fors_kept *kept)
{
	drop_request(kept);
	fors_places_free(kept->places);
	fors_places_free(kept->draft);
	fors_places_free(kept->reference);
	kept->places = kept->draft = kept->reference = NULL;
}

/* --- the reference -------------------------------------------------------- */

enum fors_err fors_kept_refer(struct fors_kept *kept, const struct fors_places *reference, struct fors_error *error)
{
	struct fors_places *copy = reference ? fors_places_copy(reference) : NULL;
	enum fors_err err = reference && !copy ? fors_fail_memory(error) : FORS_OK;
	bool is_new = false;

	if (!err)
		err = fors_places_adopt(&kept->places, copy, &is_new, error);
	if (err) {
		fors_places_free(copy);
		return err;
	}
	fors_places_free(kept->reference);
	kept->reference = copy;
	if (is_new)
		fors_log_info(kept->log,
			      "the order of spines, leaves and slots is that of the reference fabric from now on");
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

/* The text of `forget`, or NULL. */
static char *read_request(struct fors_kept *kept, size_t *size)
{
	struct fors_error error;
	void *bytes = NULL;

	if (!fors_published(kept->folder, FORGET, FORGET_MAX_BYTES, &bytes, size, &error))
		return bytes;
	if (error.code != FORS_ENOMEM)
		rename_bad(kept, FORS_F_FORGET, FORGET, error.text);
	return NULL;
}

void fors_kept_begin(struct fors_kept *kept)
{
	struct fors_error error;
	enum fors_err err;
	size_t size;
	char *text;

	drop_request(kept);
	text = read_request(kept, &size);
	if (!text)
		return;
	err = fors_guidlist_read(text, size, FORGET, &kept->forget, &kept->nforget, &error);
	if (!err)
		kept->request = fors_digest(FORS_DIGEST_EMPTY, text, size);
	else if (err != FORS_ENOMEM)
		rename_bad(kept, FORS_F_FORGET, FORGET, error.text);
	free(text);
}

enum fors_err fors_kept_learn(struct fors_kept *kept, const struct fors_net *net, const uint64_t *root_guids,
			      size_t nroots, struct fors_error *error)
{
	enum fors_err err;

	fors_places_free(kept->draft);
	kept->draft = fors_places_copy(kept->places);
	err = kept->draft ? fors_places_learn(kept->draft, net, root_guids, nroots, error) : fors_fail_memory(error);
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

void fors_kept_accept(struct fors_kept *kept)
{
	fors_places_free(kept->places);
	kept->places = kept->draft;
	kept->draft = NULL;
}

/* The request was dealt with; one that came meanwhile stays for the next sweep. */
static void end_request(struct fors_kept *kept)
{
	struct fors_error error;
	size_t size = 0;
	char *now;

	if (kept->request == FORS_DIGEST_NONE || kept->nforget)
		return;
	now = read_request(kept, &size);
	if (now && fors_digest(FORS_DIGEST_EMPTY, now, size) == kept->request &&
	    fors_publish_remove(kept->folder, FORGET, &error))
		fors_log_error(kept->log, FORS_F_FORGET, "%s", error.text);
	free(now);
	drop_request(kept);
}

void fors_kept_end(struct fors_kept *kept)
{
	end_request(kept);
	tell_differences(kept);
	if (fors_places_restarts(kept->places) != kept->nrestarts)
		fors_log_info(kept->log, "spines were taken for leaves before; the order was learnt anew");
	kept->nrestarts = fors_places_restarts(kept->places);
	if (!fors_publish_has(kept->folder, PLACES)) /* somebody cleared the folder: write it again */
		kept->handed = FORS_DIGEST_NONE;
}

bool fors_kept_changed(struct fors_kept *kept, char **text, size_t *size)
{
	char *now;
	size_t now_size;

	if (fors_places_encode(kept->places, &now, &now_size, NULL))
		return false;
	if (!fors_digest_changed(&kept->handed, fors_digest(FORS_DIGEST_EMPTY, now, now_size))) {
		free(now);
		return false;
	}
	*text = now;
	*size = now_size;
	return true;
}
