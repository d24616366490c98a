/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * survey_inside.h - what survey.c (nodes and cables) and survey_tables.c (tables) share; and survey_net.c (what the net
 * is that was found).
 */
#ifndef FORS_WATCH_SURVEY_INSIDE_H
#define FORS_WATCH_SURVEY_INSIDE_H

#include "survey.h"

#define FORS_SEEN_NAME 128

/* A reading under way. */
struct fors_survey_reader {
	struct fors_survey *survey;
	const struct fors_survey *before; /* NULL: none */
	struct fors_mads *mads;
	struct fors_error *error;
	enum fors_err err;   /* of the first failure, which ends it */
	bool is_discovering; /* neighbours are asked for */
	bool wants_tables;   /* their blocks are asked for */
	bool is_new;	     /* the node met last */
	uint32_t blocks;     /* of tables that were asked for */
};

/* It has failed: no more answers are wanted. */
void fors_reader_fail(struct fors_survey_reader *reader, enum fors_err err);
/* A node did not say `what`. */
void fors_reader_unanswered(struct fors_survey_reader *reader, uint32_t node, const char *what, enum fors_mad_end end);
/* Until all is answered. */
enum fors_err fors_reader_run(struct fors_survey_reader *reader);

/* What PortInfo says of a port. */
void fors_survey_take_port(const uint8_t *info, struct fors_seen_port *port);

#endif
