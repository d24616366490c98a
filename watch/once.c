/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* once.c - `fors watch --once`: what ibnetdiscover and dump_fts would say, of one moment. */
#include "once.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/net/lftfile.h"
#include "core/net/netfile.h"
#include "reading.h"

#define MOST_MS 30000 /* for a fabric to come to rest */

static enum fors_err write_failed(const char *path, int failed, struct fors_error *error)
{
	return fors_fail(error, FORS_EIO, "%s cannot be written: %s", path, strerror(failed));
}

/* Write a file beside, then give it its name: a reader finds the old one or the new one. */
static enum fors_err replace_file(const char *path, const char *text, size_t size, struct fors_error *error)
{
	char beside[4096];
	bool is_good;
	FILE *file;
	int failed;

	if (snprintf(beside, sizeof(beside), "%s.%ld", path, (long)getpid()) >= (int)sizeof(beside))
		return write_failed(path, ENAMETOOLONG, error);
	file = fopen(beside, "wx");
	if (!file)
		return write_failed(path, errno, error);
	is_good = fwrite(text, 1, size, file) == size;
	failed = errno;
	if (fclose(file) && is_good) {
		is_good = false;
		failed = errno;
	}
	if (is_good && !rename(beside, path))
		return FORS_OK;
	failed = is_good ? errno : failed;
	unlink(beside);
	return write_failed(path, failed, error);
}

static enum fors_err write_files(const struct fors_once *once, const struct fors_reading *reading,
				 struct fors_error *error)
{
	char *text = NULL;
	size_t size;
	enum fors_err err = FORS_OK;

	if (once->net) {
		err = fors_netfile_write(reading->net, &text, &size, error);
		if (!err)
			err = replace_file(once->net, text, size, error);
		free(text);
		text = NULL;
	}
	if (!err && once->lfts) {
		err = fors_lftfile_write(reading->net, reading->lfts, &text, &size, error);
		if (!err)
			err = replace_file(once->lfts, text, size, error);
		free(text);
	}
	return err;
}

static uint32_t count_cables(const struct fors_net *net)
{
	uint32_t ends = 0;

	for (uint32_t i = 0; i < net->nports; i++)
		ends += net->port[i].peer != FORS_NONE;
	return ends / 2;
}

static void tell(const struct fors_mads *mads, const struct fors_reading *reading, const char *how)
{
	const struct fors_mads_port *port = fors_mads_port(mads);
	const struct fors_mads_counts *counts = fors_mads_counts(mads);
	uint32_t nswitches = reading->survey->nswitches;

	printf("port        %u of %s, 0x%016" PRIx64 "\n", port->number, port->ca, port->guid);
	if (reading->sm.is_there)
		printf("manager     0x%016" PRIx64 ", LID %u, priority %u\n", reading->sm.guid, port->sm_lid,
		       reading->sm.priority);
	else
		printf("manager     none answers\n");
	printf("fabric      %u %s, %u %s, %u %s\n", nswitches, fors_plural(nswitches, "switch", "switches"),
	       reading->net->nnodes - nswitches,
	       fors_plural(reading->net->nnodes - nswitches, "other node", "other nodes"), count_cables(reading->net),
	       fors_plural(count_cables(reading->net), "cable", "cables"));
	printf("read        %" PRIu64 " %s in %.0f ms; in all %" PRIu64 ", of them %" PRIu64 " sent again\n",
	       reading->asked, fors_plural(reading->asked, "packet", "packets"), reading->ended_ms - reading->began_ms,
	       counts->sent, counts->again);
	printf("consistent  %s\n", how);
	if (reading->survey->silent)
		printf("silent      %u neighbours do not answer, behind ports without traffic; left out\n",
		       reading->survey->silent);
}

enum fors_err fors_once_run(const struct fors_once *once, struct fors_error *error)
{
	struct fors_reading reading = {.survey = NULL};
	struct fors_mads *mads = NULL;
	const char *how;
	enum fors_err err = fors_mads_open(&once->mads, &mads, error);

	if (!err)
		err = fors_reading_wait(mads, MOST_MS, &reading, &how, error);
	if (!err)
		err = write_files(once, &reading, error);
	if (!err)
		tell(mads, &reading, how);
	fors_reading_clear(&reading);
	fors_mads_close(mads);
	return err;
}
