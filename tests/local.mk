# Unit and property tests: one cmocka program per module of core/.
unit_tests =
unit_tests += tests/unit/test_closed_form
unit_tests += tests/unit/test_methods
unit_tests += tests/unit/test_schedule_file
unit_tests += tests/unit/test_verify
unit_tests += tests/unit/test_status

# What tests of planners, tables and the verifier share.
unit_support = libtestsupport.la libforscore.la $(CMOCKA_LIBS)
libtestsupport_la_SOURCES = tests/unit/support.c tests/unit/support.h

if HAVE_CMOCKA
check_LTLIBRARIES = libtestsupport.la
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif
tests_unit_test_closed_form_LDADD = $(unit_support)
tests_unit_test_methods_LDADD = $(unit_support)
tests_unit_test_schedule_file_LDADD = $(unit_support) $(ZLIB_LIBS)
tests_unit_test_verify_LDADD = $(unit_support)
tests_unit_test_status_LDADD = libforscore.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
