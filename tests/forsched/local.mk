# libforsched as applications meet it: its binary interface, C++, strict C99. (Its answers: tests/unit/test_forsched.c.)
forsched_log = tests/forsched/abi.log
check_PROGRAMS += tests/forsched/layout tests/forsched/use_c99
TESTS += tests/forsched/abi tests/forsched/use_c99
$(forsched_log): tests/forsched/layout
tests_forsched_use_c99_CFLAGS = -std=c99 -pedantic-errors $(WARNING_FLAGS) $(SANITIZER_FLAGS)
tests_forsched_use_c99_LDADD = libforsched.la
if HAVE_CXX
check_PROGRAMS += tests/forsched/use_cpp
TESTS += tests/forsched/use_cpp
endif
tests_forsched_use_cpp_SOURCES = tests/forsched/use_cpp.cpp
tests_forsched_use_cpp_CXXFLAGS = -std=c++11 -pedantic-errors -Wall -Wextra -Wshadow -Werror $(SANITIZER_FLAGS)
tests_forsched_use_cpp_LDADD = libforsched.la
EXTRA_DIST += tests/forsched/abi tests/forsched/libforsched.abi
