/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "look_pods.h"

#include <stdlib.h>

void fors_look_pods_free(struct fors_look_pods *pods)
{
	if (!pods)
		return;
	if (pods->route)
		pods->route->lfts = NULL; /* the look's */
	fors_route3_free(pods->route);
	fors_pods_free(pods->pods);
	fors_net_free(pods->known);
	free(pods->plays);
	free(pods);
}

static enum fors_err make(const struct fors_look *look, const struct fors_places *places,
			  const struct fors_participants *participants, struct fors_look_pods *made,
			  struct fors_error *error)
{
	enum fors_err err = fors_net_copy(fors_places_known(places), &made->known, error);

	if (!err)
		err = fors_places_pods(places, made->known, look->net, &made->pods, error);
	return err ? err : fors_pods_players(made->pods, participants, &made->plays, &made->nplayers, error);
}

/* Guests take no part, so the list of who does is always a list. */
static enum fors_err list_players(struct fors_look *look, const struct fors_look_pods *made, struct fors_error *error)
{
	struct fors_participants players = {.guid = NULL};
	enum fors_err err = fors_pods_list(made->pods, made->plays, made->nplayers, &players, error);

	if (!err)
		err = fors_look_be_over(look, &players, error);
	free(players.guid);
	return err;
}

enum fors_err fors_look_be_pods(struct fors_look *look, const struct fors_places *places,
				const struct fors_participants *participants, struct fors_error *error)
{
	struct fors_look_pods *made = calloc(1, sizeof(*made));
	enum fors_err err = made ? make(look, places, participants, made, error) : fors_fail_memory(error);

	if (!err)
		err = list_players(look, made, error);
	if (err) {
		fors_look_pods_free(made);
		return err;
	}
	fors_look_pods_free(look->pods);
	look->pods = made;
	return FORS_OK;
}

void fors_look_pods_inherit(struct fors_look *newer, struct fors_look *older)
{
	if (!newer->pods || newer->pods->route || !newer->lfts || !older || !older->pods || !older->pods->route ||
	    !older->lfts || !fors_look_same_tables(newer, older))
		return;
	newer->pods->route = older->pods->route;
	newer->pods->route->lfts = newer->lfts;
	older->pods->route = NULL;
}
