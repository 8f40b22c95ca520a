-- An integration of the organization that is told of builds, jobs and agents.
create table notification_services (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  provider text not null constraint notification_services_provider_check check (provider in ('webhook', 'chat',
    'cloud_event_bus', 'monitoring_pipeline_visibility', 'open_telemetry_tracing', 'event_log_api', 'chat_workspace',
    'issue_tracker')),
  description text not null default '',
  scope text not null default 'all' constraint notification_services_scope_check
    check (scope in ('all', 'some_projects', 'some_teams', 'some_clusters')),
  branch_configuration text not null default '',
  -- Names of the states that are on.
  build_states text[] not null default '{}',
  -- What may be read by whoever reads the table; the rest is sealed, one JSON object.
  settings jsonb not null default '{}',
  secrets_sealed bytea,
  secrets_key_id text,
  -- Connected by a person through a web page of the provider, not made by REST.
  is_connected boolean not null default false,
  disabled_at timestamptz(3),
  -- Given up on by the installation itself; enabling clears both.
  broken_at timestamptz(3),
  broken_reason text,
  -- Deliveries in a row that ended as dead letters.
  dead_letters_in_a_row integer not null default 0,
  -- It hears of what happens from then on: since it was made, or enabled again.
  listening_since timestamptz(3) not null default now(),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null
);
create index notification_services_page on notification_services (organization_id, created_at, id);

-- What a scope other than `all` names, in the order it was given.
create table notification_service_targets (
  organization_id uuid not null references organizations on delete cascade,
  service_id uuid not null references notification_services on delete cascade,
  position integer not null,
  pipeline_id uuid references pipelines on delete cascade,
  team_id uuid references teams on delete cascade,
  cluster_id uuid references clusters on delete cascade,
  primary key (service_id, position),
  constraint notification_service_targets_one_check check (num_nonnulls(pipeline_id, team_id, cluster_id) = 1)
);
create index notification_service_targets_pipeline on notification_service_targets (pipeline_id)
  where pipeline_id is not null;
create index notification_service_targets_team on notification_service_targets (team_id) where team_id is not null;
create index notification_service_targets_cluster on notification_service_targets (cluster_id)
  where cluster_id is not null;

-- How far the outbox has been read. A window of transactions, all ended when it was opened, is read in the order of
-- the events' ids; then the next is opened.
create table notification_cursor (
  is_only boolean primary key default true constraint notification_cursor_only_check check (is_only),
  -- The window: from this transaction to before that one.
  from_xid bigint not null,
  to_xid bigint not null,
  last_event_id bigint not null
);
-- What happened before there were services is nobody's news.
insert into notification_cursor (from_xid, to_xid, last_event_id)
  select x, x, 0 from (select (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint as x) now;

-- What happened, as it was when it was read from the outbox. All deliveries of one event share it.
create table notification_messages (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  -- The row of the outbox that it tells of; null: asked for by a person.
  event_id bigint,
  event text not null,
  occurred_at timestamptz(3) not null,
  -- Not jsonb: receivers see the keys in the order they were written.
  data json not null
);
create index notification_messages_age on notification_messages (occurred_at);

create table notification_deliveries (
  -- The receiver sees it, the same for every attempt.
  id uuid primary key,
  -- Their order within a lane.
  seq bigint generated always as identity,
  organization_id uuid not null references organizations on delete cascade,
  message_id uuid not null references notification_messages on delete cascade,
  -- The service, or what a pipeline's `notify` asks for.
  service_id uuid references notification_services on delete cascade,
  target jsonb,
  -- Deliveries of one owner and lane are sent one after the other.
  owner_id uuid not null,
  lane text not null,
  state text not null default 'pending' constraint notification_deliveries_state_check
    check (state in ('pending', 'delivered', 'dead', 'discarded')),
  attempts integer not null default 0,
  -- Until when a failed attempt is followed by another.
  give_up_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  finished_at timestamptz(3),
  constraint notification_deliveries_target_check check (num_nonnulls(service_id, target) = 1)
);
create index notification_deliveries_pending on notification_deliveries (owner_id, lane, seq) where state = 'pending';
create index notification_deliveries_page on notification_deliveries (service_id, created_at, id);
create index notification_deliveries_message on notification_deliveries (message_id);
create index notification_deliveries_age on notification_deliveries (finished_at) where finished_at is not null;

-- Where pending deliveries stand in line. A worker leases a lane and sends its deliveries in order.
create table notification_lanes (
  owner_id uuid not null,
  lane text not null,
  organization_id uuid not null references organizations on delete cascade,
  due_at timestamptz(3) not null,
  leased_until timestamptz(3),
  primary key (owner_id, lane)
);
create index notification_lanes_due on notification_lanes (owner_id, due_at);

create table notification_attempts (
  delivery_id uuid not null references notification_deliveries on delete cascade,
  number integer not null,
  organization_id uuid not null,
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  -- null: it arrived.
  error text,
  -- [{"request", "response", "duration_ms", "error"}], without secrets and without bodies that were sent.
  exchanges jsonb not null,
  primary key (delivery_id, number)
);

-- What a provider remembers between deliveries, such as the issue it opened.
create table notification_memories (
  service_id uuid not null references notification_services on delete cascade,
  key text not null,
  organization_id uuid not null references organizations on delete cascade,
  data jsonb not null,
  updated_at timestamptz(3) not null default now(),
  primary key (service_id, key)
);

-- A connection to an OAuth provider that a person has begun on a web page and not yet finished.
create table notification_oauth_starts (
  -- SHA-256 of the `state` parameter.
  state_hash bytea primary key,
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  provider text not null,
  -- The PKCE verifier.
  verifier_sealed bytea not null,
  verifier_key_id text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index notification_oauth_starts_age on notification_oauth_starts (expires_at);
