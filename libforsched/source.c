/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where the bytes come from. Files are read with pread() and never mapped: a page of a mapping vanishes when
 * somebody cuts the file, or when its NFS server drops the replaced file, and whoever touches it then gets SIGBUS;
 * and bytes of a mapping may change after they were checked. Bytes that were read do neither.
 */
#include "config.h"

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Texts quote paths and names of jobs, and end on terminals: control characters of ASCII and of UTF-8 (C2 80..9F) become '?'. */
static void clean(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0))
			*c = '?';
}

enum forsched_err forsched_i_fail(struct forsched_error *error, enum forsched_err code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	clean(error->text);
	return code;
}

enum forsched_err forsched_i_fail_memory(struct forsched_error *error)
{
	return forsched_i_fail(error, FORSCHED_ENOMEM, "out of memory");
}

/* Open `path`, or `schedule` in it when it is a directory; *name becomes the path opened. -1 and errno. */
static int open_file(const char *path, char **name)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* not to hang on a FIFO */
	struct stat info;
	int fd = open(path, flags);

	if (fd >= 0 && !fstat(fd, &info) && S_ISDIR(info.st_mode)) {
		int dir = fd;

		if (asprintf(name, "%s/schedule", path) < 0)
			*name = NULL;
		fd = openat(dir, "schedule", flags);
		close(dir);
		return fd;
	}
	*name = strdup(path);
	return fd;
}

static enum forsched_err check_file(struct source *source, struct forsched_error *error)
{
	struct stat info;

	if (fstat(source->fd, &info))
		return forsched_i_fail(error, FORSCHED_EFILE, "%s: %s", source->name, strerror(errno));
	if (!S_ISREG(info.st_mode))
		return forsched_i_fail(error, FORSCHED_EFILE, "%s: not a regular file", source->name);
	source->size = (uint64_t)info.st_size;
	return FORSCHED_OK;
}

enum forsched_err forsched_i_source_file(const char *path, struct source *source, struct forsched_error *error)
{
	struct source made = {.fd = -1};
	enum forsched_err err;

	if (!path || !*path)
		return forsched_i_fail(error, FORSCHED_ERANGE, "no path of a schedule was given");
	errno = 0;
	made.fd = open_file(path, &made.name);
	if (!made.name)
		err = forsched_i_fail_memory(error);
	else if (made.fd < 0)
		err = forsched_i_fail(error, FORSCHED_EFILE, "%s: %s", made.name, strerror(errno));
	else
		err = check_file(&made, error);
	if (err)
		forsched_i_source_close(&made);
	else
		*source = made;
	return err;
}

enum forsched_err forsched_i_source_memory(const void *bytes, size_t size, const char *name, struct source *source,
					   struct forsched_error *error)
{
	char *copy = strdup(name ? name : "memory");

	if (!copy)
		return forsched_i_fail_memory(error);
	*source = (struct source){
		.name = copy, .data = bytes ? bytes : (const void *)"", .fd = -1, .size = bytes ? size : 0};
	return FORSCHED_OK;
}

void forsched_i_source_close(struct source *source)
{
	if (source->fd >= 0)
		close(source->fd);
	free(source->name);
}

static enum forsched_err fail_read(const struct source *source, struct forsched_error *error)
{
	if (errno == ESTALE)
		return forsched_i_fail(
			error, FORSCHED_ECHANGED,
			"%s: was replaced on its file server before this part of it was read; open it again",
			source->name);
	return forsched_i_fail(error, FORSCHED_EFILE, "%s: cannot be read: %s", source->name, strerror(errno));
}

static enum forsched_err read_file(const struct source *source, uint64_t offset, char *to, size_t size,
				   struct forsched_error *error)
{
	while (size) {
		ssize_t n = pread(source->fd, to, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_read(source, error);
		if (n == 0)
			return forsched_i_fail(error, FORSCHED_ECHANGED,
					       "%s: was truncated while it was open; open it again", source->name);
		to += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return FORSCHED_OK;
}

enum forsched_err forsched_i_read(const struct source *source, uint64_t offset, void *to, size_t size,
				  struct forsched_error *error)
{
	if (!source->data)
		return read_file(source, offset, to, size, error);
	if (offset > source->size || size > source->size - offset)
		return forsched_i_fail(error, FORSCHED_EFORMAT, "%s: truncated", source->name);
	memcpy(to, source->data + offset, size);
	return FORSCHED_OK;
}
