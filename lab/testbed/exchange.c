/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * exchange - a synchronised all-to-all exchange with real packets, one process per server.
 *
 * Each process joins the network namespace of its server. In each phase it sends one message, receives one, and
 * waits for the others; with --wait it waits for some of them, and sends nothing to itself (waiting.h). Otherwise each
 * server's message to itself goes once per exchange through its own adapter (the loopback device, as fast as a cable), in
 * a phase in which it has nothing else to do. A newer schedule is taken at the boundary between two exchanges, by all at
 * once, as libforsched asks for it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mesh.h"
#include "schedule.h"
#include "together.h"
#include "waiting.h"

#define CHUNK 65536

struct settings {
	const char *places, *schedule; /* schedule NULL: linear shift */
	uint32_t iterations, warm_up;
	uint64_t bytes;	 /* of one message */
	double patience; /* seconds that a phase may take */
	enum waiting_kind waiting;
	uint32_t ahead;
	uint64_t chunk;
};

/* One rank at work. */
struct rank {
	uint32_t id;
	const struct settings *settings;
	const struct place *place;
	struct together *together;
	struct mesh mesh;
};

/* What is left to do in a phase. */
struct transfer {
	uint32_t to, from;
	uint64_t to_send, to_receive;
};

static struct together *heeded; /* by the signal handler only */

static void on_signal(int number)
{
	(void)number;
	heeded->is_told_to_stop = true;
}

static bool send_some(struct rank *rank, struct transfer *left)
{
	uint8_t data[CHUNK];
	size_t size = left->to_send < CHUNK ? left->to_send : CHUNK;
	uint64_t offset = rank->settings->bytes - left->to_send;
	ssize_t done;

	for (size_t i = 0; i < size; i++)
		data[i] = content(rank->id, left->to, offset + i);
	done = send(rank->mesh.out[left->to], data, size, MSG_NOSIGNAL);
	if (done < 0)
		return errno == EAGAIN || errno == EINTR;
	left->to_send -= (uint64_t)done;
	return true;
}

static bool receive_some(struct rank *rank, struct transfer *left)
{
	uint8_t data[CHUNK];
	uint64_t offset = rank->settings->bytes - left->to_receive;
	ssize_t done = recv(rank->mesh.in[left->from], data, left->to_receive < CHUNK ? left->to_receive : CHUNK, 0);

	if (done <= 0)
		return done < 0 && (errno == EAGAIN || errno == EINTR);
	for (ssize_t i = 0; i < done; i++)
		if (data[i] != content(left->from, rank->id, offset + (uint64_t)i)) {
			errno = EBADMSG;
			return false;
		}
	left->to_receive -= (uint64_t)done;
	together_received(rank->together, (uint64_t)done);
	return true;
}

static bool move_bytes(struct rank *rank, struct transfer *left)
{
	struct pollfd ready[2] = {
		{.fd = left->to_send ? rank->mesh.out[left->to] : -1, .events = POLLOUT},
		{.fd = left->to_receive ? rank->mesh.in[left->from] : -1, .events = POLLIN},
	};

	if (poll(ready, 2, 100) < 0)
		return errno == EINTR;
	return (!ready[0].revents || send_some(rank, left)) && (!ready[1].revents || receive_some(rank, left));
}

static bool run_phase(struct rank *rank, const struct step *step, uint32_t phase)
{
	struct transfer left = {.to = step->to, .from = step->from};
	double end = monotonic_seconds() + rank->settings->patience;

	left.to_send = step->to == NOBODY ? 0 : rank->settings->bytes;
	left.to_receive = step->from == NOBODY ? 0 : rank->settings->bytes;
	while ((left.to_send || left.to_receive) && !rank->together->failed) {
		errno = 0;
		if (!move_bytes(rank, &left) || monotonic_seconds() > end) {
			fprintf(stderr,
				"exchange: rank %u, phase %u: %" PRIu64 " bytes to rank %u and %" PRIu64
				" from rank %u are missing: %s\n",
				rank->id, phase, left.to_send, left.to, left.to_receive, left.from,
				strerror(errno ? errno : ETIMEDOUT));
			return false;
		}
	}
	return together_wait(rank->together, rank->settings->patience);
}

