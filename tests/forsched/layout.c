/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints what a compiled application knows of forsched.h: sizes, offsets, values. Compared with libforsched.abi. */
#include <stddef.h>
#include <stdio.h>

#include "libforsched/forsched.h"

#define SIZE(type) printf("sizeof(struct %s) %zu\n", #type, sizeof(struct type))
#define FIELD(type, field)                                                                                             \
	printf("%s.%s at %zu, %zu bytes\n", #type, #field, offsetof(struct type, field),                               \
	       sizeof(((struct type *)0)->field))
#define VALUE(name) printf("%s %lld\n", #name, (long long)(name))

static void print_values(void)
{
	VALUE(FORSCHED_OK);
	VALUE(FORSCHED_ERANGE);
	VALUE(FORSCHED_EFILE);
	VALUE(FORSCHED_EFORMAT);
	VALUE(FORSCHED_ENOTFOUND);
	VALUE(FORSCHED_EWITHDRAWN);
	VALUE(FORSCHED_ECHANGED);
	VALUE(FORSCHED_ENOMEM);
	VALUE(FORSCHED_NOBODY);
	VALUE(FORSCHED_STALE_MS);
	VALUE(FORSCHED_SKEW_MS);
	printf("sizeof(enum forsched_err) %zu\n", sizeof(enum forsched_err));
}

static void print_server(void)
{
	SIZE(forsched_server);
	FIELD(forsched_server, guid);
	FIELD(forsched_server, lid);
	FIELD(forsched_server, leaf);
	FIELD(forsched_server, rank);
	FIELD(forsched_server, lmc);
	FIELD(forsched_server, desc);
}

static void print_flow(void)
{
	SIZE(forsched_flow);
	FIELD(forsched_flow, to);
	FIELD(forsched_flow, from);
	FIELD(forsched_flow, spine);
	FIELD(forsched_flow, dlid);
	FIELD(forsched_flow, in_dlid);
	FIELD(forsched_flow, path);
	FIELD(forsched_flow, in_path);
	FIELD(forsched_flow, src_path_bits);
	FIELD(forsched_flow, reserved);
}

static void print_info(void)
{
	SIZE(forsched_info);
	FIELD(forsched_info, epoch);
	FIELD(forsched_info, fingerprint);
	FIELD(forsched_info, nservers);
	FIELD(forsched_info, nphases);
	FIELD(forsched_info, nleaves);
	FIELD(forsched_info, nlanes);
	FIELD(forsched_info, method);
	FIELD(forsched_info, reason);
	FIELD(forsched_info, name);
}

/* Of version 3 of the format. */
static void print_sizes(void)
{
	SIZE(forsched_sizes);
	FIELD(forsched_sizes, length);
	FIELD(forsched_sizes, granule);
	FIELD(forsched_sizes, checksum);
	FIELD(forsched_sizes, has_demand);
	FIELD(forsched_sizes, is_unit);
	FIELD(forsched_sizes, reserved);
	SIZE(forsched_piece);
	FIELD(forsched_piece, bytes);
	FIELD(forsched_piece, offset);
	FIELD(forsched_piece, total);
	FIELD(forsched_piece, in_bytes);
	FIELD(forsched_piece, in_offset);
	FIELD(forsched_piece, in_total);
	VALUE(FORSCHED_SENDS);
	VALUE(FORSCHED_RECEIVES);
}

/* Of version 2 of the format. */
static void print_more(void)
{
	SIZE(forsched_more);
	FIELD(forsched_more, job);
	FIELD(forsched_more, fabric_epoch);
	FIELD(forsched_more, version);
	FIELD(forsched_more, nswitches);
	FIELD(forsched_more, nways);
	FIELD(forsched_more, reserved);
	SIZE(forsched_hop);
	FIELD(forsched_hop, guid);
	FIELD(forsched_hop, port);
	FIELD(forsched_hop, reserved);
}

int main(void)
{
	print_values();
	SIZE(forsched_error);
	FIELD(forsched_error, code);
	FIELD(forsched_error, text);
	print_server();
	print_flow();
	print_info();
	SIZE(forsched_heartbeat);
	FIELD(forsched_heartbeat, unix_ms);
	FIELD(forsched_heartbeat, epoch);
	FIELD(forsched_heartbeat, age_ms);
	print_more();
	print_sizes();
	return 0;
}
