# The performance model: patterns, loads, rates, optimum. Built on the core; the plugin does not have it.
noinst_LTLIBRARIES += libforsmodel.la
libforsmodel_la_SOURCES = \
	model/optimum/cuts.c model/optimum/cuts.h \
	model/optimum/cuts_find.c \
	model/optimum/cuts_reached.c \
	model/routers/dump.c \
	model/measure/evaluate.c model/measure/evaluate.h \
	model/optimum/generic.c \
	model/graph/graph.c model/graph/graph.h \
	model/graph/incidence.c model/graph/incidence.h \
	model/measure/jobs.c model/measure/jobs.h \
	model/optimum/lfti.c model/optimum/lfti.h \
	model/optimum/lp.c model/optimum/lp.h \
	model/graph/maxmin.c \
	model/optimum/optimum.c model/optimum/optimum.h \
	model/patterns/pattern.c model/patterns/pattern.h \
	model/trees/pgft.c model/trees/pgft.h \
	model/trees/pgft_net.c model/trees/pgft_net.h \
	model/routers/pgft_route.c \
	model/routers/pgft_router.c model/routers/pgft_router.h \
	core/base/random.h \
	model/routers/routes.c model/routers/routes.h \
	model/optimum/shares.c model/optimum/shares.h
libforsmodel_la_LIBADD = libforscore.la -lm $(LPSOLVE_LIBS)
