/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * draw.h - a fabric as a picture: SVG, or DOT for Graphviz.
 * Thread rules: pure.
 */
#ifndef FORS_CLI_DRAW_H
#define FORS_CLI_DRAW_H

#include "core/net/lfts.h"
#include "core/net/net.h"
#include "core/status/status.h"

/* Cables that belong to somebody, each in that one's colour; all borrowed. */
struct cli_colours {
	const uint32_t *who;	 /* by port of the intact net, that of the lower end: a number; FORS_NONE: nobody's */
	const char *const *name; /* by number */
	uint32_t count;
};

/* What is to be drawn; all borrowed. */
struct cli_drawing {
	const struct fors_net *intact;	    /* all that has a place; indexed */
	const struct fors_net *now;	    /* the same nodes, without dead cables */
	const struct fors_lfts *lfts;	    /* for loads; NULL: none */
	const struct cli_colours *colours;  /* in SVG; NULL: none */
	const struct fors_status *status;   /* whose lists of links count, too; NULL: none */
	const char *title, *date, *command; /* what it shows, when and by what it was made, see made.h */
};

/* The picture as text in *text, owned by the caller (free()). Errors: FORS_EINPUT (nothing to draw), FORS_ENOMEM. */
enum fors_err cli_draw(const struct cli_drawing *drawing, bool is_dot, char **text, struct fors_error *error);

#endif
