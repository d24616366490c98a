# Unit and property tests: one cmocka program per module of core/.
unit_tests =
unit_tests += tests/unit/test_absent
unit_tests += tests/unit/test_advisor
unit_tests += tests/unit/test_background
unit_tests += tests/unit/test_publisher
unit_tests += tests/unit/test_drain
unit_tests += tests/unit/test_drained
unit_tests += tests/unit/test_decision tests/unit/test_pack tests/unit/test_subset tests/unit/test_turns
unit_tests += tests/unit/test_closed_form
unit_tests += tests/unit/test_consistency
unit_tests += tests/unit/test_demand tests/unit/test_demand_check
unit_tests += tests/unit/test_fabric
unit_tests += tests/unit/test_epoch
unit_tests += tests/unit/test_effort
unit_tests += tests/unit/test_exact
unit_tests += tests/unit/test_families
unit_tests += tests/unit/test_flows
unit_tests += tests/unit/test_flows_parts
unit_tests += tests/unit/test_forsched
unit_tests += tests/unit/test_entries tests/unit/test_holdings
unit_tests += tests/unit/test_golden
unit_tests += tests/unit/test_graph_spec
unit_tests += tests/unit/test_guidlist
unit_tests += tests/unit/test_history
unit_tests += tests/unit/test_namebook
unit_tests += tests/unit/test_hostlist
unit_tests += tests/unit/test_home
unit_tests += tests/unit/test_input
unit_tests += tests/unit/test_invariants
unit_tests += tests/unit/test_look
unit_tests += tests/unit/test_jobplan
unit_tests += tests/unit/test_jobs
unit_tests += tests/unit/test_kept
unit_tests += tests/unit/test_level
unit_tests += tests/unit/test_loader
unit_tests += tests/unit/test_ilp
unit_tests += tests/unit/test_lftfile
unit_tests += tests/unit/test_lfti
unit_tests += tests/unit/test_lfts_diff
unit_tests += tests/unit/test_memory
unit_tests += tests/unit/test_methods
unit_tests += tests/unit/test_missing
unit_tests += tests/unit/test_model tests/unit/test_model_tables
unit_tests += tests/unit/test_net
unit_tests += tests/unit/test_netfile
unit_tests += tests/unit/test_concurrent
unit_tests += tests/unit/test_optimum
unit_tests += tests/unit/test_places
unit_tests += tests/unit/test_rank
unit_tests += tests/unit/test_rehome
unit_tests += tests/daemon/test_daemon
if HAVE_WATCH
unit_tests += tests/watch/test_mads
endif
unit_tests += tests/watch/test_paths tests/watch/test_reading tests/watch/test_survey tests/watch/test_used
unit_tests += tests/unit/test_repairs
unit_tests += tests/unit/test_planner
unit_tests += tests/unit/test_copies tests/unit/test_copier tests/unit/test_command
unit_tests += tests/unit/test_outcome
unit_tests += tests/unit/test_over tests/unit/test_over_memory
unit_tests += tests/unit/test_pods_bound tests/unit/test_places_pods tests/unit/test_pods tests/unit/test_pods_tops tests/unit/test_pods_director tests/unit/test_pods_drained tests/unit/test_pods_ways
unit_tests += tests/unit/test_pace
unit_tests += tests/unit/test_publish
unit_tests += tests/unit/test_random
unit_tests += tests/unit/test_rounds
unit_tests += tests/unit/test_koenig
unit_tests += tests/unit/test_sar
unit_tests += tests/unit/test_holder
unit_tests += tests/unit/test_schedule_file
unit_tests += tests/unit/test_schedule_header
unit_tests += tests/unit/test_schedule_ways
unit_tests += tests/unit/test_settings
unit_tests += tests/unit/test_tables
unit_tests += tests/unit/test_tree
unit_tests += tests/unit/test_tree_spec
unit_tests += tests/unit/test_text
unit_tests += tests/unit/test_together
unit_tests += tests/unit/test_trust
unit_tests += tests/unit/test_verify
unit_tests += tests/unit/test_formula
unit_tests += tests/unit/test_spread
unit_tests += tests/unit/test_sim
unit_tests += tests/unit/test_qcn
unit_tests += tests/unit/test_sim_bound
unit_tests += tests/unit/test_sim_memory
unit_tests += tests/unit/test_waiting
unit_tests += tests/unit/test_status
unit_tests += tests/unit/test_stays
unit_tests += tests/unit/test_shift
unit_tests += tests/unit/test_shadow
unit_tests += tests/unit/test_shift_length
unit_tests += tests/unit/test_worker
unit_tests += tests/unit/test_worker_entries
unit_tests += tests/unit/test_worker_jobs tests/unit/test_worker_demand

# These bring the sanitizers along, so a build with them has nothing to add.
if !SANITIZED
unit_tests += tests/unit/test_forsched_mangled tests/unit/test_mangled tests/unit/test_schedule_rules
endif

# What tests of planners, tables and the verifier share, and tests of readers.
unit_program = libunit.la $(CMOCKA_LIBS)
unit_support = libtestsupport.la libforscore.la $(unit_program)
libunit_la_SOURCES = tests/unit/unit.c tests/unit/unit.h
libtestsupport_la_SOURCES = tests/unit/support.c tests/unit/support.h tests/unit/data.c tests/unit/data.h

