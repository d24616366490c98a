/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * scattered_jobs.h - four jobs of 16 servers, all over FT(2;8,8). Three of them have room to be as fast as can be; when the
 * fourth starts, a short search leaves it slow, and a longer one, for which the others move, makes it faster.
 */
#ifndef FORS_TESTS_SCATTERED_JOBS_H
#define FORS_TESTS_SCATTERED_JOBS_H

#define SCATTERED_THREE                                                                                                \
	"j0 [job-index]: Node04-06, Node00-07, Node03-04, Node06-03, Node05-06, Node00-04, Node02-03, Node05-01, "     \
	"Node01-03, Node07-05, Node02-05, Node05-05, Node02-00, Node06-05, Node03-07, Node01-02\n"                     \
	"j1 [job-index]: Node05-07, Node07-00, Node01-07, Node05-00, Node01-05, Node07-06, Node02-04, Node04-07, "     \
	"Node03-00, Node06-07, Node03-05, Node00-03, Node04-05, Node01-01, Node07-03, Node06-06\n"                     \
	"j2 [job-index]: Node07-07, Node00-02, Node06-04, Node03-03, Node02-01, Node06-01, Node00-06, Node02-06, "     \
	"Node04-04, Node04-02, Node05-04, Node00-01, Node04-03, Node06-02, Node00-00, Node07-02\n"
#define SCATTERED_FOURTH                                                                                               \
	"j3 [job-index]: Node05-03, Node04-00, Node01-04, Node00-05, Node07-04, Node04-01, Node03-06, Node07-01, "     \
	"Node01-00, Node05-02, Node06-00, Node03-01, Node02-07, Node02-02, Node01-06, Node03-02\n"

/* The same with a path index for each lane: the fourth gets slow, and faster when the others move. */
#define EXCLUSIVE_THREE                                                                                                \
	"j0 [exclusive]: Node06-01, Node00-07, Node05-04, Node06-05, Node06-00, Node07-05, Node02-01, Node00-03, "     \
	"Node06-03, Node00-05, Node06-06, Node03-01, Node05-03, Node01-02, Node07-07, Node04-02\n"                     \
	"j1 [exclusive]: Node00-06, Node00-00, Node03-02, Node02-02, Node01-01, Node07-01, Node05-05, Node03-04, "     \
	"Node06-07, Node03-05, Node04-06, Node04-07, Node01-07, Node01-03, Node04-04, Node02-06\n"                     \
	"j2 [exclusive]: Node02-03, Node02-05, Node04-01, Node01-05, Node03-07, Node07-00, Node07-04, Node00-04, "     \
	"Node01-06, Node01-00, Node02-07, Node05-01, Node00-01, Node03-00, Node07-02, Node05-02\n"
#define EXCLUSIVE_FOURTH                                                                                               \
	"j3 [exclusive]: Node06-02, Node07-06, Node03-06, Node00-02, Node02-04, Node05-06, Node03-03, Node05-07, "     \
	"Node07-03, Node04-00, Node01-04, Node05-00, Node06-04, Node02-00, Node04-05, Node04-03\n"

#endif
