/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* object.c - members of structs as JSON, and back: see object.h. */
#include "object.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/unknown.h"
#include "status_json.h"

static bool is_double(const struct fors_key *key)
{
	return key->kind == FORS_KEY_MS || key->kind == FORS_KEY_PHASES || key->kind == FORS_KEY_SHARE;
}

static bool is_number(const struct fors_key *key)
{
	return key->kind == FORS_KEY_NUMBER || key->kind == FORS_KEY_UNIX_MS || key->kind == FORS_KEY_UNTOLD;
}

void fors_object_init(const struct fors_object *kind, void *base)
{
	for (size_t i = 0; i < kind->count; i++) {
		char *at = (char *)base + kind->key[i].offset;

		if (is_number(&kind->key[i]))
			*(int64_t *)at = FORS_UNKNOWN;
		else if (is_double(&kind->key[i]))
			*(double *)at = FORS_UNKNOWN;
	}
}

/* --- writing -------------------------------------------------------------------------------------------------- */

json_t *fors_json_text(const char *text)
{
	char plain[FORS_ERROR_TEXT];
	json_t *value = json_string(text);

	if (value)
		return value;
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(plain);
}

/* A number in whole parts of 1 / `parts`; 0: as it is. */
static json_t *real(double number, double parts)
{
	if (number < 0)
		return json_null();
	return json_real(parts > 0 ? round(number * parts) / parts : number);
}

json_t *fors_key_to_json(const struct fors_key *key, const void *base)
{
	const void *at = (const char *)base + key->offset;

	switch (key->kind) {
	case FORS_KEY_NUMBER:
	case FORS_KEY_UNIX_MS:
		return *(const int64_t *)at < 0 ? json_null() : json_integer(*(const int64_t *)at);
	case FORS_KEY_MS:
		return real(*(const double *)at, 1e3);
	case FORS_KEY_PHASES:
		return real(*(const double *)at, 0);
	case FORS_KEY_SHARE:
		return real(*(const double *)at, 1e6);
	case FORS_KEY_TEXT:
		return *(const char *)at ? fors_json_text(at) : json_null();
	case FORS_KEY_NAME:
		return fors_json_text(at);
	case FORS_KEY_WORD:
		return json_string(key->words[*(const int *)at]);
	case FORS_KEY_END:
		return *(const uint8_t *)at ? json_integer(*(const uint8_t *)at) : json_null();
	case FORS_KEY_PORT:
		return json_integer(*(const uint8_t *)at);
	case FORS_KEY_COUNT:
		return json_integer(*(const uint32_t *)at);
	case FORS_KEY_TIMES:
		return json_integer(*(const uint16_t *)at);
	default:
		return json_boolean(*(const bool *)at);
	}
}

static bool is_left_out(const struct fors_key *key, const void *base)
{
	const void *at = (const char *)base + key->offset;

	return key->kind == FORS_KEY_UNTOLD || (key->kind == FORS_KEY_MARK && !*(const bool *)at) ||
	       (key->kind == FORS_KEY_TIMES && !*(const uint16_t *)at);
}

json_t *fors_object_to_json(const struct fors_object *kind, const void *base)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < kind->count; i++)
		if (!is_left_out(&kind->key[i], base) &&
		    json_object_set_new(object, kind->key[i].name, fors_key_to_json(&kind->key[i], base))) {
			json_decref(object);
			return NULL;
		}
	return object;
}

json_t *fors_objects_to_json(const struct fors_object *kind, const void *first, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count; i++)
		if (json_array_append_new(list, fors_object_to_json(kind, (const char *)first + i * kind->size))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* An integer up to `most`, 0 where it is none. */
static bool take_integer(const json_t *value, int64_t most, int64_t *number)
{
	*number = json_integer_value(value);
	return json_is_integer(value) && *number >= 0 && *number <= most;
}

/* It ends up on terminals: no control characters come in. */
static bool take_text(const json_t *value, char *text, size_t size)
{
	if (!json_is_string(value))
		return false;
	snprintf(text, size, "%s", json_string_value(value));
	fors_text_clean(text);
	return true;
}

static bool take_word(const json_t *value, const char *const *words, int *word)
{
	for (int i = 0; json_is_string(value) && words[i]; i++)
		if (!strcmp(json_string_value(value), words[i])) {
			*word = i;
			return true;
		}
	return false;
}

bool fors_key_parse(const struct fors_key *key, const json_t *value, void *base)
{
	void *at = (char *)base + key->offset;
	int64_t number;
	bool is_good;

	switch (key->kind) {
	case FORS_KEY_NUMBER:
	case FORS_KEY_UNIX_MS:
		return take_integer(value, INT64_MAX, at);
	case FORS_KEY_MS:
	case FORS_KEY_PHASES:
	case FORS_KEY_SHARE:
		*(double *)at = json_number_value(value);
		return json_is_number(value) && *(double *)at >= 0;
	case FORS_KEY_TEXT:
	case FORS_KEY_NAME:
		return take_text(value, at, key->size);
	case FORS_KEY_WORD:
		return take_word(value, key->words, at);
	case FORS_KEY_PORT:
	case FORS_KEY_END:
		is_good = take_integer(value, UINT8_MAX, &number);
		*(uint8_t *)at = (uint8_t)number;
		return is_good;
	case FORS_KEY_COUNT:
		is_good = take_integer(value, INT32_MAX, &number);
		*(uint32_t *)at = (uint32_t)number;
		return is_good;
	case FORS_KEY_TIMES:
		is_good = take_integer(value, UINT16_MAX, &number);
		*(uint16_t *)at = (uint16_t)number;
		return is_good;
	default:
		*(bool *)at = json_is_true(value);
		return json_is_boolean(value);
	}
}

static bool is_always_there(const struct fors_key *key)
{
	return key->kind == FORS_KEY_NAME || key->kind == FORS_KEY_WORD || key->kind == FORS_KEY_PORT ||
	       key->kind == FORS_KEY_COUNT;
}

bool fors_object_parse(const struct fors_object *kind, const json_t *object, void *base)
{
	fors_object_init(kind, base);
	for (size_t i = 0; i < kind->count; i++) {
		const struct fors_key *key = &kind->key[i];
		const json_t *value = json_object_get(object, key->name);
		bool is_there = value && !json_is_null(value) && key->kind != FORS_KEY_UNTOLD;

		if (is_there ? !fors_key_parse(key, value, base) : is_always_there(key))
			return false;
	}
	return json_is_object(object);
}

enum fors_err fors_objects_parse(const struct fors_object *kind, const json_t *list, void **first, size_t *count)
{
	size_t n = json_array_size(list);

	*first = NULL;
	*count = 0;
	if (!json_is_array(list))
		return FORS_EINPUT;
	*first = calloc(n + 1, kind->size);
	if (!*first)
		return FORS_ENOMEM;
	for (; *count < n; ++*count)
		if (!fors_object_parse(kind, json_array_get(list, *count), (char *)*first + *count * kind->size))
			return FORS_EINPUT;
	return FORS_OK;
}
