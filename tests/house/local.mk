# The house itself: which module uses which, and the layout of the source.
TESTS += tests/house/run
EXTRA_DIST += scripts/check_modules.py tests/house/plurals.py tests/house/run tests/house/words.py
