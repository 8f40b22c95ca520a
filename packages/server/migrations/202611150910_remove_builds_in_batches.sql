-- The builds of a pipeline that is deleted go in batches, after the pipeline itself: one statement that takes a
-- million builds along would never end. Whoever deletes the pipeline, its id is written down here.
alter table builds drop constraint builds_pipeline_id_fkey;

create table removed_pipelines (
  pipeline_id uuid primary key,
  organization_id uuid not null,
  removed_at timestamptz(3) not null default now()
);

create function note_removed_pipeline() returns trigger language plpgsql as $$
begin
  insert into removed_pipelines (pipeline_id, organization_id) values (old.id, old.organization_id)
  on conflict (pipeline_id) do nothing;
  return null;
end $$;

create trigger pipelines_leave_their_builds after delete on pipelines
  for each row execute function note_removed_pipeline();

-- A row that goes takes others along by these columns, and a partial index is of no use for that.
alter table build_edges drop constraint build_edges_build_id_fkey;
drop index jobs_step;
create index jobs_step on jobs (step_id, slot);
drop index artifacts_job;
create index artifacts_job on artifacts (job_id, created_at, id);
drop index artifacts_build;
create index artifacts_build on artifacts (build_id, created_at, id);

-- For the sweep: children that are under way, again or still.
create index builds_triggered_open on builds (triggered_from_job_id)
  where triggered_from_job_id is not null and state in ('scheduled', 'running', 'failing');
