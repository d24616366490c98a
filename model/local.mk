# The performance model: patterns, loads, rates, optimum. Built on the core; the plugin does not have it.
noinst_LTLIBRARIES += libforsmodel.la
libforsmodel_la_SOURCES = \
	model/graph/graph.c model/graph/graph.h \
	model/graph/incidence.c model/graph/incidence.h \
	model/graph/maxmin.c model/graph/maxmin.h \
	model/measure/costs.c model/measure/costs.h \
	model/measure/evaluate.c model/measure/evaluate.h \
	model/measure/jobs.c model/measure/jobs.h \
	model/measure/shift.c model/measure/shift.h \
	model/measure/spread.c model/measure/spread.h \
	model/measure/together.c model/measure/together.h \
	model/optimum/concurrent.c model/optimum/concurrent.h \
	model/optimum/cuts.c model/optimum/cuts.h \
	model/optimum/cuts_find.c model/optimum/cuts_find.h \
	model/optimum/cuts_reached.c model/optimum/cuts_reached.h \
	model/optimum/generic.c model/optimum/generic.h \
	model/optimum/lfti.c model/optimum/lfti.h \
	model/optimum/lp.c model/optimum/lp.h \
	model/optimum/optimum.c model/optimum/optimum.h \
	model/optimum/shares.c model/optimum/shares.h \
	model/patterns/formula.c model/patterns/formula.h \
	model/patterns/pattern.c model/patterns/pattern.h \
	model/patterns/torus.c model/patterns/torus.h \
	model/routers/blocks.c model/routers/blocks.h \
	model/routers/crossbar.c model/routers/crossbar.h \
	model/routers/dump.c model/routers/dump.h \
	model/routers/hops.c model/routers/hops.h \
	model/routers/model_tables.c model/routers/model_tables.h model/routers/model_tables_inside.h \
	model/routers/router.c model/routers/router.h \
	model/routers/routes.c model/routers/routes.h \
	model/routers/sar.c model/routers/sar.h \
	model/routers/tree_route.c model/routers/tree_route.h \
	model/routers/tree_router.c model/routers/tree_router.h \
	model/trees/tree_graph.c model/trees/tree_graph.h
libforsmodel_la_LIBADD = libforscore.la -lm $(LPSOLVE_LIBS)
EXTRA_DIST += model/README.md
