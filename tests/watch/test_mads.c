/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Questions to the fabric over a kernel in memory: how they look, how many are out, when they leave again, what comes back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_umad.h"
#include "daemon/base/clock.h"
#include "tests/unit/fake_clock.h"
#include "watch/bytes.h"
#include "watch/mads.h"
#include "watch/wire.h"
#include "tests/unit/unit.h"

FREES(fors_mads_close, struct fors_mads *)

/* What has come of questions. */
struct ends {
	unsigned count[3], done;
	uint64_t last_tag;
	uint8_t first_byte;
	size_t size;
	uint16_t status, record;
};

static void take(void *context, uint64_t tag, enum fors_mad_end end, const struct fors_mad *mad)
{
	struct ends *ends = context;

	ends->count[end]++;
	ends->done++;
	ends->last_tag = tag;
	if (!mad)
		return;
	ends->first_byte = mad->data[0];
	ends->size = mad->size;
	ends->status = mad->status;
	ends->record = mad->record;
}

static struct fors_mads *open_mads(struct fors_mads_setup setup)
{
	struct fors_error error;
	struct fors_mads *mads;

	assert_int_equal(fors_mads_open(&setup, &mads, &error), FORS_OK);
	return mads;
}

static void ask_port(struct fors_mads *mads, struct ends *ends, uint64_t tag)
{
	const struct fors_directed_route way = {2, {1, 5}};

	assert_int_equal(fors_mads_get(mads, &way, FORS_ATTR_PORT_INFO, (uint32_t)tag, take, ends, tag), FORS_OK);
}

static void run(struct fors_mads *mads)
{
	struct fors_error error;

	assert_int_equal(fors_mads_run(mads, &error), FORS_OK);
}

static void answer_all(struct umad *kernel, const struct umad_sent *sent)
{
	uint8_t data[FORS_SMP_DATA] = {0x5A};

	(void)kernel;
	umad_answer(sent, 3, 0, data, sizeof(data));
}

static int fresh(void **state)
{
	umad_reset();
	return 0;
}

TEST(opening, fresh, fresh)
{
	struct fors_mads_setup setup = {.ca = "mlx5_3", .port = 2, .wants_reports = true};
	struct fors_mads *mads = open_mads(setup);
	const struct fors_mads_port *port = fors_mads_port(mads);
	struct fors_error error;

	assert_string_equal(port->ca, "mlx5_3");
	assert_true(port->number == 2 && port->lid == 7 && port->sm_lid == 3 && port->sm_sl == 2);
	assert_true(port->guid == umad.guid);
	assert_true(fors_mads_get_reports(mads));
	fors_mads_close(mads);
	assert_true(umad.closes == 1 && umad.unregistered == 3);

	/* another program of this host has them */
	umad.takes_no_reports = true;
	mads = open_mads(setup);
	assert_false(fors_mads_get_reports(mads));
	fors_mads_close(mads);
	umad.closes = umad.unregistered = 0;

	/* what was not opened is not closed */
	umad.open_errno = EACCES;
	assert_int_equal(fors_mads_open(&setup, &mads, &error), FORS_EIO);
	assert_non_null(strstr(error.text, "no right to open"));
	umad.has_no_port = true;
	assert_int_equal(fors_mads_open(&setup, &mads, &error), FORS_EIO);
	assert_non_null(strstr(error.text, "no port 2 of adapter 'mlx5_3'"));
	umad.has_no_module = true;
	assert_int_equal(fors_mads_open(&setup, &mads, &error), FORS_EIO);
	assert_non_null(strstr(error.text, "load the module ib_umad"));
	assert_true(!umad.closes && !umad.unregistered);
}

