# The house itself: which module uses which, and the layout of the source.
if !SANITIZED
TESTS += tests/house/run
endif
EXTRA_DIST += scripts/check_modules.py tests/house/plurals.py tests/house/run tests/house/words.py
