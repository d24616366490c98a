/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet.h - OpenSM's subnet object as a sweep leaves it, made of a net by OpenSM's own functions.
 *
 * All links are up, 4 lanes of 10 Gb/s, as much as their ports can. Tests change OpenSM's structures directly.
 * Functions here end the running cmocka test when something goes wrong that should not.
 */
#ifndef FORS_TESTS_SUBNET_H
#define FORS_TESTS_SUBNET_H

#include "core/net/net.h"
#include "plugin/opensm.h"

struct subnet {
	osm_opensm_t osm;
	osm_subn_opt_t opt;
	char folder[64]; /* for OpenSM's files and all others of the test */
};

/* The first CA runs the subnet manager, which is the master. Switches hold no tables yet. */
struct subnet *subnet_new(const struct fors_net *net);
/* And the folder with all that is in it. */
void subnet_free(struct subnet *subnet);

/* The node with this description. */
osm_node_t *subnet_node(struct subnet *subnet, const char *name);
osm_switch_t *subnet_switch(struct subnet *subnet, const char *name);
/* Its port; of a CA there is only number 1. */
osm_physp_t *subnet_port(struct subnet *subnet, const char *name, unsigned port);
/* What OpenSM keeps for a port with LIDs: port 1 of a CA, port 0 of a switch. */
osm_port_t *subnet_end(struct subnet *subnet, const char *name);

/* Pull the cable of a port, and put it back. */
void subnet_cut(struct subnet *subnet, const char *name, unsigned port);
void subnet_join(struct subnet *subnet, const char *a, unsigned port_a, const char *b, unsigned port_b);

/* The switches hold what they shall hold. */
void subnet_install(struct subnet *subnet);

/* How often OpenSM's log has this text. */
unsigned subnet_logged(const struct subnet *subnet, const char *text);

/* Write a file of the folder; its path, until the next call. */
const char *subnet_write(const struct subnet *subnet, const char *name, const char *text);

#endif
