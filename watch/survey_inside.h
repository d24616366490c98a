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
	bool is_trusted;		  /* what `before` knows need not be asked for again */
	uint32_t expanded;		  /* nodes whose cables have been taken over, if they are to be */
	struct fors_mads *mads;
	struct fors_error *error;
	enum fors_err err;   /* of the first failure, which ends it */
	bool is_discovering; /* neighbours are asked for */
	bool is_new;	     /* the node met last */
	uint32_t blocks;     /* of tables that were asked for */
};

/* It has failed: no more answers are wanted. */
void fors_reader_fail(struct fors_survey_reader *reader, enum fors_err err);
/* A node did not say `what`. */
void fors_reader_unanswered(struct fors_survey_reader *reader, uint32_t node, const char *what, enum fors_mad_end end);
/* Until all is answered. */
enum fors_err fors_reader_run(struct fors_survey_reader *reader);

/* A node of this GUID, type and number of ports, new, in *index. Errors: FORS_ELIMIT, FORS_ENOMEM. */
enum fors_err fors_reader_add(struct fors_survey_reader *reader, const struct fors_seen_node *like, uint32_t *index);
/* Ask for a port; what follows from the answer. */
void fors_reader_ask_port(struct fors_survey_reader *reader, uint32_t node, uint8_t port);
/* A cable, unless one of its ends has another one, which fails the reading: false. */
bool fors_reader_join(struct fors_survey_reader *reader, uint32_t a, uint8_t port_a, uint32_t b, uint8_t port_b);

/* --- survey_again.c --- */

/* Is what was read before of this node, of the new survey, still so? Then its ports are taken over. */
bool fors_reader_take(struct fors_survey_reader *reader, uint32_t node);
/* The cables of all nodes that were taken over, and whom they lead to. */
void fors_reader_expand(struct fors_survey_reader *reader);
/* All is found: ports of taken adapters that no cable leads to are unknown. */
void fors_reader_finish(struct fors_survey_reader *reader);

/* What PortInfo says of a port. */
void fors_survey_take_port(const uint8_t *info, struct fors_seen_port *port);
/* The port that says what this one can: itself, or port 0 of its switch. */
const struct fors_seen_port *fors_seen_able(const struct fors_seen_node *node, const struct fors_seen_port *port);

#endif
