-- Stacks, which start an agent for each job; the index of caches; and the results of tests.

-- A program that reserves jobs and starts agents for them.
create table stacks (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  -- What it said it would serve; it may ask for the jobs of any queue of its cluster.
  queue_id uuid references cluster_queues on delete set null,
  key text not null,
  type text not null constraint stacks_type_check check (type in ('kubernetes', 'elastic', 'custom')),
  metadata jsonb not null default '{}',
  created_at timestamptz(3) not null default now(),
  last_connected_at timestamptz(3) not null,
  -- null: it has not said good-bye.
  disconnected_at timestamptz(3),
  constraint stacks_key_key unique (cluster_id, key)
);

alter table jobs add constraint jobs_reserved_by_fkey foreign key (reserved_by) references stacks on delete set null;
create index jobs_reserved_by on jobs (reserved_by) where reserved_by is not null;

create table stack_notifications (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  stack_id uuid not null references stacks on delete cascade,
  job_id uuid not null references jobs on delete cascade,
  detail text not null,
  -- When it happened, as the stack tells it.
  occurred_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now()
);
create index stack_notifications_job on stack_notifications (job_id, occurred_at, id);
create index stack_notifications_stack on stack_notifications (stack_id);

create table cache_registries (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  slug text not null,
  name text not null,
  created_at timestamptz(3) not null default now(),
  constraint cache_registries_slug_key unique (cluster_id, slug)
);

-- What a registry knows of caches; their bytes lie where agents put them.
create table cache_entries (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  registry_id uuid not null references cache_registries on delete cascade,
  -- Sorted: the order in which paths are named does not matter. The SHA-256 of that list is what they are found by.
  target_paths text[] not null,
  paths_hash bytea not null,
  -- [{"value", "mandatory"}], as it was stored; and the values alone, by which it is found.
  cache_key jsonb not null,
  key_values text[] not null,
  -- [{"digest": {"algorithm", "value"}, "file_size", "compression"}]
  blobs jsonb not null,
  platform text not null,
  created_at timestamptz(3) not null default now(),
  -- null: announced, its bytes still on their way.
  committed_at timestamptz(3),
  expires_at timestamptz(3) not null
);
create index cache_entries_place on cache_entries (registry_id, paths_hash, committed_at desc);
create index cache_entries_expiry on cache_entries (registry_id, expires_at);

create table test_suites (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  slug text not null,
  default_branch text,
  -- SHA-256 of the token that results are sent with.
  token_hash bytea not null constraint test_suites_hash_key unique,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  constraint test_suites_slug_key unique (organization_id, slug)
);
create index test_suites_page on test_suites (organization_id, created_at, id);

-- One time that a suite was run, however many uploads its results came in.
create table test_runs (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  suite_id uuid not null references test_suites on delete cascade,
  -- What uploads of one run have in common: the id of the build, or whatever the sender chose.
  key text not null,
  -- null: not run in a build of ours.
  build_id uuid references builds on delete cascade,
  branch text,
  commit_sha text,
  passed_count integer not null default 0,
  failed_count integer not null default 0,
  skipped_count integer not null default 0,
  unknown_count integer not null default 0,
  duration_seconds double precision not null default 0,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint test_runs_key_key unique (suite_id, key)
);
create index test_runs_page on test_runs (suite_id, created_at, id);
create index test_runs_build on test_runs (build_id, created_at, id) where build_id is not null;

create table test_results (
  run_id uuid not null references test_runs on delete cascade,
  -- The sender's own where it has one, so that an upload sent again is stored once.
  id uuid not null,
  scope text not null,
  name text not null,
  location text,
  file_name text,
  result text not null constraint test_results_result_check
    check (result in ('passed', 'failed', 'skipped', 'unknown')),
  failure_reason text,
  -- [{"expanded": [text], "backtrace": [text]}]
  failure_expanded jsonb not null default '[]',
  duration_seconds double precision,
  created_at timestamptz(3) not null,
  primary key (run_id, id)
);
create index test_results_failed on test_results (run_id, created_at, id) where result = 'failed';
