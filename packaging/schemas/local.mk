# schemas: what programs may rely on in status.json and `fors plan --json`.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = packaging/schemas/demand.schema.json packaging/schemas/plan.schema.json packaging/schemas/status.schema.json
