-- How often jobs of a pipeline asked for a cache on a day, and found one or none.
create table step_cache_uses (
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  -- Its start, in UTC.
  day timestamptz(3) not null,
  hits integer not null,
  misses integer not null,
  primary key (pipeline_id, day)
);
