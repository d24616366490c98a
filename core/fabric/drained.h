/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drained.h - living cables that shall carry no traffic between servers: excluded, degraded or held.
 *
 * First mark them, each reason with a function of its own; the first reason that marks a cable stays.
 * Then fors_drained_apply() takes them out of the tree, as far as no leaf loses another.
 * Thread rules: a fabric is marked by one thread, while nobody else reads it.
 */
#ifndef FORS_CORE_FABRIC_DRAINED_H
#define FORS_CORE_FABRIC_DRAINED_H

#include "core/base/names.h"
#include "core/base/warnings.h"
#include "fattree.h"

/*
 * Mark the cables named as excluded: NODE[PORT] one cable, NODE all cables of that switch to others of the tree. A name
 * that nothing or more than one node has, or that is no such cable, is ignored with a warning that begins with `key`; a
 * switch or cable that is dead is ignored without.
 */
void fors_drained_links(struct fors_fattree tree, const struct fors_names *names, const char *key,
			struct fors_warnings *warnings);
/* The same for switches above leaves, by NODE; a name of anything else is ignored with a warning. */
void fors_drained_spines(struct fors_fattree tree, const struct fors_names *names, const char *key,
			 struct fors_warnings *warnings);

/* Mark the cables that run below full width or speed. */
void fors_drained_degraded(struct fors_fattree tree);

/* Mark one cable, if it lives and has no mark yet. */
void fors_drained_mark_cable(struct fors_fattree tree, uint32_t number, enum fors_drain_reason reason);

/*
 * Count the marked cables as dead, all but those without which two leaves with end nodes on them would no longer have
 * a switch in common to turn at; each of these gets a warning. What follows from the cables is counted anew.
 * Errors: FORS_ENOMEM, the tree is then to be freed.
 */
enum fors_err fors_drained_apply(struct fors_fattree tree, struct fors_warnings *warnings, struct fors_error *error);

/* What is done about slow cables. */
enum fors_slow_how {
	FORS_SLOW_AUTO,	  /* the better of both, or some of them drained */
	FORS_SLOW_IGNORE, /* they are used as any other */
	FORS_SLOW_DEAD,	  /* they are drained, all but those that leaves cannot do without */
};

/*
 * What was found: times of the exchange in phases at full speed, about; negative: not known, or it cannot be. All zero
 * but for these, and for fast_bound, where no cable between switches is slower than a flow of the exchange could be.
 */
struct fors_slow {
	enum fors_slow_how how;	 /* that was asked for */
	uint32_t ncables;	 /* slow ones that are neither excluded nor held */
	uint32_t ndrained;	 /* of these, now */
	double ignored, drained; /* with all of them in use, with none; negative too where some leaf needs one */
	double chosen;		 /* as they are now */
	uint32_t
		fast_bound; /* phases that the others need at least, without the servers that are slow; 0: none is, or all are */
};

/* "auto", "ignore" or "dead" in *how; false: the name is another. */
bool fors_slow_how_named(const char *name, enum fors_slow_how *how);

/*
 * What is done about slow cables, and by whom: "auto: drained", "auto: partly drained", "auto: in use", "ignore" or
 * "dead", in text[room]; empty where none is slow.
 */
void fors_slow_choice(const struct fors_slow *slow, char *text, size_t room);

/* "excluded", "degraded", "held" or ""; never NULL. */
const char *fors_drained_name(enum fors_drain_reason reason);

#endif
