/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"
#include "waiting.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SOME 65536
#define LOOK_MS 2 /* between two looks at how far the others are */

/* A piece of the message to a rank: the bytes up to `end`. */
struct piece {
	uint16_t to, phase;
	uint64_t end;
};

struct run {
	const struct waiting *w;
	const struct plan *plan;
	uint32_t me;
	struct piece *piece;
	size_t npieces, next;
	uint64_t sent[MAX_RANKS];     /* bytes, by receiver */
	uint32_t over, at[MAX_RANKS]; /* phases that are known to be over; the phase that each rank is in at least */
};

bool waiting_parse(const char *name, enum waiting_kind *kind)
{
	static const char *const names[] = {[WAITING_PHASES] = "phases",
					    [WAITING_TREE] = "tree",
					    [WAITING_OWN] = "own",
					    [WAITING_NOBODY] = "nobody"};

	for (int i = WAITING_PHASES; i <= WAITING_NOBODY; i++)
		if (strcmp(name, names[i]) == 0) {
			*kind = (enum waiting_kind)i;
			return true;
		}
	return false;
}

uint8_t content(uint32_t from, uint32_t to, uint64_t offset)
{
	return (uint8_t)(31 * from + 17 * to + offset);
}

/* ---- how far the others are ---- */

static bool has_arrived(const struct run *run, uint32_t from, uint32_t to)
{
	return to == NOBODY || from == NOBODY || from == to || run->w->together->got[to][from] >= run->w->bytes;
}

static bool is_over(const struct run *run, uint32_t phase)
{
	for (uint32_t r = 0; r < run->plan->nranks; r++)
		if (!has_arrived(run, r, run->plan->step[phase][r].to))
			return false;
	return true;
}

static uint32_t phase_of(struct run *run, uint32_t r)
{
	const struct plan *plan = run->plan;

	while (run->at[r] < plan->nphases && has_arrived(run, r, plan->step[run->at[r]][r].to) &&
	       has_arrived(run, plan->step[run->at[r]][r].from, r))
		run->at[r]++;
	return run->at[r];
}

static bool may_begin(struct run *run, const struct piece *piece)
{
	if (run->w->kind == WAITING_NOBODY)
		return true;
	if (run->w->kind == WAITING_OWN)
		return phase_of(run, run->me) >= piece->phase && phase_of(run, piece->to) >= piece->phase;
	while (run->over < run->plan->nphases && is_over(run, run->over))
		run->over++;
	return piece->phase < run->over + run->w->ahead;
}

/* ---- bytes ---- */

static bool send_some(struct run *run, const struct piece *piece)
{
	uint8_t data[SOME];
	uint64_t offset = run->sent[piece->to], size = piece->end - offset;
	ssize_t done;

	size = size < SOME ? size : SOME;
	for (size_t i = 0; i < size; i++)
		data[i] = content(run->me, piece->to, offset + i);
	done = send(run->w->mesh->out[piece->to], data, size, MSG_NOSIGNAL);
	if (done < 0)
		return errno == EAGAIN || errno == EINTR;
	run->sent[piece->to] += (uint64_t)done;
	return true;
}

static bool receive_some(struct run *run, uint32_t from)
{
	uint8_t data[SOME];
	_Atomic uint64_t *got = &run->w->together->got[run->me][from];
	uint64_t offset = *got, left = run->w->bytes - offset;
	ssize_t done = recv(run->w->mesh->in[from], data, left < SOME ? left : SOME, 0);

	if (done <= 0)
		return done < 0 && (errno == EAGAIN || errno == EINTR);
	for (ssize_t i = 0; i < done; i++)
		if (data[i] != content(from, run->me, offset + (uint64_t)i)) {
			errno = EBADMSG;
			return false;
		}
	*got = offset + (uint64_t)done;
	together_received(run->w->together, (uint64_t)done);
	return true;
}

/* Wait for what may be sent or received now, and do it. piece NULL: nothing may be sent. */
static bool move_bytes(struct run *run, const struct piece *piece)
{
	struct pollfd ready[MAX_RANKS + 1];
	uint32_t nranks = run->plan->nranks;
	bool is_sending = piece && run->sent[piece->to] < piece->end, is_good = true;

	for (uint32_t r = 0; r < nranks; r++)
		ready[r] = (struct pollfd){.fd = has_arrived(run, r, run->me) ? -1 : run->w->mesh->in[r],
					   .events = POLLIN};
	ready[nranks] = (struct pollfd){.fd = is_sending ? run->w->mesh->out[piece->to] : -1, .events = POLLOUT};
	if (poll(ready, nranks + 1, LOOK_MS) < 0)
		return errno == EINTR;
	for (uint32_t r = 0; is_good && r < nranks; r++)
		is_good = !ready[r].revents || receive_some(run, r);
	return is_good && (!ready[nranks].revents || send_some(run, piece));
}

/* ---- the exchange ---- */

static bool is_done(const struct run *run)
{
	for (uint32_t r = 0; r < run->plan->nranks; r++)
		if (!has_arrived(run, r, run->me))
			return false;
	return run->next == run->npieces;
}

/* A round of pieces: of each message that has so many one more. Does any have more? */
static bool add_round(struct run *run, uint64_t begun, uint64_t size)
{
	const struct waiting *w = run->w;

	for (uint32_t p = 0; p < run->plan->nphases; p++) {
		uint16_t to = run->plan->step[p][run->me].to;

		if (to != NOBODY && to != run->me)
			run->piece[run->npieces++] =
				(struct piece){to, (uint16_t)p, begun + size < w->bytes ? begun + size : w->bytes};
	}
	return begun + size < w->bytes;
}

static bool cut(struct run *run)
{
	uint64_t size = run->w->chunk ? run->w->chunk : run->w->bytes, begun = 0;

	run->piece = calloc(run->plan->nphases * (run->w->bytes / size + 1), sizeof(*run->piece));
	while (run->piece && add_round(run, begun, size))
		begun += size;
	return run->piece != NULL;
}

static bool go_through(struct run *run)
{
	double end = monotonic_seconds() + run->w->patience;
	bool has_begun = false;

	while (!is_done(run) && !run->w->together->failed) {
		const struct piece *piece = run->next < run->npieces ? &run->piece[run->next] : NULL;

		has_begun = has_begun || (piece && may_begin(run, piece));
		errno = 0;
		if (!move_bytes(run, has_begun ? piece : NULL) || monotonic_seconds() > end) {
			fprintf(stderr, "exchange: rank %u: piece %zu of %zu: %s\n", run->me, run->next, run->npieces,
				strerror(errno ? errno : ETIMEDOUT));
			return false;
		}
		if (piece && has_begun && run->w->together->got[piece->to][run->me] >= piece->end) {
			run->next++;
			has_begun = false;
		}
	}
	return !run->w->together->failed;
}

void waiting_reset(const struct waiting *w)
{
	for (uint32_t r = 0; r < MAX_RANKS; r++)
		w->together->got[w->mesh->rank][r] = 0;
}

bool waiting_exchange(const struct waiting *w)
{
	struct run run = {.w = w, .plan = &w->together->plan, .me = w->mesh->rank};
	bool is_good = cut(&run) && go_through(&run);

	free(run.piece);
	return is_good && together_wait(w->together, w->patience);
}
