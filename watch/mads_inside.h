/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mads_inside.h - what mads.c (window, time) and mads_port.c (the port, packets) share.
 */
#ifndef FORS_WATCH_MADS_INSIDE_H
#define FORS_WATCH_MADS_INSIDE_H

#include "mads.h"

/* Which kind of packet: each has an agent of its own at the kernel. */
enum kind { KIND_WAY, KIND_LID, KIND_SA, NKINDS };

struct question {
	enum kind kind;
	uint8_t method;
	uint16_t attribute, lid;
	uint32_t modifier;
	struct fors_directed_route way;
	uint8_t *record; /* of the administration: component mask and data, SA_RECORD bytes, owned; else NULL */
	fors_mad_done done;
	void *context;
	uint64_t tag;
};

/* A question that is out. */
struct pending {
	bool is_out;
	struct question question;
	uint32_t id; /* in the packet that was sent last */
	unsigned sendings;
	double due_ms; /* when it is sent again */
};

struct fors_mads {
	struct fors_mads_setup setup;
	struct fors_mads_port port;
	struct fors_mads_counts counts;
	int id;			/* umad's of the port */
	int agent[NKINDS];	/* negative: none */
	bool gets_reports;	/* the kernel gives them to us */
	void *out;		/* a packet to be sent */
	void *in;		/* what came */
	int in_room;		/* bytes of MADs that fit there */
	struct question *queue; /* a ring: nqueued from first on */
	size_t first, nqueued, room;
	struct pending *pending; /* [window] */
	unsigned nout;
	uint32_t last_id;
	double next_ms; /* when the next packet may leave */
	fors_mads_report report;
	void *report_context;
	bool has_report; /* one has come since it was cleared */
	bool is_broken;	 /* the kernel takes or gives nothing any more */
};

#define SA_MASK 8
#define SA_DATA 200
#define SA_RECORD (SA_MASK + SA_DATA)

/* A packet that has come, taken apart. */
struct packet {
	uint8_t method;
	uint16_t status, attribute;
	uint32_t modifier, id;
	bool is_timeout; /* the kernel gives a request back */
	const uint8_t *data;
	size_t size;
	uint16_t record;
};

/* Close the port; what of it is open. */
void fors_mads_shut(struct fors_mads *mads);

/* Send a question under this id. Errors: FORS_EIO. */
enum fors_err fors_mads_put(struct fors_mads *mads, const struct question *question, uint32_t id,
			    struct fors_error *error);
/*
 * The next packet, waiting at most so long; borrowed until the next call. FORS_ETIMEOUT: none came (or a signal did). A Report
 * is answered. Errors: FORS_EIO, FORS_ENOMEM.
 */
enum fors_err fors_mads_take(struct fors_mads *mads, unsigned wait_ms, struct packet *packet, struct fors_error *error);

#endif
