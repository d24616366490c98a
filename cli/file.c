/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file.c - files in and out.
 *
 * Reading stops at a limit, so that a file named by mistake (a disk, a log) is refused at once and does not
 * fill the memory. Writing goes to a temporary name first: a reader of the file sees the old bytes or the new
 * ones, never half of them.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fabric/places_file.h"
#include "core/net/lftfile.h"
#include "core/net/netfile.h"
#include "core/schedule/schedule_file.h"
#include "core/status/status_json.h"

#define READ_LIMIT ((size_t)1 << 30) /* tables of 64 switches with all LIDs are 0.25 GB as text */
#define READ_STEP ((size_t)1 << 16)

/* --- reading ---------------------------------------------------------------------------------------------------- */

bool cli_is_there(const char *path)
{
	return !access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR);
}

static int report(const char *what, const char *path)
{
	cli_error("%s: cannot be %s: %s", path, what, strerror(errno));
	return CLI_BAD;
}

/* Read on; *text has *room bytes, *size of them used. Returns what read() did, -2: out of memory. */
static ssize_t read_some(int fd, char **text, size_t *size, size_t *room)
{
	ssize_t n;

	if (*room - *size < READ_STEP) {
		size_t more = *room * 2 + 2 * READ_STEP;
		char *bigger = realloc(*text, more);

		if (!bigger)
			return -2;
		*text = bigger;
		*room = more;
	}
	do
		n = read(fd, *text + *size, READ_STEP - 1);
	while (n < 0 && errno == EINTR);
	*size += n > 0 ? (size_t)n : 0;
	return n;
}

static int read_all(int fd, const char *path, char **text, size_t *size)
{
	char *buffer = NULL;
	size_t room = 0, used = 0;
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return report("read", path);
	while (n > 0 && used <= READ_LIMIT && !(S_ISREG(st.st_mode) && (size_t)st.st_size > READ_LIMIT))
		n = read_some(fd, &buffer, &used, &room);
	if (n == 0) {
		buffer[used] = '\0';
		*text = buffer;
		*size = used;
		return CLI_GOOD;
	}
	free(buffer);
	if (n == -1)
		return report("read", path);
	cli_error(n == -2 ? "%s: out of memory" : "%s: larger than 1 GiB; this is no file for fors", path);
	return CLI_BAD;
}

static int read_file(const char *path, char **text, size_t *size)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int code;

	if (fd < 0)
		return report("opened", path);
	code = read_all(fd, path, text, size);
	if (!is_stdin)
		close(fd);
	return code;
}

int cli_use_file(const char *path, cli_reader use, void *context)
{
	struct fors_error error = {0};
	char *text = NULL;
	size_t size;
	int code = read_file(path, &text, &size);

	if (code)
		return code;
	if (use(text, size, path, context, &error))
		code = cli_fail(&error);
	free(text);
	return code;
}

int cli_use_in(const char *folder, const char *file, bool has_to_be_there, cli_reader use, void *context)
{
	char path[CLI_PATH_ROOM];

	if (!cli_make_path(folder, file, path))
		return CLI_BAD;
	return has_to_be_there || cli_is_there(path) ? cli_use_file(path, use, context) : CLI_GOOD;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

static bool write_all(int fd, const void *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, (const char *)bytes + done, size - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* A pipe or a device has nothing to be replaced. */
static int write_in_place(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_good = fd >= 0 && write_all(fd, bytes, size);

	if (fd >= 0 && close(fd))
		is_good = false;
	return is_good ? CLI_GOOD : report("written", path);
}

/* As other programs would have created it: what umask() leaves of 0666. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Its mode is that of mkstemp() until all of it is there: who is killed meanwhile leaves a file that nobody else reads. */
static bool fill(int fd, const void *bytes, size_t size)
{
	bool is_good = write_all(fd, bytes, size) && !fsync(fd) && !fchmod(fd, usual_mode());

	return !close(fd) && is_good;
}

/* With the temporary file, which is open; negative: it could not be. */
static int replace(const char *path, const char *temporary, int fd, const void *bytes, size_t size)
{
	int code = CLI_GOOD;

	if (fd < 0)
		return report("written", path);
	if (!fill(fd, bytes, size) || rename(temporary, path)) {
		code = report("written", path);
		unlink(temporary);
	}
	return code;
}

int cli_write_file(const char *path, const void *bytes, size_t size)
{
	struct stat st;
	char temporary[4096];

	if (!strcmp(path, "-")) {
		cli_error("'-' is no name of a file to write; standard output is /dev/stdout");
		return CLI_BAD;
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return write_in_place(path, bytes, size);
	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return report("written", path);
	}
	return replace(path, temporary, mkstemp(temporary), bytes, size);
}

int cli_write_locked(const char *path, const void *bytes, size_t size)
{
	char temporary[4096];

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.new", path) >= sizeof(temporary)) {
		errno = ENAMETOOLONG;
		return report("written", path);
	}
	unlink(temporary);
	return replace(path, temporary, open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), bytes, size);
}

/* --- readers of the core ---------------------------------------------------------------------------------------- */

static enum fors_err read_net(const char *text, size_t size, const char *path, void *net, struct fors_error *error)
{
	struct fors_warnings warnings = {0};
	enum fors_err err = fors_netfile_read(text, size, path, net, &warnings, error);

	for (unsigned i = 0; !err && i < fors_warnings_kept(&warnings); i++)
		cli_error("%s", warnings.text[i]);
	return err;
}

int cli_read_net(const char *path, struct fors_net **net)
{
	return cli_use_file(path, read_net, net);
}

static enum fors_err read_lfts(const char *text, size_t size, const char *path, void *lfts, struct fors_error *error)
{
	return fors_lftfile_read(text, size, path, lfts, error);
}

int cli_read_lfts(const char *path, struct fors_lfts **lfts)
{
	return cli_use_file(path, read_lfts, lfts);
}

enum fors_err cli_places_reader(const char *text, size_t size, const char *path, void *places, struct fors_error *error)
{
	return fors_places_decode(text, size, path, places, error);
}

enum fors_err cli_schedule_reader(const char *bytes, size_t size, const char *path, void *schedule,
				  struct fors_error *error)
{
	return fors_schedule_decode(bytes, size, path, schedule, error);
}

int cli_read_schedule(const char *path, struct fors_schedule **schedule)
{
	return cli_use_file(path, cli_schedule_reader, schedule);
}

static enum fors_err read_status(const char *text, size_t size, const char *path, void *status,
				 struct fors_error *error)
{
	if (strlen(text) != size)
		return fors_fail(error, FORS_EINPUT, "%s: not JSON: a zero byte", path);
	return fors_status_parse(text, path, status, error);
}

int cli_read_status(const char *folder, struct fors_status *status)
{
	return cli_use_in(folder, "status.json", true, read_status, status);
}

int cli_emit(const struct cli_settings *settings, char *text)
{
	int code = CLI_GOOD;

	if (settings->output)
		code = cli_write_file(settings->output, text, strlen(text));
	else
		fputs(text, stdout);
	free(text);
	return code;
}
