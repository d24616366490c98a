/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "fake_umad.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "daemon/base/clock.h"
#include "tests/unit/fake_clock.h"
#include "watch/bytes.h"

#define PORT_ID 0 /* the kernel's first: a program that takes 0 for "none" closes it too often, or never */
#define SMP_DATA 64
#define SA_DATA 56

struct umad umad;

void umad_reset(void)
{
	for (unsigned i = 0; i < umad.ncome; i++)
		free(umad.come[i].mad);
	memset(&umad, 0, sizeof(umad));
	umad.guid = UINT64_C(0x0002c90300a1b2c3);
}

void umad_give(int agent, const uint8_t *mad, size_t size, unsigned in_ms, bool is_timeout)
{
	struct umad_come *come = &umad.come[umad.ncome++];

	*come = (struct umad_come){fors_clock_exact_ms() + in_ms, agent, is_timeout, size, malloc(size)};
	memcpy(come->mad, mad, size);
}

void umad_answer(const struct umad_sent *sent, unsigned in_ms, uint16_t status, const uint8_t *data, size_t size)
{
	bool is_sa = sent->mad[1] == 0x03;
	size_t head = is_sa ? SA_DATA : SMP_DATA, whole = head + size > UMAD_MAD ? head + size : UMAD_MAD;
	uint8_t *mad = calloc(1, whole);

	memcpy(mad, sent->mad, UMAD_MAD);
	mad[3] |= 0x80;
	fors_put16(mad + 4, status);
	memset(mad + head, 0, whole - head);
	memcpy(mad + head, data, size);
	umad_give(sent->agent, mad, is_sa ? head + size : whole, in_ms, false);
	free(mad);
}

/* ---- what the library has ---- */

int umad_init(void)
{
	return umad.has_no_module ? -ENOENT : 0;
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *port)
{
	memset(port, 0, sizeof(*port));
	if (umad.has_no_port)
		return -ENODEV;
	snprintf(port->ca_name, sizeof(port->ca_name), "%s", ca_name ? ca_name : "mlx5_0");
	port->portnum = portnum ? portnum : 1;
	port->base_lid = 7;
	port->sm_lid = 3;
	port->sm_sl = 2;
	port->port_guid = htobe64(umad.guid);
	return 0;
}

int umad_release_port(umad_port_t *port)
{
	(void)port;
	return 0;
}

int umad_open_port(const char *ca_name, int portnum)
{
	(void)ca_name;
	(void)portnum;
	errno = umad.open_errno;
	return umad.open_errno ? -EIO : PORT_ID;
}

int umad_close_port(int portid)
{
	umad.closes += portid == PORT_ID;
	return 0;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	(void)portid;
	(void)mgmt_class;
	(void)mgmt_version;
	(void)rmpp_version;
	return method_mask && umad.takes_no_reports ? -EPERM : (int)umad.nagents++;
}

int umad_unregister(int portid, int agentid)
{
	(void)portid;
	(void)agentid;
	umad.unregistered++;
	return 0;
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *packet)
{
	return ((struct ib_user_mad *)packet)->data;
}

ib_mad_addr_t *umad_get_mad_addr(void *packet)
{
	return &((struct ib_user_mad *)packet)->addr;
}

int umad_status(void *packet)
{
	return (int)((struct ib_user_mad *)packet)->status;
}

int umad_set_addr(void *packet, int dlid, int dqp, int sl, int qkey)
{
	struct ib_user_mad *mad = packet;

	mad->addr.lid = htons((uint16_t)dlid);
	mad->addr.qpn = htonl((uint32_t)dqp);
	mad->addr.sl = (uint8_t)sl;
	mad->addr.qkey = htonl((uint32_t)qkey);
	return 0;
}

int umad_set_pkey(void *packet, int pkey_index)
{
	((struct ib_user_mad *)packet)->addr.pkey_index = (uint16_t)pkey_index;
	return 0;
}

int umad_send(int portid, int agentid, void *packet, int length, int timeout_ms, int retries)
{
	const struct ib_user_mad *mad = packet;
	struct umad_sent *sent = &umad.sent[umad.nsent];

	(void)portid;
	errno = 0;
	if (umad.send_fails)
		return umad.send_fails;
	*sent = (struct umad_sent){.ms = fors_clock_exact_ms(),
				   .agent = agentid,
				   .timeout_ms = timeout_ms,
				   .retries = retries,
				   .lid = ntohs(mad->addr.lid),
				   .qpn = ntohl(mad->addr.qpn),
				   .sl = mad->addr.sl,
				   .pkey_index = mad->addr.pkey_index};
	memcpy(sent->mad, mad->data, (size_t)length);
	umad.nsent++;
	if (umad.hear)
		umad.hear(&umad, sent);
	return 0;
}

/* The one that comes first, and when; NULL: none. */
static struct umad_come *first_come(void)
{
	struct umad_come *first = NULL;

	for (unsigned i = 0; i < umad.ncome; i++)
		if (umad.come[i].mad && (!first || umad.come[i].ms < first->ms))
			first = &umad.come[i];
	return first;
}

int umad_recv(int portid, void *packet, int *length, int timeout_ms)
{
	struct umad_come *come = first_come();
	struct ib_user_mad *mad = packet;
	double now = fors_clock_exact_ms();

	(void)portid;
	if (!come || come->ms > now + timeout_ms) {
		fake_clock_advance((uint64_t)timeout_ms);
		return -ETIMEDOUT;
	}
	if (come->ms > now)
		fake_clock_advance((uint64_t)(come->ms - now));
	if ((size_t)*length < come->size) {
		*length = (int)come->size;
		return -ENOSPC;
	}
	*length = (int)come->size;
	memset(mad, 0, sizeof(*mad));
	mad->status = come->is_timeout ? ETIMEDOUT : 0;
	mad->addr.lid = htons(3);
	mad->addr.sl = 2;
	mad->addr.pkey_index = UMAD_PKEY_INDEX;
	memcpy(mad->data, come->mad, come->size);
	free(come->mad);
	come->mad = NULL;
	return come->agent;
}
