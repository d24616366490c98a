/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What management packets bring. In place of libibumad there is a port of a FT(2;2,3) whose nodes tell the truth, but for what
 * an input changes. For each answer it has a command, a byte:
 *
 *	below 0xC0		nothing: the truth, and so for all that is asked after the input's end
 *	0xC0 to 0xDF, A, B	the byte at A of the packet becomes B; then another command
 *	0xE0 to 0xE7		no answer
 *	0xE8 to 0xEF, N, bytes	these N bytes take the place of the data; then another command
 *	0xF0 to 0xF7, N, bytes	before the answer a Report comes, whose Notice begins with these bytes
 *	0xF8 to 0xFF, N		the packet is so many bytes longer, N 8, or shorter if N is above 0x80
 *
 * The fabric is read, read again with what Reports named in doubt, its ports are asked once more, and service levels of
 * all paths. Accepted is a fabric that could be read twice.
 */
#include "config.h"

#include "watch_target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

#include "core/fabric/places.h"
#include "core/net/spec.h"
#include "core/net/tree_net.h"
#include "core/fabric/lids.h"
#include "core/schedule/schedule.h"
#include "daemon/look/levels.h"
#include "core/tables/tables.h"
#include "tests/watch/fake_fabric.h"
#include "watch/bytes.h"
#include "watch/paths.h"
#include "watch/reading.h"
#include "watch/used.h"
#include "watch/wire.h"

#define MAD 256
#define SMP_DATA 64 /* where the data of a subnet management packet is */
#define SA_DATA 56  /* where records begin */
#define RECORD 64   /* a PathRecord */
#define MOST_OUT 16
#define MOST_ASKED 20000 /* then nobody answers any more */
#define MOST_SIZE (64 * RECORD + MAD)

/* A port with its fabric, and the input. One at a time: umad's functions have no context. */
static struct {
	struct fake_fabric fabric;
	struct fors_net *net;
	struct fors_places *places;
	struct fors_fabric *places_now;
	struct fors_lfts *lfts;
	const uint8_t *data;
	size_t left;
	uint32_t counted, asked;
	uint16_t reported;
	uint8_t out[MOST_OUT][MAD]; /* questions that wait for their answer */
	int agent[MOST_OUT];
	unsigned nout;
	uint8_t answer[MOST_SIZE]; /* that is too long for the buffer it was to go to */
	int answer_size, answer_agent;
	uint8_t unanswered[MAD]; /* the question of an answer that was changed: perhaps nobody knows it for one */
	bool is_unanswered;
} port;

static uint8_t next(void)
{
	if (!port.left)
		return 0;
	port.left--;
	return *port.data++;
}

static void next_bytes(uint8_t *to, size_t most)
{
	size_t size = next();

	for (size_t i = 0; i < size; i++) {
		uint8_t byte = next();

		if (i < most)
			to[i] = byte;
	}
}

/* ---- libibumad ---- */

int umad_init(void)
{
	return 0;
}

int umad_get_port(const char *ca_name, int portnum, umad_port_t *out)
{
	(void)ca_name;
	(void)portnum;
	*out = (umad_port_t){.ca_name = "fuzz0", .portnum = 1, .base_lid = 1, .sm_lid = 1};
	return 0;
}

int umad_release_port(umad_port_t *out)
{
	(void)out;
	return 0;
}

int umad_open_port(const char *ca_name, int portnum)
{
	(void)ca_name;
	(void)portnum;
	return 1;
}

int umad_close_port(int portid)
{
	(void)portid;
	return 0;
}

int umad_register(int portid, int mgmt_class, int mgmt_version, uint8_t rmpp_version,
		  long method_mask[16 / sizeof(long)])
{
	(void)portid;
	(void)mgmt_version;
	(void)rmpp_version;
	(void)method_mask;
	return mgmt_class;
}

int umad_unregister(int portid, int agentid)
{
	(void)portid;
	(void)agentid;
	return 0;
}

size_t umad_size(void)
{
	return sizeof(struct ib_user_mad);
}

void *umad_get_mad(void *umad)
{
	return ((struct ib_user_mad *)umad)->data;
}

ib_mad_addr_t *umad_get_mad_addr(void *umad)
{
	return &((struct ib_user_mad *)umad)->addr;
}

int umad_status(void *umad)
{
	return (int)((struct ib_user_mad *)umad)->status;
}

int umad_set_addr(void *umad, int dlid, int dqp, int sl, int qkey)
{
	(void)umad;
	(void)dlid;
	(void)dqp;
	(void)sl;
	(void)qkey;
	return 0;
}