if HAVE_CMOCKA
check_LTLIBRARIES += libtestsupport.la libunit.la
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
tests_unit_test_drained_LDADD = $(unit_support)
tests_unit_test_hostlist_LDADD = libforscore.la $(unit_program)
tests_unit_test_history_LDADD = libforscore.la $(unit_program)
tests_unit_test_advisor_SOURCES = tests/unit/test_advisor.c daemon/worker/advisor.c daemon/base/clock.c daemon/base/digest.c daemon/look/look.c daemon/look/claim.c \
	daemon/look/levels.c daemon/base/thread.c
tests_unit_test_advisor_LDADD = $(unit_support)
tests_unit_test_advisor_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap=fors_phases_mended
tests_unit_test_missing_LDADD = $(unit_support)
tests_unit_test_repairs_LDADD = $(unit_support)
tests_unit_test_closed_form_LDADD = $(unit_support)
tests_unit_test_consistency_LDADD = $(unit_support)
tests_unit_test_demand_LDADD = $(unit_support)
tests_unit_test_demand_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=fors_demand_prove
tests_unit_test_demand_check_LDADD = $(unit_support)
tests_unit_test_koenig_LDADD = libforscore.la $(unit_program)
tests_unit_test_effort_LDADD = $(unit_support)
tests_unit_test_exact_LDADD = $(unit_support)
tests_unit_test_flows_LDADD = $(unit_support)
tests_unit_test_flows_parts_LDADD = $(unit_support)
tests_unit_test_ilp_LDADD = $(unit_support)
tests_unit_test_methods_LDADD = $(unit_support)
tests_unit_test_schedule_file_SOURCES = tests/unit/test_schedule_file.c tests/unit/published.c tests/unit/published.h \
	tests/unit/seal.c tests/unit/seal.h
tests_unit_test_schedule_file_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_schedule_header_SOURCES = tests/unit/test_schedule_header.c tests/unit/published.c tests/unit/published.h \
	tests/unit/seal.c tests/unit/seal.h
tests_unit_test_schedule_header_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_stays_SOURCES = tests/unit/test_stays.c tests/sweep/incomplete.c tests/sweep/incomplete.h
tests_unit_test_stays_LDADD = $(unit_support)
tests_unit_test_tables_LDADD = $(unit_support)
tests_unit_test_text_LDADD = libforscore.la $(unit_program)
tests_unit_test_verify_SOURCES = tests/unit/test_verify.c tests/unit/published.c tests/unit/published.h
tests_unit_test_verify_LDADD = $(unit_support)
tests_unit_test_model_tables_LDADD = libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_formula_LDADD = libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_spread_LDADD = libforsmodel.la libforscore.la $(unit_program) -lm
sims = tests/unit/sims.c tests/unit/sims.h
tests_unit_test_sim_SOURCES = tests/unit/test_sim.c $(sims)
tests_unit_test_sim_LDADD = libforssim.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_qcn_SOURCES = tests/unit/test_qcn.c $(sims)
tests_unit_test_qcn_LDADD = libforssim.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_sim_bound_SOURCES = tests/unit/test_sim_bound.c $(sims)
tests_unit_test_sim_bound_LDADD = libtestsupport.la libforssim.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_status_LDADD = libforscore.la $(unit_program) $(JANSSON_LIBS)

tests_unit_test_fabric_LDADD = $(unit_support)
tests_unit_test_golden_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_guidlist_LDADD = $(unit_support)
tests_unit_test_namebook_LDADD = $(unit_support)
tests_unit_test_home_LDADD = $(unit_support)
tests_unit_test_invariants_SOURCES = tests/unit/test_invariants.c tests/unit/judge.c tests/unit/judge.h
tests_unit_test_invariants_LDADD = $(unit_support) $(ZLIB_LIBS)
# Random fabrics and states by the thousand: nobody cut off in silence, no credit loop, every CA port accounted for.
.PHONY: invariants
invariants: tests/unit/test_invariants
	FORS_FABRICS=$${FABRICS:-20000} FORS_SEED=$${SEED:-1} tests/unit/test_invariants
# fors plan on random net files: shares at most 100 %, every CA port accounted for.
.PHONY: plans-sweep
plans-sweep: fors
	python3 $(srcdir)/tests/sweep/plans.py ./fors $${FABRICS:-1000} $${SEED:-1}
EXTRA_DIST += tests/sweep/plans.py
# Demands of all kinds on trees with failures, judged by a program of its own: some in make check, make demands-sweep DEMANDS=1000 by hand.
.PHONY: demands-sweep
demands-sweep: fors
	python3 $(srcdir)/tests/sweep/demands.py ./fors $${DEMANDS:-1000} $${SEED:-1}
EXTRA_DIST += tests/sweep/demands.py
# Random trees of three levels and two, kind by kind: make kinds-sweep TREES=20 ABSENT=2 SEED=1 OLD='--old COMMAND'
.PHONY: kinds-sweep
kinds-sweep: fors
	PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/sweep/kinds.py ./fors --count $${TREES:-20} --absent $${ABSENT:-2} --seed $${SEED:-1} $${OLD:-}
EXTRA_DIST += tests/sweep/kinds.py tests/sweep/certified.py
# Phases over the tables that the plugin makes while OpenSM waits, beside those of fors plan: make haste-sweep STATES=30 SEED=1
check_PROGRAMS += tests/sweep/haste
tests_sweep_haste_SOURCES = tests/sweep/haste.c
tests_sweep_haste_LDADD = libforscore.la
.PHONY: haste-sweep
haste-sweep: fors tests/sweep/haste
	PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/tests/sweep/haste.py ./fors tests/sweep/haste --count $${STATES:-30} --seed $${SEED:-1}
