# doc
dist_doc_DATA = README.md doc/architecture.md doc/planners.md doc/planners-rounds.md
