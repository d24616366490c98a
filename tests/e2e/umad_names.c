/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_names.c - a library to be preloaded into opensm on ibsim: nodes that call themselves otherwise.
 *
 * Whoever runs a host gives its adapters any node description. ibsim's nodes have those of the net file for good, so what they
 * answer is changed on its way to opensm: the file that FORS_UMAD_NAMES names has a line "OLD<tab>NEW" for each node that has
 * another description than ibsim gave it, and is read for each answer. NEW may be empty.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

enum { CLASS_LID = 0x01, CLASS_DIRECTED = 0x81, GET_RESPONSE = 0x81, NODE_DESCRIPTION = 0x10, DATA = 64, LENGTH = 64 };

static int (*real_recv)(int port, void *umad, int *length, int timeout_ms);

static void __attribute__((constructor)) start(void)
{
	real_recv = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
}

static void rename_node(char *desc)
{
	FILE *file = fopen(getenv("FORS_UMAD_NAMES") ? getenv("FORS_UMAD_NAMES") : "", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file)) {
		char *tab = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (!tab || (size_t)(tab - line) >= LENGTH || strncmp(line, desc, (size_t)(tab - line)) != 0 ||
		    desc[tab - line])
			continue;
		strncpy(desc, tab + 1, LENGTH);
		break;
	}
	if (file)
		fclose(file);
}

int umad_recv(int port, void *umad, int *length, int timeout_ms)
{
	int agent = real_recv(port, umad, length, timeout_ms);
	uint8_t *mad = umad_get_mad(umad);

	if (agent >= 0 && *length >= DATA + LENGTH && (mad[1] == CLASS_LID || mad[1] == CLASS_DIRECTED) &&
	    mad[3] == GET_RESPONSE && mad[16] == 0 && mad[17] == NODE_DESCRIPTION)
		rename_node((char *)mad + DATA);
	return agent;
}
