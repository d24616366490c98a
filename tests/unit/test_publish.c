/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of daemon/files/publish.c: files that are replaced as a whole, and links that are not followed. write() is linked
 * with --wrap, and takes less than it is given while a test says so; fsync() too, which is counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/schedule/schedule_file.h"
#include "daemon/files/publish.h"
#include "daemon/files/publish_inside.h"
#include "unit.h"

static size_t write_at_most; /* bytes at a time; 0: as many as there are */

ssize_t __real_write(int fd, const void *bytes, size_t size);
ssize_t __wrap_write(int fd, const void *bytes, size_t size);

/* No block is free: a new file can hold nothing; and where no block is written twice, a file that is there stays as it is. */
static bool disk_is_full, writes_elsewhere;

ssize_t __real_pwrite(int fd, const void *bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset);

ssize_t __wrap_pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
	if (!disk_is_full || !writes_elsewhere)
		return __real_pwrite(fd, bytes, size, offset);
	errno = ENOSPC;
	return -1;
}

ssize_t __wrap_write(int fd, const void *bytes, size_t size)
{
	if (disk_is_full) {
		errno = ENOSPC;
		return -1;
	}
	return __real_write(fd, bytes, write_at_most && size > write_at_most ? write_at_most : size);
}

static unsigned files_synced, folders_synced;
static bool folders_refuse; /* to be synced */

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	struct stat info;

	if (fstat(fd, &info))
		return -1;
	if (S_ISDIR(info.st_mode) && folders_refuse) {
		errno = EIO;
		return -1;
	}
	++*(S_ISDIR(info.st_mode) ? &folders_synced : &files_synced);
	return __real_fsync(fd);
}

struct place {
	char directory[64];
	char path[128]; /* of the state folder */
	struct fors_folder folder;
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));
	char parent[80];

	strcpy(place->directory, "/tmp/fors-publish-XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(parent, sizeof(parent), "%s/fors", place->directory);
	snprintf(place->path, sizeof(place->path), "%s/0x00000000000000ab", parent);
	*state = place;
	return fors_folder_init(&place->folder, parent, 0xab, NULL);
}

static int remove_place(void **state)
{
	struct place *place = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", place->directory);
	fors_folder_clear(&place->folder);
	free(place);
	return system(command) ? -1 : 0;
}

static const char *in_folder(const struct place *place, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", place->path, name);
	return path;
}

static enum fors_err put(const struct place *place, const char *text, struct fors_error *error)
{
	return fors_publish(&place->folder, "status.json", text, strlen(text), true, error);
}

static void assert_holds(const struct place *place, const char *text)
{
	void *bytes = NULL;
	size_t size = 0;

	assert_int_equal(fors_published(&place->folder, "status.json", 100, &bytes, &size, NULL), FORS_OK);
	assert_non_null(bytes);
	assert_int_equal(size, strlen(text));
	assert_memory_equal(bytes, text, size);
	free(bytes);
}

/* Down to the last byte. */
static void one_byte_is_read_back(void **state)
{
	struct place *place = *state;

	assert_int_equal(put(place, "x", NULL), FORS_OK);
	assert_holds(place, "x");
	assert_int_equal(put(place, "", NULL), FORS_OK);
	assert_holds(place, "");
}

static void file_is_made_and_replaced(void **state)
{
	struct place *place = *state;
	struct stat info;
	mode_t mask = umask(077);

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	umask(mask);
	assert_holds(place, "one");
	assert_int_equal(stat(in_folder(place, "status.json"), &info), 0);
	assert_int_equal(info.st_mode & 07777, 0644);
	assert_int_equal(put(place, "", NULL), FORS_OK);
	assert_holds(place, "");
	assert_int_not_equal(access(in_folder(place, ".status.json.new"), F_OK), 0);
}

/* What another user planted is neither read nor written, and the message says which folder to change. */
static void assert_refused(const struct place *place, const char *folder, const char *remedy)
{
	struct fors_error error = {.text = ""};
	void *bytes = NULL;
	size_t size = 1;

	assert_int_equal(put(place, "two", &error), FORS_EINPUT);
	if (!strstr(error.text, folder) || !strstr(error.text, remedy))
		fail_msg("%s: %s", folder, error.text);
	assert_int_equal(fors_published(&place->folder, "status.json", 100, &bytes, &size, NULL), FORS_OK);
	assert_null(bytes);
	assert_false(fors_publish_has(&place->folder, "status.json"));
}

