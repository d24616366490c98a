# Unit and property tests: one cmocka program per module of core/.
unit_tests =
unit_tests += tests/unit/test_closed_form
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
tests_unit_test_status_LDADD = libforscore.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
