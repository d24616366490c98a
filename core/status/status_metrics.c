/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * status_metrics.c - the status as metrics, for Prometheus (node_exporter's textfile collector).
 *
 * One gauge per key of the table (status_keys.h) that has a help text. What is unknown is absent: a scraper must be
 * able to tell "no dead link" from "nobody has looked".
 */
#include "status_metrics.h"

#include <stdio.h>

#include "core/base/text.h"
#include "status_keys.h"

static void metric_head(struct fors_buffer *out, const struct fors_key *key)
{
	fors_buffer_print(out, "# HELP fors_%s %s\n# TYPE fors_%s gauge\n", key->name, key->help, key->name);
}

/* State sets are written whole, as Prometheus recommends, so that an old state does not linger. */
static void metric_states(struct fors_buffer *out, const struct fors_status *status, const struct fors_key *key)
{
	metric_head(out, key);
	for (int i = 0; i < FORS_NSTATES; i++)
		fors_buffer_print(out, "fors_%s{state=\"%s\"} %d\n", key->name, fors_state_name((enum fors_state)i),
				  i == (int)status->state);
}

static void metric_text(struct fors_buffer *out, const struct fors_status *status, const struct fors_key *key)
{
	const char *text = fors_key_member(status, key);

	if (!key->help || !*text)
		return;
	metric_head(out, key);
	fors_buffer_print(out, "fors_%s{%s=\"", key->name, key->name);
	for (const char *c = text; *c; c++)
		fors_buffer_print(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c == '\n' ? ' ' : *c);
	fors_buffer_print(out, "\"} 1\n");
}

static void metric(struct fors_buffer *out, const struct fors_key *key, int decimals, double value)
{
	metric_head(out, key);
	fors_buffer_print(out, "fors_%s %.*f\n", key->name, decimals, value);
}

static void to_metric(struct fors_buffer *out, const struct fors_status *status, const struct fors_key *key)
{
	switch (key->kind) {
	case FORS_KEY_NUMBER:
		if (fors_key_number(status, key) >= 0)
			metric(out, key, 0, (double)fors_key_number(status, key));
		break;
	case FORS_KEY_MS:
		if (fors_key_ms(status, key) >= 0)
			metric(out, key, 3, fors_key_ms(status, key));
		break;
	case FORS_KEY_TEXT:
		metric_text(out, status, key);
		break;
	case FORS_KEY_STATE:
		metric_states(out, status, key);
		break;
	case FORS_KEY_DEAD_LINKS:
	case FORS_KEY_LINKS:
		if (status->leaves >= 0)
			metric(out, key, 0, (double)((const struct fors_links *)fors_key_member(status, key))->count);
		break;
	case FORS_KEY_DEAD_SINCE:
		break;
	case FORS_KEY_WARNINGS:
		metric(out, key, 0, status->warnings.count);
		break;
	}
}

enum fors_err fors_status_prom(const struct fors_status *status, char **text, struct fors_error *error)
{
	struct fors_buffer buffer = {0};

	for (size_t n = 0; n < fors_nkeys; n++)
		to_metric(&buffer, status, &fors_keys[n]);
	return fors_buffer_finish(&buffer, text, NULL, error);
}
