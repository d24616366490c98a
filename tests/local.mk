# Unit and property tests: one cmocka program per module of core/.
unit_tests =
unit_tests += tests/unit/test_status

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
tests_unit_test_status_LDADD = libforscore.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