/* The state folder, the one above, and the one above that; each by mode and, when we are root, by owner. */
static void folders_that_others_could_change(void **state)
{
	struct place *place = *state;
	const char *const folder[] = {place->directory, place->folder.parent, place->path};

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(chmod(folder[i], 0777), 0);
		assert_refused(place, folder[i], "chmod");
		assert_int_equal(chmod(folder[i], 0770), 0);
		assert_refused(place, folder[i], "chmod");
		assert_int_equal(chmod(folder[i], 0755), 0);
		assert_holds(place, "one");
		if (geteuid())
			continue;
		assert_int_equal(chown(folder[i], 4711, 0), 0);
		assert_refused(place, folder[i], "chown");
		assert_int_equal(chown(folder[i], 0, 0), 0);
		assert_holds(place, "one");
	}
}

/* Who may add names cannot touch those of others; but the state folder itself is nobody else's place. */
static void the_sticky_bit_helps_above(void **state)
{
	struct place *place = *state;

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	assert_int_equal(chmod(place->folder.parent, 01777), 0);
	assert_holds(place, "one");
	assert_int_equal(put(place, "two", NULL), FORS_OK);
	assert_int_equal(chmod(place->path, 01777), 0);
	assert_refused(place, place->path, "chmod");
}

/* A link above the state folder is followed when it is root's or ours, as /var/run is. */
static void links_above(void **state)
{
	struct place *place = *state;
	struct place through = {.folder = {.parent = NULL}};
	char link[128], parent[160];

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	snprintf(link, sizeof(link), "%s/link", place->directory);
	assert_int_equal(symlink(".", link), 0);
	snprintf(parent, sizeof(parent), "%s/fors", link);
	assert_int_equal(fors_folder_init(&through.folder, parent, 0xab, NULL), FORS_OK);
	assert_holds(&through, "one");
	if (!geteuid()) {
		assert_int_equal(lchown(link, 4711, 0), 0);
		assert_refused(&through, "link", "chown");
	}
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("link", link), 0);
	assert_int_equal(put(&through, "two", NULL), FORS_EIO);
	fors_folder_clear(&through.folder);
}

static void leftover_of_a_crash_is_no_obstacle(void **state)
{
	struct place *place = *state;
	char nowhere[128];

	snprintf(nowhere, sizeof(nowhere), "%s/nowhere", place->directory);
	assert_int_equal(put(place, "one", NULL), FORS_OK);
	assert_int_equal(symlink(nowhere, in_folder(place, ".status.json.new")), 0);
	assert_int_equal(put(place, "two", NULL), FORS_OK);
	assert_holds(place, "two");
	assert_int_not_equal(access(nowhere, F_OK), 0); /* the link was not followed */
}

static void link_in_place_of_the_file(void **state)
{
	struct place *place = *state;
	struct fors_error error;
	char victim[128];
	struct stat info;
	void *bytes;
	size_t size;

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	snprintf(victim, sizeof(victim), "%s/victim", place->directory);
	assert_int_equal(rename(in_folder(place, "status.json"), victim), 0);
	assert_int_equal(symlink(victim, in_folder(place, "status.json")), 0);
	assert_int_equal(fors_published(&place->folder, "status.json", 100, &bytes, &size, &error), FORS_EIO);
	assert_int_equal(put(place, "two!", NULL), FORS_OK);
	assert_holds(place, "two!");
	assert_int_equal(stat(victim, &info), 0);
	assert_int_equal(info.st_size, 3);
}

static void link_in_place_of_the_folder(void **state)
{
	struct place *place = *state;
	struct fors_error error;

	assert_int_equal(put(place, "one", NULL), FORS_OK);
	assert_int_equal(unlink(in_folder(place, "status.json")), 0);
	assert_int_equal(rmdir(place->path), 0);
	assert_int_equal(symlink(place->directory, place->path), 0);
	assert_int_equal(put(place, "two", &error), FORS_EIO);
	assert_non_null(strstr(error.text, place->path));
}