int umad_set_pkey(void *umad, int pkey_index)
{
	(void)umad;
	(void)pkey_index;
	return 0;
}

int umad_send(int portid, int agentid, void *umad, int length, int timeout_ms, int retries)
{
	const uint8_t *mad = umad_get_mad(umad);

	(void)portid;
	(void)timeout_ms;
	(void)retries;
	if (mad[3] == FORS_METHOD_REPORT_RESP)
		return 0;
	if (port.nout == MOST_OUT || length != MAD || (mad[3] == FORS_METHOD_SET && fors_get16(mad + 16) != 3))
		abort(); /* more than the window, or what must not leave */
	memcpy(port.out[port.nout], mad, MAD);
	port.agent[port.nout++] = agentid;
	return 0;
}

/* ---- answers ---- */

/* Paths from a LID to all servers, or to one, in the data of an answer; its size. */
static int say_paths(const uint8_t *question, uint8_t *mad)
{
	uint16_t dlid = fors_get16(question + SA_DATA + 40), slid = fors_get16(question + SA_DATA + 42);
	int size = SA_DATA;

	for (uint16_t lid = 1; lid < port.lfts->nlids && lid < 40; lid++) {
		uint8_t *record = mad + size;

		if (dlid && dlid != lid)
			continue;
		fors_put16(record + 40, lid);
		fors_put16(record + 42, slid);
		size += RECORD;
	}
	fors_put16(mad + 44, RECORD / 8);
	return size;
}

/* What the fabric would say; 0: nobody is there. */
static int say(const uint8_t *question, uint8_t *mad)
{
	struct fors_directed_route way = {.hops = question[7] < FORS_WAY_HOPS ? question[7] : 0};
	uint16_t attribute = fors_get16(question + 16);
	uint32_t node;
	uint8_t in;

	memcpy(mad, question, 24);
	mad[3] = question[3] | 0x80;
	if (question[1] == UMAD_CLASS_SUBN_ADM)
		return say_paths(question, mad);
	if (question[1] == UMAD_CLASS_SUBN_LID_ROUTED) {
		fake_say_manager(++port.counted, mad + SMP_DATA);
		return MAD;
	}
	mad[3] = 0x81;
	memcpy(way.port, question + 129, way.hops);
	if (!fake_follow(&port.fabric, &way, &node, &in))
		return 0;
	fake_say(&port.fabric, node, in, attribute, fors_get32(question + 20), mad + SMP_DATA);
	return MAD;
}

static void report(uint8_t *mad)
{
	mad[1] = UMAD_CLASS_SUBN_ADM;
	mad[3] = FORS_METHOD_REPORT;
	fors_put16(mad + 16, FORS_ATTR_NOTICE);
	next_bytes(mad + SA_DATA, FORS_NOTICE_SIZE);
}

/* The input's commands for this answer; its size, 0: none comes. *is_report: one comes first. */
static int change(uint8_t *mad, int size, bool is_long, bool *is_report)
{
	for (;;) {
		uint8_t command = next(), at;

		if (command < 0xC0)
			return size;
		if (command < 0xE0) {
			at = next();
			mad[at] = next();
		} else if (command < 0xE8) {
			return 0;
		} else if (command < 0xF0) {
			next_bytes(mad + (is_long ? SA_DATA : SMP_DATA), MAD - SMP_DATA);
		} else if (command < 0xF8) {
			*is_report = true;
			return size;
		} else {
			at = next();
			size = at & 0x80 ? (size > at ? size - at : 0) : size + 8 * at;
			return size > MOST_SIZE ? MOST_SIZE : size;
		}
	}
}

static int give(struct ib_user_mad *to, int *length, uint32_t status)
{
	int room = *length;

	*length = port.answer_size;
	if (port.answer_size > room)
		return -ENOSPC;
	to->status = status;
	memcpy(to->data, port.answer, (size_t)port.answer_size);
	port.answer_size = 0;
	return port.answer_agent;
}

static void take_first(uint8_t question[MAD])
{
	memcpy(question, port.out[0], MAD);
	port.answer_agent = port.agent[0];
	port.nout--;
	memmove(port.out[0], port.out[1], (size_t)port.nout * MAD);
	memmove(port.agent, port.agent + 1, port.nout * sizeof(*port.agent));
}

/* As the kernel does when a question was not answered in time. */
static int give_back(struct ib_user_mad *to, int *length)
{
	memcpy(port.answer, port.unanswered, MAD);
	port.answer_size = MAD;
	port.is_unanswered = false;
	return give(to, length, ETIMEDOUT);
}

