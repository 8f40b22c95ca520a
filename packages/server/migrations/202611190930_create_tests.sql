-- A row for each test of a suite, and its results by day, so that no page reads all results.
create table tests (
  organization_id uuid not null references organizations on delete cascade,
  suite_id uuid not null references test_suites on delete cascade,
  -- The hash of suite, scope and name.
  id uuid not null,
  scope text not null,
  name text not null,
  location text,
  file_name text,
  owner text,
  first_seen_at timestamptz(3) not null,
  last_seen_at timestamptz(3) not null,
  state text not null default 'enabled' check (state in ('enabled', 'muted', 'skipped')),
  quarantined_at timestamptz(3),
  -- Null: a rule has quarantined it, or the person is gone.
  quarantined_by uuid references users on delete set null,
  quarantine_owner_id uuid references users on delete set null,
  quarantine_reason text,
  -- Null: it has no end.
  quarantine_expires_at timestamptz(3),
  primary key (suite_id, id)
) with (fillfactor = 90);

create index tests_organization on tests (organization_id);
create index tests_seen on tests (suite_id, last_seen_at);
create index tests_quarantined on tests (suite_id, id) where state <> 'enabled';
create index tests_quarantine_expiry on tests (quarantine_expires_at) where quarantine_expires_at is not null;

create table test_days (
  suite_id uuid not null,
  day date not null,
  test_id uuid not null,
  -- The pipeline of the build that the tests ran in; without one, the suite. Who may not see the pipeline does not see these results.
  origin_id uuid not null,
  passed_count integer not null,
  failed_count integer not null,
  skipped_count integer not null,
  unknown_count integer not null,
  timed_count integer not null,
  duration_sum double precision not null,
  duration_min double precision,
  duration_max double precision,
  -- Seconds of the newest results, from which percentiles are computed.
  durations real[] not null,
  primary key (suite_id, day, test_id, origin_id),
  constraint test_days_test_fkey foreign key (suite_id, test_id) references tests on delete cascade
) with (fillfactor = 80);

create index test_days_test on test_days (suite_id, test_id, day);

alter table test_runs add column from_fork boolean not null default false;

-- Null in results from before this migration that were not among those of the newest runs.
alter table test_results add column test_id uuid;

-- The runs that tests were computed from before.
create temporary table newest_runs on commit drop as
  select r.id, r.organization_id, r.suite_id, coalesce(b.pipeline_id, r.suite_id) as origin_id,
    coalesce(b.from_fork, false) or coalesce(b.pull_request ->> 'fork' = 'true', false) as from_fork
  from test_suites s
  cross join lateral (
    select * from test_runs r where r.suite_id = s.id order by r.created_at desc, r.id desc limit 100) r
  left join builds b on b.id = r.build_id;

update test_runs r set from_fork = true from newest_runs n where n.id = r.id and n.from_fork;

update test_results t set test_id = md5(r.suite_id || chr(31) || t.scope || chr(31) || t.name)::uuid
from newest_runs r where r.id = t.run_id;

insert into tests (organization_id, suite_id, id, scope, name, location, file_name, first_seen_at, last_seen_at)
select distinct on (r.suite_id, t.test_id) r.organization_id, r.suite_id, t.test_id, t.scope, t.name, t.location, t.file_name,
  min(t.created_at) over (partition by r.suite_id, t.test_id), t.created_at
from newest_runs r join test_results t on t.run_id = r.id
where not r.from_fork
order by r.suite_id, t.test_id, t.created_at desc, t.id;

insert into test_days (suite_id, day, test_id, origin_id, passed_count, failed_count, skipped_count, unknown_count, timed_count,
  duration_sum, duration_min, duration_max, durations)
select r.suite_id, (t.created_at at time zone 'utc')::date, t.test_id, r.origin_id,
  count(*) filter (where t.result = 'passed'), count(*) filter (where t.result = 'failed'),
  count(*) filter (where t.result = 'skipped'), count(*) filter (where t.result = 'unknown'), count(t.duration_seconds),
  coalesce(sum(t.duration_seconds), 0), min(t.duration_seconds), max(t.duration_seconds),
  coalesce((array_agg((round(t.duration_seconds * 1e6) / 1e6)::real order by t.created_at desc)
    filter (where t.duration_seconds is not null))[1:64], '{}')
from newest_runs r join test_results t on t.run_id = r.id
where not r.from_fork
group by 1, 2, 3, 4;

create index test_results_test on test_results (test_id, created_at, run_id) where test_id is not null;
