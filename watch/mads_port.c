/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads_port.c - the port at the kernel (libibumad), and what packets look like.
 *
 * Which packets can leave is decided here and nowhere else: put() takes only what may_leave() knows.
 */
#include "mads_inside.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_sa.h>
#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>

#include "bytes.h"
#include "wire.h"

#define MAD_SIZE 256
#define SA_HEAD 56		  /* bytes of an administration's packet before its records */
#define MOST_RECEIVED (64u << 20) /* of one answer: a million paths */

/* ---- the port ---- */

static void set_port(struct fors_mads *mads, const umad_port_t *port)
{
	snprintf(mads->port.ca, sizeof(mads->port.ca), "%s", port->ca_name);
	mads->port.number = (unsigned)port->portnum;
	mads->port.guid = be64toh(port->port_guid);
	mads->port.lid = (uint16_t)port->base_lid;
	mads->port.sm_lid = (uint16_t)port->sm_lid;
	mads->port.sm_sl = (uint8_t)port->sm_sl;
}

void fors_mads_set_manager(struct fors_mads *mads, uint16_t lid, uint16_t sm_lid, uint8_t sm_sl)
{
	mads->port.lid = lid;
	mads->port.sm_lid = sm_lid;
	mads->port.sm_sl = sm_sl;
}

static enum fors_err find_port(struct fors_mads *mads, struct fors_error *error)
{
	const struct fors_mads_setup *setup = &mads->setup;
	umad_port_t port;

	if (umad_init())
		return fors_fail(error, FORS_EIO,
				 "the kernel has no InfiniBand management interface: load the module ib_umad");
	if (umad_get_port(setup->ca, (int)setup->port, &port)) {
		if (setup->ca || setup->port)
			return fors_fail(error, FORS_EIO,
					 "there is no port %u of adapter '%s': ibstat lists adapters and ports",
					 setup->port, setup->ca ? setup->ca : "(the first)");
		return fors_fail(error, FORS_EIO, "this host has no InfiniBand port: ibstat lists adapters and ports");
	}
	set_port(mads, &port);
	umad_release_port(&port);
	return FORS_OK;
}

static enum fors_err open_port(struct fors_mads *mads, struct fors_error *error)
{
	int failed;

	errno = 0;
	mads->id = umad_open_port(mads->port.ca, (int)mads->port.number);
	failed = errno;
	if (mads->id >= 0)
		return FORS_OK;
	if (failed == EACCES || failed == EPERM)
		return fors_fail(
			error, FORS_EIO,
			"no right to open the management interface of port %u of '%s': run this as root, or as a member of "
			"the group that owns /dev/infiniband/umad*",
			mads->port.number, mads->port.ca);
	return fors_fail(error, FORS_EIO, "the management interface of port %u of '%s' cannot be opened: %s",
			 mads->port.number, mads->port.ca, strerror(failed ? failed : -mads->id));
}

/* An agent that gets reports, too: one program of a host can. */
static int register_reports(struct fors_mads *mads)
{
	long mask[16 / sizeof(long)] = {1L << FORS_METHOD_REPORT};

	return umad_register(mads->id, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, UMAD_RMPP_VERSION, mask);
}

static enum fors_err register_agents(struct fors_mads *mads, struct fors_error *error)
{
	mads->agent[KIND_WAY] = umad_register(mads->id, UMAD_CLASS_SUBN_DIRECTED_ROUTE, 1, 0, NULL);
	mads->agent[KIND_LID] = umad_register(mads->id, UMAD_CLASS_SUBN_LID_ROUTED, 1, 0, NULL);
	mads->agent[KIND_SA] = mads->setup.wants_reports ? register_reports(mads) : -1;
	mads->gets_reports = mads->agent[KIND_SA] >= 0;
	if (mads->agent[KIND_SA] < 0)
		mads->agent[KIND_SA] =
			umad_register(mads->id, UMAD_CLASS_SUBN_ADM, UMAD_SA_CLASS_VERSION, UMAD_RMPP_VERSION, NULL);
	for (int i = 0; i < NKINDS; i++)
		if (mads->agent[i] < 0)
			return fors_fail(error, FORS_EIO, "the kernel takes no management agent on port %u of '%s': %s",
					 mads->port.number, mads->port.ca, strerror(-mads->agent[i]));
	return FORS_OK;
}

