/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_cm SCHEDULE ME PEER ADDRESS: connect to one peer through the RDMA connection manager, on the LIDs of the
 * schedule. ME and PEER are port GUIDs, ADDRESS is the peer's IP address (IPoIB).
 *
 * Usually rdma_resolve_route() asks the subnet manager for a path, which is one between base LIDs: path index 0. To
 * take another, hand over a path record of your own in its place, after rdma_resolve_addr() and before the queue pair
 * is made:
 *
 *   path.slid = own base LID + flow.src_path_bits        the LID that the peer sends to
 *   path.dlid = flow.dlid                                the peer's base LID + the path index of the flow to it
 *   path.qosclass_sl = forsched_sl()                     the service level, when the schedule says one
 *
 * When it says none, under dfsssp, lash, nue or torus-2QoS, take that of the subnet manager's answer: these engines' paths
 * are free of deadlock only on the right one.
 *
 * The passive side needs nothing: the connection request carries both LIDs, and it answers with the two exchanged. So
 * of each pair of servers one connects, say that with the lower number, and one queue pair serves both directions.
 */
#include <endian.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/sa.h>
#include <rdma/rdma_cma.h>

#include <forsched.h>

#define TIMEOUT_MS 2000
#define PORT "7471"

/* ---- the part that matters ---- */

/* The path record for a flow; GIDs are those that resolving the address has found. */
static struct ibv_path_data make_path(const struct rdma_cm_id *id, uint16_t own_lid, const struct forsched_flow *flow,
				      uint8_t sl)
{
	struct ibv_path_data data = {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
		.path =
			{
				.slid = htobe16((uint16_t)(own_lid + flow->src_path_bits)),
				.dlid = htobe16(flow->dlid),
				.qosclass_sl = htobe16(sl == FORSCHED_NO_SL ? 0 : sl),
				.reversible_numpath = 1 << 7 | 1,
				.pkey = htobe16(0xffff),
				.mtu = 2 << 6 | IBV_MTU_4096,
				.rate = 2 << 6 | IBV_RATE_100_GBPS, /* of the slowest link; see saquery */
				.packetlifetime = 2 << 6 | 18,
			},
	};

	if (id) {
		memcpy(data.path.sgid.raw, id->route.addr.addr.ibaddr.sgid.raw, 16);
		memcpy(data.path.dgid.raw, id->route.addr.addr.ibaddr.dgid.raw, 16);
		data.path.pkey = id->route.addr.addr.ibaddr.pkey;
	}
	return data;
}

static void print_path(const struct ibv_path_data *data)
{
	printf("slid %u\ndlid %u\nsl %u\n", be16toh(data->path.slid), be16toh(data->path.dlid),
	       be16toh(data->path.qosclass_sl));
}

/* ---- the rest ---- */

/* Wait for an event; false: another one came. */
static int await(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;
	int is_wanted;

	if (rdma_get_cm_event(channel, &event)) {
		perror("rdma_get_cm_event");
		return 0;
	}
	is_wanted = event->event == wanted;
	if (!is_wanted)
		fprintf(stderr, "wanted %s, got %s (%d)\n", rdma_event_str(wanted), rdma_event_str(event->event),
			event->status);
	rdma_ack_cm_event(event);
	return is_wanted;
}

static int resolve(struct rdma_event_channel *channel, struct rdma_cm_id *id, const char *address)
{
	struct addrinfo *found;
	int err = getaddrinfo(address, PORT, NULL, &found);

	if (err) {
		fprintf(stderr, "%s: %s\n", address, gai_strerror(err));
		return 0;
	}
	err = rdma_resolve_addr(id, NULL, found->ai_addr, TIMEOUT_MS);
	if (err)
		perror("rdma_resolve_addr");
	freeaddrinfo(found);
	return !err && await(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static int connect_peer(struct rdma_event_channel *channel, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr wanted = {
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
		.qp_type = IBV_QPT_RC,
	};
	struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};

	if (rdma_create_qp(id, NULL, &wanted) || rdma_connect(id, &param)) {
		perror("connecting");
		return 0;
	}
	return await(channel, RDMA_CM_EVENT_ESTABLISHED);
}

static int run(struct rdma_event_channel *channel, const char *address, uint16_t own_lid,
	       const struct forsched_flow *flow, uint8_t sl)
{
	struct ibv_path_data path;
	struct rdma_cm_id *id;
	int is_good;

	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
		perror("rdma_create_id");
		return 1;
	}
	is_good = resolve(channel, id, address);
	if (is_good) {
		path = make_path(id, own_lid, flow, sl);
		print_path(&path);
		/* in the place of rdma_resolve_route() */
		is_good = !rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &path, sizeof(path)) &&
			  await(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) && connect_peer(channel, id);
	}
	printf("%s\n", is_good ? "connected" : "not connected");
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
	return !is_good;
}

/* The flow from me to the peer, whichever phase it is in. */
static int find_flow(const struct forsched *schedule, uint32_t me, uint32_t peer, struct forsched_flow *flow,
		     uint8_t *sl)
{
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++)
		if (!forsched_flow(schedule, me, phase, flow) && flow->to == peer)
			return !forsched_sl(schedule, me, phase, sl);
	fprintf(stderr, "no flow between these two\n");
	return 0;
}

static int start(const struct forsched *schedule, char **argv)
{
	struct rdma_event_channel *channel;
	struct forsched_server own;
	struct forsched_error error;
	struct forsched_flow flow;
	struct ibv_path_data path;
	uint32_t me, peer;
	uint8_t sl;
	int code;

	if (forsched_find_guid(schedule, strtoull(argv[2], NULL, 16), &me, &error) ||
	    forsched_find_guid(schedule, strtoull(argv[3], NULL, 16), &peer, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 2;
	}
	if (!find_flow(schedule, me, peer, &flow, &sl) || forsched_server(schedule, me, &own))
		return 2;
	channel = rdma_create_event_channel();
	if (!channel) {
		path = make_path(NULL, own.lid, &flow, sl);
		print_path(&path);
		printf("No RDMA connection manager on this host: not connected.\n");
		return 0;
	}
	code = run(channel, argv[4], own.lid, &flow, sl);
	rdma_destroy_event_channel(channel);
	return code;
}

int main(int argc, char **argv)
{
	struct forsched *schedule;
	struct forsched_error error;
	int code;

	if (argc != 5 || forsched_open(argv[1], &schedule, &error)) {
		fprintf(stderr, "%s\n", argc != 5 ? "usage: rdma_cm SCHEDULE ME PEER ADDRESS" : error.text);
		return 2;
	}
	code = start(schedule, argv);
	forsched_close(schedule);
	return code;
}