/* Each kind of question, byte for byte where it counts. */
TEST(packets, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) =
		open_mads((struct fors_mads_setup){.window = 1, .timeout_ms = 150});
	const uint8_t record[4] = {9, 8, 7, 6};
	const struct fors_sa_question table = {FORS_SA_TABLE, FORS_ATTR_PATH_REC, 0x3000, record, 4},
				      subscribe = {FORS_SA_SUBSCRIBE, 0, 0x52, record, 4};
	struct ends ends = {.done = 0};
	const struct umad_sent *sent = umad.sent;

	umad.hear = answer_all;
	assert_int_equal(fors_mads_ask(mads, &table, take, &ends, 1), FORS_OK);
	ask_port(mads, &ends, 0x01020304);
	assert_int_equal(fors_mads_get_at(mads, 0x1234, FORS_ATTR_SM_INFO, 0, take, &ends, 3), FORS_OK);
	assert_int_equal(fors_mads_ask(mads, &subscribe, take, &ends, 4), FORS_OK);
	run(mads);
	assert_int_equal(umad.nsent, 4);
	assert_true(ends.count[FORS_MAD_ANSWERED] == 4 && ends.last_tag == 4);

	assert_true(sent[0].mad[1] == 0x03 && sent[0].mad[3] == FORS_METHOD_GET_TABLE && sent[0].lid == 3);
	assert_true(sent[0].qpn == 1 && sent[0].sl == 2 && sent[0].timeout_ms == 150 && !sent[0].retries);
	assert_int_equal(fors_get16(sent[0].mad + 16), FORS_ATTR_PATH_REC);
	assert_true(fors_get64(sent[0].mad + 48) == 0x3000);
	assert_memory_equal(sent[0].mad + 56, record, sizeof(record));

	assert_true(sent[1].mad[1] == 0x81 && sent[1].mad[3] == FORS_METHOD_GET && sent[1].lid == 0xFFFF &&
		    !sent[1].qpn);
	assert_true(sent[1].mad[7] == 2 && fors_get16(sent[1].mad + 16) == FORS_ATTR_PORT_INFO);
	assert_int_equal(fors_get32(sent[1].mad + 20), 0x01020304);
	assert_true(fors_get16(sent[1].mad + 32) == 0xFFFF && fors_get16(sent[1].mad + 34) == 0xFFFF);
	assert_true(!sent[1].mad[128] && sent[1].mad[129] == 1 && sent[1].mad[130] == 5 && !sent[1].mad[131]);
	assert_true(!sent[1].mad[64] && !sent[1].sl); /* nothing is left of the packet before */

	assert_true(sent[2].mad[1] == 0x01 && sent[2].mad[3] == FORS_METHOD_GET && sent[2].lid == 0x1234);
	assert_true(sent[3].mad[3] == FORS_METHOD_SET && fors_get16(sent[3].mad + 16) == FORS_ATTR_INFORM_INFO);
}

/* ---- the window ---- */

/* How many questions were out at a time, of those that these tests answer 3 ms later, or never (for 200). */
static unsigned most_out(double for_ms)
{
	unsigned most = 0;

	for (unsigned i = 0; i < umad.nsent; i++) {
		unsigned out = 0;

		for (unsigned k = 0; k <= i; k++)
			out += umad.sent[k].ms + for_ms > umad.sent[i].ms;
		most = out > most ? out : most;
	}
	return most;
}

TEST(window, fresh, fresh)
{
	static const unsigned windows[] = {0, 1, 7};

	for (unsigned w = 0; w < 3; w++) {
		struct fors_mads *mads FREED(fors_mads_close) =
			open_mads((struct fors_mads_setup){.window = windows[w]});
		struct ends ends = {.done = 0};

		umad.nsent = 0;
		umad.hear = answer_all;
		for (uint64_t tag = 0; tag < 600; tag++)
			ask_port(mads, &ends, tag);
		run(mads);
		assert_true(ends.count[FORS_MAD_ANSWERED] == 600 && umad.nsent == 600);
		assert_true(ends.first_byte == 0x5A && ends.size == FORS_SMP_DATA && ends.last_tag == 599);
		assert_int_equal(most_out(3), windows[w] ? windows[w] : FORS_MADS_WINDOW);
	}
}

