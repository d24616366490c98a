# Unit and property tests: one cmocka program per module of core/.
unit_tests =

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
