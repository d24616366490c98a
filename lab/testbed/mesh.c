/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "config.h"
#include "mesh.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 7077
#define LID_NETWORK 0x0A4D0000u /* 10.77.0.0: the LID is the rest */

static bool complain(const struct mesh *mesh, const char *what, uint32_t peer)
{
	fprintf(stderr, "exchange: rank %u: %s rank %u: %s\n", mesh->rank, what, peer, strerror(errno));
	return false;
}

static struct sockaddr_in address(uint32_t lid, uint16_t port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(LID_NETWORK | lid)};
}

static void set(int fd, int level, int option)
{
	int one = 1;

	setsockopt(fd, level, option, &one, sizeof one);
}

bool mesh_listen(struct mesh *mesh, uint32_t rank, uint32_t nranks)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	*mesh = (struct mesh){.rank = rank, .nranks = nranks};
	memset(mesh->out, -1, sizeof mesh->out);
	memset(mesh->in, -1, sizeof mesh->in);
	mesh->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	set(mesh->listener, SOL_SOCKET, SO_REUSEADDR);
	if (bind(mesh->listener, (struct sockaddr *)&any, sizeof any) || listen(mesh->listener, 2 * MAX_RANKS))
		return complain(mesh, "cannot listen as", rank);
	return true;
}

/* Ready for the exchange: small writes go at once, and nobody blocks. */
static void prepare(int fd)
{
	set(fd, IPPROTO_TCP, TCP_NODELAY);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/* Call the peer from our LID at its LID, and say who calls. */
static bool call(struct mesh *mesh, uint32_t peer, const struct ends *ends)
{
	struct sockaddr_in own = address(ends->lid, 0), other = address(ends->peer_lid, PORT);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint32_t hello = mesh->rank;

	mesh->out[peer] = fd;
	set(fd, SOL_SOCKET, SO_REUSEADDR);
	if (bind(fd, (struct sockaddr *)&own, sizeof own) || connect(fd, (struct sockaddr *)&other, sizeof other) ||
	    write(fd, &hello, sizeof hello) != sizeof hello)
		return complain(mesh, "cannot connect to", peer);
	if (peer != mesh->rank)
		mesh->in[peer] = fd;
	prepare(fd);
	return true;
}

/* Take one call; the caller says which rank it is. */
static bool answer(struct mesh *mesh, double seconds)
{
	struct pollfd ready = {.fd = mesh->listener, .events = POLLIN};
	uint32_t peer = 0;
	int fd;

	errno = ETIMEDOUT;
	if (poll(&ready, 1, (int)(1000 * seconds)) != 1)
		return complain(mesh, "not called by all, as", mesh->rank);
	fd = accept4(mesh->listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || recv(fd, &peer, sizeof peer, MSG_WAITALL) != sizeof peer || peer > mesh->rank ||
	    mesh->in[peer] >= 0) {
		close(fd);
		return complain(mesh, "a call that is none, as", mesh->rank);
	}
	mesh->in[peer] = fd;
	if (peer != mesh->rank)
		mesh->out[peer] = fd;
	prepare(fd);
	return true;
}

static void hang_up(struct mesh *mesh)
{
	for (uint32_t peer = 0; peer < mesh->nranks; peer++) {
		if (mesh->out[peer] >= 0)
			close(mesh->out[peer]);
		if (mesh->in[peer] >= 0 && mesh->in[peer] != mesh->out[peer])
			close(mesh->in[peer]);
		mesh->out[peer] = mesh->in[peer] = -1;
	}
}

/* The smaller rank calls; a connection stands as soon as the other listens, so all may call first. */
bool mesh_connect(struct mesh *mesh, const struct plan *plan, double seconds)
{
	hang_up(mesh);
	for (uint32_t peer = mesh->rank; peer < mesh->nranks; peer++)
		if (!call(mesh, peer, &plan->ends[mesh->rank][peer]))
			return false;
	for (uint32_t calls = 0; calls <= mesh->rank; calls++)
		if (!answer(mesh, seconds))
			return false;
	return true;
}

void mesh_close(struct mesh *mesh)
{
	hang_up(mesh);
	close(mesh->listener);
}
