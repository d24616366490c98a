# scripts
EXTRA_DIST += scripts/common.sh scripts/count_results.py scripts/test.sh
