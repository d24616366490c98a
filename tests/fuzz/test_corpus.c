/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_corpus.c - the seeds of the fuzzers, and all inputs that once were trouble, as a plain test.
 *
 * Small texts are in tests/fuzz/seeds, all others in tests/fuzz/corpus/FOLDER. Those called good-* are accepted, those
 * called bad-* are refused (but where a target reads only a part of them); of anything else nothing is expected but that
 * the target comes back.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>

#include "targets.h"
#include "tests/unit/unit.h"

#define MAX_SIZE ((size_t)1 << 20)

/* The bytes of a file in memory of exactly that size, so that a sanitizer sees a byte read too far. */
static uint8_t *load(const char *path, size_t *size)
{
	uint8_t *data = malloc(MAX_SIZE), *exact;
	FILE *file = fopen(path, "rb");

	if (!file || !data)
		fail_msg("%s: cannot be read", path);
	*size = fread(data, 1, MAX_SIZE, file);
	fclose(file);
	exact = malloc(*size ? *size : 1);
	assert_non_null(exact);
	memcpy(exact, data, *size);
	free(data);
	return exact;
}

static void run_seed(const struct fuzz_target *target, const char *name, const uint8_t *data, size_t size)
{
	bool is_good = target->run(data, size);

	if (!is_good && !strncmp(name, "good-", 5))
		fail_msg("%s %s is refused", target->name, name);
	if (is_good && !strncmp(name, "bad-", 4) && !target->is_part)
		fail_msg("%s %s is accepted", target->name, name);
}

static const char *in_sources(char *path, size_t room, const char *name)
{
	const char *top = getenv("srcdir");

	snprintf(path, room, "%s/tests/fuzz/%s", top ? top : ".", name);
	return path;
}

static unsigned run_folder(const struct fuzz_target *target)
{
	char folder[600], path[64], file[1024];
	const struct dirent *entry;
	unsigned count = 0;
	DIR *files;

	snprintf(path, sizeof(path), "corpus/%s", target->folder ? target->folder : target->name);
	files = opendir(in_sources(folder, sizeof(folder), path));
	while (files && (entry = readdir(files)))
		if (entry->d_name[0] != '.') {
			size_t size;
			uint8_t *data;

			snprintf(file, sizeof(file), "%s/%s", folder, entry->d_name);
			data = load(file, &size);
			run_seed(target, entry->d_name, data, size);
			free(data);
			count++;
		}
	if (files)
		closedir(files);
	return count;
}

/* Those of the list whose heading is "== TARGET NAME"; the text ends before the last line's end. */
static unsigned run_texts(const struct fuzz_target *target)
{
	char path[600], of[64], name[64];
	unsigned count = 0;
	size_t size;
	char *list = (char *)load(in_sources(path, sizeof(path), "seeds"), &size), *next;

	list = realloc(list, size + 1);
	assert_non_null(list);
	list[size] = '\0';
	for (char *at = strstr(list, "\n== "); at; at = next) {
		char *text = strchr(at + 1, '\n') + 1, *end;
		uint8_t *exact;

		next = strstr(text - 1, "\n== ");
		end = next ? next : list + size - 1;
		assert_int_equal(sscanf(at, "\n== %63s %63s", of, name), 2);
		if (strcmp(of, target->name) != 0)
			continue;
		size_t length = end > text ? (size_t)(end - text) : 0;
		exact = malloc(length ? length : 1);
		assert_non_null(exact);
		memcpy(exact, text, length);
		run_seed(target, name, exact, length);
		free(exact);
		count++;
	}
	free(list);
	return count;
}

static void run_target(void **state)
{
	const struct fuzz_target *target = *state;

	assert_true(run_folder(target) + run_texts(target) > 1);
}

#define MAX_TARGETS 32

int main(void)
{
	struct CMUnitTest tests[MAX_TARGETS];
	size_t count = 0;

	for (; fuzz_targets[count].name; count++)
		tests[count] = (struct CMUnitTest){.name = fuzz_targets[count].name,
						   .test_func = run_target,
						   .initial_state = (void *)(uintptr_t)&fuzz_targets[count]};
	return _cmocka_run_group_tests("corpus", tests, count, NULL, NULL);
}