int umad_recv(int portid, void *umad, int *length, int timeout_ms)
{
	uint8_t question[MAD];
	bool is_report = false;

	size_t left;

	(void)portid;
	(void)timeout_ms;
	if (port.answer_size)
		return give(umad, length, 0);
	if (port.is_unanswered)
		return give_back(umad, length);
	if (!port.nout)
		return -ETIMEDOUT;
	memset(port.answer, 0, sizeof(port.answer));
	left = port.left;
	memcpy(question, port.out[0], MAD);
	port.answer_size = ++port.asked > MOST_ASKED ? 0 : say(question, port.answer);
	if (port.answer_size)
		port.answer_size =
			change(port.answer, port.answer_size, question[1] == UMAD_CLASS_SUBN_ADM, &is_report);
	if (is_report) {
		memset(port.answer, 0, sizeof(port.answer));
		report(port.answer);
		port.answer_size = MAD;
		return give(umad, length, 0);
	}
	take_first(port.unanswered);
	port.is_unanswered = left > port.left + 1 || !port.answer_size;
	return port.answer_size ? give(umad, length, 0) : give_back(umad, length);
}

/* ---- what is done with it ---- */

static void take_report(void *context, const uint8_t *notice)
{
	uint8_t sum = 0;

	for (unsigned i = 0; i < FORS_NOTICE_SIZE; i++)
		sum ^= notice[i];
	(void)sum;
	*(uint16_t *)context = fors_get16(notice + 10);
}

static bool is_used(void *context, uint64_t guid, unsigned number)
{
	return fors_used_has_port(context, guid, number);
}

static void ask_levels(struct fors_mads *mads, const struct fors_net *net)
{
	struct fors_levels *levels;
	struct fors_error error;

	if (fors_levels_new(net, NULL, true, &levels, &error))
		return;
	if (!fors_paths_ask(mads, levels, &error))
		fors_paths_sum(levels, 0);
	fors_levels_free(levels);
}

/* The second reading, with what was named in doubt, and what is asked over it. */
static bool go_on(struct fors_mads *mads, struct fors_reading *first)
{
	struct fors_reading second = {.survey = NULL};
	struct fors_used *used = NULL;
	struct fors_error error;

	fors_survey_mark(first->survey, port.reported);
	if (fors_reading_make(mads, first, true, true, &second, &error))
		return false;
	if (!fors_used_find(first->net, first->lfts, &used, &error)) {
		fors_used_change(used, second.net, second.lfts);
		fors_survey_check(second.survey, is_used, used, mads, &error);
	}
	fors_used_free(used);
	ask_levels(mads, second.net);
	fors_reading_clear(&second);
	return true;
}

static bool make_fabric(void)
{
	struct fors_tree_spec spec = {0};
	bool is_good = !fors_tree_spec_parse("FT(2;2,3)", &spec, NULL) && !fors_tree_net(&spec, &port.net, NULL);

	fors_tree_spec_clear(&spec);
	port.places = fors_places_new();
	if (!is_good || !port.places || fors_places_learn(port.places, port.net, NULL, 0, NULL) ||
	    fors_assign_lids(port.net, port.places, 0, false, NULL) ||
	    fors_fabric_build(port.net, port.places, NULL, &port.places_now, NULL) ||
	    fors_tables_build(port.places_now, &port.lfts, NULL))
		return false;
	port.fabric = (struct fake_fabric){.net = port.net, .lfts = port.lfts};
	while (port.net->node[port.fabric.from].type != FORS_CA)
		port.fabric.from++;
	return true;
}

static void free_fabric(void)
{
	fors_lfts_free(port.lfts);
	fors_fabric_free(port.places_now);
	fors_places_free(port.places);
	fors_net_free(port.net);
}

bool fuzz_watch(const uint8_t *data, size_t size)
{
	const struct fors_mads_setup setup = {.window = 4, .timeout_ms = 1000, .wants_reports = true};
	struct fors_reading reading = {.survey = NULL};
	struct fors_mads *mads = NULL;
	struct fors_error error;
	bool is_good;

	memset(&port, 0, sizeof(port));
	if (!make_fabric() || fors_mads_open(&setup, &mads, &error))
		abort();
	port.data = data;
	port.left = size;
	fors_mads_on_report(mads, take_report, &port.reported);
	is_good = !fors_reading_make(mads, NULL, false, true, &reading, &error) && go_on(mads, &reading);
	fors_reading_clear(&reading);
	fors_mads_close(mads);
	free_fabric();
	return is_good;
}
