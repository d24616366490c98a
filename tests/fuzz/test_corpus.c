/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_corpus.c - the seeds of the fuzzers, and all inputs that once were trouble, as a plain test.
 *
 * tests/fuzz/corpus/TARGET/ has files called good-* (accepted), bad-* (refused) and anything else, of which
 * nothing is expected but that the target comes back.
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

static void run_file(const struct fuzz_target *target, const char *directory, const char *name)
{
	char path[1024];
	size_t size;
	uint8_t *data;
	bool is_good;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	data = load(path, &size);
	is_good = target->run(data, size);
	free(data);
	if (!is_good && !strncmp(name, "good-", 5))
		fail_msg("%s is refused", path);
	if (is_good && !strncmp(name, "bad-", 4))
		fail_msg("%s is accepted", path);
}

static void run_target(void **state)
{
	const struct fuzz_target *target = *state;
	const char *top = getenv("srcdir");
	const struct dirent *entry;
	char directory[512];
	unsigned count = 0;
	DIR *files;

	snprintf(directory, sizeof(directory), "%s/tests/fuzz/corpus/%s", top ? top : ".", target->name);
	files = opendir(directory);
	if (!files)
		fail_msg("%s: no seeds", directory);
	while ((entry = readdir(files)))
		if (entry->d_name[0] != '.') {
			run_file(target, directory, entry->d_name);
			count++;
		}
	closedir(files);
	assert_true(count > 1);
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
