/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * service_inside.h - what service.c (rounds), service_read.c (what a reading means), service_reports.c (being told) and
 * service_look.c (what the daemon gets) share.
 */
#ifndef FORS_WATCH_SERVICE_INSIDE_H
#define FORS_WATCH_SERVICE_INSIDE_H

#include "daemon/daemon.h"
#include "paths.h"
#include "reading.h"
#include "service.h"
#include "used.h"

/* Levels of paths, as long as what was read stays what it is. */
struct told_levels {
	uint8_t *sl; /* [nservers * nlids], owned; NULL: none */
	uint32_t nservers, nlids;
	uint64_t lids;	  /* digest of the LIDs */
	uint64_t refused; /* questions for paths that the administration had no record of */
};

#define MOST_REPORTED 8

struct fors_service {
	const struct fors_service_setup *setup;
	struct fors_mads_setup mads_setup; /* with a deadline of ours */
	struct fors_log log;
	struct fors_sources sources;
	char options[4096 + 16];
	struct fors_mads *mads;
	struct fors_daemon *daemon;
	bool is_holder;	      /* publish_dir is ours, as the last look was told */
	bool wants_look;      /* the daemon asks for the look again; atomic, any thread */
	unsigned watchdog_ms; /* of systemd; 0: none */
	double fed_ms;	      /* when it was told last */

	/* the subnet manager, by its polls */
	struct fors_sm sm;	       /* its last answer as the master */
	double lost_ms, moved_ms;      /* since when it does not answer, 0: it does; when its count rose last */
	double rested_ms;	       /* when it had not risen last */
	double polled_ms;	       /* when it was asked last */
	bool is_moving, is_unattended; /* its count has risen since the poll before; the daemon knows that it is lost */

	/* the fabric, by readings */
	struct fors_reading last;      /* the newest that did not come to be shown; empty: none */
	struct fors_reading shown;     /* what the daemon knows; empty: nothing */
	struct fors_used *used;	       /* of shown */
	struct told_levels levels;     /* of shown */
	bool holds;		       /* nothing that `shown` uses is known to have changed */
	bool is_confirmed;	       /* a setting that was lost cannot have come after `shown` */
	bool is_due;		       /* a reading is */
	bool is_all_due;	       /* of everything: nobody knows what may have changed */
	bool is_check_due;	       /* of the ports that `shown` uses */
	double all_ms;		       /* when everything was read last */
	double not_before_ms;	       /* when the next one may begin */
	double gap_ms;		       /* between readings that find nothing while the manager goes on */
	unsigned failures;	       /* readings that failed, one after the other */
	char refused[FORS_ERROR_TEXT]; /* why nothing is published, as the log knows; "": something is */

	/* Reports */
	bool has_reports, is_told_subscribed; /* the subscription was taken; the log knows whether it was */
	bool is_deaf;			      /* a cable died and none came */
	bool is_reading;		      /* the fabric, or levels: there is no time for a Report */
	bool is_checking;		      /* ports: that is broken off for a Report */
	bool is_silent;			      /* the manager does not answer, and switches were asked */
	bool is_told;			      /* a Report of a changed port came since the reading began */
	uint32_t reported[MOST_REPORTED];     /* nodes of `shown` whose Reports are to be heeded */
	unsigned nreported;
	uint16_t told[MOST_REPORTED]; /* LIDs of switches that reported while the reading is made */
	unsigned ntold;
	unsigned nreports; /* since counted_ms */
	double counted_ms;
	double heard_ms;     /* when the last one came */
	double wary_ms;	     /* polls are as without Reports until then */
	double subscribe_ms; /* when to subscribe again */
	double deadline_ms;  /* of what is asked just now; 0: none */

	/* switches, asked in turn for changes of their ports */
	uint32_t turn;	 /* node */
	double turns_ms; /* until then all that is due was asked */
};

/* --- service_read.c --- */

/*
 * Read, and draw the consequences: withdraw, wait, or hand in a look. Errors: FORS_ECANCELLED; what cannot be read is
 * none.
 */
enum fors_err fors_service_read(struct fors_service *service, struct fors_error *error);
/* Ask for the ports that are used as they are just now, and withdraw if one is down. Errors: FORS_ECANCELLED. */
enum fors_err fors_service_check(struct fors_service *service, struct fors_error *error);
/* What `shown` uses is no more, for this reason, a constant. */
void fors_service_lose(struct fors_service *service, const char *why);
/* Forget what was read. */
void fors_service_forget(struct fors_service *service);

/* --- service_reports.c --- */

/* Is nothing missed, so that what no Report told of has not changed? */
bool fors_service_hears(const struct fors_service *service);
/* Note Reports from now on. */
void fors_service_hear(struct fors_service *service);
/* Subscribe, should it be time to. Errors: as fors_mads_run(), FORS_ENOMEM. */
enum fors_err fors_service_subscribe(struct fors_service *service, struct fors_error *error);
/* Look at the ports of the switches that Reports named. Errors: FORS_ECANCELLED. */
enum fors_err fors_service_heed(struct fors_service *service, struct fors_error *error);
/* A cable is down, as a reading shows: did a Report tell of it? */
void fors_service_miss(struct fors_service *service);
/* Are fewer polls enough? */
bool fors_service_may_doze(const struct fors_service *service);

/* --- service_look.c --- */

/* Hand in what is shown. Errors: FORS_ECANCELLED, FORS_EIO (no service levels), FORS_ENOMEM. */
enum fors_err fors_service_hand_in(struct fors_service *service, struct fors_error *error);
/* There is nothing to plan over, for this reason. */
void fors_service_decline(struct fors_service *service, const char *reason);
void fors_service_forget_levels(struct fors_service *service);

#endif
