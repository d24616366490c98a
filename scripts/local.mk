# scripts
EXTRA_DIST += scripts/check_links.py scripts/check_names.py scripts/common.sh scripts/count_results.py scripts/coverage.sh scripts/demo.sh scripts/demo-slurm.sh scripts/packages.sh scripts/test.sh \
	scripts/demo/beside.py scripts/demo/demo.py scripts/demo/demo_slurm.py scripts/demo/levels.py scripts/demo/report.py

.PHONY: coverage
if COVERAGE
coverage: all
	$(srcdir)/scripts/coverage.sh $(abs_top_builddir)
else
coverage:
	@echo "This build does not count. In a folder of its own: configure --enable-coverage CFLAGS='-g -O1', then make coverage" >&2
	@exit 1
endif
