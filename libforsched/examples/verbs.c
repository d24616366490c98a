/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * verbs SCHEDULE [GUID]: one reliable queue pair (RC) per peer, each on the LIDs that the schedule names.
 *
 * What a program with its own verbs code has to change is in set_path(): three numbers of the address vector. Both ends
 * of a queue pair have to agree on them, because an RC queue pair drops what does not come from the LID that it
 * sends to. The schedule sees to it: src_path_bits here is the path index that the peer uses to send to us.
 *
 *   ah_attr.dlid          = flow.dlid             the peer's base LID + the path index of the flow to it
 *   ah_attr.src_path_bits = flow.src_path_bits    the path index of the opposite flow, from the peer to us
 *   ah_attr.sl            = forsched_sl()         the service level, when the schedule says one
 *
 * Under fors's own tables any service level will do. Under dfsssp, lash, nue or torus-2QoS only the right one keeps the
 * fabric free of deadlock: a program that is not told (FORSCHED_NO_SL) has to ask the subnet manager for a path record.
 *
 * exchange() is the loop over phases: a receive, a send, wait for both, wait for all others. It needs pairs that are connected.
 *
 * With a device this makes the queue pairs and brings them as far as one process can alone, to INIT; what is left,
 * telling the peers the queue pair numbers, every program does in its own way, and then connect_pair(). Without a
 * device it prints the address vectors of a server of the schedule and says so. With LMC 0 all path bits are 0, and
 * only the order of phases matters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <infiniband/verbs.h>

#include <forsched.h>

#define PSN 0 /* packets are counted from here; a real program takes a random number per connection */

struct host {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_port_attr attr;
	uint8_t port;
	uint64_t guid; /* of the port: the lower half of its GID 0 */
};

/* ---- the part that matters ---- */

static void set_path(struct ibv_ah_attr *ah, uint8_t port, const struct forsched_flow *flow, uint8_t sl)
{
	*ah = (struct ibv_ah_attr){
		.dlid = flow->dlid,
		.src_path_bits = flow->src_path_bits,
		.sl = sl == FORSCHED_NO_SL ? 0 : sl,
		.port_num = port,
	};
}

/* From INIT to "ready to send", when the peer has told its queue pair number. 0, or errno. */
int connect_pair(const struct host *host, struct ibv_qp *pair, uint32_t peer_number, const struct forsched_flow *flow,
		 uint8_t sl);

int connect_pair(const struct host *host, struct ibv_qp *pair, uint32_t peer_number, const struct forsched_flow *flow,
		 uint8_t sl)
{
	struct ibv_qp_attr receive = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = host->attr.active_mtu,
		.dest_qp_num = peer_number,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
	};
	struct ibv_qp_attr send = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = PSN,
		.timeout = 14, /* 67 ms; a failover takes longer: retry, or connect anew with the next epoch */
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	int err;

	set_path(&receive.ah_attr, host->port, flow, sl);
	err = ibv_modify_qp(pair, &receive,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (err)
		return err;
	return ibv_modify_qp(pair, &send,
			     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				     IBV_QP_MAX_QP_RD_ATOMIC);
}

/* The block of a server in an area of equal blocks, one for each server. */
static struct ibv_sge block_of(const struct ibv_mr *area, uint32_t server, uint32_t size)
{
	return (struct ibv_sge){(uintptr_t)area->addr + (size_t)server * size, size, area->lkey};
}

static int start_receive(struct ibv_qp *pair, struct ibv_sge to)
{
	struct ibv_recv_wr work = {.sg_list = &to, .num_sge = 1}, *bad;

	return ibv_post_recv(pair, &work, &bad);
}

static int start_send(struct ibv_qp *pair, struct ibv_sge from)
{
	struct ibv_send_wr work = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;

	return ibv_post_send(pair, &work, &bad);
}

/* Until so many sends and receives are done. 0, or -1. */
static int wait_for(struct ibv_cq *cq, int count)
{
	struct ibv_wc done;

	while (count > 0) {
		int found = ibv_poll_cq(cq, 1, &done);

		if (found < 0 || (found && done.status != IBV_WC_SUCCESS))
			return -1;
		count -= found;
	}
	return 0;
}

/*
 * Every server sends a block of `size` bytes to every other: out's block s goes to server s, in's block s comes from it. pair[s]
 * is connected to server s. barrier() returns when all servers have called it: phases must not overlap, and a server
 * with nobody to send to waits as the others do. 0, or -1.
 */
int exchange(const struct forsched *schedule, const struct host *host, uint32_t me, struct ibv_qp *const *pair,
	     const struct ibv_mr *out, const struct ibv_mr *in, uint32_t size, void (*barrier)(void));

