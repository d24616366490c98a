/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mutate.c - a small fuzzer that needs no more than gcc: mutate seed files at random, for some seconds.
 *
 *	mutate TARGET SECONDS SEED FILE...      fuzz; on a crash the input is in crash-TARGET
 *	mutate TARGET replay FILE...            run these inputs as they are
 *
 * Where clang is there the same targets run under libFuzzer, see fuzz.c.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "targets.h"

#define MAX_SIZE ((size_t)64 << 10)

struct buffer {
	uint8_t *data;
	size_t size;
};

static uint64_t state; /* of the random numbers; never 0 */

static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (size_t)(state % n) : 0;
}

static void load(const char *name, struct buffer *buffer)
{
	FILE *file = fopen(name, "rb");

	buffer->data = malloc(MAX_SIZE);
	if (!file || !buffer->data) {
		perror(name);
		exit(2);
	}
	buffer->size = fread(buffer->data, 1, MAX_SIZE, file);
	fclose(file);
}

/* What tends to hurt parsers. */
static const char *const tokens[] = {"4294967295",
				     "4294967296",
				     "-1",
				     "0",
				     "65535",
				     "255",
				     "256",
				     "18446744073709551616",
				     "0x",
				     "\"",
				     "[",
				     "]",
				     "(",
				     ")",
				     "#",
				     "\n",
				     "\n\n",
				     ";",
				     ",",
				     "=",
				     "/",
				     "Switch\t36 \"S-1\"\n",
				     "Ca\t1 \"H-1\"\n",
				     "[1]\t\"S-1\"[1]\n",
				     "FT(2;1,1)",
				     ";cables=2",
				     ";empty=0/0",
				     ";servers=9",
				     "{",
				     "}",
				     "null",
				     "true",
				     "1e999",
				     "\\u0000"};

static void insert(struct buffer *buffer, size_t at, const void *data, size_t size)
{
	if (buffer->size + size > MAX_SIZE)
		return;
	memmove(buffer->data + at + size, buffer->data + at, buffer->size - at);
	memcpy(buffer->data + at, data, size);
	buffer->size += size;
}

static void cut(struct buffer *buffer, size_t at, size_t size)
{
	memmove(buffer->data + at, buffer->data + at + size, buffer->size - at - size);
	buffer->size -= size;
}

static void repeat(struct buffer *buffer, size_t at, size_t size)
{
	uint8_t copy[256];

	memcpy(copy, buffer->data + at, size);
	insert(buffer, below(buffer->size + 1), copy, size);
}

static void mutate_once(struct buffer *buffer)
{
	size_t at = below(buffer->size), room = buffer->size - at;
	size_t size = 1 + below(room < 256 ? room : 256);
	const char *token = tokens[below(sizeof(tokens) / sizeof(tokens[0]))];

	if (!buffer->size || below(4) == 0) {
		insert(buffer, at, token, strlen(token));
		return;
	}
	if (size > room || size > 256)
		size = 1;
	switch (below(6)) {
	case 0:
		buffer->data[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		buffer->data[at] = (uint8_t)below(256);
		break;
	case 2:
		cut(buffer, at, size);
		break;
	case 3:
		repeat(buffer, at, size);
		break;
	case 4:
		buffer->data[at] = (uint8_t)('0' + below(10));
		break;
	default:
		if (below(8) == 0)
			buffer->size = at;
		break;
	}
}

static const struct fuzz_target *current_target;
static struct buffer current; /* what runs now */

/* Called when it did not come back: keep the input. */
static void keep(void)
{
	char name[64];
	FILE *file;

	snprintf(name, sizeof(name), "crash-%s", current_target->name);
	file = fopen(name, "wb");
	if (!file)
		return;
	fwrite(current.data, 1, current.size, file);
	fclose(file);
}

static void on_signal(int number)
{
	keep();
	_Exit(128 + number);
}

/* Of the sanitizers, where they are linked in. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch(void)
{
	signal(SIGABRT, on_signal);
	signal(SIGTERM, on_signal); /* out of time */
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(keep);
}

/* A copy of exactly the right size, so that the sanitizer sees a byte read too far. */
static void run_exactly(const struct fuzz_target *target, const struct buffer *buffer)
{
	uint8_t *exact = malloc(buffer->size ? buffer->size : 1);

	if (!exact)
		exit(2);
	memcpy(exact, buffer->data, buffer->size);
	target->run(exact, buffer->size);
	free(exact);
}

static void fuzz(const struct fuzz_target *target, double seconds, char **names, size_t count)
{
	struct buffer *seed = calloc(count, sizeof(*seed));
	time_t end = time(NULL) + (time_t)seconds;
	unsigned long runs = 0;

	current = (struct buffer){malloc(MAX_SIZE), 0};
	current_target = target;
	if (!current.data || !seed)
		exit(2);
	watch();
	for (size_t i = 0; i < count; i++)
		load(names[i], &seed[i]);
	for (; time(NULL) < end; runs++) {
		const struct buffer *from = &seed[below(count)];
		memcpy(current.data, from->data, from->size);
		current.size = from->size;
		for (size_t n = below(8) + 1; n > 0; n--)
			mutate_once(&current);
		run_exactly(target, &current);
	}
	printf("%s: %lu inputs\n", target->name, runs);
	for (size_t i = 0; i < count; i++)
		free(seed[i].data);
	free(seed);
	free(current.data);
}

static int replay(const struct fuzz_target *target, char **names, int count)
{
	for (int i = 0; i < count; i++) {
		struct buffer input;

		load(names[i], &input);
		run_exactly(target, &input);
		free(input.data);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[2], "replay"))
		return replay(fuzz_find(argv[1]), argv + 3, argc - 3);
	if (argc < 5) {
		fprintf(stderr, "usage: mutate TARGET SECONDS SEED FILE... | mutate TARGET replay FILE...\n");
		return 2;
	}
	state = strtoull(argv[3], NULL, 10) * 0x9E3779B97F4A7C15u + 1;
	fuzz(fuzz_find(argv[1]), strtod(argv[2], NULL), argv + 4, (size_t)(argc - 4));
	return 0;
}
