# scripts
EXTRA_DIST += scripts/common.sh scripts/count_results.py scripts/demo.sh scripts/packages.sh scripts/test.sh \
	scripts/demo/demo.py scripts/demo/report.py