static void missing_and_unreadable(void **state)
{
	struct place *place = *state;
	struct fors_error error;
	void *bytes = place;
	size_t size = 1;

	assert_int_equal(fors_published(&place->folder, "status.json", 100, &bytes, &size, &error), FORS_OK);
	assert_null(bytes);
	assert_int_equal(put(place, "more than ten", NULL), FORS_OK);
	assert_int_equal(fors_published(&place->folder, "status.json", 10, &bytes, &size, &error), FORS_EIO);
	assert_int_equal(mkdir(in_folder(place, "schedule"), 0755), 0);
	assert_int_equal(fors_published(&place->folder, "schedule", 10, &bytes, &size, &error), FORS_EIO);
	assert_int_equal(fors_publish(&place->folder, "schedule", "x", 1, true, &error), FORS_EIO);
	assert_null(bytes);
}

static void default_folder(void **state)
{
	struct fors_folder folder;

	setenv("OSM_CACHE_DIR", "/somewhere", 1);
	assert_int_equal(fors_folder_init(&folder, "/else/where", 1, NULL), FORS_OK); /* fors.conf has the say */
	assert_string_equal(folder.parent, "/else/where");
	fors_folder_clear(&folder);
	assert_int_equal(fors_folder_init(&folder, NULL, UINT64_MAX, NULL), FORS_OK);
	assert_string_equal(folder.parent, "/somewhere/fors");
	assert_string_equal(folder.name, "0xffffffffffffffff");
	fors_folder_clear(&folder);
	unsetenv("OSM_CACHE_DIR");
	assert_int_equal(fors_folder_init(&folder, NULL, 1, NULL), FORS_OK);
	assert_string_equal(folder.parent, "/var/cache/opensm/fors");
	fors_folder_clear(&folder);
}

/* A file system may take less at a time than it was given. */
static void written_in_pieces(void **state)
{
	enum fors_err err;

	write_at_most = 5;
	err = put(*state, "one two three four five", NULL);
	write_at_most = 0;
	assert_int_equal(err, FORS_OK);
	assert_holds(*state, "one two three four five");
}

/* Without stdin a file may have descriptor 0. */
static void without_stdin(void **state)
{
	struct place *place = *state;
	int folder, kept = dup(STDIN_FILENO);
	const char *failed;

	assert_int_equal(put(place, "text", NULL), FORS_OK); /* which makes the folder */
	folder = open(place->path, O_RDONLY | O_DIRECTORY);
	assert_true(folder > 0 && kept > 0);
	close(STDIN_FILENO);
	failed = fors_temporary_write(folder, ".schedule.new", "first", 5, false);
	dup2(kept, STDIN_FILENO);
	close(kept);
	close(folder);
	assert_null(failed);
	assert_int_equal(unlink(in_folder(place, ".schedule.new")), 0);
}

/* What a crash of the machine must not undo is synced, with its name; what beats every second is not. */
static void durable_files_are_synced(void **state)
{
	struct place *place = *state;
	struct fors_error error;
	enum fors_err err;

	files_synced = folders_synced = 0;
	assert_int_equal(fors_publish(&place->folder, "heartbeat", "x", 1, false, NULL), FORS_OK);
	assert_int_equal(files_synced + folders_synced, 0);
	assert_int_equal(put(place, "text", NULL), FORS_OK);
	assert_int_equal(files_synced, 1);
	assert_int_equal(folders_synced, 1);
	folders_refuse = true;
	err = put(place, "text", &error);
	folders_refuse = false;
	assert_int_equal(err, FORS_EIO);
	assert_non_null(strstr(error.text, "its folder cannot be synced"));
}

/* What cannot take its place leaves nothing beside it; what is not there is removed already. */
static void nothing_is_left_behind(void **state)
{
	struct place *place = *state;
	struct fors_error error;

	assert_int_equal(put(place, "text", NULL), FORS_OK);
	assert_int_equal(mkdir(in_folder(place, "schedule"), 0755), 0);
	assert_int_equal(fors_publish(&place->folder, "schedule", "x", 1, true, &error), FORS_EIO);
	assert_non_null(strstr(error.text, "cannot be renamed"));
	assert_int_not_equal(access(in_folder(place, ".schedule.new"), F_OK), 0);
	assert_int_equal(fors_publish_remove(&place->folder, "schedule", &error), FORS_EIO);
	assert_int_equal(fors_publish_remove(&place->folder, "status.json", NULL), FORS_OK);
	assert_false(fors_publish_has(&place->folder, "status.json"));
	assert_int_equal(fors_publish_remove(&place->folder, "status.json", NULL), FORS_OK);
}

#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

static void note_name(void *context, const char *name)
{
	strcat(context, name);
	strcat(context, " ");
}

