/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stamp_schedule FILE EPOCH [REASON]: give a schedule file an epoch; with a reason, replace it by a withdrawn one. */
#include <stdio.h>
#include <stdlib.h>

#include "core/schedule/schedule.h"
#include "core/schedule/schedule_file.h"

static int save(const char *path, const struct fors_schedule *schedule)
{
	void *bytes;
	size_t size;
	FILE *file;

	if (fors_schedule_encode(schedule, &bytes, &size, NULL))
		return 1;
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		return 1;
	free(bytes);
	return 0;
}

static enum fors_err load(const char *path, struct fors_schedule **schedule)
{
	static char bytes[1 << 22];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return FORS_EIO;
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	return fors_schedule_decode(bytes, size, path, schedule, NULL);
}

int main(int argc, char **argv)
{
	struct fors_schedule *schedule = NULL;
	uint64_t epoch;
	int code;

	if (argc < 3)
		return 2;
	epoch = strtoull(argv[2], NULL, 10);
	if (argc > 3 ? fors_schedule_withdrawn(epoch, argv[3], &schedule, NULL) : load(argv[1], &schedule))
		return 1;
	schedule->epoch = epoch;
	code = save(argv[1], schedule);
	fors_schedule_free(schedule);
	return code;
}
