# Fuzzers: built on demand, see run.sh.
EXTRA_PROGRAMS += tests/fuzz/mutate
tests_fuzz_mutate_SOURCES = tests/fuzz/mutate.c tests/fuzz/targets.c tests/fuzz/targets.h
tests_fuzz_mutate_LDADD = libforscore.la
EXTRA_DIST += tests/fuzz/run.sh
CLEANFILES += $(EXTRA_PROGRAMS)
