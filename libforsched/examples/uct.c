/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uct SCHEDULE [GUID [TRANSPORT]]: endpoints of UCX's lower layer (UCT), each on the path of the schedule.
 *
 * An endpoint takes a path_index. On InfiniBand UCX adds it to BOTH base LIDs: dlid = peer's base LID + index, source
 * path bits = the same index. So one endpoint cannot serve the two directions of a pair of servers, whose indices
 * differ. Make two, and let both ends give each of them the index of the direction that it carries:
 *
 *   sending    to flow.to        path_index = flow.path
 *   receiving  from flow.from    path_index = flow.in_path
 *
 * UCT has one service level for all endpoints (UCX_IB_SL); where a schedule says several, this is not the way.
 * (Acknowledgements then go back on the same index, not on the plan's lane; they are small.) UCX offers as many paths
 * as the LMC gives, unless UCX_IB_LID_PATH_BITS or UCX_IB_NUM_PATHS say otherwise: dev_num_paths tells.
 *
 * Where the transport (rc_verbs, unless named) is there, this makes both endpoints for each phase; connecting them
 * takes the exchange of addresses (uct_ep_get_address, uct_ep_connect_to_ep) that every user of UCT has. Where it is
 * not, the indices are printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ucs/async/async_fwd.h>
#include <uct/api/uct.h>

#include <forsched.h>

struct host {
	ucs_async_context_t *async;
	uct_worker_h worker;
	uct_md_h md;
	uct_iface_h iface; /* NULL: none */
	uct_iface_attr_t attr;
};

/* ---- the part that matters ---- */

static uct_ep_h make_endpoint(const struct host *host, unsigned path_index)
{
	const uct_ep_params_t params = {
		.field_mask = UCT_EP_PARAM_FIELD_IFACE | UCT_EP_PARAM_FIELD_PATH_INDEX,
		.iface = host->iface,
		.path_index = path_index,
	};
	uct_ep_h endpoint;

	if (path_index >= host->attr.dev_num_paths || uct_ep_create(&params, &endpoint) != UCS_OK)
		return NULL;
	return endpoint;
}

/* ---- the rest ---- */

static ucs_status_t open_iface(struct host *host, const uct_tl_resource_desc_t *resource)
{
	const uct_iface_params_t params = {
		.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE,
		.open_mode = UCT_IFACE_OPEN_MODE_DEVICE,
		.mode.device = {.tl_name = resource->tl_name, .dev_name = resource->dev_name},
	};
	uct_iface_config_t *config;
	ucs_status_t status = uct_md_iface_config_read(host->md, resource->tl_name, NULL, NULL, &config);

	if (status != UCS_OK)
		return status;
	status = uct_iface_open(host->md, host->worker, &params, config, &host->iface);
	uct_config_release(config);
	if (status == UCS_OK)
		status = uct_iface_query(host->iface, &host->attr);
	return status;
}

/* The transport on a memory domain; host->iface stays NULL when it is not there. */
static void try_domain(struct host *host, uct_component_h component, const char *name, const char *transport)
{
	uct_tl_resource_desc_t *resources = NULL;
	uct_md_config_t *config;
	unsigned count = 0;

	if (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)
		return;
	if (uct_md_open(component, name, config, &host->md) != UCS_OK)
		host->md = NULL;
	uct_config_release(config);
	if (!host->md)
		return;
	if (uct_md_query_tl_resources(host->md, &resources, &count) == UCS_OK) {
		for (unsigned i = 0; i < count && !host->iface; i++)
			if (strcmp(resources[i].tl_name, transport) == 0 && open_iface(host, &resources[i]) != UCS_OK)
				host->iface = NULL;
		uct_release_tl_resource_list(resources);
	}
	if (!host->iface) {
		uct_md_close(host->md);
		host->md = NULL;
	}
}

static void try_component(struct host *host, uct_component_h component, const char *transport)
{
	uct_component_attr_t attr = {.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};

	if (uct_component_query(component, &attr) != UCS_OK || !attr.md_resource_count)
		return;
	attr.md_resources = calloc(attr.md_resource_count, sizeof(*attr.md_resources));
	attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
	if (attr.md_resources && uct_component_query(component, &attr) == UCS_OK)
		for (unsigned i = 0; i < attr.md_resource_count && !host->iface; i++)
			try_domain(host, component, attr.md_resources[i].md_name, transport);
	free(attr.md_resources);
}

static void open_host(struct host *host, const char *transport)
{
	uct_component_h *components;
	unsigned count;

	if (ucs_async_context_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &host->async) != UCS_OK ||
	    uct_worker_create(host->async, UCS_THREAD_MODE_SINGLE, &host->worker) != UCS_OK ||
	    uct_query_components(&components, &count) != UCS_OK)
		return;
	for (unsigned i = 0; i < count && !host->iface; i++)
		try_component(host, components[i], transport);
	uct_release_component_list(components);
}

static void close_host(struct host *host)
{
	if (host->iface)
		uct_iface_close(host->iface);
	if (host->md)
		uct_md_close(host->md);
	if (host->worker)
		uct_worker_destroy(host->worker);
	if (host->async)
		ucs_async_context_destroy(host->async);
}

/* An endpoint made, and said so; "-" where there is no transport. */
static const char *try_endpoint(const struct host *host, unsigned path_index)
{
	uct_ep_h endpoint;

	if (!host->iface)
		return "-";
	endpoint = make_endpoint(host, path_index);
	if (endpoint)
		uct_ep_destroy(endpoint);
	return endpoint ? "made" : "not possible";
}

static int run(const struct forsched *schedule, const struct host *host, uint32_t me)
{
	struct forsched_flow flow;

	printf("phase  to server  path_index  endpoint  from server  path_index  endpoint\n");
	for (uint32_t phase = 0; phase < forsched_nphases(schedule); phase++) {
		if (forsched_flow(schedule, me, phase, &flow))
			return 1;
		printf("%5" PRIu32, phase);
		if (flow.to != FORSCHED_NOBODY)
			printf("  %9" PRIu32 "  %10u  %8s", flow.to, flow.path, try_endpoint(host, flow.path));
		else
			printf("  %9s  %10s  %8s", "nobody", "", "");
		if (flow.from != FORSCHED_NOBODY)
			printf("  %11" PRIu32 "  %10u  %8s", flow.from, flow.in_path, try_endpoint(host, flow.in_path));
		printf("\n");
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *transport = argc > 3 ? argv[3] : "rc_verbs";
	struct host host = {NULL};
	struct forsched *schedule;
	struct forsched_error error;
	uint32_t me = 0;
	int code = 2;

	if (argc < 2 || forsched_open(argv[1], &schedule, &error)) {
		fprintf(stderr, "%s\n", argc < 2 ? "usage: uct SCHEDULE [GUID [TRANSPORT]]" : error.text);
		return 2;
	}
	if (argc > 2 && forsched_find_guid(schedule, strtoull(argv[2], NULL, 16), &me, &error)) {
		fprintf(stderr, "%s\n", error.text);
	} else {
		open_host(&host, transport);
		if (host.iface)
			printf("%s with %u paths\n", transport, host.attr.dev_num_paths);
		else
			printf("No transport %s on this host: path indices only, no endpoint was made.\n", transport);
		code = run(schedule, &host, me);
		close_host(&host);
	}
	forsched_close(schedule);
	return code;
}