EXTRA_DIST += tests/sweep/haste.py
.PHONY: shadow-states
shadow-states: libfors.la fors
	FORS_BUILDDIR=$$PWD python3 $(srcdir)/tests/e2e/shadow.py $${STATES:-50} $${SEED:-1}
.PHONY: simulated-sweep
simulated-sweep: fors
	python3 $(srcdir)/tests/sweep/simulated.py ./fors $${FABRICS:-200} $${SEED:-1}
EXTRA_DIST += tests/sweep/simulated.py
tests_unit_test_entries_LDADD = $(unit_support)
tests_unit_test_holdings_SOURCES = tests/unit/test_holdings.c $(pods_world)
tests_unit_test_holdings_LDADD = $(unit_support)
tests_unit_test_jobs_LDADD = $(unit_support)
tests_unit_test_jobplan_LDADD = $(unit_support)
tests_unit_test_level_LDADD = $(unit_support)
tests_unit_test_lftfile_LDADD = $(unit_support)
tests_unit_test_lfts_diff_LDADD = $(unit_support)
tests_unit_test_families_SOURCES = tests/unit/test_families.c tests/sweep/world.c tests/sweep/world.h
tests_unit_test_families_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_graph_spec_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_lfti_LDADD = libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_model_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_sar_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_together_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_shift_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_shadow_LDADD = $(unit_support)
tests_unit_test_shift_length_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_net_LDADD = $(unit_support)
tests_unit_test_netfile_LDADD = $(unit_support)
tests_unit_test_concurrent_LDADD = libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_optimum_LDADD = libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_outcome_LDADD = $(unit_support)
tests_unit_test_pace_LDADD = $(unit_support)
tests_unit_test_over_LDADD = $(unit_support)
tests_unit_test_places_pods_LDADD = $(unit_support) $(ZLIB_LIBS)
pods_world = tests/unit/pods_world.c tests/unit/pods_world.h
tests_unit_test_pods_SOURCES = tests/unit/test_pods.c $(pods_world)
tests_unit_test_pods_LDADD = $(unit_support)
tests_unit_test_pods_bound_SOURCES = tests/unit/test_pods_bound.c $(pods_world)
tests_unit_test_pods_bound_LDADD = $(unit_support)
tests_unit_test_pods_ways_SOURCES = tests/unit/test_pods_ways.c $(pods_world)
tests_unit_test_pods_ways_LDADD = $(unit_support)
tests_unit_test_pods_tops_SOURCES = tests/unit/test_pods_tops.c $(pods_world)
tests_unit_test_pods_tops_LDADD = $(unit_support)
tests_unit_test_pods_director_SOURCES = tests/unit/test_pods_director.c $(pods_world)
tests_unit_test_pods_director_LDADD = $(unit_support)
tests_unit_test_pods_drained_SOURCES = tests/unit/test_pods_drained.c $(pods_world)
tests_unit_test_pods_drained_LDADD = $(unit_support)
tests_unit_test_places_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_rank_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_daemon_test_daemon_SOURCES = tests/daemon/test_daemon.c
tests_daemon_test_daemon_LDADD = libtestsupport.la libforsdaemon.la libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_daemon_test_daemon_LDFLAGS = $(AM_LDFLAGS) -pthread
# A fabric in memory answers in place of a port, and may lie.
tests_watch_test_survey_SOURCES = tests/watch/fake_fabric.c tests/watch/fake_fabric.h tests/watch/fake_mads.c tests/watch/fake_mads.h tests/watch/test_survey.c watch/reading.c watch/sm.c watch/survey.c watch/survey_again.c watch/survey_net.c watch/survey_tables.c
tests_watch_test_survey_LDADD = libtestsupport.la libforsdaemon.la libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_watch_test_survey_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_watch_test_paths_SOURCES = tests/watch/fake_fabric.c tests/watch/fake_fabric.h tests/watch/fake_mads.c tests/watch/fake_mads.h tests/watch/test_paths.c watch/paths.c
tests_watch_test_paths_LDADD = libtestsupport.la libforsdaemon.la libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_watch_test_paths_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_watch_test_reading_SOURCES = tests/watch/fake_fabric.c tests/watch/fake_fabric.h tests/watch/fake_mads.c tests/watch/fake_mads.h tests/watch/test_reading.c watch/reading.c watch/sm.c watch/survey.c watch/survey_again.c watch/survey_net.c watch/survey_tables.c \
	tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_watch_test_reading_LDADD = libtestsupport.la libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_watch_test_reading_LDFLAGS = $(AM_LDFLAGS) -pthread
# What of libibumad it uses is the test's own.
tests_watch_test_mads_SOURCES = tests/watch/fake_umad.c tests/watch/fake_umad.h tests/watch/test_mads.c watch/mads.c watch/mads_port.c \
	tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_watch_test_mads_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) -pthread
