/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * account.h - where every CA port of a net has gone: into the exchange, or why not.
 * Thread rules: pure.
 */
#ifndef FORS_CORE_FABRIC_ACCOUNT_H
#define FORS_CORE_FABRIC_ACCOUNT_H

#include "core/base/warnings.h"
#include "fattree.h"

/* Why a CA port that could be a server is none, though nobody asked for that. */
enum fors_left_out {
	FORS_LEFT_STUB,	   /* below a stub switch (sides.h) */
	FORS_LEFT_LIDLESS, /* it has no LID */
	FORS_LEFT_ADRIFT,  /* cabled to no switch that has a place */
};
#define FORS_NLEFT_OUT 3
#define FORS_LEFT_SHOWN 3

struct fors_account {
	uint32_t ports;		   /* CA ports with a live cable; the sum of all that follows */
	uint32_t servers;	   /* in the exchange */
	uint32_t not_participants; /* servers that do not take part, as the list of participants wants it */
	uint32_t guests;	   /* on switches above leaves: routed, but in no exchange */
	uint32_t left_out[FORS_NLEFT_OUT];
	uint32_t first[FORS_NLEFT_OUT]
		      [FORS_LEFT_SHOWN]; /* the first such CAs, nodes of the net, in the order of their GUIDs */

	int64_t cut_pairs;		 /* ordered pairs of servers that partitions keep from talking; -1: not known */
	struct fors_warnings partitions; /* what there is to say of these */
	uint32_t first_guest[FORS_LEFT_SHOWN]; /* likewise */
	const char *hosts;		       /* what guests are on: "spines"; constant */
};

/* Count the CA ports of the tree's net into *account. Errors: FORS_ENOMEM. */
enum fors_err fors_account_take(const struct fors_fattree *tree, struct fors_account *account,
				struct fors_error *error);

/* All that are left out, whatever the reason. */
uint32_t fors_account_left_out(const struct fors_account *account);

/*
 * A warning for each reason for which CA ports of the net are left out, with their number and the first of them; and one
 * for many guests, which says what decides who is one.
 */
void fors_account_warn(const struct fors_net *net, const struct fors_account *account, struct fors_warnings *warnings);

/*
 * A warning of the switches of an intact net (indexed) that have no cable at all: spare ones, or taken out. Nobody gets there, so they
 * are left out by themselves, whatever tree it was meant to be; their number and the first of them are said.
 */
void fors_bare_warn(const struct fors_net *intact, struct fors_warnings *warnings);

/*
 * Take cables of switches without hosts that the tree has no use for out of its net, which is `net`: nothing is led over
 * them. A warning says how many, and names the first. Errors: FORS_ENOMEM.
 */
enum fors_err fors_aside_cut(const struct fors_fattree *tree, struct fors_net *net, struct fors_warnings *warnings,
			     struct fors_error *error);

#endif
