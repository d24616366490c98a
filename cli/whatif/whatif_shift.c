/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* whatif_shift.c - what is the same under all engines: the net that a failure leaves, and its linear shift. */
#include "core/net/lfts.h"
#include "model/measure/evaluate.h"
#include "model/routers/router.h"
#include "whatif.h"

enum fors_err whatif_net(const struct whatif *whatif, const struct whatif_case *one, struct fors_net **net,
			 struct fors_error *error)
{
	enum fors_err err = fors_net_copy(whatif->intact.net, net, error);

	for (uint32_t i = 0; i < one->ncut && !err; i++)
		fors_net_disconnect(*net, one->cut[i].node, one->cut[i].port);
	return err;
}

enum fors_err whatif_shift(const struct fors_net *net, const struct fors_lfts *lfts, const struct fors_endpoint *server,
			   uint32_t count, struct whatif_result *result, struct fors_error *error)
{
	struct fors_routes *routes = NULL;
	struct fors_pattern *pattern = NULL;
	struct fors_evaluation *evaluation = NULL;
	enum fors_err err = fors_routes_new(net, lfts, server, count, &routes, error);

	if (!err)
		err = fors_pattern_new("linear-shift", count, NULL, &pattern, error);
	if (!err) {
		struct fors_router router = fors_routes_router(routes);

		err = fors_evaluate(&router, pattern, false, 1, &evaluation, error);
	}
	if (!err) {
		result->shift = evaluation->nbroken ? 0 : evaluation->sync_throughput;
		result->max_load = evaluation->max_link_load;
		result->broken = evaluation->nbroken;
	}
	fors_evaluation_free(evaluation);
	fors_pattern_free(pattern);
	fors_routes_free(routes);
	return err;
}
