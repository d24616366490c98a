# The performance model: patterns, loads, rates, optimum. Built on the core; the plugin does not have it.
noinst_LTLIBRARIES += libforsmodel.la
libforsmodel_la_SOURCES = \
	model/dump.c \
	model/evaluate.c model/evaluate.h \
	model/graph.c model/model.h \
	model/jobs.c model/jobs.h \
	model/maxmin.c \
	model/pattern.c model/pattern.h \
	model/random.h \
	model/routes.c model/routes.h
libforsmodel_la_LIBADD = libforscore.la -lm
