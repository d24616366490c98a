# bench: `make bench` measures everything in one run; results in bench-results/ of the build folder.
# BENCH_FLAGS: --quick, or names of sections.
bench_programs = bench/bench_check bench/bench_churn bench/bench_forsched bench/bench_jobs bench/bench_levels \
	bench/bench_planners bench/bench_wake
EXTRA_PROGRAMS += $(bench_programs)
bench_bench_check_SOURCES = bench/bench_check.c
bench_bench_check_LDADD = libforscore.la
bench_bench_jobs_SOURCES = bench/bench_jobs.c
bench_bench_jobs_LDADD = libforscore.la
bench_bench_churn_SOURCES = bench/bench_churn.c
bench_bench_churn_LDADD = libforscore.la
bench_bench_forsched_SOURCES = bench/bench_forsched.c
bench_bench_forsched_LDADD = libforsched.la
bench_bench_wake_SOURCES = bench/bench_wake.c
bench_bench_wake_LDADD = libforsched.la libforscore.la
bench_bench_levels_SOURCES = bench/bench_levels.c
bench_bench_levels_LDADD = libforscore.la
bench_bench_planners_SOURCES = bench/bench_planners.c
bench_bench_planners_LDADD = libforscore.la
EXTRA_DIST += bench/paper/booksim.py bench/paper/cee.py bench/paper/engines.py bench/paper/lanes_limit.py bench/paper/paper.py bench/paper/published.py bench/paper/rates.py \
	bench/paper/render.py bench/paper/render_cee.py bench/paper/render_simulated.py bench/paper/render_tago.py bench/paper/several.py bench/paper/simulated.py \
	bench/paper/simulator.py bench/paper/tago.py
EXTRA_DIST += bench/beside.py bench/bench.py bench/build_time.c bench/churn.py bench/forsched.py bench/jobs.py bench/lock.py bench/phases.py bench/pictures.py bench/planners.py bench/populations.py bench/shifts.py bench/svg.py bench/sweeps.py \
	bench/tables_text.py bench/throughput.py bench/waiting.py

# bench-paper: the papers' figures and tables beside what we measure; results in bench-results/paper.
EXTRA_PROGRAMS += bench/paper/paper_model
bench_paper_paper_model_SOURCES = bench/paper/paper_model.c
bench_paper_paper_model_LDADD = libforsmodel.la libforscore.la

.PHONY: bench
bench: all $(bench_programs)
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/bench/bench.py --output bench-results $(BENCH_FLAGS)

.PHONY: bench-paper
bench-paper: all bench/paper/paper_model$(EXEEXT)
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/bench/paper/paper.py --output bench-results/paper $(BENCH_FLAGS)

# bench-waiting: ways to wait, side by side; what is there is not done again. doc/waiting.md has copies of its tables and pictures.
.PHONY: bench-waiting
bench-waiting: all
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/bench/waiting.py --output bench-results/waiting

clean-local: clean-bench
clean-bench:
	rm -rf bench-results
