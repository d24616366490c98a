# doc
dist_doc_DATA = README.md core/schedule/schedule_format.h doc/analyze.md doc/applications.md doc/architecture.md doc/benchmarks.md doc/model.md doc/operations.md \
	doc/paper-results.md doc/planners.md doc/planners-rounds.md doc/planners-flows.md doc/testbed.md \
	doc/paper-figure3.svg doc/paper-figure6.svg doc/paper-figure7.svg doc/paper-figure9.svg doc/paper-figure10.svg doc/paper-table1.svg \
	doc/build-times.svg doc/phases.svg doc/planning.svg doc/random-failures.svg doc/testbed.svg doc/testbed-cut.svg doc/throughput.svg
