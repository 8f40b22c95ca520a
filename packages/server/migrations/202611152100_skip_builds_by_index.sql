-- Builds that a page passes over are counted in the index alone, so it holds all that a list without filters asks for.
drop index builds_pipeline_page;
create index builds_pipeline_page on builds (pipeline_id, created_at, id) include (organization_id);