tests_watch_test_mads_LDADD = libforscore.la $(unit_program)
tests_watch_test_mads_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_watch_test_used_SOURCES = tests/watch/test_used.c watch/used.c watch/used.h
tests_watch_test_used_LDADD = libtestsupport.la libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_unit_test_rehome_SOURCES = tests/unit/test_rehome.c daemon/look/rehome.c
tests_unit_test_rehome_LDADD = $(unit_support)
tests_unit_test_random_LDADD = libforscore.la $(unit_program)
tests_unit_test_decision_SOURCES = tests/unit/test_decision.c libforsched/mpi/decision.c libforsched/mpi/decision.h
tests_unit_test_decision_LDADD = $(unit_program)
tests_unit_test_pack_SOURCES = tests/unit/test_pack.c libforsched/mpi/pack.c libforsched/mpi/pack.h
tests_unit_test_pack_LDADD = $(unit_program)
tests_unit_test_subset_SOURCES = tests/unit/test_subset.c tests/unit/published.c tests/unit/published.h \
	libforsched/mpi/pack.c libforsched/mpi/pack.h libforsched/mpi/places.c libforsched/mpi/places.h \
	libforsched/mpi/subset.c libforsched/mpi/subset.h
tests_unit_test_subset_LDADD = libforsched.la $(unit_support) $(ZLIB_LIBS)
tests_unit_test_turns_SOURCES = tests/unit/test_turns.c libforsched/mpi/places.c libforsched/mpi/places.h
tests_unit_test_turns_LDADD = $(unit_program)
# Brings methods of its own, so those of the library stay out.
tests_unit_test_planner_LDADD = $(unit_support)
tests_unit_test_rounds_LDADD = $(unit_support)
tests_unit_test_tree_LDADD = libforsmodel.la libforscore.la $(unit_program)
tests_unit_test_tree_spec_LDADD = $(unit_support)

# Always with the sanitizers (which a build with TSan cannot have too), and with readers of its own that have them too.
tests_unit_test_mangled_SOURCES = tests/unit/test_mangled.c tests/unit/data.c core/net/claims.c core/base/error.c \
	core/base/guidlist.c core/net/lftfile.c core/net/net.c core/net/netfile.c core/net/rates.c core/tables/tables.c core/net/tree.c core/net/tree_net.c core/net/tree_spec.c \
	core/base/text.c
if THREAD_SANITIZER
mangled_sanitizers =
else
mangled_sanitizers = -fsanitize=address,undefined -fno-sanitize-recover=undefined
endif
tests_unit_test_mangled_CFLAGS = $(AM_CFLAGS) $(mangled_sanitizers)
tests_unit_test_mangled_LDADD = libforscore.la $(unit_program)

# The plugin's own modules that do not see OpenSM, by what they need of each other.
publish_sources = daemon/base/io_thread.c daemon/files/publish.c daemon/files/publish_spare.c daemon/base/thread.c daemon/files/trust.c
input_sources = daemon/base/clock.c daemon/base/conf.c daemon/files/input.c $(publish_sources)

# Programs in which allocations and threads fail on demand, see faults.h. Without flags of their own: what they share is compiled once.
fault_sources = tests/unit/faults.c tests/unit/faults.h
fault_ldflags = $(AM_LDFLAGS) -pthread -Wl,--wrap=pthread_create
if SANITIZED
AM_CPPFLAGS += -DFORS_WRAP
fault_ldflags += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free,--wrap=aligned_alloc \
	-Wl,--wrap=strdup,--wrap=strndup,--wrap=asprintf
endif
tests_unit_test_sim_memory_SOURCES = tests/unit/test_sim_memory.c $(sims) $(fault_sources)
tests_unit_test_sim_memory_LDFLAGS = $(fault_ldflags)
tests_unit_test_sim_memory_LDADD = libforssim.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_waiting_SOURCES = tests/unit/test_waiting.c $(sims) $(fault_sources)
tests_unit_test_waiting_LDFLAGS = $(fault_ldflags)
tests_unit_test_waiting_LDADD = libforssim.la libforsmodel.la libforscore.la $(unit_program) -lm
tests_unit_test_over_memory_SOURCES = tests/unit/test_over_memory.c $(pods_world) $(fault_sources)
tests_unit_test_over_memory_LDFLAGS = $(fault_ldflags)
tests_unit_test_over_memory_LDADD = libtestsupport.la libforscore.la $(unit_program)
tests_unit_test_memory_SOURCES = tests/unit/test_memory.c tests/unit/published.c tests/unit/published.h daemon/settings/settings.c $(input_sources) $(fault_sources) \
	$(libforschedcode_la_SOURCES)
tests_unit_test_memory_LDFLAGS = $(fault_ldflags)
tests_unit_test_memory_LDADD = libtestsupport.la libforsmodel.la libforscore.la $(unit_program) $(ZLIB_LIBS)

EXTRA_DIST += tests/data/README tests/data/chassis.ibnetdiscover tests/data/ibsim.net \
	tests/data/small.dump_fts tests/data/small-all.dump_fts tests/data/small-nodests.dump_fts \
	tests/data/small.ibnetdiscover tests/data/small-full.ibnetdiscover tests/data/small-grouped.ibnetdiscover \
	tests/data/small.opensm-lfts tests/data/engines.py tests/data/engines.tar.xz tests/data/stock.py tests/data/stock.tar.xz \
	tests/data/metrics.prom tests/data/upgrade.py tests/data/upgrade.tar.xz

# Readers of published schedules.
tests_unit_test_forsched_SOURCES = tests/unit/test_forsched.c tests/unit/published.c tests/unit/published.h \
	tests/unit/seal.c tests/unit/seal.h
