# The paper's integer programme: part of the core's library when lp_solve is there.
if HAVE_LPSOLVE
libforscore_la_SOURCES += ilp/ilp.c ilp/phase.c ilp/phase.h
libforscore_la_LIBADD += $(LPSOLVE_LIBS)
else
EXTRA_DIST += ilp/ilp.c ilp/phase.c ilp/phase.h
endif