/* Rank 0 decides at the boundary; the others see it after the barrier. */
static void decide(struct rank *rank, struct schedule *schedule)
{
	struct together *together = rank->together;
	uint32_t done = together->niterations;

	together->stop = together->is_told_to_stop || done >= MAX_ITERATIONS ||
			 (rank->settings->iterations && done >= rank->settings->iterations + rank->settings->warm_up);
	together->is_new_plan = false;
	if (schedule)
		together->is_new_plan = schedule_refresh(schedule, &together->plan);
	else if (!together->plan.epoch) {
		plan_shift(rank->place, together->nranks, &together->plan);
		together->is_new_plan = true;
	}
}

static struct waiting waiting_of(struct rank *rank)
{
	const struct settings *set = rank->settings;

	return (struct waiting){.kind = set->waiting,
				.ahead = set->ahead,
				.chunk = set->chunk,
				.bytes = set->bytes,
				.patience = set->patience * rank->together->plan.nphases,
				.together = rank->together,
				.mesh = &rank->mesh};
}

static bool run_phases(struct rank *rank)
{
	const struct plan *plan = &rank->together->plan;
	const struct waiting waiting = waiting_of(rank);

	if (rank->settings->waiting != WAITING_PHASES)
		return waiting_exchange(&waiting);
	for (uint32_t p = 0; p < plan->nphases; p++)
		if (!run_phase(rank, &plan->step[p][rank->id], p))
			return false;
	return true;
}

static bool exchange_once(struct rank *rank)
{
	struct together *together = rank->together;
	const struct plan *plan = &together->plan;
	struct iteration now = {.start = monotonic_seconds(), .epoch = plan->epoch, .phases = plan->nphases};

	if (!run_phases(rank))
		return false;
	if (rank->id == 0) {
		now.seconds = monotonic_seconds() - now.start;
		together->iteration[together->niterations++] = now;
	}
	return true;
}

/* One boundary and one exchange; *more is false after the last. */
static bool iterate(struct rank *rank, struct schedule *schedule, bool *more)
{
	struct together *together = rank->together;
	double patience = rank->settings->patience;
	const struct waiting waiting = waiting_of(rank);

	if (rank->id == 0)
		decide(rank, schedule);
	waiting_reset(&waiting);
	if (!together_wait(together, patience))
		return false;
	*more = !together->stop;
	if (!*more)
		return true;
	if (together->is_new_plan && !mesh_connect(&rank->mesh, &together->plan, patience))
		return false;
	return together_wait(together, patience) && exchange_once(rank);
}

static bool join_namespace(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof path, "/run/netns/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		fprintf(stderr, "exchange: %s: %s\n", path, strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

/* Before other programs of the machine: what is measured is the cables. Where that is not allowed, it is measured as well. */
static void go_first(void)
{
	struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_RR)};

	(void)sched_setscheduler(0, SCHED_RR, &param);
}

static bool run_rank(struct rank *rank)
{
	struct schedule *schedule = NULL;
	bool more = true, good;

	go_first();
	if (rank->id == 0 && rank->settings->schedule) {
		schedule = schedule_new(rank->settings->schedule, rank->place, rank->together->nranks);
		if (!schedule)
			return false;
	}
	good = join_namespace(rank->place[rank->id].name) &&
	       mesh_listen(&rank->mesh, rank->id, rank->together->nranks) &&
	       together_wait(rank->together, rank->settings->patience);
	while (good && more)
		good = iterate(rank, schedule, &more);
	schedule_free(schedule);
	return good;
}

static pid_t start_rank(uint32_t id, const struct settings *settings, const struct place *place,
			struct together *together)
{
	struct rank rank = {.id = id, .settings = settings, .place = place, .together = together};
	pid_t pid = fork();

	if (pid == 0) {
		bool good;

		prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever kills the parent means all */
		good = run_rank(&rank);

		if (!good)
			together_fail(together);
		_exit(good ? 0 : 1);
	}
	if (pid < 0)
		together_fail(together);
	return pid;
}