tests_unit_test_forsched_LDADD = libforsched.la $(unit_support) $(ZLIB_LIBS)
tests_unit_test_forsched_LDFLAGS = $(AM_LDFLAGS) -pthread

tests_unit_test_schedule_ways_SOURCES = tests/unit/test_schedule_ways.c tests/unit/published.c tests/unit/published.h \
	tests/unit/seal.c tests/unit/seal.h
tests_unit_test_schedule_ways_LDADD = libforsched.la $(unit_support) $(ZLIB_LIBS)
tests_unit_test_schedule_ways_LDFLAGS = $(AM_LDFLAGS) -pthread

# Always with the sanitizers, as test_mangled.
tests_unit_test_forsched_mangled_SOURCES = tests/unit/test_forsched_mangled.c tests/unit/published.c \
	$(libforschedcode_la_SOURCES)
tests_unit_test_forsched_mangled_CFLAGS = $(tests_unit_test_mangled_CFLAGS)
tests_unit_test_forsched_mangled_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_forsched_mangled_LDFLAGS = $(AM_LDFLAGS) -pthread

tests_unit_test_schedule_rules_SOURCES = tests/unit/test_schedule_rules.c tests/unit/published.c tests/unit/seal.c \
	tests/unit/seal.h core/base/error.c core/schedule/schedule.c core/schedule/schedule_fault.c \
	core/schedule/schedule_file.c core/schedule/schedule_header.c core/schedule/schedule_read.c \
	core/schedule/schedule_sizes.c core/schedule/schedule_units.c core/schedule/ways.c $(libforschedcode_la_SOURCES)
tests_unit_test_schedule_rules_CFLAGS = $(tests_unit_test_mangled_CFLAGS)
tests_unit_test_schedule_rules_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_schedule_rules_LDFLAGS = $(AM_LDFLAGS) -pthread

# The plugin's own modules that do not see OpenSM.
copies_sources = daemon/base/digest.c daemon/files/copies.c daemon/files/copies_jobs.c daemon/files/epoch.c daemon/files/holder.c \
	tests/unit/fake_clock.c tests/unit/fake_clock.h
copier_sources = $(copies_sources) tests/unit/fake_copier.c
tests_unit_test_copies_SOURCES = tests/unit/test_copies.c $(publish_sources) tests/unit/seal.c tests/unit/seal.h $(copies_sources) \
	$(fault_sources)
tests_unit_test_copies_LDADD = libforscore.la $(unit_program) $(ZLIB_LIBS)
tests_unit_test_copies_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fsync
tests_unit_test_copier_SOURCES = tests/unit/test_copier.c daemon/files/copier.c daemon/files/child.c daemon/base/clock.c daemon/base/digest.c \
	$(publish_sources)
tests_unit_test_copier_LDADD = libforscore.la $(unit_program)
tests_unit_test_copier_LDFLAGS = $(AM_LDFLAGS) -pthread
EXTRA_tests_unit_test_copier_DEPENDENCIES = fors-outbox$(EXEEXT)
tests_unit_test_holder_SOURCES = tests/unit/test_holder.c $(publish_sources) daemon/base/digest.c daemon/files/holder.c tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_unit_test_holder_LDADD = libforscore.la $(unit_program)
tests_unit_test_holder_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap=linkat
tests_unit_test_command_SOURCES = tests/unit/test_command.c daemon/files/child.c daemon/files/command.c tests/unit/fake_clock.c \
	tests/unit/fake_clock.h
tests_unit_test_command_LDADD = $(unit_program)
tests_unit_test_command_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap=kill
tests_unit_test_absent_SOURCES = tests/unit/test_absent.c daemon/look/absent.c
tests_unit_test_absent_LDADD = $(unit_support)
tests_unit_test_background_SOURCES = tests/unit/test_background.c daemon/base/background.c daemon/base/io_thread.c daemon/base/thread.c \
	tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_unit_test_background_LDADD = libforscore.la $(unit_program)
tests_unit_test_background_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap=pause
tests_unit_test_publisher_SOURCES = tests/unit/test_publisher.c daemon/publisher/jobpublisher.c daemon/publisher/publisher.c \
	daemon/publisher/publisher_left.c $(publish_sources) $(copier_sources) $(fault_sources)
tests_unit_test_publisher_LDADD = libforscore.la $(unit_program)
tests_unit_test_publisher_LDFLAGS = $(fault_ldflags) \
	-Wl,--wrap=fors_copier_tell,--wrap=fors_copier_tend,--wrap=fors_copier_read
tests_unit_test_input_SOURCES = tests/unit/test_input.c daemon/files/input.c $(publish_sources) \
	tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_unit_test_input_LDADD = libforscore.la $(unit_program)
tests_unit_test_input_LDFLAGS = $(AM_LDFLAGS) -pthread
tests_unit_test_trust_SOURCES = tests/unit/test_trust.c daemon/files/trust.c
tests_unit_test_trust_LDADD = libforscore.la $(unit_program)
tests_unit_test_trust_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=geteuid
tests_unit_test_look_SOURCES = tests/unit/test_look.c daemon/base/digest.c daemon/look/look.c daemon/look/claim.c daemon/look/levels.c $(fault_sources)
tests_unit_test_look_LDADD = $(unit_support)
tests_unit_test_look_LDFLAGS = $(fault_ldflags)
tests_unit_test_epoch_SOURCES = tests/unit/test_epoch.c daemon/files/epoch.c $(publish_sources) tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_unit_test_epoch_LDADD = libforscore.la $(unit_program)
tests_unit_test_publish_SOURCES = tests/unit/test_publish.c $(publish_sources) daemon/base/clock.c
tests_unit_test_publish_LDADD = libforscore.la $(unit_program)
tests_unit_test_publish_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=write,--wrap=pwrite,--wrap=fsync
tests_unit_test_kept_SOURCES = tests/unit/test_kept.c daemon/base/background.c daemon/base/digest.c daemon/look/kept.c $(publish_sources) \
	tests/unit/fake_clock.c tests/unit/fake_clock.h $(fault_sources)
