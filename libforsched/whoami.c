/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which server am I? Three ways to know, the most explicit first; a way that is set and leads nowhere is an error, and
 * never a reason to guess by the next one. libforsched-mpi, the Python module and the examples all ask here, so a map is
 * the same file for all of them; forsched_server(3) describes it.
 *
 * 1. FORSCHED_SERVER=0x0002c903000e0b72: the port GUID, when something sets it for each process.
 *
 * 2. FORSCHED_MAP=FILE: lines "RANK GUID" (rank in MPI_COMM_WORLD) or "HOST GUID"; # begins a comment. What is longer
 *    than any line somebody wrote is no text: it is refused before it fills the memory.
 *
 * 3. Neither: the ports of this host, from /sys/class/infiniband/DEVICE/ports/PORT/gids/0, whose lower half is the port
 *    GUID. Only one may be in the schedule; a host with more says which with FORSCHED_DEVICE=mlx5_0:1 (or
 *    UCX_NET_DEVICES, when that names one port).
 */
#include "config.h"

#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSFS "/sys/class/infiniband"
#define MAX_LINE 65536 /* characters in a line of a map */
#define WORD 256       /* a host's name, a GUID */

#define NOT_FOUND(error, ...) forsched_i_fail(error, FORSCHED_ENOTFOUND, __VA_ARGS__)

/* "0x" and hexadecimal digits, nothing else. */
static bool parse_guid(const char *text, uint64_t *guid)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0 || strlen(text) > 18 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
		return false;
	*guid = strtoull(text, &end, 16);
	return text[2] && !*end;
}

/* ---- the map ---- */

/* Does the key stand for this process? Better matches have higher numbers; 0: not at all. */
static int match_key(const char *key, int rank, const char *host)
{
	size_t length = strcspn(host, ".");
	char *end;
	long number = strtol(key, &end, 10);

	if (*key && !*end)
		return number == rank ? 3 : 0;
	if (strcmp(key, host) == 0)
		return 2;
	return strncmp(key, host, length) == 0 && (!key[length] || key[length] == '.') &&
			       (!key[length] || !host[length])
		       ? 1
		       : 0;
}

/* A line of a map. */
enum line { LINE_NONE, LINE_BLANK, LINE_ENTRY, LINE_WRONG, LINE_TOO_LONG };

/* The next line, without comment and end, taken to pieces. `line` has MAX_LINE + 2 bytes, `key` WORD bytes. */
static enum line next_line(FILE *file, char *line, char *key, uint64_t *guid)
{
	char text[WORD], rest[2];
	int words;

	if (!fgets(line, MAX_LINE + 2, file))
		return LINE_NONE;
	if (strlen(line) > MAX_LINE && !strchr(line, '\n'))
		return LINE_TOO_LONG;
	line[strcspn(line, "#\n")] = '\0';
	words = sscanf(line, "%255s %255s %1s", key, text, rest);
	if (words <= 0)
		return LINE_BLANK;
	return words == 2 && parse_guid(text, guid) ? LINE_ENTRY : LINE_WRONG;
}

/* The GUID for this process in a map, in *guid; lines that cannot be understood end the search. `line`: for a line. */
static enum forsched_err search_map(FILE *file, const char *name, char *line, int rank, uint64_t *guid,
				    struct forsched_error *error)
{
	char host[WORD] = "", key[WORD];
	int match, best = 0;
	enum line kind;
	uint64_t found;

	gethostname(host, sizeof(host) - 1);
	for (unsigned number = 1; (kind = next_line(file, line, key, &found)) != LINE_NONE; number++) {
		if (kind == LINE_TOO_LONG)
			return forsched_i_fail(error, FORSCHED_EFORMAT,
					       "%.290s:%u: a line of more than 65536 characters", name, number);
		if (kind == LINE_WRONG)
			return forsched_i_fail(
				error, FORSCHED_EFORMAT,
				"%.290s:%u: not \"RANK GUID\" or \"HOST GUID\", with a GUID like 0x0002c903000e0b72",
				name, number);
		match = kind == LINE_ENTRY ? match_key(key, rank, host) : 0;
		if (match > best) {
			best = match;
			*guid = found;
		}
	}
	if (best > 0)
		return FORSCHED_OK;
	return rank < 0 ? NOT_FOUND(error, "%.240s: has no host %.200s", name, host)
			: NOT_FOUND(error, "%.240s: has neither rank %d nor host %.200s", name, rank, host);
}

static enum forsched_err ask_map(const char *name, int rank, uint64_t *guid, struct forsched_error *error)
{
	FILE *file = fopen(name, "r");
	enum forsched_err err;
	char *line;

