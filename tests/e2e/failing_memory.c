/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * failing_memory.c - a library to be preloaded into opensm: the n-th allocation that libfors.so asks for fails.
 *
 * Calls from elsewhere pass untouched: who asks is told by the return address. A test steers it through a file,
 * mapped by both, that FORS_FAULTS names. Who asked for what failed is appended to that file's name with .callers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/failing_calls.h"

/* The file; test_plugin_faults.py writes and reads the same. */
struct control {
	_Atomic uint64_t seen;	   /* calls of libfors.so since the test wrote 0 here */
	_Atomic uint64_t fail;	   /* the number of the one that fails, counted from 1; 0: none */
	_Atomic uint64_t lasting;  /* not 0: and all after it */
	_Atomic uint64_t failures; /* how many did */
};

static struct control idle, *_Atomic control = &idle;
static int callers = -1;	     /* the file of who asked */
static _Atomic uintptr_t first, end; /* addresses of libfors.so's code; 0: not loaded yet */

/* backtrace() loads a library when it is called first: here, not under somebody's lock. */
static void open_callers(const char *name)
{
	char path[4096];
	void *frame;

	if ((size_t)snprintf(path, sizeof(path), "%s.callers", name) < sizeof(path))
		callers = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	backtrace(&frame, 1);
}

static void __attribute__((constructor)) start(void)
{
	const char *name = getenv("FORS_FAULTS");
	int fd = name ? open(name, O_RDWR | O_CLOEXEC) : -1;
	void *at = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at != MAP_FAILED)
		atomic_store(&control, at);
	if (fd >= 0)
		close(fd);
	if (name)
		open_callers(name);
}

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
	if (!strstr(info->dlpi_name, "libfors.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			atomic_store(&end, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
			atomic_store(&first, info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		}
	return 1;
}

/* libfors.so comes with dlopen(), which we are asked for ourselves: from then on its addresses are known. */
void *dlopen(const char *name, int flags)
{
	static void *(*real)(const char *, int);
	void *handle;

	if (!real)
		real = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	handle = real(name, flags);
	if (handle && !atomic_load(&first))
		dl_iterate_phdr(look, NULL);
	return handle;
}

static void tell_callers(uint64_t number)
{
	void *frames[16];
	int count = backtrace(frames, 16);

	dprintf(callers, "allocation %llu\n", (unsigned long long)number);
	backtrace_symbols_fd(frames + 2, count - 2, callers);
}

static bool fails(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;
	struct control *c = atomic_load(&control);
	uint64_t number, fail;

	if (at < atomic_load(&first) || at >= atomic_load(&end))
		return false;
	number = atomic_fetch_add(&c->seen, 1) + 1;
	fail = atomic_load(&c->fail);
	if (!fail || (number != fail && !(number > fail && atomic_load(&c->lasting))))
		return false;
	atomic_fetch_add(&c->failures, 1);
	if (callers >= 0 && number == fail)
		tell_callers(number);
	errno = ENOMEM;
	return true;
}

char *strndup(const char *text, size_t most)
{
	size_t size = strnlen(text, most);
	char *copy = fails(__builtin_return_address(0)) ? NULL : __libc_calloc(1, size + 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (!real)
		real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
												      "pthread_create");
	return fails(__builtin_return_address(0)) ? EAGAIN : real(thread, attributes, run, context);
}