tests_unit_test_drain_SOURCES = tests/unit/test_drain.c daemon/base/digest.c daemon/look/drain.c tests/unit/fake_clock.c \
	tests/unit/fake_clock.h
tests_unit_test_drain_LDADD = $(unit_support)
tests_unit_test_kept_LDADD = $(unit_support)
tests_unit_test_kept_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fors_published
tests_unit_test_loader_SOURCES = tests/unit/test_loader.c daemon/base/background.c daemon/base/conf.c daemon/base/digest.c daemon/files/input.c \
	daemon/settings/loader.c daemon/settings/settings.c $(publish_sources) tests/unit/fake_clock.c tests/unit/fake_clock.h
tests_unit_test_loader_LDADD = libforscore.la $(unit_program)
tests_unit_test_loader_LDFLAGS = $(AM_LDFLAGS) -pthread -Wl,--wrap=fors_read_bytes
tests_unit_test_settings_SOURCES = tests/unit/test_settings.c daemon/settings/settings.c $(input_sources)
tests_unit_test_settings_LDADD = libforscore.la $(unit_program)
worker_sources = daemon/publisher/publisher.c daemon/publisher/publisher_left.c daemon/look/look.c daemon/look/claim.c daemon/look/levels.c daemon/worker/steps.c daemon/worker/worker.c daemon/worker/worker_blind.c daemon/worker/worker_duties.c daemon/worker/worker_early.c daemon/worker/worker_entries.c daemon/worker/worker_failover.c daemon/worker/worker_look.c daemon/worker/worker_mail.c \
	daemon/publisher/jobpublisher.c daemon/settings/jobs_file.c daemon/base/background.c daemon/files/input.c daemon/worker/worker_demand.c daemon/worker/worker_demand_one.c daemon/worker/worker_jobdemand.c daemon/worker/worker_jobplan.c daemon/worker/worker_jobs.c daemon/worker/worker_left.c daemon/worker/worker_names.c \
	daemon/worker/worker_over.c daemon/worker/worker_plan.c daemon/worker/worker_publish.c daemon/worker/worker_repairs.c daemon/worker/advisor.c
worker_bench_sources = tests/unit/worker_bench.c tests/unit/worker_bench.h
tests_unit_test_worker_SOURCES = tests/unit/test_worker.c $(worker_bench_sources) $(publish_sources) \
	$(worker_sources) $(copier_sources) $(fault_sources)
tests_unit_test_worker_LDADD = libforscore.la $(unit_program)
tests_unit_test_worker_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fors_plan,--wrap=fors_verify_used,--wrap=fors_verify_holds,--wrap=fsync
jobs_bench_sources = tests/unit/jobs_bench.c tests/unit/job_plans.h tests/unit/jobs_bench.h tests/unit/scattered_jobs.h $(worker_bench_sources)
tests_unit_test_worker_entries_SOURCES = tests/unit/test_worker_entries.c $(jobs_bench_sources) $(publish_sources) \
	$(worker_sources) $(copier_sources) $(fault_sources)
tests_unit_test_worker_entries_LDADD = libforscore.la $(unit_program)
tests_unit_test_worker_entries_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fsync
tests_unit_test_worker_demand_SOURCES = tests/unit/test_worker_demand.c $(jobs_bench_sources) $(publish_sources) \
	$(worker_sources) $(copier_sources) $(fault_sources)
tests_unit_test_worker_demand_LDADD = libforscore.la $(unit_program)
tests_unit_test_worker_demand_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fsync,--wrap=fors_demand_answer,--wrap=fors_stamps_hold
tests_unit_test_worker_jobs_SOURCES = tests/unit/test_worker_jobs.c $(jobs_bench_sources) $(publish_sources) \
	$(worker_sources) $(copier_sources) $(fault_sources)
tests_unit_test_worker_jobs_LDADD = libforscore.la $(unit_program)
tests_unit_test_worker_jobs_LDFLAGS = $(fault_ldflags) -Wl,--wrap=fsync,--wrap=fors_input_read

# What sees OpenSM, among the functions of the stock opensm: a program that loads it, and a module with plugin and tests.
if BUILD_PLUGIN
opensm_tests = tests/opensm/test_engine
opensm_modules = tests/opensm/inside.la
else
opensm_tests =
opensm_modules =
endif
if HAVE_CMOCKA
check_LTLIBRARIES += $(opensm_modules)
check_PROGRAMS += $(opensm_tests)
TESTS += $(opensm_tests)
endif
tests_opensm_test_engine_CFLAGS = $(AM_CFLAGS) $(OPENSM_CFLAGS)
tests_opensm_test_engine_LDFLAGS = $(AM_LDFLAGS) -rdynamic
tests_opensm_test_engine_LDADD = -ldl
EXTRA_tests_opensm_test_engine_DEPENDENCIES = $(opensm_modules)
tests_opensm_inside_la_SOURCES = tests/opensm/inside.c tests/opensm/inside.h tests/opensm/engine_tests.c \
	tests/opensm/snapshot_tests.c tests/opensm/subnet.c tests/opensm/subnet.h $(libfors_la_SOURCES)
