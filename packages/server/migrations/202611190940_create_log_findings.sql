-- What failed jobs said, for searches over many builds, and for each stored log a sketch of its trigrams, which says what it
-- does not contain.
create table log_findings (
  job_id uuid primary key references jobs on delete cascade,
  organization_id uuid not null,
  pipeline_id uuid not null,
  build_id uuid not null,
  finished_at timestamptz(3) not null,
  -- Rows of the log, one a line.
  text text not null,
  -- For each line the number of its row.
  rows integer[] not null,
  -- The row that shows why the job failed, and the fingerprint that it shares with others of the same cause.
  failing_row integer,
  failing_text text,
  cause text
);

create index log_findings_newest on log_findings (organization_id, finished_at, job_id);
create index log_findings_causes on log_findings (organization_id, cause, finished_at) where cause is not null;
create index log_findings_build on log_findings (build_id);
create index log_findings_finished on log_findings (finished_at);

-- Both extensions are part of PostgreSQL, and an owner of the database may add them. Without them searches are slower.
do $$
begin
  create extension if not exists pg_trgm;
  create extension if not exists btree_gin;
  create index log_findings_text on log_findings using gin (organization_id, lower(text collate "C") gin_trgm_ops);
exception when insufficient_privilege or undefined_file or feature_not_supported then
  raise notice 'Log searches have no index: %', sqlerrm;
end $$;

alter table job_logs add column sketch bytea;
-- One byte of it is read at a time.
alter table job_logs alter column sketch set storage external;

create function forget_deleted_log() returns trigger language plpgsql as $$
begin
  delete from log_findings where job_id = new.job_id;
  new.sketch = null;
  return new;
end $$;

create trigger job_logs_forget_deleted before update on job_logs
  for each row when (new.deleted_at is not null and old.deleted_at is null) execute function forget_deleted_log();