static bool run_all(const struct settings *settings, const struct place *place, struct together *together)
{
	pid_t child[MAX_RANKS];
	bool good = true;
	int status;

	for (uint32_t id = 0; id < together->nranks; id++)
		child[id] = start_rank(id, settings, place, together);
	for (uint32_t id = 0; id < together->nranks; id++) {
		if (child[id] < 0)
			good = false;
		else if (waitpid(child[id], &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
			together_fail(together);
			good = false;
		}
	}
	return good;
}

/* What was measured, as JSON. */
static void print_results(const struct settings *settings, const struct together *together)
{
	uint32_t last = 0;

	printf("{\"servers\": %u, \"bytes\": %" PRIu64 ",\n \"iterations\": [", together->nranks, settings->bytes);
	for (uint32_t i = settings->warm_up; i < together->niterations; i++) {
		const struct iteration *it = &together->iteration[i];

		printf("%s\n  {\"start\": %.6f, \"seconds\": %.6f, \"epoch\": %" PRIu64 ", \"phases\": %u}",
		       i > settings->warm_up ? "," : "", it->start, it->seconds, it->epoch, it->phases);
	}
	for (uint32_t b = 0; b < MAX_BINS; b++)
		if (together->received[b])
			last = b + 1;
	printf("],\n \"first_bin\": %.6f, \"bin_seconds\": %g, \"received\": [", together->first_bin,
	       together->bin_seconds);
	for (uint32_t b = 0; b < last; b++)
		printf("%s%" PRIu64, b ? "," : "", together->received[b]);
	printf("]}\n");
}

static int usage(void)
{
	fputs("usage: exchange --places FILE [--schedule FILE] [--iterations N] [--warm-up N] [--bytes N] [--patience S]\n"
	      "                [--wait phases|tree|own|nobody] [--ahead N] [--chunk N]\n"
	      "without --iterations it runs until SIGTERM; results as JSON on standard output\n",
	      stderr);
	return 2;
}

static bool take(int option, const char *argument, struct settings *settings)
{
	switch (option) {
	case 'p':
		settings->places = argument;
		return true;
	case 's':
		settings->schedule = argument;
		return true;
	case 'n':
		settings->iterations = (uint32_t)strtoul(argument, NULL, 10);
		return true;
	case 'w':
		settings->warm_up = (uint32_t)strtoul(argument, NULL, 10);
		return true;
	case 'b':
		settings->bytes = strtoull(argument, NULL, 10);
		return true;
	case 't':
		settings->patience = strtod(argument, NULL);
		return true;
	case 'W':
		return waiting_parse(argument, &settings->waiting);
	case 'a':
		settings->ahead = (uint32_t)strtoul(argument, NULL, 10);
		return settings->ahead > 0;
	case 'c':
		settings->chunk = strtoull(argument, NULL, 10);
		return true;
	default:
		return false;
	}
}

static bool parse(int argc, char **argv, struct settings *settings)
{
	static const struct option options[] = {
		{"places", required_argument, NULL, 'p'},     {"schedule", required_argument, NULL, 's'},
		{"iterations", required_argument, NULL, 'n'}, {"warm-up", required_argument, NULL, 'w'},
		{"bytes", required_argument, NULL, 'b'},      {"patience", required_argument, NULL, 't'},
		{"wait", required_argument, NULL, 'W'},	      {"ahead", required_argument, NULL, 'a'},
		{"chunk", required_argument, NULL, 'c'},      {0},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take(option, optarg, settings))
			return false;
	if (settings->chunk && settings->waiting != WAITING_NOBODY) /* a phase would wait for what comes after it */
		return false;
	return settings->places && optind == argc && settings->bytes && settings->patience > 0;
}

static void heed_signals(struct together *together)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	heeded = together;
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
}

int main(int argc, char **argv)
{
	struct settings settings = {.bytes = 65536, .patience = 30, .ahead = 1};
	struct place place[MAX_RANKS];
	struct together *together;
	uint32_t nranks;

	if (!parse(argc, argv, &settings))
		return usage();
	nranks = places_read(settings.places, place);
	if (!nranks)
		return 2;
	together = together_new(nranks, 0.02);
	if (!together) {
		fputs("exchange: out of memory\n", stderr);
		return 1;
	}
	heed_signals(together);
	if (!run_all(&settings, place, together))
		return 1;
	print_results(&settings, together);
	return 0;
}