tests_opensm_inside_la_CFLAGS = $(AM_CFLAGS) $(OPENSM_CFLAGS) -pthread
tests_opensm_inside_la_CPPFLAGS = $(AM_CPPFLAGS) $(helper_cppflags)
tests_opensm_inside_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere -pthread \
	-Wl,--wrap=fors_worker_start,--wrap=fors_worker_submit,--wrap=fors_worker_keep,--wrap=fors_worker_note_sweep \
	-Wl,--wrap=fors_worker_note_tables,--wrap=fors_worker_note_step,--wrap=fors_worker_withdrawn \
	-Wl,--wrap=fors_worker_stop,--wrap=fors_copier_set,--wrap=fors_look_new,--wrap=fors_loader_trouble \
	-Wl,--wrap=fors_kept_trouble,--wrap=fors_worker_claim,--wrap=fors_tables_check,--wrap=fors_lfts_copy \
	-Wl,--wrap=fors_worker_note_change,--wrap=fors_worker_changes,--wrap=fors_levels_new
tests_opensm_inside_la_LIBADD = libtestsupport.la libforsdaemon.la libforscore.la $(CMOCKA_LIBS) $(ZLIB_LIBS)

# The plugin as built for another OpenSM; only the end-to-end tests want it.
EXTRA_LTLIBRARIES =
if BUILD_PLUGIN
EXTRA_LTLIBRARIES += tests/e2e/other/libfors.la
endif
tests_e2e_other_libfors_la_SOURCES = $(libfors_la_SOURCES)
tests_e2e_other_libfors_la_CPPFLAGS = $(AM_CPPFLAGS) $(helper_cppflags) -DFORS_OSM_VERSION='"OpenSM 0.0.0"'
tests_e2e_other_libfors_la_CFLAGS = $(libfors_la_CFLAGS)
tests_e2e_other_libfors_la_LDFLAGS = $(libfors_la_LDFLAGS) -rpath /nowhere
tests_e2e_other_libfors_la_LIBADD = $(libfors_la_LIBADD)

# Preloaded into opensm by test_plugin_faults.py, which has it built.
EXTRA_LTLIBRARIES += tests/e2e/failing_memory.la
tests_e2e_failing_memory_la_SOURCES = tests/e2e/failing_memory.c tests/unit/failing_calls.h
tests_e2e_failing_memory_la_CFLAGS = -std=gnu11 $(WARNING_FLAGS) -fno-builtin -pthread
tests_e2e_failing_memory_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_e2e_failing_memory_la_LIBADD = -ldl

# Random cuts, mends and switch deaths under fors watch, beside stock opensm with other engines.
.PHONY: watch-sweep
watch-sweep: fors fors-watch
	FORS_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/e2e/watch_sweep.py $${EVENTS:-200} $${SEED:-1}

# Memory of fors watch over many changes.
.PHONY: watch-memory
watch-memory: fors fors-watch
	FORS_BUILDDIR=$(abs_builddir) python3 $(srcdir)/tests/e2e/watch_memory.py $${CHANGES:-2000} $${SEED:-1}

# T = max(LB, LP) over large sets of failures; a few of each kind in make check, all of them by hand.
if HAVE_CMOCKA
check_PROGRAMS += tests/sweep/sweep tests/sweep/sweep_rounds
TESTS += tests/sweep/sweep
endif
tests_sweep_sweep_SOURCES = tests/sweep/progress.h tests/sweep/sweep.c tests/sweep/oracle.c tests/sweep/oracle.h
tests_sweep_sweep_LDADD = $(unit_support) $(LPSOLVE_LIBS)
tests_sweep_sweep_rounds_SOURCES = tests/sweep/progress.h tests/sweep/sweep_rounds.c tests/sweep/oracle.c tests/sweep/oracle.h
tests_sweep_sweep_rounds_LDADD = $(unit_support) $(LPSOLVE_LIBS)
.PHONY: sweep
sweep: tests/sweep/sweep tests/sweep/sweep_rounds
	tests/sweep/sweep 1000
	tests/sweep/sweep_rounds 100

# Jobs on trees whose leaves lack cables to some spines, with cuts: some in make check, make jobs-sweep FABRICS=2000 SEED=n by hand.
if HAVE_CMOCKA
check_PROGRAMS += tests/sweep/sweep_jobs
TESTS += tests/sweep/sweep_jobs
endif
tests_sweep_sweep_jobs_SOURCES = tests/sweep/progress.h tests/sweep/sweep_jobs.c tests/unit/judge.c tests/unit/judge.h
tests_sweep_sweep_jobs_LDADD = $(unit_support)
.PHONY: jobs-sweep
jobs-sweep: tests/sweep/sweep_jobs
	tests/sweep/sweep_jobs $${FABRICS:-2000} $${SEED:-1}

# T over the bound of the tables on networks of all kinds (doc/planners-flows.md): the whole table, some minutes.
check_PROGRAMS += tests/sweep/sweep_flows
tests_sweep_sweep_flows_SOURCES = tests/sweep/progress.h tests/sweep/sweep_flows.c tests/sweep/world.c tests/sweep/world.h
tests_sweep_sweep_flows_LDADD = libforsmodel.la libforscore.la
.PHONY: flows-sweep
flows-sweep: tests/sweep/sweep_flows
	tests/sweep/sweep_flows 100

