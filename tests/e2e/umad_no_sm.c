/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_no_sm.c - for opensm in ibsim, to be preloaded: no other port says that a subnet manager runs behind it.
 *
 * ibsim sends Reports only to clients that are marked as managers (SIM_SET_ISSM=1), and marks their ports too. opensm would ask
 * such a port for its SMInfo, and wait for an answer that nobody gives.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include <infiniband/umad.h>

#define CLASS 1
#define ATTRIBUTE 16
#define PORT_INFO 0x15
#define CAPABILITIES (64 + 23) /* the last byte of the mask */
#define IS_SM 0x02

int umad_recv(int id, void *packet, int *length, int timeout)
{
	static int (*real)(int, void *, int *, int);
	int agent;

	if (!real)
		real = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
	agent = real(id, packet, length, timeout);
	if (agent >= 0 && *length >= 256) {
		unsigned char *mad = umad_get_mad(packet);

		if ((mad[CLASS] == 0x81 || mad[CLASS] == 0x01) && mad[ATTRIBUTE] == 0 &&
		    mad[ATTRIBUTE + 1] == PORT_INFO)
			mad[CAPABILITIES] &= (unsigned char)~IS_SM;
	}
	return agent;
}
