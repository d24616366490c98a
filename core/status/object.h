/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * object.h - a struct as a JSON object, written and read back by one table of its members; for this module only.
 *
 * The idea: a row says what a member is called, of which kind it is and where it lives. Writing JSON, reading it back and
 * writing metrics all walk the rows, so they cannot drift apart; a new member is one new row. What is unknown is null: a reader
 * must be able to tell "no dead link" from "nobody has looked".
 * Thread rules: pure.
 */
#ifndef FORS_CORE_STATUS_OBJECT_H
#define FORS_CORE_STATUS_OBJECT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

enum fors_key_kind {
	FORS_KEY_NUMBER,  /* int64_t, negative: unknown */
	FORS_KEY_UNIX_MS, /* the same, a point in time */
	FORS_KEY_MS,	  /* double, negative: unknown */
	FORS_KEY_PHASES,  /* double, a time in phases; negative: unknown */
	FORS_KEY_SHARE,	  /* double, 0..1 or a ratio; negative: unknown */
	FORS_KEY_TEXT,	  /* char[size], empty: unknown */
	FORS_KEY_NAME,	  /* the same, that is always there */
	FORS_KEY_WORD,	  /* an enum by the names in `words`, always there */
	FORS_KEY_PORT,	  /* uint8_t, always there */
	FORS_KEY_END,	  /* uint8_t, 0: unknown */
	FORS_KEY_COUNT,	  /* uint32_t, always there */
	FORS_KEY_FLAG,	  /* bool */
	FORS_KEY_MARK,	  /* bool, that is there only where it is true */
	FORS_KEY_TIMES,	  /* uint16_t, that is there only above 0 */
	FORS_KEY_UNTOLD,  /* int64_t, that has no key: it is read as unknown */
	/* of the status alone (status_json.c) */
	FORS_KEY_LIST, /* a pointer and a size_t: so many of the object in `of`; null when nobody has looked at a fabric */
	FORS_KEY_DEAD_SINCE, /* since when the dead links are dead, in their order; has no member of its own */
	FORS_KEY_REPAIRS,    /* struct fors_gains */
	FORS_KEY_JOBS,	     /* struct fors_jobstats */
	FORS_KEY_WARNINGS,   /* struct fors_warnings */
	FORS_KEY_FAILOVER,   /* struct fors_failover */
	FORS_KEY_SHADOW,     /* struct fors_shadow_facts; there is no such key where there is no shadow */
};

struct fors_object;

struct fors_key {
	const char *name;
	size_t offset, size; /* of the member */
	enum fors_key_kind kind;
	const char *help;	      /* of the metric; NULL: it has none */
	const struct fors_object *of; /* of LIST */
	const char *const *words;     /* of WORD, NULL ends them */
};

struct fors_object {
	const struct fors_key *key; /* in the order in which they are written */
	size_t count;
	size_t size; /* of the struct */
};

/* The beginning of a row: name and place of a member of a struct. */
#define FORS_KEY_AT(called, type, member)                                                                              \
	.name = called, .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)
#define FORS_OBJECT(keys, type)                                                                                        \
	{                                                                                                              \
		keys, sizeof(keys) / sizeof(keys[0]), sizeof(type)                                                     \
	}

/* All numbers of the struct at `base` that can be unknown are. */
void fors_object_init(const struct fors_object *kind, void *base);

/* One member, of a kind that is not of the status alone. New reference, NULL: out of memory. */
json_t *fors_key_to_json(const struct fors_key *key, const void *base);
/* The struct at `base`; likewise. */
json_t *fors_object_to_json(const struct fors_object *kind, const void *base);
/* So many of them, one behind the other; likewise. */
json_t *fors_objects_to_json(const struct fors_object *kind, const void *first, size_t count);

/* Read one back, which is there and no null. False: the value is not of the kind. */
bool fors_key_parse(const struct fors_key *key, const json_t *value, void *base);
/*
 * Read a struct back. Keys that are not known are of a newer fors, and what is missing or null is unknown; false: a value of the
 * wrong kind, since nothing else there can be trusted, or one that is missing though it is always there.
 */
bool fors_object_parse(const struct fors_object *kind, const json_t *object, void *base);
/* A list of them, in *first (owned by the caller also after an error) and *count. Errors: FORS_EINPUT, FORS_ENOMEM. */
enum fors_err fors_objects_parse(const struct fors_object *kind, const json_t *list, void **first, size_t *count);

#endif
