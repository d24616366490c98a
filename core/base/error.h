/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * error.h - how functions of fors fail.
 *
 * Every function that can fail returns an enum fors_err, 0 = FORS_OK. Only the
 * function that first decides that something is wrong writes the sentence for
 * the person who has to mend it, into the struct fors_error that its caller
 * lends; callers in between only pass the code on. On failure the outputs of a
 * function are as they were before the call, unless its comment says otherwise.
 */
#ifndef FORS_CORE_BASE_ERROR_H
#define FORS_CORE_BASE_ERROR_H

enum fors_err {
	FORS_OK = 0,
	FORS_ENOMEM,	 /* out of memory */
	FORS_EINPUT,	 /* a file, option or specification is malformed */
	FORS_EIO,	 /* a file could not be read or written */
	FORS_ENOTREE,	 /* the fabric is not a two-level fat-tree */
	FORS_ENOPATH,	 /* two leaves have no common live spine */
	FORS_ELMC,	 /* too few path indices (LMC) for the method */
	FORS_ENOTAPPL,	 /* the method does not apply to this fabric */
	FORS_ENOPLAN,	 /* the method applies, but found no plan */
	FORS_ETIMEOUT,	 /* out of time */
	FORS_ECANCELLED, /* the caller asked to stop */
	FORS_ELIMIT,	 /* larger than what fors can represent */
	FORS_ETABLES,	 /* tables that fors filled did not pass their check */
};

#define FORS_ERROR_TEXT 512

/* What went wrong, for a person: what, where (file:line, node, port), and what to do. */
struct fors_error {
	enum fors_err code;
	char text[FORS_ERROR_TEXT]; /* one line, no newline, always terminated */
};

/* A short constant name of the kind of failure; never NULL. Any thread. */
const char *fors_strerror(enum fors_err code);

/*
 * Write code and the formatted text into *error (which may be NULL: then only
 * the code is passed on) and return code, so that a function can end with
 * "return fors_fail(error, FORS_EINPUT, ...)". Long texts are cut. Any thread.
 */
enum fors_err fors_fail(struct fors_error *error, enum fors_err code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* fors_fail() for the commonest case. */
enum fors_err fors_fail_memory(struct fors_error *error);

#endif
