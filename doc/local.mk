# doc
dist_doc_DATA = README.md doc/analyze.md doc/applications.md doc/architecture.md doc/benchmarks.md doc/model.md doc/operations.md \
	doc/planners.md doc/planners-rounds.md doc/testbed.md \
	doc/build-times.svg doc/phases.svg doc/planning.svg doc/random-failures.svg doc/throughput.svg