	if (!file)
		return forsched_i_fail(error, FORSCHED_EFILE, "%.240s: FORSCHED_MAP cannot be opened: %s", name,
				       strerror(errno));
	line = malloc(MAX_LINE + 2);
	err = line ? search_map(file, name, line, rank, guid, error) : forsched_i_fail_memory(error);
	free(line);
	fclose(file);
	return err;
}

/* ---- the ports of this host ---- */

/* What a walk over the ports looks for and finds. */
struct ports {
	const struct forsched *schedule; /* NULL: none is known, and all may be in it */
	const char *sysfs;
	const char *wanted;   /* "device:port", or NULL: any */
	unsigned seen, found; /* ports there are; in the schedule */
	uint64_t guid;	      /* of the last one found */
};

/* The port GUID: GID 0 is fe80:0000:0000:0000:gggg:gggg:gggg:gggg. */
static bool read_gid(const char *path, uint64_t *guid)
{
	FILE *file = fopen(path, "r");
	unsigned word[8];
	int words = 0;

	if (!file)
		return false;
	words = fscanf(file, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &word[0], &word[1], &word[2], &word[3], &word[4],
		       &word[5], &word[6], &word[7]);
	fclose(file);
	if (words != 8)
		return false;
	*guid = (uint64_t)word[4] << 48 | (uint64_t)word[5] << 32 | (uint64_t)word[6] << 16 | word[7];
	return true;
}

static void try_port(struct ports *ports, const char *device, const char *port)
{
	char path[1024], name[520];
	uint64_t guid;
	uint32_t number;

	snprintf(name, sizeof(name), "%.255s:%.255s", device, port);
	snprintf(path, sizeof(path), "%.400s/%.255s/ports/%.255s/gids/0", ports->sysfs, device, port);
	if ((ports->wanted && strcmp(ports->wanted, name) != 0) || !read_gid(path, &guid))
		return;
	ports->seen++;
	if (ports->schedule && forsched_find_guid(ports->schedule, guid, &number, NULL))
		return;
	ports->found++;
	ports->guid = guid;
}

static void try_device(struct ports *ports, const char *device)
{
	char path[700];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%.400s/%.255s/ports", ports->sysfs, device);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			try_port(ports, device, entry->d_name);
	if (dir)
		closedir(dir);
}

static void try_host(struct ports *ports)
{
	DIR *dir = opendir(ports->sysfs);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			try_device(ports, entry->d_name);
	if (dir)
		closedir(dir);
}

/* UCX_NET_DEVICES may be a list, or "all": it helps when it is one port. */
static const char *wanted_port(void)
{
	const char *own = forsched_i_setting("FORSCHED_DEVICE"), *ucx = forsched_i_setting("UCX_NET_DEVICES");

	if (own)
		return own;
	return ucx && strchr(ucx, ':') && !strchr(ucx, ',') ? ucx : NULL;
}

static struct ports ports_of_host(const struct forsched *schedule)
{
	const char *sysfs = forsched_i_setting("FORSCHED_SYSFS");
	struct ports ports = {.schedule = schedule, .sysfs = sysfs ? sysfs : SYSFS, .wanted = wanted_port()};

	try_host(&ports);
	return ports;
}

static enum forsched_err ask_host(const struct forsched *schedule, uint64_t *guid, struct forsched_error *error)
{
	struct ports ports = ports_of_host(schedule);
	const char *where = ports.wanted ? ports.wanted : ports.sysfs;

	*guid = ports.guid;
	if (ports.found == 1)
		return FORSCHED_OK;
	if (!ports.seen)
		return NOT_FOUND(error,
				 "%.260s: no InfiniBand port found on this host; set FORSCHED_MAP or FORSCHED_SERVER",
				 where);
	if (!ports.found)
		return NOT_FOUND(error, "%.260s: no port of this host is in the schedule", where);
	return NOT_FOUND(error, "%.260s: several ports of this host %s; name one with FORSCHED_DEVICE", where,
			 schedule ? "are in the schedule" : "may be meant");
}

enum forsched_err forsched_own_guid(const struct forsched *schedule, int rank, uint64_t *guid,
				    struct forsched_error *error)
{
	const char *server = forsched_i_setting("FORSCHED_SERVER"), *map = forsched_i_setting("FORSCHED_MAP");
	enum forsched_err err = FORSCHED_OK;
	uint64_t own = 0;

	if (server && !parse_guid(server, &own))
		return forsched_i_fail(error, FORSCHED_EFORMAT,
				       "FORSCHED_SERVER: not a port GUID like 0x0002c903000e0b72");
	if (!server)
		err = map ? ask_map(map, rank, &own, error) : ask_host(schedule, &own, error);
	if (!err)
		*guid = own;
	return err;
}
