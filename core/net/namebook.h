/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * namebook.h - whose name is it? The GUIDs that descriptions of end nodes had, from fabric to fabric.
 *
 * Whoever runs a host gives it any description, also that of another host, or of one that is switched off. Who is meant by
 * a name must not depend on that. So a name belongs to the node that was the only one to have it when it was seen first, as
 * long as that node may come back:
 *
 *	the owner is there	the name means it, whoever else has it now, and whatever the owner is called since. When another
 *				node has the name and the owner has not, that may be two hosts whose names were exchanged on
 *				purpose: then the name means nobody, but for who has dealt with the owner under it (is_kept)
 *	it is not there		the name means nobody. A node with the name, alone, at the very switch port where the owner was
 *				is the host with a new adapter, and the name is its own from then on
 *	no owner		the name means the only node that has it; nobody when several have it
 *
 * Owners are learnt from each fabric, and from a reference fabric, which is the administrator's word and overrides what was
 * learnt. Who is replaced elsewhere, or gives a name up, is forgotten on request. A node keeps its last
 * FORS_NAMES_OF_NODE names: one that boots may be called by a default name for a while, and one that takes name after name
 * must not fill the book.
 *
 * Thread rules: a book is changed by one thread, while nobody else reads it.
 */
#ifndef FORS_CORE_NET_NAMEBOOK_H
#define FORS_CORE_NET_NAMEBOOK_H

#include "directory.h"

#define FORS_NAMES_OF_NODE 4
#define FORS_NAMEBOOK_MAX 262144 /* names; what comes when the book is full is not remembered */

struct fors_namebook;

/* A book without names, or NULL: out of memory. */
struct fors_namebook *fors_namebook_new(void);
void fors_namebook_free(struct fors_namebook *book);
/* A copy in *copy, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_namebook_copy(const struct fors_namebook *book, struct fors_namebook **copy,
				 struct fors_error *error);

/*
 * Learn from the end nodes of a fabric. *nreplaced: nodes that have taken over names from others at the same switch port.
 * Errors: FORS_ENOMEM; the book is unchanged then.
 */
enum fors_err fors_namebook_learn(struct fors_namebook *book, const struct fors_directory *now, uint32_t *nreplaced,
				  struct fors_error *error);

/*
 * The names of a reference fabric (a book that has learnt from it alone) override others, once for each reference:
 * what happens to them later stays. Errors: FORS_ENOMEM; the book is unchanged then.
 */
enum fors_err fors_namebook_refer(struct fors_namebook *book, const struct fors_namebook *reference,
				  struct fors_error *error);

/* A name was this one's, by its node or port GUID, as an earlier plan tells; unless the book has it. Errors: FORS_ENOMEM. */
enum fors_err fors_namebook_recall(struct fors_namebook *book, const char *name, uint64_t guid,
				   struct fors_error *error);

/* Drop the names of a node, by its GUID or that of its first port with a cable; how many there were. */
uint32_t fors_namebook_forget(struct fors_namebook *book, uint64_t guid);

/* How many names there are; those of one node, likewise, as a list like '"a", "b"' in text[room]. */
uint32_t fors_namebook_count(const struct fors_namebook *book);
uint32_t fors_namebook_names(const struct fors_namebook *book, uint64_t guid, char *text, size_t room);

/* What has become of a name. */
enum fors_named {
	FORS_NAMED_NOBODY, /* nobody has it */
	FORS_NAMED_ONE,	   /* it means `node`, and nobody else has it */
	FORS_NAMED_SHARED, /* it means `node`, and `other` has it too */
	FORS_NAMED_MOVED,  /* `other` has it; whose it is, `node`, is called otherwise now */
	FORS_NAMED_TAKEN,  /* `other` has it; whose it is, `owner`, is not there */
	FORS_NAMED_TWINS,  /* `owner` and `other` have it, and nobody knows whose it is */
};

struct fors_naming {
	enum fors_named what;
	uint32_t node;	/* FORS_NONE: of NOBODY, TAKEN, TWINS */
	uint64_t owner; /* node GUID; 0: of NOBODY */
	uint64_t other; /* likewise; 0: of NOBODY, ONE */
};

/* Whom a name means in a fabric. book may be NULL: nothing is remembered. */
struct fors_naming fors_namebook_find(const struct fors_namebook *book, const struct fors_directory *now,
				      const char *name);

/* ---- namebook_file.c ---- */

/* The book as text, in *text (owned by the caller, terminated); equal books give equal bytes. Errors: FORS_ENOMEM. */
enum fors_err fors_namebook_encode(const struct fors_namebook *book, char **text, size_t *size,
				   struct fors_error *error);
/*
 * The book in such a text, in *book, owned by the caller. Accepted is what fors_namebook_encode() writes; `file` opens
 * error texts. Errors: FORS_EINPUT, FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_namebook_decode(const char *text, size_t size, const char *file, struct fors_namebook **book,
				   struct fors_error *error);

#endif
