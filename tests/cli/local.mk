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

EXTRA_DIST += \
	tests/cli/conftest.py \
	tests/cli/run \
	tests/cli/test_analyze.py \
	tests/cli/test_bad_input.py \
	tests/cli/test_demand.py \
	tests/cli/test_diff.py \
	tests/cli/test_diff_lfts.py \
	tests/cli/test_draw.py \
	tests/cli/test_fabric.py \
	tests/cli/test_forget.py \
	tests/cli/test_indices.py \
	tests/cli/test_guests.py \
	tests/cli/test_jobs.py \
	tests/cli/test_jobs_incomplete.py \
	tests/cli/test_jobs_slurm.py \
	tests/cli/test_left_out.py \
	tests/cli/test_links.py \
	tests/cli/test_made.py \
	tests/cli/test_no_hosts.py \
	tests/cli/test_over.py \
	tests/cli/test_pages.py \
	tests/cli/test_per_job.py \
	tests/cli/test_plan.py \
	tests/cli/test_promise.py \
	tests/cli/test_publish_examples.py \
	tests/cli/test_replay.py \
	tests/cli/test_schedule.py \
	tests/cli/test_schemas.py \
	tests/cli/test_simulate.py \
	tests/cli/test_slow.py \
	tests/cli/test_slurm.py \
	tests/cli/test_status.py \
	tests/cli/test_three_words.py \
	tests/cli/test_usage.py \
	tests/cli/test_wait.py \
	tests/cli/test_whatif.py
