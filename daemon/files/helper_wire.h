/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * helper_wire.h - what libfors.so and its helper program fors-outbox say to each other, over a socket that is the helper's
 * stdin: one request, its bytes behind it, then one answer. Both are of one build, so structures go as they are; another
 * version that an upgrade has put in the helper's place is known by the first word.
 *
 * Threads: any; nothing is kept.
 */
#ifndef FORS_DAEMON_FILES_HELPER_WIRE_H
#define FORS_DAEMON_FILES_HELPER_WIRE_H

#include <stdint.h>

#include "publish.h"

#define FORS_HELPER_VERSION UINT64_C(0x33786f2d73726f66) /* to be changed with anything below: "fors-ox3" */
#define FORS_HELPER_NAMES 32				 /* of jobs, in one answer */
#define FORS_HELPER_MOST_BYTES (UINT64_C(1) << 31)	 /* of a file */

/* Functions of publish.h, for the folder that the helper was started for. */
enum fors_helper_what {
	FORS_HELPER_PUBLISH,
	FORS_HELPER_SYNC,
	FORS_HELPER_HEAD,
	FORS_HELPER_REMOVE_JOB,
	FORS_HELPER_HOLD, /* holder.h */
	FORS_HELPER_LIST, /* the next `job` names, of all kinds; `flag`: from the beginning */
};

struct fors_helper_request {
	uint64_t word;
	uint32_t what; /* enum fors_helper_what */
	uint32_t flag; /* is_durable, or as above */
	uint64_t size; /* of the bytes that follow */
	char tag[24], job[64];
	char name[32]; /* of the file */
};

struct fors_helper_answer {
	uint64_t word;
	struct fors_error error; /* code FORS_OK: done */
	struct fors_head head;
	uint32_t nnames, has_more, is_ours;
	char job[FORS_HELPER_NAMES][64];
};

/* The first word of both: structures of another size, an embedded one's too, are another version. */
#define FORS_HELPER_WORD                                                                                               \
	(FORS_HELPER_VERSION ^ (uint64_t)sizeof(struct fors_helper_request) << 32 ^ sizeof(struct fors_helper_answer))

#endif