# Trees that lack cables from the beginning: entries that move though their way lives; T beside that of another build.
check_PROGRAMS += tests/sweep/sweep_stays
tests_sweep_sweep_stays_SOURCES = tests/sweep/sweep_stays.c tests/sweep/incomplete.c tests/sweep/incomplete.h
tests_sweep_sweep_stays_LDADD = libforscore.la
EXTRA_DIST += tests/sweep/stays.py
.PHONY: stays-sweep
stays-sweep: tests/sweep/sweep_stays
	python3 $(srcdir)/tests/sweep/stays.py tests/sweep/sweep_stays --trees $${TREES:-600} --seed $${SEED:-1} \
		$(if $(OLD),--old $(OLD))

# Bugs drawn and planted one by one: which do the tests notice? make mutants SEED=1 COUNT=100 [MUTANTS=core/fabric] [MUTANTS_FLAGS=--again]
MUTANTS =
MUTANTS_FLAGS =
python_tests = $(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/cli/test_*.py)) \
	$(if $(MPI_LIBS),tests/apps/test_mpi.py tests/apps/test_several.py tests/apps/test_ways.py) \
	tests/e2e/test_whatif.py $(if $(filter fors-watch,$(pkglibexec_PROGRAMS)),$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/tests/e2e/test_watch*.py)))
.PHONY: mutants
mutants:
	python3 $(srcdir)/tests/mutants/mutants.py --srcdir '$(abs_top_srcdir)' --work mutants --count $${COUNT:-100} --seed $${SEED:-1} \
		--tests '$(unit_tests) $(opensm_tests) tests/sweep/sweep tests/fuzz/test_corpus $(python_tests)' $(MUTANTS_FLAGS) $(MUTANTS)
EXTRA_DIST += tests/mutants/mutants.py
clean-local: clean-mutants
.PHONY: clean-mutants
clean-mutants:
	rm -rf mutants

# Random failures and recoveries of a whole simulated fabric, judged after each: make soak EVENTS=2000
EVENTS = 2000
FABRIC = FT(2;8,8)
SOAK_FLAGS =
.PHONY: soak
soak: all
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 python3 $(top_srcdir)/tests/e2e/chaos.py --events $(EVENTS) --fabric '$(FABRIC)' \
		$(if $(SEED),--seed $(SEED)) $(SOAK_FLAGS)

# Random sets of failures in trees of three levels of each kind, each set from the intact tree and back to it: make sets SETS=100
SETS = 100
SETS_FLAGS =
SETS_FABRICS = 'XGFT(3;4,4,4;1,4,4)' 'XGFT(3;4,4,4;1,4,4;shuffle=7)' 'XGFT(3;4,4,4;1,4,4;shared=4)' 'XGFT(3;6,4,4;1,3,3;shuffle=5)' \
	'XGFT(3;4,4,6;1,4,4;empty=3;uneven=1;shuffle=3)' 'XGFT(3;6,6,8;1,6,6)'
.PHONY: sets
sets: all
	failed=; for fabric in $(SETS_FABRICS); do FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(top_srcdir)/tests/e2e/chaos.py --series sets --events $$((2 * $(SETS))) --lmc 0 --managers one \
		--seed $(or $(SEED),1) $(SETS_FLAGS) --fabric "$$fabric" || failed="$$failed $$fabric"; done; \
	test -z "$$failed" || { echo "violations:$$failed"; false; }

# opensm killed at random moments, and what readers see all the while: make kills KILLS=100
KILLS = 100
.PHONY: kills
kills: all
	FORS_BUILDDIR=$(abs_top_builddir) FORS_KILLS=$(KILLS) FORS_SEED=$(SEED) PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -m pytest -q -s -p no:cacheprovider $(srcdir)/tests/e2e/test_epochs.py -k killed

# Every path index of larger fabrics before ibdmchk and the SA; some ten minutes: make paths
.PHONY: paths
paths: all
	for size in "8 8 0 1 2 3 4 5 6 7" "20 18 0 5"; do \
		FORS_BUILDDIR=$(abs_top_builddir) FORS_PATHS="$$size" PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider $(srcdir)/tests/e2e/test_paths.py || exit 1; \
	done

# Tables, places, schedules and JSON of 300 cases, byte for byte as those of another revision; in a clone only: make compare
REV = 43652b9
COMPARE_FLAGS =
EXTRA_DIST += tests/compare/compare tests/compare/tables.c
.PHONY: compare
compare:
	$(srcdir)/tests/compare/compare $(REV) --builds compare-builds $(COMPARE_FLAGS)
clean-local: clean-compare
clean-compare:
	rm -rf compare-builds

# Jobs of a real Slurm that come and go, on so many slurmd: make slurm NODES=360; 12, 36 or 360
NODES = 36
SLURM_EVENTS = 50
.PHONY: slurm
slurm: all
	FORS_BUILDDIR=$(abs_top_builddir) FORS_SLURM=$(NODES) FORS_EVENTS=$(SLURM_EVENTS) FORS_SEED=$(SEED) PYTHONDONTWRITEBYTECODE=1 \
		/usr/bin/python3 -m pytest -q -p no:cacheprovider $(srcdir)/tests/e2e/test_slurm.py
