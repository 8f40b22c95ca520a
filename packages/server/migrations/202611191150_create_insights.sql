-- What jobs cost, in millionths of the organization's currency, so that sums are exact. Null: USD.
alter table cluster_queues add column price_micros bigint not null default 0
  constraint cluster_queues_price_check check (price_micros between 0 and 1000000000000);
alter table organization_pipeline_settings add column currency text
  constraint organization_pipeline_settings_currency_check check (currency ~ '^[A-Z]{3}$');

-- A row for each job that has ended and is not counted yet. It is inserted when the job ends, in the same transaction, and
-- deleted when it is counted, in the same transaction: so every job counts once. See resources/insights/insights/fold.ts.
create table job_ends (
  organization_id uuid not null,
  job_id uuid not null,
  build_id uuid not null,
  pipeline_id uuid not null,
  queue_id uuid,
  -- Who is charged; null: nobody known.
  creator_id uuid,
  -- The key of its step, or else its label or its command.
  step text not null,
  ended_at timestamptz(3) not null,
  has_failed boolean not null,
  is_retry boolean not null,
  -- Null: unknown.
  wait_ms bigint,
  -- Null: it never started.
  run_ms bigint,
  price_micros bigint not null,
  primary key (organization_id, job_id)
);

-- A histogram is an array with an entry for each bucket that is not empty: the bucket's number times 2 to the power of 32, and the
-- number of values in it. This adds up entries of the same bucket.
create function compact_histogram(entries bigint[]) returns bigint[] language plpgsql immutable strict parallel safe
  -- PL/pgSQL keeps the plan, which costs more than the work.
  as $$
    begin
      return (
        select coalesce(array_agg((bucket << 32) + count order by bucket), '{}')
        from (select e >> 32 as bucket, sum(e & 4294967295)::bigint as count from unnest(entries) e group by 1) t);
    end
  $$;

-- Jobs by the minute, hour and day in which they ended. The subject is the team, creator or step; of the dimension `queue` it is the nil
-- UUID, as it is where there is none, and where an organization has more subjects than are counted apart. Nothing refers to the rows
-- of pipelines, queues and subjects, so what they have cost stays when they are deleted.
create table insight_minutes (
  organization_id uuid not null references organizations on delete cascade,
  dimension text not null check (dimension in ('queue', 'team', 'creator', 'step')),
  starts_at timestamptz(3) not null,
  pipeline_id uuid not null,
  queue_id uuid not null,
  subject_id uuid not null,
  jobs bigint not null,
  failures bigint not null,
  retries bigint not null,
  run_ms bigint not null,
  cost_micros bigint not null,
  waits bigint[] not null,
  runs bigint[] not null,
  constraint insight_minutes_pkey primary key (organization_id, dimension, starts_at, pipeline_id, queue_id, subject_id)
) with (fillfactor = 80);
create index insight_minutes_expiry on insight_minutes (starts_at);

create table insight_hours (
  organization_id uuid not null references organizations on delete cascade,
  dimension text not null check (dimension in ('queue', 'team', 'creator', 'step')),
  starts_at timestamptz(3) not null,
  pipeline_id uuid not null,
  queue_id uuid not null,
  subject_id uuid not null,
  jobs bigint not null,
  failures bigint not null,
  retries bigint not null,
  run_ms bigint not null,
  cost_micros bigint not null,
  waits bigint[] not null,
  runs bigint[] not null,
  constraint insight_hours_pkey primary key (organization_id, dimension, starts_at, pipeline_id, queue_id, subject_id)
) with (fillfactor = 80);
create index insight_hours_expiry on insight_hours (starts_at);

create table insight_days (
  organization_id uuid not null references organizations on delete cascade,
  dimension text not null check (dimension in ('queue', 'team', 'creator', 'step')),
  starts_at timestamptz(3) not null,
  pipeline_id uuid not null,
  queue_id uuid not null,
  subject_id uuid not null,
  jobs bigint not null,
  failures bigint not null,
  retries bigint not null,
  run_ms bigint not null,
  cost_micros bigint not null,
  waits bigint[] not null,
  runs bigint[] not null,
  constraint insight_days_pkey primary key (organization_id, dimension, starts_at, pipeline_id, queue_id, subject_id)
) with (fillfactor = 80);
create index insight_days_expiry on insight_days (starts_at);

-- The steps and creators that are counted apart.
create table insight_subjects (
  organization_id uuid not null references organizations on delete cascade,
  dimension text not null check (dimension in ('creator', 'step')),
  -- Of a creator, the user; of a step, the hash of its pipeline and its name.
  id uuid not null,
  pipeline_id uuid,
  -- Of a step.
  name text,
  seen_on date not null,
  primary key (organization_id, dimension, id)
) with (fillfactor = 80);

-- How busy queues were, by minute, hour and day: sums over the minutes in which there was anything to count.
create table queue_samples (
  organization_id uuid not null references organizations on delete cascade,
  queue_id uuid not null references cluster_queues on delete cascade,
  unit text not null check (unit in ('minute', 'hour', 'day')),
  starts_at timestamptz(3) not null,
  minutes integer not null,
  waiting bigint not null,
  running bigint not null,
  connected bigint not null,
  busy bigint not null,
  primary key (queue_id, unit, starts_at)
);
create index queue_samples_organization on queue_samples (organization_id);
create index queue_samples_expiry on queue_samples (unit, starts_at);

-- The jobs of a build that have ended.
create table build_costs (
  build_id uuid primary key references builds on delete cascade,
  organization_id uuid not null,
  jobs bigint not null,
  run_ms bigint not null,
  cost_micros bigint not null
) with (fillfactor = 80);
