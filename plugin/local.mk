# libfors.so, which OpenSM loads by its bare name ("event_plugin_name fors").
if BUILD_PLUGIN
lib_LTLIBRARIES += libfors.la
endif
libfors_la_SOURCES = \
	plugin/engine.c \
	plugin/engine.h \
	plugin/engine_early.c \
	plugin/engine_inside.h \
	plugin/engine_observe.c \
	plugin/engine_over.c \
	plugin/engine_reload.c \
	plugin/engine_route.c \
	plugin/engine_shadow.c \
	plugin/entry.c \
	plugin/opensm.h \
	plugin/osm_log.c \
	plugin/osm_log.h \
	plugin/snapshot.c \
	plugin/snapshot.h
libfors_la_CFLAGS = $(AM_CFLAGS) $(OPENSM_CFLAGS) -pthread
# -z nodelete: a thread that hangs in a file system may outlive the plugin (daemon/base/io_thread.c).
# -z now: a symbol that this opensm does not have makes it refuse the plugin, instead of ending it during a sweep.
libfors_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -pthread -Wl,-z,now -Wl,-z,nodelete \
	-Wl,--version-script=$(srcdir)/plugin/libfors.map
libfors_la_LIBADD = libforsdaemon.la libforscore.la $(ZLIB_LIBS) $(DL_LIBS)
EXTRA_libfors_la_DEPENDENCIES = plugin/libfors.map
EXTRA_DIST += plugin/README.md plugin/libfors.map
