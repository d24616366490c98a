/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * jobs.h - which servers work together, and what links their jobs have: effective edge forwarding index (EFI) and
 * dark fiber (Domke and Hoefler, "Scheduling-Aware Routing for Supercomputers", definitions 7 and 8).
 * Thread rules: plain data; any number of readers.
 */
#ifndef FORS_LAB_MODEL_MEASURE_JOBS_H
#define FORS_LAB_MODEL_MEASURE_JOBS_H

#include "lab/model/routers/router.h"
#include "evaluate.h"
#include "lab/model/routers/routes.h"

struct fors_efi_job {
	char name[FORS_NAME_MAX + 1];
	uint32_t *server; /* owned; ascending, no duplicates */
	uint32_t count;
};

struct fors_efi_jobs {
	struct fors_efi_job *job;
	uint32_t count;
};

/*
 * The jobs in `text`: a line "NAME: SERVER, SERVER, ..." each, where SERVER is a server number, a range of them
 * (0-17), or, when there are routes (may be NULL), what fors_net_find() takes: description, node id or GUID, with
 * [PORT] where a node has several. '#' starts a comment. A server may work for several jobs.
 * Errors: FORS_EINPUT "name:line: ...", FORS_ENOMEM.
 */
enum fors_err fors_efi_jobs_read(const char *text, size_t size, const char *name, uint32_t nservers,
				 const struct fors_routes *routes, struct fors_efi_jobs *jobs,
				 struct fors_error *error);
/* One job called "all" of all servers. Errors: FORS_ENOMEM. */
enum fors_err fors_efi_jobs_all(uint32_t nservers, struct fors_efi_jobs *jobs, struct fors_error *error);
void fors_efi_jobs_clear(struct fors_efi_jobs *jobs);

struct fors_efi {
	uint32_t njobs, nlinks;
	uint32_t *job_max;     /* per job: routes of the job over its fullest link between switches */
	uint32_t *job_links;   /* per job: directed links between switches that it uses */
	uint64_t *link;	       /* per link of the graph: intra-job routes (0 for cables of servers) */
	uint64_t max;	       /* over links between switches */
	uint32_t switch_links; /* directed links between switches */
	uint32_t dark_links;   /* of them without an intra-job route */
	double dark_fiber;     /* dark_links / switch_links, 0..1; 0 when there is none */
	uint64_t broken;       /* routes that do not arrive; not counted above */
};

/*
 * All ordered pairs of servers of each job, over path index 0, in *efi, owned by the caller (fors_efi_free()).
 * Errors: FORS_ENOMEM.
 */
enum fors_err fors_efi_count(const struct fors_router *router, const struct fors_efi_jobs *jobs, struct fors_efi **efi,
			     struct fors_error *error);
/*
 * The same over the path indices that are chosen: all pairs of pattern[j], of which server[] numbers are those of job j;
 * NULL: the job sends nothing. Errors: FORS_ENOMEM.
 */
enum fors_err fors_efi_count_chosen(const struct fors_router *router, const struct fors_efi_jobs *jobs,
				    const struct fors_pattern *const *pattern, struct fors_efi **efi,
				    struct fors_error *error);
void fors_efi_free(struct fors_efi *efi);

#endif
