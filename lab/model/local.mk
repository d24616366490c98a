# The performance model: patterns, loads, rates, optimum. Built on the core; the plugin does not have it.
noinst_LTLIBRARIES += libforsmodel.la
libforsmodel_la_SOURCES = \
	lab/model/graph/graph.c lab/model/graph/graph.h \
	lab/model/graph/incidence.c lab/model/graph/incidence.h \
	lab/model/graph/maxmin.c lab/model/graph/maxmin.h \
	lab/model/measure/costs.c lab/model/measure/costs.h \
	lab/model/measure/evaluate.c lab/model/measure/evaluate.h \
	lab/model/measure/jobs.c lab/model/measure/jobs.h \
	lab/model/measure/shift.c lab/model/measure/shift.h \
	lab/model/measure/spread.c lab/model/measure/spread.h \
	lab/model/measure/together.c lab/model/measure/together.h \
	lab/model/optimum/concurrent.c lab/model/optimum/concurrent.h \
	lab/model/optimum/cuts.c lab/model/optimum/cuts.h \
	lab/model/optimum/cuts_find.c lab/model/optimum/cuts_find.h \
	lab/model/optimum/cuts_reached.c lab/model/optimum/cuts_reached.h \
	lab/model/optimum/generic.c lab/model/optimum/generic.h \
	lab/model/optimum/lfti.c lab/model/optimum/lfti.h \
	lab/model/optimum/lp.c lab/model/optimum/lp.h \
	lab/model/optimum/optimum.c lab/model/optimum/optimum.h \
	lab/model/optimum/shares.c lab/model/optimum/shares.h \
	lab/model/patterns/formula.c lab/model/patterns/formula.h \
	lab/model/patterns/pattern.c lab/model/patterns/pattern.h \
	lab/model/patterns/torus.c lab/model/patterns/torus.h \
	lab/model/routers/blocks.c lab/model/routers/blocks.h \
	lab/model/routers/crossbar.c lab/model/routers/crossbar.h \
	lab/model/routers/dump.c lab/model/routers/dump.h \
	lab/model/routers/hops.c lab/model/routers/hops.h \
	lab/model/routers/model_tables.c lab/model/routers/model_tables.h lab/model/routers/model_tables_inside.h \
	lab/model/routers/router.c lab/model/routers/router.h \
	lab/model/routers/routes.c lab/model/routers/routes.h \
	lab/model/routers/sar.c lab/model/routers/sar.h \
	lab/model/routers/tree_route.c lab/model/routers/tree_route.h \
	lab/model/routers/tree_router.c lab/model/routers/tree_router.h \
	lab/model/trees/tree_graph.c lab/model/trees/tree_graph.h
libforsmodel_la_LIBADD = libforscore.la -lm $(LPSOLVE_LIBS)
EXTRA_DIST += lab/model/README.md