/* A table of the administration goes alone, whatever the window, before its short answers and between them; these share it. */
TEST(one_by_one, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.window = 4});
	struct fors_sa_question question = {FORS_SA_TABLE, FORS_ATTR_PATH_REC, 1, (const uint8_t *)"x", 1};
	struct ends ends = {.done = 0};

	umad.hear = answer_all;
	ask_port(mads, &ends, 1);
	for (uint64_t tag = 2; tag < 9; tag++) {
		question.what = tag == 5 || tag == 6 ? FORS_SA_GET : FORS_SA_TABLE;
		assert_int_equal(fors_mads_ask(mads, &question, take, &ends, tag), FORS_OK);
	}
	run(mads);
	assert_true(ends.count[FORS_MAD_ANSWERED] == 8 && umad.nsent == 8);
	assert_true(umad.sent[1].ms == umad.sent[0].ms);
	for (unsigned i = 2; i < 8; i++)
		if (i == 5)
			assert_true(umad.sent[5].ms == umad.sent[4].ms);
		else
			assert_true(umad.sent[i].ms >= umad.sent[i - 1].ms + 3);
}

TEST(rate, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.window = 4, .rate = 100});
	struct ends ends = {.done = 0};

	umad.hear = answer_all;
	for (uint64_t tag = 0; tag < 50; tag++)
		ask_port(mads, &ends, tag);
	run(mads);
	assert_int_equal(ends.count[FORS_MAD_ANSWERED], 50);
	for (unsigned i = 1; i < 50; i++)
		assert_true(umad.sent[i].ms >= umad.sent[i - 1].ms + 10);
	assert_true(umad.sent[49].ms - umad.sent[0].ms < 49 * 12);
}

/* ---- answers that do not come, or too late, or say no ---- */

TEST(lost, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.window = 2, .retries = 2});
	struct ends ends = {.done = 0};

	ask_port(mads, &ends, 0);
	run(mads);
	assert_true(ends.count[FORS_MAD_LOST] == 1 && umad.nsent == 3);
	for (unsigned i = 1; i < 3; i++) {
		double gap = umad.sent[i].ms - umad.sent[i - 1].ms;

		assert_true(gap >= FORS_MADS_TIMEOUT_MS && gap <= FORS_MADS_TIMEOUT_MS + 10);
		assert_true(fors_get64(umad.sent[i].mad + 8) != fors_get64(umad.sent[i - 1].mad + 8));
	}
	assert_true(fors_mads_counts(mads)->sent == 3 && fors_mads_counts(mads)->again == 2);
	assert_true(fors_mads_counts(mads)->lost == 1 && !fors_mads_is_broken(mads));
}

/* The first sending is answered after the second has left, which is not answered: that is dropped. */
static void hear_late(struct umad *kernel, const struct umad_sent *sent)
{
	uint8_t data[FORS_SMP_DATA] = {(uint8_t)kernel->nsent};

	if (kernel->nsent != 2)
		umad_answer(sent, kernel->nsent == 1 ? 250 : 3, 0, data, sizeof(data));
}

/* The kernel gives the first sending back before its time: the next one leaves at once. */
static void hear_timeout(struct umad *kernel, const struct umad_sent *sent)
{
	uint8_t data[FORS_SMP_DATA] = {0};

	if (kernel->nsent == 1)
		umad_give(sent->agent, sent->mad, UMAD_MAD, 50, true);
	else
		umad_answer(sent, 3, 0, data, sizeof(data));
}

static void refuse(struct umad *kernel, const struct umad_sent *sent)
{
	uint8_t data[FORS_SMP_DATA] = {0};

	(void)kernel;
	umad_answer(sent, 3, 0x8000 | 0x1C, data, sizeof(data));
}

TEST(late_and_refused, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.retries = 5});
	struct ends ends = {.done = 0};

	umad.hear = hear_late;
	ask_port(mads, &ends, 1);
	run(mads);
	assert_true(ends.count[FORS_MAD_ANSWERED] == 1 && ends.first_byte == 3 && umad.nsent == 3);

	umad.nsent = 0;
	umad.hear = hear_timeout;
	ask_port(mads, &ends, 2);
	run(mads);
	assert_true(ends.count[FORS_MAD_ANSWERED] == 2 && umad.nsent == 2);
	assert_true(umad.sent[1].ms - umad.sent[0].ms < 60);

	umad.hear = refuse;
	ask_port(mads, &ends, 3);
	run(mads);
	assert_true(ends.count[FORS_MAD_REFUSED] == 1 && ends.status == 0x1C); /* without the bit of the direction */
	assert_int_equal(fors_mads_counts(mads)->refused, 1);
}

