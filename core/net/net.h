/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * net.h - the network as somebody saw it: nodes, ports and cables, nothing else.
 *
 * A struct fors_net says what ibnetdiscover would: which switches and channel
 * adapters (CAs) there are and which port is cabled to which. It knows nothing
 * of leaves, spines or plans; core/fabric/fabric.h makes sense of it. It is filled by one
 * of the readers (netfile.h: ibnetdiscover text, tree_net.h: a specification,
 * plugin/: OpenSM's subnet object), and a link that is down is simply absent.
 *
 * Thread rules: a net may be read by any number of threads; nobody may change
 * it meanwhile.
 */
#ifndef FORS_CORE_NET_NET_H
#define FORS_CORE_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define FORS_NONE UINT32_MAX /* "no such index" */
#define FORS_NAME_MAX 64     /* InfiniBand's node descriptions have 64 bytes */
#define FORS_LID_MAX 0xBFFF  /* last unicast LID, 49,151 */
#define FORS_MAX_LMC 7

/* FORS_CA is a host's adapter; FORS_OTHER an end of a cable that is neither host nor router: others.h says which are. */
enum fors_node_type { FORS_CA, FORS_SWITCH, FORS_ROUTER, FORS_OTHER };

/* What a node of type FORS_OTHER is. */
enum fors_other {
	FORS_OTHER_AGGREGATION, /* the part of a switch that reduces data on its way */
	FORS_OTHER_MANAGEMENT,	/* a switch's port for its own management */
	FORS_OTHER_GATEWAY,	/* leads to another network */
	FORS_OTHER_NAMED,	/* no host, people say */
	FORS_NOTHERS
};

struct fors_port {
	uint64_t full,
		limited; /* bits of the partitions that it is a member of (partitions.h); both 0: of none, or not known */
	uint64_t guid;	 /* port GUID; of a switch's port 0 the node GUID, of its others 0 */
	uint32_t peer;	 /* node at the other end of the cable, FORS_NONE: no live cable */
	uint8_t peer_port; /* its port */
	uint8_t lmc;	   /* of CA ports and switch port 0 */
	uint16_t lid;	   /* base LID of CA ports and switch port 0; 0: none assigned */
	bool is_sm;	   /* a subnet manager runs behind this port */
	bool is_degraded;  /* the cable runs below full width or speed */
	uint8_t width;	   /* of the cable: 1, 2, 4, 8 or 12 times a link of one lane; 0: not known */
	uint8_t speed;	   /* of each of these, enum fors_speed (rates.h) */
};

struct fors_node {
	uint64_t guid;	     /* node GUID */
	uint32_t first_port; /* port p is net->port[first_port + p], p = 0..nports */
	enum fors_node_type type;
	uint8_t nports;		      /* external ports, numbered 1..nports */
	uint8_t other;		      /* enum fors_other, of FORS_OTHER */
	uint16_t device;	      /* the vendor's number of what it is; 0: not known */
	char id[FORS_NAME_MAX + 1];   /* unique in a net, as in "S-0002c90200000001" */
	char desc[FORS_NAME_MAX + 1]; /* node description; need not be unique */
};

struct fors_net {
	struct fors_node *node; /* nnodes of them */
	struct fors_port *port; /* nports of them, node by node, port 0 first */
	uint32_t nnodes, nports;
	uint32_t node_room, port_room; /* allocated; private */
	uint32_t *by_guid;	       /* node indices by ascending node GUID; NULL: see fors_net_index() */
};

/* An empty net, or NULL when out of memory. The caller frees it with fors_net_free(). */
struct fors_net *fors_net_new(void);

/* Free net and all that it owns; NULL is allowed. */
void fors_net_free(struct fors_net *net);

/* A deep copy in *copy, owned by the caller. Errors: FORS_ENOMEM. */
enum fors_err fors_net_copy(const struct fors_net *net, struct fors_net **copy, struct fors_error *error);

/*
 * Append a node without cables and store its index in *index. id and desc are
 * cut to FORS_NAME_MAX bytes; control characters and quotes in them become '?'
 * (they end up in logs, JSON and HTML). Duplicates are not looked for here, see
 * fors_net_index(). Pointers into net->node and net->port become invalid.
 * Errors: FORS_ENOMEM, FORS_ELIMIT (nports > 254); the net is unchanged then.
 */
enum fors_err fors_net_add_node(struct fors_net *net, enum fors_node_type type, unsigned nports, uint64_t guid,
				const char *id, const char *desc, uint32_t *index, struct fors_error *error);

/*
 * Sort out the GUIDs of a complete net: afterwards fors_net_find_guid() works
 * until a node is added. Errors: FORS_EINPUT when two nodes share a GUID or two
 * CA ports do (names both), FORS_ENOMEM.
 */
enum fors_err fors_net_index(struct fors_net *net, struct fors_error *error);

/* Index of the node with this node GUID, or FORS_NONE. Needs fors_net_index(). */
uint32_t fors_net_find_guid(const struct fors_net *net, uint64_t guid);

/*
 * The node (and port) that a person means: NODE or NODE[PORT], where NODE is a
 * node id, a GUID (0x..., node or CA port), or a description that only one node
 * has; of a vendor's "MF0;NAME:MODEL/U1" also NAME, or NAME/U1. *port is 0 when no port was given. What is written as a GUID is no description, whoever calls
 * itself so. Errors: FORS_EINPUT, with the candidates when the description is ambiguous, and the nearest names when nobody has it.
 */
enum fors_err fors_net_find(const struct fors_net *net, const char *what, uint32_t *node, unsigned *port,
			    struct fors_error *error);

/* Is a node with this description called so: exactly, or by the name in a vendor's description? */
bool fors_is_called(const char *desc, const char *name);

/* What a person has written: see fors_net_address(). */
struct fors_address {
	char name[128]; /* NODE */
	unsigned port;	/* PORT, 0: none was given */
	uint64_t guid;	/* that NODE is, so it is no description; 0: it is none */
	bool is_guid;	/* it is one; 0 is that of nobody */
	uint32_t node;	/* that has this id or GUID; FORS_NONE: none, or not looked for */
};

/* NODE or NODE[PORT] in its parts; nobody is looked for. Errors: FORS_EINPUT (nothing that could name a node). */
enum fors_err fors_address_read(const char *what, struct fors_address *address, struct fors_error *error);

/*
 * The node without descriptions, for who knows better whose they are. A port that the node does not have is
 * not looked for here. Errors: FORS_EINPUT (nothing that could name a node).
 */
enum fors_err fors_net_address(const struct fors_net *net, const char *what, struct fors_address *address,
			       struct fors_error *error);

/* Port number 0..nports of a node; 0 of a switch is its management port. Not checked. */
static inline struct fors_port *fors_net_port(const struct fors_net *net, uint32_t node, unsigned port)
{
	return &net->port[net->node[node].first_port + port];
}

/* What people call a node: its description, or the id where it has none. */
static inline const char *fors_node_name(const struct fors_net *net, uint32_t node)
{
	return *net->node[node].desc ? net->node[node].desc : net->node[node].id;
}

/*
 * The name of the host that an adapter is of, as the scheduler Slurm knows it, in name[FORS_NAME_MAX + 1]: the first word of its
 * description, where at most one follows, which tells its adapters apart ("n01 mlx5_0"). False: that can be no name of a host, as
 * of an adapter whose driver nobody told ("MT4119 ConnectX5 Mellanox Technologies", "localhost mlx5_0").
 */
bool fors_host_name(const struct fors_node *node, char *name);

/* One more than the largest LID of any port; at least 1. */
uint32_t fors_net_lid_end(const struct fors_net *net);

/* The switch at the other end of a switch port's cable, or FORS_NONE (no cable, no switch, a loop back to itself). */
uint32_t fors_peer_switch(const struct fors_net *net, uint32_t node, unsigned port);
/* Is there a node, and is it a host's? */
static inline bool fors_is_host(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type == FORS_CA;
}

/* Is there a node, and is it a part of a switch, with no cable that anybody could plug elsewhere? */
static inline bool fors_is_part(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type == FORS_OTHER && net->node[node].other < FORS_OTHER_GATEWAY;
}

/* Is there a node at which packets for hosts begin? Parts of switches answer each other only. */
static inline bool fors_sends(const struct fors_net *net, uint32_t node)
{
	return node != FORS_NONE && net->node[node].type != FORS_SWITCH && !fors_is_part(net, node);
}

/* How many ports of a node have a cable to a host. */
uint32_t fors_net_hosts(const struct fors_net *net, uint32_t node);

/*
 * Plug a cable between two free ports. Errors: FORS_EINPUT when a port does not
 * exist, is port 0, is in use, or both ends are the same port (named in the text).
 */
enum fors_err fors_net_connect(struct fors_net *net, uint32_t node_a, unsigned port_a, uint32_t node_b, unsigned port_b,
			       struct fors_error *error);

/* Pull the cable of one port, at both ends; nothing happens when there is none. */
void fors_net_disconnect(struct fors_net *net, uint32_t node, unsigned port);

/*
 * Take down in `net`, a copy of `intact`, what fors_net_find() finds for `what`:
 * one cable, or all cables of a node. A cable that an earlier call took down may
 * be named again. Errors: those of fors_net_find(), and FORS_EINPUT when the
 * port (or node) has no cable in `intact`.
 */
enum fors_err fors_net_down(const struct fors_net *intact, struct fors_net *net, const char *what,
			    struct fors_error *error);

/* Whom the exchange is for: port GUIDs in any order. NULL stands for all servers. */
struct fors_participants {
	uint64_t *guid;
	size_t count;
};

/*
 * A copy of `list` in the order of GUIDs in *sorted, whose guid the caller frees, for fors_participants_have(); of NULL
 * it has no guid, and everybody is one of them. Errors: FORS_ENOMEM.
 */
enum fors_err fors_participants_sort(const struct fors_participants *list, struct fors_participants *sorted,
				     struct fors_error *error);
bool fors_participants_have(const struct fors_participants *sorted, uint64_t guid);

#endif