/* Once the port is open: only then does umad_size() know which kernel it is. */
static enum fors_err make_buffers(struct fors_mads *mads, struct fors_error *error)
{
	mads->in_room = MAD_SIZE;
	mads->out = calloc(1, umad_size() + MAD_SIZE);
	mads->in = calloc(1, umad_size() + MAD_SIZE);
	mads->pending = calloc(mads->setup.window, sizeof(*mads->pending));
	return mads->out && mads->in && mads->pending ? FORS_OK : fors_fail_memory(error);
}

enum fors_err fors_mads_open(const struct fors_mads_setup *setup, struct fors_mads **mads, struct fors_error *error)
{
	struct fors_mads *made = calloc(1, sizeof(*made));
	enum fors_err err;

	if (!made)
		return fors_fail_memory(error);
	made->setup = *setup;
	made->setup.window = setup->window ? setup->window : FORS_MADS_WINDOW;
	made->setup.timeout_ms = setup->timeout_ms ? setup->timeout_ms : FORS_MADS_TIMEOUT_MS;
	made->id = -1;
	err = find_port(made, error);
	if (!err)
		err = open_port(made, error);
	if (!err)
		err = make_buffers(made, error);
	if (!err)
		err = register_agents(made, error);
	if (err)
		fors_mads_close(made);
	else
		*mads = made;
	return err;
}

void fors_mads_shut(struct fors_mads *mads)
{
	for (int i = 0; mads->id >= 0 && i < NKINDS; i++)
		if (mads->agent[i] >= 0)
			umad_unregister(mads->id, mads->agent[i]);
	if (mads->id >= 0)
		umad_close_port(mads->id);
	mads->id = -1;
}

/* ---- packets out ---- */

static void fill_smp(const struct question *question, uint32_t id, uint64_t m_key, struct umad_smp *smp)
{
	bool is_way = question->kind == KIND_WAY;

	memset(smp, 0, sizeof(*smp));
	smp->base_version = UMAD_BASE_VERSION;
	smp->mgmt_class = is_way ? UMAD_CLASS_SUBN_DIRECTED_ROUTE : UMAD_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = question->method;
	smp->tid = htobe64(id);
	smp->attr_id = htons(question->attribute);
	smp->attr_mod = htonl(question->modifier);
	smp->mkey = htobe64(m_key);
	if (!is_way)
		return;
	smp->dr_slid = smp->dr_dlid = 0xFFFF;
	smp->hop_cnt = question->way.hops;
	memcpy(smp->initial_path + 1, question->way.port, question->way.hops);
}

static void fill_sa(const struct question *question, uint32_t id, struct umad_sa_packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	packet->mad_hdr.base_version = UMAD_BASE_VERSION;
	packet->mad_hdr.mgmt_class = UMAD_CLASS_SUBN_ADM;
	packet->mad_hdr.class_version = UMAD_SA_CLASS_VERSION;
	packet->mad_hdr.method = question->method;
	packet->mad_hdr.tid = htobe64(id);
	packet->mad_hdr.attr_id = htons(question->attribute);
	packet->mad_hdr.attr_mod = htonl(question->modifier);
	packet->rmpp_hdr.rmpp_version = UMAD_RMPP_VERSION;
	memcpy(&packet->comp_mask, question->record, SA_MASK);
	memcpy(packet->data, question->record + SA_MASK, SA_DATA);
}

/* All that leaves: questions, and the one Set that subscribes. */
static bool may_leave(const struct question *question)
{
	if (question->method == FORS_METHOD_GET)
		return true;
	return question->kind == KIND_SA &&
	       (question->method == FORS_METHOD_GET_TABLE ||
		(question->method == FORS_METHOD_SET && question->attribute == FORS_ATTR_INFORM_INFO));
}

enum fors_err fors_mads_put(struct fors_mads *mads, const struct question *question, uint32_t id,
			    struct fors_error *error)
{
	int failed;

	if (!may_leave(question))
		return fors_fail(error, FORS_EIO, "a management packet that is no question was not sent");
	memset(mads->out, 0, umad_size() + MAD_SIZE);
	if (question->kind == KIND_SA) {
		fill_sa(question, id, umad_get_mad(mads->out));
		umad_set_addr(mads->out, question->lid, 1, mads->port.sm_sl, (int)UMAD_QKEY);
	} else {
		fill_smp(question, id, mads->setup.m_key, umad_get_mad(mads->out));
		umad_set_addr(mads->out, question->kind == KIND_WAY ? 0xFFFF : question->lid, 0, 0, 0);
	}
	umad_set_pkey(mads->out, 0);
	failed = umad_send(mads->id, mads->agent[question->kind], mads->out, MAD_SIZE, (int)mads->setup.timeout_ms, 0);
	if (failed < 0)
		return fors_fail(error, FORS_EIO, "port %u of '%s' takes no packets any more: %s", mads->port.number,
				 mads->port.ca, strerror(errno ? errno : -failed));
	return FORS_OK;
}

