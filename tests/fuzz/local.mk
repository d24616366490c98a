# Fuzzers of everything that reads a file. `make fuzz FUZZ_SECONDS=600 [FUZZ_TARGETS="netfile spec"]` runs each target
# that long: under libFuzzer where configure found it, else with a small driver of our own.
FUZZ_SECONDS = 60
FUZZ_TARGETS =
fuzz_targets = tests/fuzz/targets.c tests/fuzz/targets.h tests/fuzz/model_targets.c tests/fuzz/model_targets.h tests/fuzz/simulate_target.c tests/fuzz/simulate_target.h \
	tests/unit/seal.c tests/unit/seal.h \
	daemon/base/clock.c daemon/base/clock.h daemon/base/conf.c daemon/base/conf.h daemon/files/input.c daemon/files/input.h daemon/base/io_thread.c daemon/base/io_thread.h \
	daemon/files/publish.c daemon/files/publish.h daemon/files/publish_inside.h daemon/files/publish_spare.c daemon/settings/settings.c daemon/settings/settings.h daemon/base/thread.c daemon/base/thread.h daemon/files/trust.c daemon/files/trust.h
fuzz_watch_targets =
if HAVE_WATCH
fuzz_watch_targets += tests/fuzz/watch_target.c tests/fuzz/watch_target.h tests/watch/fake_fabric.c tests/watch/fake_fabric.h \
	watch/bytes.h watch/mads.c watch/mads.h watch/mads_inside.h watch/mads_port.c watch/paths.c watch/paths.h watch/reading.c watch/reading.h \
	watch/sm.c watch/sm.h watch/survey.c watch/survey.h watch/survey_again.c watch/survey_inside.h watch/survey_net.c watch/survey_tables.c \
	watch/used.c watch/used.h watch/wire.h daemon/base/digest.c daemon/base/digest.h daemon/look/levels.c daemon/look/levels.h
endif
fuzz_libs = $(JANSSON_LIBS) $(ZLIB_LIBS)

EXTRA_PROGRAMS += tests/fuzz/mutate
tests_fuzz_mutate_SOURCES = tests/fuzz/mutate.c $(fuzz_targets) $(fuzz_watch_targets)
tests_fuzz_mutate_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_fuzz_mutate_LDADD = libforslab.la libforscli.la libforssim.la libforsmodel.la libforscore.la libforsched.la $(fuzz_libs)

# What libFuzzer watches has to be compiled by clang: everything, once more.
fuzz_sources = tests/fuzz/fuzz.c $(fuzz_targets) $(fuzz_watch_targets) $(libforscore_la_SOURCES) $(libforsmodel_la_SOURCES) $(libforssim_la_SOURCES) $(libforscli_la_SOURCES) $(libforslab_la_SOURCES) \
	$(filter libforsched/%,$(libforschedcode_la_SOURCES))
fuzz_objects = $(patsubst %.c,tests/fuzz/clang/%.o,$(filter %.c,$(fuzz_sources)))
fuzz_headers = $(addprefix $(srcdir)/,$(filter %.h,$(fuzz_sources)))
$(fuzz_objects): tests/fuzz/clang/%.o: $(srcdir)/%.c $(fuzz_headers) lab/page/page_html.h Makefile
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_CC)$(CLANG) -std=gnu11 $(DEFS) $(DEFAULT_INCLUDES) $(libforscli_la_CPPFLAGS) $(JANSSON_CFLAGS) $(UMAD_CFLAGS) \
		$(FUZZER_FLAGS) -c -o $@ $<
tests/fuzz/fuzz: $(fuzz_objects)
	$(AM_V_CCLD)$(CLANG) $(FUZZER_FLAGS) -o $@ $(fuzz_objects) $(LPSOLVE_LIBS) $(fuzz_libs) -pthread -lm
if HAVE_LIBFUZZER
fuzz_program = tests/fuzz/fuzz
else
fuzz_program = tests/fuzz/mutate
endif
.PHONY: fuzz
fuzz: $(fuzz_program)
	$(if $(fuzz_watch_targets),,FORS_FUZZ_WITHOUT=watch )$(srcdir)/tests/fuzz/run.sh $(fuzz_program) $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# The seeds, and every input that once was trouble, as a plain test.
if HAVE_CMOCKA
check_PROGRAMS += tests/fuzz/test_corpus
TESTS += tests/fuzz/test_corpus
endif
tests_fuzz_test_corpus_SOURCES = tests/fuzz/test_corpus.c $(fuzz_targets) $(fuzz_watch_targets)
tests_fuzz_test_corpus_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS)
tests_fuzz_test_corpus_LDADD = libforslab.la libforscli.la libforssim.la libforsmodel.la libforscore.la libforsched.la $(CMOCKA_LIBS) $(fuzz_libs)
EXTRA_DIST += tests/fuzz/run.sh tests/fuzz/fuzz.c tests/fuzz/corpus tests/fuzz/dict tests/fuzz/seeds
CLEANFILES += $(EXTRA_PROGRAMS) tests/fuzz/fuzz

clean-local: clean-fuzz
.PHONY: clean-fuzz
clean-fuzz:
	rm -rf fuzz tests/fuzz/clang
