# The core: pure functions over plain data; no OpenSM header, no I/O.
noinst_LTLIBRARIES += libforscore.la
libforscore_la_SOURCES = \
	core/base/copy.h \
	core/base/divisor.h \
	core/base/error.c core/base/error.h \
	core/base/guidlist.c core/base/guidlist.h \
	core/base/hostlist.c core/base/hostlist.h \
	core/base/joblines.c core/base/joblines.h \
	core/base/names.c core/base/names.h \
	core/base/numbers.h \
	core/base/parallel.c core/base/parallel.h \
	core/base/print.c core/base/print.h \
	core/base/random.h \
	core/base/text.c core/base/text.h \
	core/base/unknown.h \
	core/base/warnings.c core/base/warnings.h \
	core/colouring/koenig.c core/colouring/koenig.h \
	core/demand/answer.c core/demand/answer.h \
	core/demand/cables.c core/demand/cables.h \
	core/demand/check.c core/demand/check.h \
	core/demand/demand.c core/demand/demand.h \
	core/demand/demand_file.c core/demand/demand_file.h \
	core/demand/index.c core/demand/index.h \
	core/demand/pack.c core/demand/pack.h \
	core/demand/pack_slices.c \
	core/demand/pack_units.c \
	core/demand/pairs.c core/demand/pairs.h \
	core/demand/plan.c core/demand/plan.h \
	core/demand/problem.c core/demand/problem.h \
	core/demand/published.c core/demand/published.h \
	core/demand/reach.c core/demand/reach.h \
	core/demand/steps.c core/demand/steps.h \
	core/demand/uniform.c core/demand/uniform.h \
	core/fabric/account.c core/fabric/account.h \
	core/fabric/drained.c core/fabric/drained.h \
	core/fabric/fabric.c core/fabric/fabric.h \
	core/fabric/fattree.c core/fabric/fattree.h \
	core/fabric/holddown.c core/fabric/holddown.h \
	core/fabric/hosts.c core/fabric/hosts.h \
	core/fabric/known.c core/fabric/known.h \
	core/fabric/lids.c core/fabric/lids.h \
	core/fabric/missing.c core/fabric/missing.h \
	core/fabric/places.c core/fabric/places.h core/fabric/places_inside.h \
	core/fabric/places_edit.c \
	core/fabric/places_file.c core/fabric/places_file.h \
	core/fabric/places_learn.c \
	core/fabric/places_learn_cables.c \
	core/fabric/places_learn_slots.c \
	core/fabric/places_learn_switches.c \
	core/fabric/places_rank.c \
	core/fabric/places_relieve.c \
	core/fabric/pods.c core/fabric/pods.h core/fabric/pods_inside.h \
	core/fabric/pods_crossed.c \
	core/fabric/pods_planes.c \
	core/fabric/pods_roles.c \
	core/fabric/repairs.c core/fabric/repairs.h \
	core/fabric/sides.c core/fabric/sides.h \
	core/jobs/running.c core/jobs/running.h \
	core/jobs/entries.c core/jobs/entries.h \
	core/jobs/entries_live.c \
	core/jobs/entries_tables.c \
	core/jobs/floors.c core/jobs/floors.h \
	core/jobs/floors_tables.c \
	core/jobs/holdings.c core/jobs/holdings.h \
	core/jobs/holdings_again.c \
	core/jobs/holdings_live.c \
	core/jobs/holdings_worth.c \
	core/jobs/joblist.c core/jobs/joblist.h \
	core/jobs/mask.h \
	core/jobs/members.c core/jobs/members.h \
	core/jobs/owners.c core/jobs/owners.h core/jobs/owners_inside.h \
	core/jobs/owners_energy.c \
	core/jobs/owners_improve.c \
	core/jobs/owners_start.c \
	core/net/aside.c core/net/aside.h \
	core/net/claims.c core/net/claims.h \
	core/net/counters.c core/net/counters.h \
	core/net/diff.c core/net/diff.h \
	core/net/directory.c core/net/directory.h \
	core/net/dump_lids.c core/net/dump_lids.h \
	core/net/endpoints.c core/net/endpoints.h \
	core/net/graph_blocks.c core/net/graph_blocks.h \
	core/net/graph_net.c core/net/graph_net.h \
	core/net/graph_spec.c core/net/graph_spec.h \
	core/net/lftfile.c core/net/lftfile.h \
	core/net/lfts.c core/net/lfts.h \
	core/net/lfts_diff.c core/net/lfts_diff.h core/net/lfts_diff_text.c \
	core/net/namebook.c core/net/namebook.h core/net/namebook_inside.h \
	core/net/namebook_file.c \
	core/net/net.c core/net/net.h \
	core/net/netfile.c core/net/netfile.h \
	core/net/others.c core/net/others.h \
	core/net/partitions.c core/net/partitions.h \
	core/net/portinfo.c core/net/portinfo.h \
	core/net/rates.c core/net/rates.h \
	core/net/slurm.c core/net/slurm.h \
	core/net/spec.c core/net/spec.h \
	core/net/spec_text.c core/net/spec_text.h \
	core/net/tree.c core/net/tree.h \
	core/net/tree_net.c core/net/tree_net.h \
	core/net/tree_spec.c core/net/tree_spec.h \
	core/net/witness.c core/net/witness.h \
	core/planners/occupancy.c core/planners/occupancy.h \
	core/planners/bound.c core/planners/bound.h \
	core/planners/exact/exact.c \
	core/planners/exact/split.c core/planners/exact/split.h \
	core/planners/exact/ways.c \
	core/planners/flows/linear_shift.c core/planners/flows/linear_shift.h \
	core/planners/flows/choice.c core/planners/flows/choice.h \
	core/planners/flows/first_fit.c \
	core/planners/flows/flows.c \
	core/planners/flows/retry.c core/planners/flows/retry.h \
	core/planners/flows/lumps.c core/planners/flows/lumps.h \
	core/planners/flows/pack.c core/planners/flows/pack.h \
	core/planners/flows/problem.c core/planners/flows/problem.h \
	core/planners/flows/routed.c core/planners/flows/routed.h \
	core/planners/flows/routed_bytes.c \
	core/planners/flows/routed_check.c \
	core/planners/flows/routed_schedule.c core/planners/flows/routed_schedule.h \
	core/planners/flows/routed_ways.c core/planners/flows/routed_ways.h \
	core/planners/flows/search.c core/planners/flows/search.h \
	core/planners/flows/senders.c core/planners/flows/senders.h \
	core/planners/flows/strategy.c core/planners/flows/strategy.h \
	core/planners/flows/units.c core/planners/flows/units.h core/planners/flows/units_begin.c \
	core/planners/flows/ways.c core/planners/flows/ways.h \
	core/planners/jobplan.c core/planners/jobplan.h \
	core/planners/jobplan_floors.c \
	core/planners/jobplan_index.c core/planners/jobplan_index.h \
	core/planners/jobplan_left.c core/planners/jobplan_left.h \
	core/planners/jobplan_over.c core/planners/jobplan_over.h \
	core/planners/lmc.c core/planners/lmc.h \
	core/planners/memory.c core/planners/memory.h \
	core/planners/mended.c core/planners/mended.h \
	core/planners/method.h \
	core/planners/outcome.c core/planners/outcome.h \
	core/planners/over.c core/planners/over.h \
	core/planners/over_bound.c core/planners/over_bound.h \
	core/planners/over_rounds.c core/planners/over_rounds.h \
	core/planners/planner.c core/planners/planner.h \
	core/planners/pods/bound.c core/planners/pods/bound.h \
	core/planners/pods/claims.c core/planners/pods/claims.h \
	core/planners/pods/groups.c core/planners/pods/groups.h \
	core/planners/pods/lanes.c core/planners/pods/lanes.h \
	core/planners/pods/number.c core/planners/pods/number.h \
	core/planners/pods/extra.c core/planners/pods/extra.h \
	core/planners/pods/relieve.c core/planners/pods/relieve.h \
	core/planners/pods/repair.c core/planners/pods/repair.h \
	core/planners/pods/route.c core/planners/pods/route.h \
	core/planners/pods/units.c core/planners/pods/units.h \
	core/planners/pods/ways.c core/planners/pods/ways.h \
	core/planners/routing.c core/planners/routing.h \
	core/planners/slow.c core/planners/slow.h \
	core/planners/slow_length.c core/planners/slow_length.h \
	core/schedule/lane_ways.c core/schedule/lane_ways.h \
	core/schedule/pace.c core/schedule/pace.h \
	core/schedule/schedule.c core/schedule/schedule.h \
	core/schedule/schedule_fault.c core/schedule/schedule_fault.h \
	core/schedule/schedule_file.c core/schedule/schedule_file.h core/schedule/schedule_format.h \
	core/schedule/schedule_header.c core/schedule/schedule_header.h \
	core/schedule/schedule_read.c \
	core/schedule/schedule_sizes.c core/schedule/schedule_sizes.h \
	core/schedule/schedule_units.c core/schedule/schedule_units.h \
	core/schedule/shift.c core/schedule/shift.h \
	core/schedule/verify.c core/schedule/verify.h core/schedule/verify_fast.c core/schedule/verify_inside.h \
	core/schedule/verify_text.c \
	core/schedule/ways.c core/schedule/ways.h \
	core/status/advice.c core/status/advice.h \
	core/status/failover.c core/status/failover.h \
	core/status/history.c core/status/history.h \
	core/status/jobstat.c core/status/jobstat.h \
	core/status/object.c core/status/object.h \
	core/status/shadow.c core/status/shadow.h \
	core/status/status.c core/status/status.h \
	core/status/status_json.c core/status/status_json.h \
	core/status/status_keys.c core/status/status_keys.h \
	core/status/status_metrics.c core/status/status_metrics.h \
	core/tables/check.c core/tables/check.h \
	core/tables/detours.c \
	core/tables/extra.c \
	core/tables/filler.h \
	core/tables/holes.c core/tables/holes.h \
	core/tables/home.h \
	core/tables/lanes.c core/tables/lanes.h \
	core/tables/level.c core/tables/level.h \
	core/tables/level_build.c \
	core/tables/level_own.c \
	core/tables/level_search.c \
	core/tables/leveller.c core/tables/leveller.h \
	core/tables/loops.c core/tables/loops.h \
	core/tables/reach.c core/tables/reach.h \
	core/tables/switches.c core/tables/switches.h \
	core/tables/tables.c core/tables/tables.h \
	core/tables/turns.c core/tables/turns.h
EXTRA_DIST += core/base/README.md core/colouring/README.md core/fabric/README.md core/jobs/README.md core/net/README.md core/planners/README.md \
	core/planners/exact/README.md core/planners/flows/README.md core/planners/pods/README.md core/schedule/README.md core/status/README.md \
	core/tables/README.md
libforscore_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) $(JANSSON_CFLAGS)
libforscore_la_LIBADD = $(ZLIB_LIBS) $(JANSSON_LIBS) -lm