/* ---- packets in ---- */

/* Thank for a report: without that some managers end the subscription. */
static void answer_report(struct fors_mads *mads)
{
	const ib_mad_addr_t *from = umad_get_mad_addr(mads->in);
	struct umad_hdr *head;

	memset(mads->out, 0, umad_size() + MAD_SIZE);
	head = umad_get_mad(mads->out);
	memcpy(head, umad_get_mad(mads->in), MAD_SIZE);
	head->method = FORS_METHOD_REPORT_RESP;
	umad_set_addr(mads->out, ntohs(from->lid), 1, from->sl, (int)UMAD_QKEY);
	umad_set_pkey(mads->out, from->pkey_index);
	umad_send(mads->id, mads->agent[KIND_SA], mads->out, MAD_SIZE, 0, 0);
	mads->counts.reports++;
}

static void take_smp(const uint8_t *mad, int length, struct packet *packet)
{
	const struct umad_smp *smp = (const void *)mad;

	packet->data = smp->data;
	packet->size = length >= MAD_SIZE ? FORS_SMP_DATA : 0;
	packet->status &= 0x7FFF; /* the first bit is the direction */
}

static void take_sa(const uint8_t *mad, int length, struct packet *packet)
{
	packet->data = mad + SA_HEAD;
	packet->size = length > SA_HEAD ? (size_t)(length - SA_HEAD) : 0;
	packet->record = (uint16_t)(8 * fors_get16(mad + 44));
}

static bool take_apart(struct fors_mads *mads, int length, struct packet *packet)
{
	const uint8_t *mad = umad_get_mad(mads->in);
	const struct umad_hdr *head = (const void *)mad;

	if (length < SA_HEAD)
		return false;
	*packet = (struct packet){.method = head->method,
				  .status = ntohs(head->status),
				  .attribute = ntohs(head->attr_id),
				  .modifier = ntohl(head->attr_mod),
				  .id = (uint32_t)be64toh(head->tid),
				  .is_timeout = umad_status(mads->in) != 0};
	if (head->mgmt_class == UMAD_CLASS_SUBN_ADM)
		take_sa(mad, length, packet);
	else
		take_smp(mad, length, packet);
	if (packet->method == FORS_METHOD_REPORT && head->mgmt_class == UMAD_CLASS_SUBN_ADM &&
	    packet->attribute == FORS_ATTR_NOTICE && packet->size >= FORS_NOTICE_SIZE && !packet->is_timeout) {
		answer_report(mads);
		return true;
	}
	/* the administration's are as long as their records, whose readers look */
	return packet->is_timeout || (packet->method & FORS_METHOD_RESPONSE &&
				      (head->mgmt_class == UMAD_CLASS_SUBN_ADM || packet->size >= FORS_SMP_DATA));
}

/* Room for an answer of so many bytes. */
static enum fors_err widen(struct fors_mads *mads, int length, struct fors_error *error)
{
	void *more = length > 0 && (unsigned)length <= MOST_RECEIVED ? realloc(mads->in, umad_size() + (size_t)length)
								     : NULL;

	if (!more)
		return fors_fail_memory(error);
	mads->in = more;
	mads->in_room = length;
	return FORS_OK;
}

enum fors_err fors_mads_take(struct fors_mads *mads, unsigned wait_ms, struct packet *packet, struct fors_error *error)
{
	int length = mads->in_room, agent;

	errno = 0;
	agent = umad_recv(mads->id, mads->in, &length, (int)wait_ms);
	if (agent == -ENOSPC && length > mads->in_room)
		return widen(mads, length, error) ? FORS_ENOMEM : fors_mads_take(mads, 0, packet, error);
	if (agent == -ETIMEDOUT || agent == -EWOULDBLOCK || agent == -EINTR || (agent < 0 && errno == EINTR))
		return FORS_ETIMEOUT;
	if (agent < 0)
		return fors_fail(error, FORS_EIO, "port %u of '%s' gives no packets any more: %s", mads->port.number,
				 mads->port.ca, strerror(errno ? errno : -agent));
	return take_apart(mads, length, packet) ? FORS_OK : FORS_ETIMEOUT;
}

bool fors_mads_get_reports(const struct fors_mads *mads)
{
	return mads->gets_reports;
}
