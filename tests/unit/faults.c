/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* faults.c - see faults.h. */
#include "config.h"

#include "faults.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#ifdef FORS_WRAP /* linked with --wrap=malloc and so on */
#define NAME(function) __wrap_##function
#define REAL(function) __real_##function
#else
#define NAME(function) function
#define REAL(function) __libc_##function
#endif

#ifdef FORS_WRAP
void *__real_aligned_alloc(size_t alignment, size_t size);
#define REAL_ALIGNED __real_aligned_alloc
#else
void *__libc_memalign(size_t alignment, size_t size);
#define REAL_ALIGNED __libc_memalign
#endif
void *NAME(aligned_alloc)(size_t alignment, size_t size);
void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *block, size_t size);
void REAL(free)(void *block);
void *NAME(malloc)(size_t size);
void *NAME(calloc)(size_t count, size_t size);
void *NAME(realloc)(void *block, size_t size);
void NAME(free)(void *block);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context);

static _Atomic int64_t countdown, threads_countdown, live; /* 0: not armed */
static _Atomic int64_t bytes, most_bytes, bytes_before;	   /* of blocks in use */
static atomic_bool goes_on, has_failed;
static _Thread_local bool is_spared;

void faults_arm(uint64_t n, bool on)
{
	atomic_store(&has_failed, false);
	atomic_store(&goes_on, on);
	atomic_store(&countdown, (int64_t)n);
}

void faults_spare_me(void)
{
	is_spared = true;
}

bool faults_happened(void)
{
	return atomic_load(&has_failed);
}

bool faults_off(void)
{
	atomic_store(&countdown, 0);
	return faults_happened();
}

void faults_arm_threads(uint64_t n)
{
	atomic_store(&threads_countdown, (int64_t)n);
}

int64_t faults_live(void)
{
	return atomic_load(&live);
}

void faults_watch_bytes(void)
{
	atomic_store(&bytes_before, atomic_load(&bytes));
	atomic_store(&most_bytes, atomic_load(&bytes));
}

int64_t faults_most_bytes(void)
{
	return atomic_load(&most_bytes) - atomic_load(&bytes_before);
}

bool faults_leaked(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return __lsan_do_recoverable_leak_check();
#else
	return false;
#endif
}

/* Is it this one's turn? With goes_on the countdown stays at 1. */
static bool fails(void)
{
	int64_t now = atomic_load(&countdown);

	if (!now || is_spared)
		return false;
	while (now && !atomic_compare_exchange_weak(&countdown, &now, now == 1 && atomic_load(&goes_on) ? 1 : now - 1))
		;
	if (now != 1)
		return false;
	atomic_store(&has_failed, true);
	errno = ENOMEM;
	return true;
}

#ifndef FORS_WRAP
static void count_bytes(int64_t more)
{
	int64_t now = atomic_fetch_add(&bytes, more) + more, most = atomic_load(&most_bytes);

	while (now > most && !atomic_compare_exchange_weak(&most_bytes, &most, now))
		;
}

static int64_t size_of(void *block)
{
	return (int64_t)malloc_usable_size(block);
}
#endif

static void *counted(void *block)
{
#ifndef FORS_WRAP
	if (block) {
		atomic_fetch_add(&live, 1);
		count_bytes(size_of(block));
	}
#endif
	return block;
}

/* A block that grows where it is, as large ones do, or counts for both only as long as it is copied. */
static void *resized(void *block, size_t size)
{
#ifdef FORS_WRAP
	return REAL(realloc)(block, size);
#else
	int64_t before = size_of(block);
	void *larger = REAL(realloc)(block, size);

	if (larger)
		count_bytes(size_of(larger) - before);
	else if (!size)
		count_bytes(-before);
	return larger;
#endif
}

void *NAME(malloc)(size_t size)
{
	return fails() ? NULL : counted(REAL(malloc)(size));
}

void *NAME(calloc)(size_t count, size_t size)
{
	return fails() ? NULL : counted(REAL(calloc)(count, size));
}

void *NAME(realloc)(void *block, size_t size)
{
	if (fails())
		return NULL;
	return block ? resized(block, size) : counted(REAL(malloc)(size));
}

void *NAME(aligned_alloc)(size_t alignment, size_t size)
{
	return fails() ? NULL : counted(REAL_ALIGNED(alignment, size));
}

void NAME(free)(void *block)
{
#ifndef FORS_WRAP
	if (block) {
		atomic_fetch_sub(&live, 1);
		count_bytes(-size_of(block));
	}
#endif
	REAL(free)(block);
}

#ifdef FORS_WRAP
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
char *__wrap_strndup(const char *text, size_t size);
int __wrap_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

char *__wrap_strdup(const char *text)
{
	return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
	return fails() ? NULL : __real_strndup(text, size);
}

int __wrap_asprintf(char **text, const char *format, ...)
{
	va_list args;
	int length;

	if (fails())
		return -1;
	va_start(args, format);
	length = vasprintf(text, format, args);
	va_end(args);
	return length;
}
#endif

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	if (atomic_load(&threads_countdown) && atomic_fetch_sub(&threads_countdown, 1) == 1) {
		atomic_store(&threads_countdown, 1);
		return EAGAIN;
	}
	return __real_pthread_create(thread, attributes, run, context);
}
