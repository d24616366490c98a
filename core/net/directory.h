/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * directory.h - the end nodes of a net by description, id and GUID, for who asks about many of them.
 *
 * Descriptions need not be unique: whoever runs a host can give it any, and a host with two adapters may have one for both.
 * Thread rules: plain data; any number of readers. The net must not change meanwhile.
 */
#ifndef FORS_CORE_NET_DIRECTORY_H
#define FORS_CORE_NET_DIRECTORY_H

#include "net.h"

/* A node or CA port GUID, and the node that has it. */
struct fors_directory_guid {
	uint64_t guid;
	uint32_t node;
};

struct fors_directory {
	const struct fors_net *net; /* borrowed */
	uint32_t *by_desc; /* ndescs nodes that are no switches and have a description, by it, then GUID; owned */
	uint32_t ndescs;
	uint32_t *by_id; /* nids nodes that are no switches, by id; owned */
	uint32_t nids;
	struct fors_directory_guid *by_guid; /* nguids of all that are no switches, ascending; owned */
	size_t nguids;
};

/* The directory of a net in *directory, owned by the caller (fors_directory_clear()). Errors: FORS_ENOMEM. */
enum fors_err fors_directory_make(const struct fors_net *net, struct fors_directory *directory,
				  struct fors_error *error);
void fors_directory_clear(struct fors_directory *directory);

/* The node that has this node or port GUID, or FORS_NONE. */
uint32_t fors_directory_guid(const struct fors_directory *directory, uint64_t guid);

/* As fors_net_address(), but for switches, which it does not find. Errors: the same. */
enum fors_err fors_directory_address(const struct fors_directory *directory, const char *what,
				     struct fors_address *address, struct fors_error *error);

/* How many nodes have this description; they are by_desc[*first] and following. */
uint32_t fors_directory_desc(const struct fors_directory *directory, const char *desc, uint32_t *first);

#endif
