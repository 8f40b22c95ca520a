-- How long builds, logs and artifacts are kept. null: as the organization says, or else the installation; 0: no limit.
create table organization_retention (
  organization_id uuid primary key references organizations on delete cascade,
  build_days integer,
  log_days integer,
  artifact_days integer,
  archive_days integer,
  keep_newest_builds integer,
  archive_builds boolean
);

create table pipeline_retention (
  pipeline_id uuid primary key references pipelines on delete cascade,
  organization_id uuid not null,
  build_days integer,
  log_days integer,
  artifact_days integer,
  archive_days integer,
  keep_newest_builds integer,
  archive_builds boolean
);

-- How far retention has come in a pipeline: builds that ended at or before these places have no logs or no artifacts left.
create table retention_progress (
  pipeline_id uuid primary key references pipelines on delete cascade,
  organization_id uuid not null,
  leased_until timestamptz(3),
  logs_through timestamptz(3) not null default '-infinity',
  logs_through_id uuid not null default '00000000-0000-0000-0000-000000000000',
  artifacts_through timestamptz(3) not null default '-infinity',
  artifacts_through_id uuid not null default '00000000-0000-0000-0000-000000000000'
);

-- A build whose rows are deleted; everything else about it is in the object. Rows of a deleted pipeline are deleted in
-- batches, like its builds.
create table archived_builds (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null,
  number integer not null,
  state text not null,
  message text,
  commit text not null,
  branch text not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3) not null,
  archived_at timestamptz(3) not null,
  jobs integer not null,
  -- How many rows archived_logs has.
  logs integer not null,
  blob_key text not null,
  size bigint not null,
  constraint archived_builds_number_key unique (pipeline_id, number)
);
create index archived_builds_page on archived_builds (pipeline_id, created_at, id);
create index archived_builds_ended on archived_builds (pipeline_id, finished_at, id);
create index archived_builds_with_logs on archived_builds (pipeline_id, finished_at, id) where logs > 0;
create index archived_builds_organization on archived_builds (organization_id);
create trigger archived_builds_leave_their_blob after delete on archived_builds
  for each row execute function unclaim_blob();

-- The logs that are kept longer than the rows of their build.
create table archived_logs (
  job_id uuid primary key,
  organization_id uuid not null,
  build_id uuid not null references archived_builds on delete cascade,
  header_times jsonb not null default '{}',
  blob_key text not null,
  size bigint not null
);
create index archived_logs_build on archived_logs (build_id);
create trigger archived_logs_leave_their_blob after delete on archived_logs
  for each row execute function unclaim_blob();

-- The builds of a pipeline that are over, in the order in which they ended.
create index builds_ended on builds (pipeline_id, finished_at, id)
  where state in ('passed', 'failed', 'canceled', 'skipped', 'not_run');
-- Builds that another build led to.
create index builds_triggered_from_build on builds ((triggered_from ->> 'build_id')) where triggered_from is not null;
create index builds_rebuilt_from on builds ((rebuilt_from ->> 'id')) where rebuilt_from is not null;

-- `artifacts.expires_at` is no longer written. A later release drops it and its index.
