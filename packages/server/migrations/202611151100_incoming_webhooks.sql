-- What comes in from source hosts, and what goes back to them.

-- An account at a source host: for whose repositories, with which secrets.
create table repository_connections (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  type text not null,
  url text not null,
  api_url text not null,
  -- As it stands in the addresses of repositories.
  host text not null,
  token_sealed bytea,
  token_key_id text,
  token_hint text,
  webhook_secret_sealed bytea,
  webhook_secret_key_id text,
  webhook_secret_hint text,
  -- Why the last commit status could not be published; null when it was.
  problem text,
  problem_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users (id) on delete set null,
  constraint repository_connections_type_check
    check (type in ('github', 'gitlab', 'bitbucket', 'gitea', 'forgejo', 'git')),
  constraint repository_connections_host_key unique (organization_id, host)
);

-- The host in the address of the repository; names that lead to the same host count as one.
alter table pipelines add column repository_host text generated always as (
  regexp_replace(
    lower(coalesce(
      substring(repository from '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^@/]*@)?([^/:]+)'),
      substring(repository from '^(?:[^@/:]+@)?([^/:]+):(?!//)'))),
    '^(?:www|ssh|altssh)\.(github\.com|gitlab\.com|bitbucket\.org)$', '\1')) stored;
create index pipelines_repository_host on pipelines (organization_id, repository_host);

-- Null: the repository is not asked for news.
alter table pipelines add column poll_interval_seconds integer;
alter table pipelines add constraint pipelines_poll_interval_check check (poll_interval_seconds between 30 and 86400);
create index pipelines_polled on pipelines (id) where poll_interval_seconds is not null;

-- What the source host said beside the commit: event, action, label, merge queue.
alter table builds add column host_event jsonb;

-- A delivery that comes again is answered as it was the first time.
create table webhook_deliveries (
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  delivery_id text not null,
  organization_id uuid not null,
  answer jsonb,
  received_at timestamptz(3) not null,
  primary key (pipeline_id, delivery_id)
);
create index webhook_deliveries_received on webhook_deliveries (received_at);

-- Pull requests that are open, as their last delivery told: a push to their branch is built as theirs.
create table pull_requests (
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  number text not null,
  organization_id uuid not null,
  branch text not null,
  is_fork boolean not null,
  data jsonb not null,
  updated_at timestamptz(3) not null,
  primary key (pipeline_id, number)
);
create index pull_requests_branch on pull_requests (pipeline_id, branch) where not is_fork;

-- Whose turn it is to be asked for news. A claim that is older than the interval has lapsed.
create table pipeline_polls (
  pipeline_id uuid primary key references pipelines (id) on delete cascade,
  organization_id uuid not null,
  repository text not null,
  next_poll_at timestamptz(3) not null,
  claim uuid,
  -- Null until the first answer, from which on news is told from what was there before.
  polled_at timestamptz(3),
  error text
);
create index pipeline_polls_due on pipeline_polls (next_poll_at);

create table polled_refs (
  pipeline_id uuid not null references pipeline_polls (pipeline_id) on delete cascade,
  ref text not null,
  commit text not null,
  primary key (pipeline_id, ref)
);

-- What a commit is to be called at its host, by context. Only the newest state counts, so there is one row for each
-- commit and context; `version` moves with the state.
create table commit_statuses (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  build_id uuid not null references builds (id) on delete cascade,
  build_number integer not null,
  commit text not null,
  context text not null,
  state text not null,
  description text not null,
  version integer not null default 1,
  changed_at timestamptz(3) not null,
  delivered_at timestamptz(3),
  attempts integer not null default 0,
  -- Null: nothing to do, because it is delivered or given up.
  next_attempt_at timestamptz(3),
  -- While somebody is at it, nobody else is, so that states arrive in their order.
  leased_until timestamptz(3),
  error text,
  constraint commit_statuses_context_key unique (pipeline_id, commit, context)
);
create index commit_statuses_due on commit_statuses (pipeline_id, next_attempt_at) where next_attempt_at is not null;
create index commit_statuses_leased on commit_statuses (pipeline_id, leased_until) where leased_until is not null;
create index commit_statuses_build on commit_statuses (build_id);

-- Events of transactions before this one have been looked at for commit statuses.
create table commit_status_cursor (
  single boolean primary key default true check (single),
  xid bigint not null
);
