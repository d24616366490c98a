# bench: `make bench` measures everything in one run; results in bench-results/ of the build folder.
# BENCH_FLAGS: --quick, or names of sections.
bench_programs = lab/bench/bench_check lab/bench/bench_churn lab/bench/bench_forsched lab/bench/bench_jobs lab/bench/bench_levels \
	lab/bench/bench_planners lab/bench/bench_wake
EXTRA_PROGRAMS += $(bench_programs)
lab_bench_bench_check_SOURCES = lab/bench/bench_check.c
lab_bench_bench_check_LDADD = libforscore.la
lab_bench_bench_jobs_SOURCES = lab/bench/bench_jobs.c
lab_bench_bench_jobs_LDADD = libforscore.la
lab_bench_bench_churn_SOURCES = lab/bench/bench_churn.c
lab_bench_bench_churn_LDADD = libforscore.la
lab_bench_bench_forsched_SOURCES = lab/bench/bench_forsched.c
lab_bench_bench_forsched_LDADD = libforsched.la
lab_bench_bench_wake_SOURCES = lab/bench/bench_wake.c
lab_bench_bench_wake_LDADD = libforsched.la libforscore.la
lab_bench_bench_levels_SOURCES = lab/bench/bench_levels.c
lab_bench_bench_levels_LDADD = libforscore.la
lab_bench_bench_planners_SOURCES = lab/bench/bench_planners.c
lab_bench_bench_planners_LDADD = libforscore.la
EXTRA_DIST += lab/bench/paper/booksim.py lab/bench/paper/cee.py lab/bench/paper/engines.py lab/bench/paper/lanes_limit.py lab/bench/paper/paper.py lab/bench/paper/published.py lab/bench/paper/rates.py \
	lab/bench/paper/render.py lab/bench/paper/render_cee.py lab/bench/paper/render_simulated.py lab/bench/paper/render_tago.py lab/bench/paper/several.py lab/bench/paper/simulated.py \
	lab/bench/paper/simulator.py lab/bench/paper/tago.py
EXTRA_DIST += lab/bench/ablation.py lab/bench/ablation.txt lab/bench/beside.py lab/bench/bench.py lab/bench/build_time.c lab/bench/churn.py lab/bench/forsched.py lab/bench/jobs.py lab/bench/lock.py lab/bench/phases.py lab/bench/pictures.py lab/bench/planners.py lab/bench/populations.py lab/bench/shifts.py lab/bench/svg.py lab/bench/sweeps.py \
	lab/bench/tables_text.py lab/bench/throughput.py lab/bench/waiting.py

# bench-paper: the papers' figures and tables beside what we measure; results in bench-results/paper.
EXTRA_PROGRAMS += lab/bench/paper/paper_model
lab_bench_paper_paper_model_SOURCES = lab/bench/paper/paper_model.c
lab_bench_paper_paper_model_LDADD = libforsmodel.la libforscore.la

.PHONY: bench
bench: all $(bench_programs)
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/lab/bench/bench.py --output bench-results $(BENCH_FLAGS)

# What plans lose without each part: make ablation SMALL=20 LARGE=4 SEED=1
.PHONY: ablation
ablation:
	PYTHONDONTWRITEBYTECODE=1 python3 $(srcdir)/lab/bench/ablation.py --small $${SMALL:-20} --large $${LARGE:-4} --seed $${SEED:-1}

.PHONY: bench-paper
bench-paper: all lab/bench/paper/paper_model$(EXEEXT)
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/lab/bench/paper/paper.py --output bench-results/paper $(BENCH_FLAGS)

# bench-waiting: ways to wait, side by side; what is there is not done again. lab/doc/waiting.md has copies of its tables and pictures.
.PHONY: bench-waiting
bench-waiting: all
	FORS_BUILDDIR=$(abs_top_builddir) PYTHONDONTWRITEBYTECODE=1 \
		python3 $(srcdir)/lab/bench/waiting.py --output bench-results/waiting

clean-local: clean-bench
clean-bench:
	rm -rf bench-results
