/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whatif_net.c - the net that a failure leaves, and its servers. */
#include "whatif.h"

enum fors_err whatif_net(const struct whatif *whatif, const struct whatif_case *one, struct fors_net **net,
			 struct fors_error *error)
{
	enum fors_err err = fors_net_copy(whatif->intact.net, net, error);

	for (uint32_t i = 0; i < one->ncut && !err; i++)
		fors_net_disconnect(*net, one->cut[i].node, one->cut[i].port);
	return err;
}

enum fors_err whatif_servers(const struct whatif *whatif, const struct fors_net *net, struct fors_endpoint **list,
			     uint32_t *count, struct fors_error *error)
{
	const struct fors_participants *them = whatif->site.has_participants ? &whatif->site.participants : NULL;
	struct fors_fabric *fabric = NULL;
	enum fors_err err;

	if (!whatif->intact.fabric)
		return fors_endpoints(net, them, list, count, error);
	err = fors_fabric_build(net, whatif->site.places, them, &fabric, error);
	if (!err)
		err = cli_fabric_endpoints(fabric, list, count, error);
	fors_fabric_free(fabric);
	return err;
}