int exchange(const struct forsched *schedule, const struct host *host, uint32_t me, struct ibv_qp *const *pair,
	     const struct ibv_mr *out, const struct ibv_mr *in, uint32_t size, void (*barrier)(void))
{
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		struct forsched_flow flow;

		if (forsched_flow(schedule, me, phase, &flow))
			return -1;
		if (flow.from != FORSCHED_NOBODY && start_receive(pair[flow.from], block_of(in, flow.from, size)))
			return -1;
		if (flow.to != FORSCHED_NOBODY && start_send(pair[flow.to], block_of(out, flow.to, size)))
			return -1;
		if (wait_for(host->cq, (flow.from != FORSCHED_NOBODY) + (flow.to != FORSCHED_NOBODY)))
			return -1;
		barrier();
	}
	return 0;
}

/* ---- the rest ---- */

static struct ibv_qp *make_pair(const struct host *host)
{
	struct ibv_qp_init_attr wanted = {
		.send_cq = host->cq,
		.recv_cq = host->cq,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = host->port, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_qp *pair = ibv_create_qp(host->pd, &wanted);

	if (pair && ibv_modify_qp(pair, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
		ibv_destroy_qp(pair);
		pair = NULL;
	}
	return pair;
}

/* The first InfiniBand port that the schedule knows; false: none. */
static int find_port(struct host *host, struct ibv_context *context, const struct forsched *schedule, uint32_t *me)
{
	struct ibv_device_attr device;
	union ibv_gid gid;

	if (ibv_query_device(context, &device))
		return 0;
	for (uint8_t port = 1; port <= device.phys_port_cnt; port++) {
		if (ibv_query_port(context, port, &host->attr) || ibv_query_gid(context, port, 0, &gid))
			continue;
		host->port = port;
		host->guid = be64toh(gid.global.interface_id);
		if (host->attr.link_layer == IBV_LINK_LAYER_INFINIBAND &&
		    !forsched_find_guid(schedule, host->guid, me, NULL))
			return 1;
	}
	return 0;
}

static int open_host(struct host *host, const struct forsched *schedule, uint32_t *me)
{
	int count = 0;
	struct ibv_device **device = ibv_get_device_list(&count);

	for (int i = 0; device && i < count && !host->context; i++) {
		struct ibv_context *context = ibv_open_device(device[i]);

		if (context && find_port(host, context, schedule, me))
			host->context = context;
		else if (context)
			ibv_close_device(context);
	}
	if (device)
		ibv_free_device_list(device);
	if (!host->context)
		return 0;
	host->pd = ibv_alloc_pd(host->context);
	host->cq = ibv_create_cq(host->context, (int)forsched_nservers(schedule) * 8, NULL, NULL, 0);
	return host->pd && host->cq;
}

/* A queue pair for each peer, in the order in which the schedule meets them. */
static int run(const struct forsched *schedule, const struct host *host, uint32_t me)
{
	struct forsched_flow flow;
	struct ibv_ah_attr ah;
	uint8_t sl;

	printf("phase  to server  dlid  src_path_bits  sl%s\n", host->context ? "  queue pair" : "");
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		struct ibv_qp *pair = NULL;

		if (forsched_flow(schedule, me, phase, &flow) || forsched_sl(schedule, me, phase, &sl))
			return 1;
		if (flow.to == FORSCHED_NOBODY)
			continue;
		set_path(&ah, host->port, &flow, sl);
		printf("%5" PRIu32 "  %9" PRIu32 "  %4u  %13u  %2u", phase, flow.to, ah.dlid, ah.src_path_bits, ah.sl);
		if (host->context) {
			pair = make_pair(host);
			printf("  %#x", pair ? pair->qp_num : 0); /* tell the peer, hear its own, connect_pair() */
		}
		printf("\n");
		if (pair)
			ibv_destroy_qp(pair);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct host host = {.port = 1};
	struct forsched *schedule;
	struct forsched_error error;
	uint32_t me = 0;
	int code = 2;

	if (argc < 2 || forsched_open(argv[1], &schedule, &error)) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: verbs SCHEDULE [GUID]" : error.text);
		return 2;
	}
	if (!open_host(&host, schedule, &me))
		printf("No InfiniBand port of the schedule on this host: these are the address vectors of %s; no queue "
		       "pair was made.\n",
		       argc > 2 ? argv[2] : "server 0");
	if (!host.context && argc > 2 && forsched_find_guid(schedule, strtoull(argv[2], NULL, 16), &me, &error))
		fprintf(stderr, "%s\n", error.text);
	else
		code = run(schedule, &host, me);
	if (host.cq)
		ibv_destroy_cq(host.cq);
	if (host.pd)
		ibv_dealloc_pd(host.pd);
	if (host.context)
		ibv_close_device(host.context);
	forsched_close(schedule);
	return code;
}
