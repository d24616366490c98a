/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which server am I? Three ways to know, the most explicit first; a way that is set and does not lead to a server of
 * the schedule is an error, and never a reason to guess by the next one.
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

#include "follow.h"

#include <dirent.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYSFS "/sys/class/infiniband"
#define MAX_LINE 65536 /* characters in a line of a map */
#define WORD 256       /* a host's name, a GUID */

static bool fail(char *why, const char *what, const char *where)
{
	snprintf(why, FORSCHED_ERROR_TEXT, "%.240s: %.260s", where, what);
	return false;
}

static bool find(const struct forsched *schedule, uint64_t guid, uint32_t *number, char *why)
{
	struct forsched_error error;

	if (!forsched_find_guid(schedule, guid, number, &error))
		return true;
	return fail(why, error.text, "this process");
}

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
static bool search_map(FILE *file, const char *name, char *line, uint64_t *guid, char *why)
{
	char host[WORD] = "", key[WORD], at[320];
	int rank, match, best = 0;
	enum line kind;
	uint64_t found;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	gethostname(host, sizeof(host) - 1);
	for (unsigned number = 1; (kind = next_line(file, line, key, &found)) != LINE_NONE; number++) {
		snprintf(at, sizeof(at), "%.290s:%u", name, number);
		if (kind == LINE_TOO_LONG)
			return fail(why, "a line of more than 65536 characters", at);
		if (kind == LINE_WRONG)
			return fail(why, "not \"RANK GUID\" or \"HOST GUID\", with a GUID like 0x0002c903000e0b72", at);
		match = kind == LINE_ENTRY ? match_key(key, rank, host) : 0;
		if (match > best) {
			best = match;
			*guid = found;
		}
	}
	snprintf(at, sizeof(at), "has neither rank %d nor host %.200s", rank, host);
	return best > 0 || fail(why, at, name);
}

static bool ask_map(const char *name, uint64_t *guid, char *why)
{
	FILE *file = fopen(name, "r");
	char *line;
	bool is_found;

	if (!file)
		return fail(why, "FORSCHED_MAP cannot be opened", name);
	line = malloc(MAX_LINE + 2);
	is_found = line ? search_map(file, name, line, guid, why) : fail(why, "no memory to read it", name);
	free(line);
	fclose(file);
	return is_found;
}

/* ---- the ports of this host ---- */

/* What a walk over the ports looks for and finds. */
struct ports {
	const struct forsched *schedule; /* NULL: none is known */
	const char *sysfs;
	const char *wanted; /* "device:port", or NULL: any */
	unsigned seen, found;
	uint32_t number;
	uint64_t guid; /* of the last one seen */
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

	snprintf(name, sizeof(name), "%.255s:%.255s", device, port);
	snprintf(path, sizeof(path), "%.400s/%.255s/ports/%.255s/gids/0", ports->sysfs, device, port);
	if ((ports->wanted && strcmp(ports->wanted, name) != 0) || !read_gid(path, &guid))
		return;
	ports->seen++;
	ports->guid = guid;
	if (ports->schedule && !forsched_find_guid(ports->schedule, guid, &ports->number, NULL))
		ports->found++;
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
	const char *own = forsched_mpi_setting("FORSCHED_DEVICE"), *ucx = forsched_mpi_setting("UCX_NET_DEVICES");

	if (own)
		return own;
	return ucx && strchr(ucx, ':') && !strchr(ucx, ',') ? ucx : NULL;
}

static struct ports ports_of_host(const struct forsched *schedule)
{
	const char *sysfs = forsched_mpi_setting("FORSCHED_SYSFS");
	struct ports ports = {.schedule = schedule, .sysfs = sysfs ? sysfs : SYSFS, .wanted = wanted_port()};

	try_host(&ports);
	return ports;
}

static bool ask_host(const struct forsched *schedule, uint32_t *number, char *why)
{
	struct ports ports = ports_of_host(schedule);

	if (ports.found == 1) {
		*number = ports.number;
		return true;
	}
	if (!ports.seen)
		return fail(why, "no InfiniBand port found on this host; set FORSCHED_MAP or FORSCHED_SERVER",
			    ports.wanted ? ports.wanted : ports.sysfs);
	return fail(why,
		    ports.found ? "several ports of this host are in the schedule; name one with FORSCHED_DEVICE"
				: "no port of this host is in the schedule",
		    ports.wanted ? ports.wanted : ports.sysfs);
}

bool forsched_mpi_whoami(const struct forsched *schedule, uint32_t *number, char *why)
{
	const char *server = forsched_mpi_setting("FORSCHED_SERVER"), *map = forsched_mpi_setting("FORSCHED_MAP");
	uint64_t guid;

	if (server && !parse_guid(server, &guid))
		return fail(why, "not a port GUID like 0x0002c903000e0b72", "FORSCHED_SERVER");
	if (server)
		return find(schedule, guid, number, why);
	if (map)
		return ask_map(map, &guid, why) && find(schedule, guid, number, why);
	return ask_host(schedule, number, why);
}

/* The same ways as above, without a schedule: of several ports nobody knows which one takes part. */
static uint64_t guess_guid(void)
{
	const char *server = forsched_mpi_setting("FORSCHED_SERVER"), *map = forsched_mpi_setting("FORSCHED_MAP");
	char why[FORSCHED_ERROR_TEXT];
	struct ports ports;
	uint64_t guid = 0;

	if (server)
		return parse_guid(server, &guid) ? guid : 0;
	if (map)
		return ask_map(map, &guid, why) ? guid : 0;
	ports = ports_of_host(NULL);
	return ports.seen == 1 ? ports.guid : 0;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t own_guid;

static void remember_guid(void)
{
	own_guid = guess_guid();
}

uint64_t forsched_mpi_guid(void)
{
	pthread_once(&once, remember_guid);
	return own_guid;
}
