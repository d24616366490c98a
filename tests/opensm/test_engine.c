/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * test_engine.c - the parts of the plugin that see OpenSM, tested among the functions of the stock opensm.
 *
 * The plugin calls functions that no library has, only the program opensm: osm_get_switch_by_guid(),
 * osm_link_is_throttled(), and others. Tests with functions of their own in their place would test what their author
 * believes of OpenSM. So this program loads opensm itself as if it were a library, without starting it, and then
 * a module with the plugin and its tests (inside.c): their calls find opensm's functions.
 *
 * The loader refuses programs because of a single bit of the file; a copy without it is loaded. Exit code 77 (skipped)
 * without an opensm of the version of its headers.
 */
#define _GNU_SOURCE /* memmem() */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/opensm.h"

#define SKIPPED 77

struct file {
	char *bytes;
	size_t size;
};

static struct file read_file(const char *path)
{
	struct file file = {NULL, 0};
	FILE *stream = fopen(path, "rb");
	long size;

	if (!stream)
		return file;
	if (!fseek(stream, 0, SEEK_END) && (size = ftell(stream)) > 0 && (file.bytes = malloc((size_t)size))) {
		rewind(stream);
		file.size = fread(file.bytes, 1, (size_t)size, stream);
	}
	fclose(stream);
	return file;
}

/* "I am a program": not any more. False: this is no program as it is expected. */
static bool make_loadable(struct file *file)
{
	ElfW(Ehdr) *head = (void *)file->bytes;
	ElfW(Phdr) * part;

	if (file->size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_type != ET_DYN)
		return false;
	part = (void *)(file->bytes + head->e_phoff);
	for (unsigned i = 0; i < head->e_phnum; i++) {
		ElfW(Dyn) *entry = (void *)(file->bytes + part[i].p_offset);

		if (part[i].p_type != PT_DYNAMIC)
			continue;
		for (; entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_FLAGS_1)
				entry->d_un.d_val &= ~(ElfW(Xword))DF_1_PIE;
	}
	return memmem(file->bytes, file->size, OSM_VERSION, sizeof(OSM_VERSION));
}

static bool write_all(int fd, const struct file *file)
{
	return fd >= 0 && write(fd, file->bytes, file->size) == (ssize_t)file->size;
}

/* opensm's functions, for all that is loaded after this; false: there is no such opensm. */
static bool load_opensm(const char *path)
{
	struct file file = read_file(path);
	char copy[] = "/tmp/fors-opensm-XXXXXX";
	bool is_loaded = false;
	int fd = -1;

	if (file.bytes && make_loadable(&file)) {
		fd = mkstemp(copy);
		is_loaded = write_all(fd, &file) && dlopen(copy, RTLD_LAZY | RTLD_GLOBAL);
		if (!is_loaded)
			printf("%s: %s\n", path, dlerror());
	}
	if (fd >= 0) {
		close(fd);
		unlink(copy);
	}
	free(file.bytes);
	return is_loaded;
}

/* The module beside this program. */
static void *load_tests(void)
{
	char path[4096];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void *module;

	if (size < 0)
		return NULL;
	path[size] = '\0';
	strcpy(strrchr(path, '/'), "/.libs/inside.so");
	module = dlopen(path, RTLD_NOW);
	if (!module)
		printf("%s\n", dlerror());
	return module;
}

int main(void)
{
	const char *path = getenv("OPENSM");
	int (*run)(void);
	void *module;

	if (!load_opensm(path ? path : "/usr/sbin/opensm")) {
		printf("needs the program of " OSM_VERSION " (OPENSM=PATH)\n");
		return SKIPPED;
	}
	module = load_tests();
	run = module ? (int (*)(void))dlsym(module, "fors_test_engine") : NULL;
	return run ? run() : 1;
}
