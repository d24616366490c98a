# The performance model: patterns, loads, rates, optimum. Built on the core; the plugin does not have it.
noinst_LTLIBRARIES += libforsmodel.la
libforsmodel_la_SOURCES = \
	model/cuts.c model/cuts.h \
	model/cuts_find.c \
	model/cuts_reached.c \
	model/dump.c \
	model/evaluate.c model/evaluate.h \
	model/generic.c \
	model/graph.c model/model.h \
	model/incidence.c model/incidence.h \
	model/jobs.c model/jobs.h \
	model/lfti.c model/lfti.h \
	model/lp.c model/lp.h \
	model/maxmin.c \
	model/optimum.c model/optimum.h \
	model/pattern.c model/pattern.h \
	model/pgft.c model/pgft.h \
	model/pgft_net.c model/pgft_net.h \
	model/pgft_route.c \
	model/pgft_router.c model/pgft_router.h \
	core/base/random.h \
	model/routes.c model/routes.h \
	model/shares.c model/shares.h
libforsmodel_la_LIBADD = libforscore.la -lm $(LPSOLVE_LIBS)
