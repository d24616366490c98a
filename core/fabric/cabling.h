/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cabling.h - the cables between switches, whatever tree they make.
 *
 * Draining, holding and mending are about cables one by one: what they join, whether they live, why they carry nothing.
 * Two levels keep them by leaf and lane (fabric.h), three by the ports of what is known (pods.h). A cabling is what
 * both have in common: cables by number, each with a lower and a higher end; switches by number, leaves first, then
 * level by level. The cables of which a switch is the lower end are neighbours in the numbering.
 *
 * Thread rules: those of the tree. A cabling is a look at it, passed by value, and owns nothing.
 */
#ifndef FORS_CORE_FABRIC_CABLING_H
#define FORS_CORE_FABRIC_CABLING_H

#include "fabric.h"
#include "pods.h"

/* A cable. */
struct fors_plugged {
	uint32_t low, high; /* switches */
	uint8_t low_port, high_port;
	uint8_t state;	  /* enum fors_cable_state */
	uint8_t drained;  /* enum fors_drain_reason */
	bool is_degraded; /* the next three: as in struct fors_cable */
	bool is_routed;
	uint64_t since_ms;
};

/* A switch. */
struct fors_cabled {
	uint64_t guid;
	uint32_t node;	  /* in the net, FORS_NONE: dead */
	const char *name; /* the tree's */
};

struct fors_cabling {
	const struct fors_cabling_kind *kind;
	struct fors_fabric *fabric; /* of two levels; borrowed, or NULL */
	struct fors_pods *pods;	    /* of three; likewise */
	const struct fors_net *net; /* what is there now */
	uint32_t nleaves, nswitches;
	uint32_t ncables; /* numbers of cables; some may be unused */
};

/* What differs between trees. */
struct fors_cabling_kind {
	const char *cable, *spine; /* "cable between a leaf and a spine", "spine": for texts */
	bool (*get)(const struct fors_cabling *c, uint32_t cable, struct fors_plugged *plugged); /* false: unused */
	void (*put)(const struct fors_cabling *c, uint32_t cable, const struct fors_plugged *plugged);
	struct fors_cabled (*at)(const struct fors_cabling *c, uint32_t number);
	uint32_t (*above)(const struct fors_cabling *c, uint32_t number, uint32_t *count); /* cables, from which on */
	bool (*has_ends)(const struct fors_cabling *c, uint32_t leaf); /* is anything plugged in there to be reached? */
	int (*lacking)(const struct fors_cabling *c,
		       uint32_t number); /* cables up for what is below; negative: spare */
	void (*revive)(const struct fors_cabling *c, uint32_t number, uint32_t node);
};

/* Who has a constant tree does not let anything write to it. */
struct fors_cabling fors_fabric_cabling(const struct fors_fabric *fabric);
struct fors_cabling fors_pods_cabling(const struct fors_pods *pods);

/* Would a packet get through? */
static inline bool fors_plugged_passes(const struct fors_plugged *cable)
{
	return cable->state == FORS_CABLE_LIVE || (cable->state == FORS_CABLE_DEAD && cable->drained);
}

#endif
