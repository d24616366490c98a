# doc: installed with the folders of the source tree, so that every link between the pages leads somewhere there too
# (scripts/check_links.py); the pages of the rooms come along. One file per line.
nobase_dist_doc_DATA = \
	README.md \
	CONTRIBUTING.md \
	LICENSE \
	core/schedule/schedule_format.h \
	cli/README.md \
	cli/analyze/README.md \
	cli/whatif/README.md \
	core/base/README.md \
	core/colouring/README.md \
	core/fabric/README.md \
	core/net/README.md \
	core/planners/README.md \
	core/planners/exact/README.md \
	core/planners/flows/README.md \
	core/planners/rounds/README.md \
	core/schedule/README.md \
	core/status/README.md \
	core/tables/README.md \
	model/README.md \
	plugin/README.md \
	doc/analyze.md \
	doc/applications.md \
	doc/architecture.md \
	doc/benchmarks.md \
	doc/build-times.svg \
	doc/model.md \
	doc/operations.md \
	doc/paper-figure10.svg \
	doc/paper-figure3.svg \
	doc/paper-figure6.svg \
	doc/paper-figure7.svg \
	doc/paper-figure9.svg \
	doc/paper-results.md \
	doc/paper-table1.svg \
	doc/phases.svg \
	doc/planners-flows.md \
	doc/planners-rounds.md \
	doc/planners.md \
	doc/planning.svg \
	doc/random-failures.svg \
	doc/testbed-cut.svg \
	doc/testbed.md \
	doc/testbed.svg \
	doc/throughput.svg
