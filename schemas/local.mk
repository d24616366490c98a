# schemas: what programs may rely on in status.json and `fors plan --json`.
schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = schemas/demand.schema.json schemas/plan.schema.json schemas/status.schema.json