/* A table of the administration is longer than a packet. */
static void answer_long(struct umad *kernel, const struct umad_sent *sent)
{
	static uint8_t data[64 * 100] = {0x77};
	struct umad_sent as = *sent;

	(void)kernel;
	fors_put16(as.mad + 44, 8); /* 64 bytes from one to the next */
	umad_answer(&as, 3, 0, data, sizeof(data));
}

TEST(long_answer, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.window = 0});
	const struct fors_sa_question question = {FORS_SA_TABLE, FORS_ATTR_PATH_REC, 1, (const uint8_t *)"x", 1};
	struct ends ends = {.done = 0};

	umad.hear = answer_long;
	assert_int_equal(fors_mads_ask(mads, &question, take, &ends, 1), FORS_OK);
	run(mads);
	assert_true(ends.count[FORS_MAD_ANSWERED] == 1 && ends.size == 6400 && ends.record == 64 &&
		    ends.first_byte == 0x77);
}

/* ---- reports, and the end ---- */

static void note(void *context, const uint8_t *notice)
{
	*(uint8_t *)context = notice[5];
}

TEST(reports, fresh, fresh)
{
	struct fors_mads *mads FREED(fors_mads_close) = open_mads((struct fors_mads_setup){.wants_reports = true});
	uint8_t report[UMAD_MAD] = {1, 0x03, 2, FORS_METHOD_REPORT}, noted = 0;
	double began = fors_clock_exact_ms();
	struct fors_error error;

	fors_put16(report + 16, FORS_ATTR_NOTICE);
	fors_put64(report + 8, 99);
	report[56 + 5] = 42;
	fors_mads_on_report(mads, note, &noted);
	umad_give(2, report, sizeof(report), 40, false);
	assert_int_equal(fors_mads_wait(mads, began + 1000, &error), FORS_OK);
	assert_int_equal(noted, 42);
	assert_true(fors_clock_exact_ms() < began + 100); /* at once, not when the time is over */
	assert_true(umad.nsent == 1 && umad.sent[0].mad[3] == FORS_METHOD_REPORT_RESP && umad.sent[0].lid == 3);
	assert_true(umad.sent[0].sl == 2 && fors_get64(umad.sent[0].mad + 8) == 99 && umad.sent[0].qpn == 1);
	assert_int_equal(umad.sent[0].pkey_index, UMAD_PKEY_INDEX); /* the manager hears it in its partition */
	assert_int_equal(fors_mads_counts(mads)->reports, 1);
	assert_int_equal(fors_mads_wait(mads, began + 1000, &error), FORS_OK);
	assert_true(fors_clock_exact_ms() >= began + 1000);
}

static bool stop_at_once(void *context)
{
	return *(bool *)context;
}

TEST(ends_early, fresh, fresh)
{
	bool is_stopped = false;
	struct fors_mads *mads =
		open_mads((struct fors_mads_setup){.is_stopped = stop_at_once, .context = &is_stopped});
	struct ends ends = {.done = 0};
	struct fors_error error;

	ask_port(mads, &ends, 1);
	is_stopped = true;
	assert_int_equal(fors_mads_run(mads, &error), FORS_ECANCELLED);
	assert_int_equal(fors_mads_wait(mads, fors_clock_exact_ms() + 50, &error), FORS_ECANCELLED);
	assert_true(!ends.done && !fors_mads_is_broken(mads));
	is_stopped = false;
	run(mads); /* it has been forgotten */
	assert_int_equal(umad.nsent, 0);
	umad.send_fails = -ENODEV;
	ask_port(mads, &ends, 2);
	assert_int_equal(fors_mads_run(mads, &error), FORS_EIO);
	assert_true(!ends.done && fors_mads_is_broken(mads) && strstr(error.text, "takes no packets"));
	fors_mads_close(mads);
}
