# Tests of the command, as a user runs it (pytest).
cli_log = tests/cli/run.log
check_PROGRAMS += tests/cli/stamp_schedule
tests_cli_stamp_schedule_LDADD = libforscore.la
TESTS += tests/cli/run

# Preloaded into the command; not where the sanitizers have the allocations.
if !SANITIZED
check_short_of_memory = tests/cli/short_of_memory.la
endif
check_LTLIBRARIES += $(check_short_of_memory)
$(cli_log): tests/cli/stamp_schedule $(check_short_of_memory)
tests_cli_short_of_memory_la_SOURCES = tests/cli/short_of_memory.c tests/unit/failing_calls.h
tests_cli_short_of_memory_la_CFLAGS = -std=gnu11 $(WARNING_FLAGS) -fno-builtin
tests_cli_short_of_memory_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

EXTRA_DIST += tests/cli/run $(wildcard $(srcdir)/tests/cli/*.py)