/* Files that are open. */
static int open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Others may write into publish_dir: what could be no job's folder is let be. */
static void folders_of_jobs(void **state)
{
	struct place *place = *state;
	const char *const names[] = {"4711", "a b", "\xff", "..x", "\"", "x\ny"};
	struct fors_folder job = place->folder;
	char path[200], seen[200] = "";
	int files;

	strcpy(job.job, names[0]);
	assert_int_equal(fors_publish(&job, "schedule", "x", 1, false, NULL), FORS_OK);
	for (unsigned i = 1; i < 6; i++) {
		snprintf(path, sizeof(path), "%s/jobs/%s", place->path, names[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	files = open_files();
	assert_int_equal(fors_publish_list_jobs(&place->folder, FORS_KIND_JOB, note_name, seen, NULL), FORS_OK);
	assert_string_equal(seen, "4711 ");
	assert_int_equal(open_files(), files);
}

static bool is_below(const struct place *place, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", place->path, name);
	return !access(path, F_OK);
}

/* A demand has a folder beside those of jobs, or in that of its job; the latter goes with the job's, or leaves that alone. */
static void folders_of_demands(void **state)
{
	struct place *place = *state;
	struct fors_folder job = place->folder;
	char path[FORS_ERROR_TEXT], seen[200] = "";

	for (unsigned i = 0; i < 3; i++) {
		strcpy(job.job, (const char *[]){"4711", "=4711", "+events"}[i]);
		assert_int_equal(fors_publish(&job, "schedule", "x", 1, false, NULL), FORS_OK);
	}
	fors_folder_path(&job, "schedule", path);
	assert_non_null(strstr(path, "/demand/events/schedule"));
	for (enum fors_jobkind kind = FORS_KIND_JOB; kind <= FORS_KIND_JOBDEMAND; kind++)
		assert_int_equal(fors_publish_list_jobs(&place->folder, kind, note_name, seen, NULL), FORS_OK);
	assert_string_equal(seen, "4711 +events =4711 ");
	strcpy(job.job, "=4711");
	fors_folder_path(&job, "schedule", path);
	assert_non_null(strstr(path, "/jobs/4711/demand/4711/schedule"));
	assert_int_equal(fors_publish_remove_job(&job, NULL), FORS_OK);
	assert_true(is_below(place, "jobs/4711/schedule") && !is_below(place, "jobs/4711/demand"));
	assert_int_equal(fors_publish(&job, "schedule", "x", 1, false, NULL), FORS_OK);
	strcpy(job.job, "4711");
	assert_int_equal(fors_publish_remove_job(&job, NULL), FORS_OK);
	assert_true(!is_below(place, "jobs/4711") && is_below(place, "demand/events/schedule"));
	strcpy(job.job, "=4711");
	assert_int_equal(fors_publish(&job, "schedule", "x", 1, false, NULL), FORS_OK);
	assert_int_equal(fors_publish_remove_job(&job, NULL), FORS_OK);
	assert_false(is_below(place, "jobs/4711"));
}

/* Of two servers, or (no phases) a withdrawn one, in a job's folder. */
static enum fors_err publish_schedule(const struct fors_folder *folder, uint64_t epoch, bool has_phases)
{
	const struct fors_schedule_server server[2] = {{.guid = 1, .lid = 1, .desc = "a"},
						       {.guid = 2, .lid = 2, .rank = 1}};
	struct fors_schedule *schedule;
	struct fors_error error;
	enum fors_err err;
	size_t size;
	void *bytes;

	if (has_phases) {
		assert_int_equal(fors_schedule_new_of(server, 2, 1, 2, 0, 0, "test", &schedule, NULL), FORS_OK);
		schedule->cell[1] = (struct fors_cell){.dst = 1, .lane = FORS_NO_LANE};
		schedule->cell[3] = (struct fors_cell){.dst = 0, .lane = FORS_NO_LANE};
	} else {
		assert_int_equal(fors_schedule_withdrawn(epoch, "the cable", &schedule, NULL), FORS_OK);
	}
	schedule->epoch = epoch;
	snprintf(schedule->name, sizeof(schedule->name), "%s", folder->job);
	assert_int_equal(fors_schedule_encode(schedule, &bytes, &size, NULL), FORS_OK);
	err = fors_publish(folder, "schedule", bytes, size, false, &error);
	free(bytes);
	fors_schedule_free(schedule);
	return err;
}

/* The epoch of what readers have, withdrawn or not, and why. */
static uint64_t read_schedule(const struct fors_folder *folder, bool has_phases, const char *why)
{
	struct fors_schedule *schedule;
	size_t size;
	void *bytes;
	uint64_t epoch;

	assert_int_equal(fors_published(folder, "schedule", 10000, &bytes, &size, NULL), FORS_OK);
	assert_int_equal(fors_schedule_decode(bytes, size, "schedule", &schedule, NULL), FORS_OK);
	free(bytes);
	epoch = schedule->epoch;
	assert_int_equal(schedule->nphases > 0, has_phases);
	assert_non_null(strstr(schedule->reason, why));
	fors_schedule_free(schedule);
	return epoch;
}

/* A withdrawal needs no block: it goes over the one that lies ready, or that goes in its place. Then there is none any more. */
static void a_full_disk_withdraws(void **state)
{
	struct place *place = *state;
	struct fors_folder *folder = &place->folder;

	for (int way = 0; way < 4; way++) {
		uint64_t epoch = 1000 * (uint64_t)(way + 1);

		strcpy(folder->job, way % 2 ? "job" : "");
		writes_elsewhere = way / 2;
		assert_int_equal(publish_schedule(folder, epoch, true), FORS_OK);
		disk_is_full = true;
		assert_int_equal(publish_schedule(folder, epoch + 2, true), FORS_EIO);
		assert_int_equal(read_schedule(folder, true, ""), epoch);
		assert_int_equal(publish_schedule(folder, epoch + 4, false), writes_elsewhere ? FORS_EIO : FORS_OK);
		epoch = read_schedule(folder, false, writes_elsewhere ? "no room" : "the cable");
		assert_int_equal(epoch, 1000 * (way + 1) + (writes_elsewhere ? 1 : 4));
		assert_false(fors_publish_has(folder, ".schedule.withdrawn"));
		disk_is_full = false;
		assert_int_equal(publish_schedule(folder, epoch + 6, false), FORS_OK);
		assert_int_equal(read_schedule(folder, false, "the cable"), epoch + 6);
	}
	assert_int_equal(fors_publish_remove_job(folder, NULL), FORS_OK);
}

/* A spare that has another name, or another size, is not written over: there is a new one. */
static void a_spare_that_was_touched_is_made_anew(void **state)
{
	struct place *place = *state;
	char spare[160], other[160];
	struct stat info, after;
	FILE *file;

	writes_elsewhere = false;
	snprintf(spare, sizeof(spare), "%s/.schedule.withdrawn", place->path);
	snprintf(other, sizeof(other), "%s/other", place->path);
	assert_int_equal(publish_schedule(&place->folder, 100, true), FORS_OK);
	assert_int_equal(link(spare, other), 0);
	assert_int_equal(stat(other, &info), 0);
	assert_int_equal(publish_schedule(&place->folder, 200, true), FORS_OK);
	assert_int_equal(stat(spare, &after), 0);
	assert_true(info.st_ino != after.st_ino);
	file = fopen(spare, "a");
	assert_non_null(file);
	assert_true(fputs("more", file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(publish_schedule(&place->folder, 300, true), FORS_OK);
	disk_is_full = true;
	assert_int_equal(publish_schedule(&place->folder, 302, false), FORS_OK);
	disk_is_full = false;
	assert_int_equal(read_schedule(&place->folder, false, "the cable"), 302);
	assert_int_equal(unlink(other), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_PLACE(folders_that_others_could_change),
		IN_A_PLACE(the_sticky_bit_helps_above),
		IN_A_PLACE(links_above),
		IN_A_PLACE(file_is_made_and_replaced),
		IN_A_PLACE(leftover_of_a_crash_is_no_obstacle),
		IN_A_PLACE(link_in_place_of_the_file),
		IN_A_PLACE(link_in_place_of_the_folder),
		IN_A_PLACE(missing_and_unreadable),
		IN_A_PLACE(written_in_pieces),
		IN_A_PLACE(without_stdin),
		IN_A_PLACE(one_byte_is_read_back),
		IN_A_PLACE(durable_files_are_synced),
		IN_A_PLACE(nothing_is_left_behind),
		IN_A_PLACE(folders_of_jobs),
		IN_A_PLACE(folders_of_demands),
		IN_A_PLACE(a_full_disk_withdraws),
		IN_A_PLACE(a_spare_that_was_touched_is_made_anew),
		cmocka_unit_test(default_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
