# Tests of the command, as a user runs it (pytest).
check_PROGRAMS += tests/cli/stamp_schedule
tests_cli_stamp_schedule_LDADD = libforscore.la
TESTS += tests/cli/run
EXTRA_DIST += tests/cli/run tests/cli/conftest.py tests/cli/test_analyze.py tests/cli/test_bad_input.py tests/cli/test_fabric.py tests/cli/test_forget.py \
	tests/cli/test_indices.py tests/cli/test_plan.py tests/cli/test_schedule.py tests/cli/test_status.py tests/cli/test_usage.py tests/cli/test_whatif.py
