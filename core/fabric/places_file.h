/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * places_file.h - the kept order as text, the reference fabric that it may begin with, and what is dropped from it.
 * Thread rules: as fabric.h: what changes places needs them alone.
 */
#ifndef FORS_CORE_FABRIC_PLACES_FILE_H
#define FORS_CORE_FABRIC_PLACES_FILE_H

#include "fabric.h"

/* ---- places_file.c ---- */

/*
 * The text of the places in *text (terminated, *size bytes without the end), owned by the caller (free());
 * equal places give equal bytes. Errors: FORS_ENOMEM.
 */
enum fors_err fors_places_encode(const struct fors_places *places, char **text, size_t *size, struct fors_error *error);

/*
 * The places in such a text, in *places, owned by the caller. `name` (a file name) opens error texts.
 * Accepted is exactly what fors_places_encode() writes, and what the version before it wrote, so that an upgrade moves
 * nothing. Errors: FORS_EINPUT (no such text, cut, changed, contradictory, or of another version: the sentence says
 * which), FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_places_decode(const char *text, size_t size, const char *name, struct fors_places **places,
				 struct fors_error *error);

/* Whether a text that was decoded is one of the version before; it is to be written anew. */
bool fors_places_is_former(const char *text, size_t size);

/* ---- places_rank.c ---- */

/*
 * Give all servers ever seen homes by their ranks, and leaves, spines and parallel cables an order that depends on
 * nothing but what is known: the same for all who have seen the same. participants (NULL: all) come first, where that gains
 * them something. Errors: FORS_ENOMEM; nothing has changed then.
 */
enum fors_err fors_places_rank(struct fors_places *places, const struct fors_participants *participants,
			       struct fors_error *error);

/*
 * What a ranking would make of the places, in *ranked, owned by the caller; *is_same, and nothing in *ranked, where all
 * servers and lanes were ranked. Errors: FORS_ENOMEM.
 */
enum fors_err fors_places_ranked(const struct fors_places *places, const struct fors_participants *participants,
				 struct fors_places **ranked, bool *is_same, struct fors_error *error);

/* ---- places_edit.c ---- */

/*
 * The places of a reference fabric: learnt from `net` (indexed) alone, in *places, owned by the caller.
 * Errors: those of fors_places_learn(), and FORS_ENOTREE when there is no leaf or no server.
 */
enum fors_err fors_places_refer(const struct fors_net *net, const uint64_t *root_guids, size_t nroots,
				struct fors_places **places, struct fors_error *error);

/*
 * Make the reference the beginning of *places: when they began with another one (or none) they are replaced by a
 * copy of it and *is_new is set. Without a reference (NULL) they stay as they are, and all may be forgotten.
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_places_adopt(struct fors_places **places, const struct fors_places *reference, bool *is_new,
				struct fors_error *error);

/*
 * In what do places that began with a reference differ from it, but for what is dead? The number of
 * differences; the first few go into text[room] as a list. 0: none, and an empty text.
 */
uint32_t fors_places_compare(const struct fors_places *places, const struct fors_places *reference, char *text,
			     size_t room);

/*
 * Drop the place of a dead leaf or spine, and rank afresh; nearly all homes move.
 * Errors: FORS_ENOTAPPL, and the places stay: no such place; alive in the last net learnt; named in the
 * root list; or a place of the reference fabric.
 */
enum fors_err fors_places_forget(struct fors_places *places, uint64_t guid, struct fors_error *error);

#endif
