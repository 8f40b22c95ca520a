-- The suite of the results that the steps of a pipeline name. It has no foreign key, because the suite of a deleted pipeline is
-- deleted after its builds, which are deleted in batches.
alter table test_suites add column pipeline_id uuid;
create unique index test_suites_pipeline on test_suites (pipeline_id) where pipeline_id is not null;

-- Patterns of artifacts that are read as JUnit; null: none are.
alter table pipelines add column junit_artifacts text;
