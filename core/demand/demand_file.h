/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * demand_file.h - a demand as text.
 *
 *	node[00-03] node17 1048576		# each of these sends so many bytes to node17
 *	role node[00-17] send			# each that sends sends one message to each that receives
 *	role node[18-19] receive
 *	role node20 both
 *	group row0 node[00-23]			# one message from each to each
 *
 * Hosts are names (node descriptions), GUIDs of nodes or ports, or lists as Slurm writes them (core/base/hostlist.h).
 * Thread rules: pure.
 */
#ifndef FORS_CORE_DEMAND_DEMAND_FILE_H
#define FORS_CORE_DEMAND_DEMAND_FILE_H

#include "core/base/warnings.h"
#include "core/net/namebook.h"
#include "core/net/net.h"
#include "demand.h"

/* Who may send and receive, in the order that numbers them; borrowed. */
struct fors_demand_hosts {
	const struct fors_net *net;
	const uint64_t *guid; /* of the port */
	const uint32_t *node; /* the adapter */
	uint32_t count;
	bool is_job;			  /* they are those of a job: messages say so */
	const struct fors_namebook *book; /* whose names are; NULL: of who has them now, and no name of several */
};

/*
 * What a text says, in *demand (fors_demand_clear()). Hosts that are not among `hosts` are left out, with all that they would send and receive;
 * *left_out says how many names those are, each once, and a warning names some. Sizes, or roles and groups: not both. Lines of a pair
 * add up.
 * Errors: FORS_EINPUT "name:line: ..." (a line that is none, a name of several servers, a second role), also when nothing is left to send;
 * FORS_ELIMIT, FORS_ENOMEM.
 */
enum fors_err fors_demand_read(const char *text, size_t size, const char *name, const struct fors_demand_hosts *hosts,
			       struct fors_demand *demand, uint32_t *left_out, struct fors_warnings *warnings,
			       struct fors_error *error);

#endif
