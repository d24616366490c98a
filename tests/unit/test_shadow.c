/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a status says in shadow mode: sentences, JSON to and fro, metrics, a line of the history. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status/history.h"
#include "core/status/status_json.h"
#include "core/status/status_metrics.h"

static void fill(struct fors_status *status)
{
	fors_status_init(status);
	status->state = FORS_SHADOW;
	status->phases = 380;
	snprintf(status->method, sizeof(status->method), "rounds");
	snprintf(status->tables_by, sizeof(status->tables_by), "minhop");
	fors_shadow_facts_init(&status->shadow);
	status->shadow.sweeps = 3;
	status->shadow.skipped = 0;
	status->shadow.looked_ms = 1700000000123;
	status->shadow.entries = 1;
	status->shadow.compared = 90;
	status->shadow.switches = 1;
	status->shadow.present_phases = 720;
	status->shadow.present_bound = 700;
	status->shadow.present_shift = 0.5164;
	status->shadow.own_shift = 1;
}

static void expect(const struct fors_status *status, const char *wanted)
{
	char text[1024], cut[8];

	fors_shadow_tell(status, text, sizeof(text));
	assert_string_equal(text, wanted);
	fors_shadow_tell(status, cut, sizeof(cut));
	assert_true(strlen(cut) < sizeof(cut) && !strncmp(cut, wanted, strlen(cut)));
}

TEST(test_sentences)
{
	struct fors_status status;

	fill(&status);
	expect(&status,
	       "1 of 90 entries change, in 1 switch; a schedule takes 380 phases instead of 720 over the tables of minhop "
	       "(1.89 times as fast); a linear shift without a schedule gets 100.0 % instead of 51.6 % of full "
	       "speed");
	status.shadow.present_phases = status.phases;
	expect(&status,
	       "1 of 90 entries change, in 1 switch; a schedule takes 380 phases, over the tables of minhop as well; a linear "
	       "shift without a schedule gets 100.0 % instead of 51.6 % of full speed");
	status.shadow.present_phases = FORS_UNKNOWN;
	status.shadow.own_shift = FORS_UNKNOWN;
	status.shadow.present_shift = 0;
	status.tables_by[0] = '\0';
	expect(&status,
	       "1 of 90 entries change, in 1 switch; a schedule takes 380 phases, none is possible over the tables of "
	       "another engine; a linear shift without a schedule gets 0 % (flows are lost) of full speed");
	status.shadow.entries = FORS_UNKNOWN;
	status.phases = FORS_UNKNOWN;
	status.shadow.present_shift = FORS_UNKNOWN;
	expect(&status, "how many entries change is not known");
	snprintf(status.reason, sizeof(status.reason), "it is no tree");
	expect(&status, "no entry changes, fors would not route: it is no tree");
}

TEST(test_json)
{
	struct fors_status status, again;
	char *text, *copy;

	fill(&status);
	snprintf(status.shadow.trouble, sizeof(status.shadow.trouble), "no way");
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_int_equal(fors_status_parse(text, "status.json", &again, NULL), FORS_OK);
	assert_int_equal(again.state, FORS_SHADOW);
	assert_memory_equal(&again.shadow, &status.shadow, sizeof(status.shadow));
	assert_int_equal(fors_status_json(&again, &copy, NULL), FORS_OK);
	assert_string_equal(text, copy);
	free(text);
	free(copy);
	status.shadow.is_known = false; /* nobody but a shadow has the key */
	assert_int_equal(fors_status_json(&status, &text, NULL), FORS_OK);
	assert_null(strstr(text, "\"shadow\":"));
	free(text);
}

TEST(test_bad_json)
{
	static const char *const texts[] = {
		"{\"state\": \"shadow\", \"shadow\": 5}",
		"{\"state\": \"shadow\", \"shadow\": {\"entries\": \"many\"}}",
		"{\"state\": \"shadow\", \"shadow\": {\"present_shift\": -1}}",
	};
	struct fors_status status;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(fors_status_parse(texts[i], "status.json", &status, NULL), FORS_EINPUT);
}

/* Every sample of a shadow has its label, and no other sample has. */
static void check_labels(const char *text, bool is_shadow)
{
	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		if (*at != '#') {
			const char *label = strstr(at, "mode=\"shadow\"");

			assert_int_equal(label && label < strchr(at, '\n'), is_shadow);
		}
}

TEST(test_metrics)
{
	struct fors_counts counts = {.version = "1", .is_shadow = true};
	struct fors_status status;
	char *text;

	fill(&status);
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	check_labels(text, true);
	assert_non_null(strstr(text, "fors_shadow_entries{fabric=\"daq\",mode=\"shadow\"} 1\n"));
	assert_non_null(strstr(text, "fors_shadow_phases{fabric=\"daq\",mode=\"shadow\",tables=\"present\"} 720\n"));
	assert_non_null(
		strstr(text, "fors_shadow_shift_ratio{fabric=\"daq\",mode=\"shadow\",tables=\"fors\"} 1.000000\n"));
	assert_non_null(strstr(text, "state=\"shadow\"} 1\n"));
	free(text);
	assert_int_equal(fors_counts_prom(&counts, "daq", &text, NULL), FORS_OK);
	check_labels(text, true);
	free(text);
	fors_status_init(&status);
	assert_int_equal(fors_status_prom(&status, "daq", &text, NULL), FORS_OK);
	check_labels(text, false);
	assert_null(strstr(text, "shadow"));
	free(text);
}

TEST(test_event)
{
	struct fors_status status;
	struct fors_event event;

	fill(&status);
	fors_shadow_event(&status, &event);
	assert_true(event.unix_ms == 1700000000123 && event.epoch == event.unix_ms);
	assert_int_equal(event.phases, 380);
	assert_string_equal(event.method, "rounds");
	assert_true(!strncmp(event.cause, "1 of 90 entries change", 22));
	status.phases = FORS_UNKNOWN;
	fors_shadow_event(&status, &event);
	assert_int_equal(event.phases, 0);
	assert_string_equal(event.method, "-");
}
