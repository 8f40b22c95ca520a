-- Organizations, people, tokens, clusters, teams, and the audit log.
-- Every row below an organization names it, so that every query can.

-- Times inside JSON that PostgreSQL builds, in the form of every other time in an answer.
create function iso(at timestamptz) returns text language sql immutable parallel safe
  return to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

create table organizations (
  id uuid primary key,
  slug text not null constraint organizations_slug_key unique
    constraint organizations_slug_check check (slug ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
  name text not null,
  features text[] not null default '{audit_log,members_view_teams}',
  allowed_ip_addresses text,
  revoke_inactive_tokens_after_days integer,
  restrict_user_api_token_creation boolean not null default false,
  teams_enabled_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);

create table users (
  id uuid primary key,
  email text not null,
  name text not null,
  password_hash text,
  created_at timestamptz(3) not null default now()
);
create unique index users_email_key on users (lower(email));

create table organization_members (
  organization_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null constraint organization_members_role_check check (role in ('admin', 'member')),
  sso_mode text not null default 'optional'
    constraint organization_members_sso_mode_check check (sso_mode in ('required', 'optional')),
  created_at timestamptz(3) not null default now(),
  primary key (organization_id, user_id)
);
create index organization_members_user on organization_members (user_id);
create index organization_members_page on organization_members (organization_id, created_at, user_id);

create table api_access_tokens (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- SHA-256 of the token; the token itself is shown once and never stored.
  token_hash bytea not null constraint api_access_tokens_hash_key unique,
  description text not null default '',
  scopes text[] not null,
  -- null: every organization its owner belongs to.
  organization_ids uuid[],
  -- null: any address.
  allowed_ip_addresses text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  last_used_ip text
);
create index api_access_tokens_user on api_access_tokens (user_id);

create table teams (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  slug text not null,
  description text not null default '',
  privacy text not null default 'visible' constraint teams_privacy_check check (privacy in ('visible', 'secret')),
  is_default_team boolean not null default false,
  default_member_role text not null default 'member'
    constraint teams_default_member_role_check check (default_member_role in ('member', 'maintainer')),
  members_can_create_pipelines boolean not null default false,
  members_can_create_suites boolean not null default false,
  members_can_create_registries boolean not null default false,
  members_can_destroy_registries boolean not null default false,
  members_can_destroy_packages boolean not null default false,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  constraint teams_slug_key unique (organization_id, slug)
);

create table team_members (
  organization_id uuid not null references organizations on delete cascade,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null default 'member'
    constraint team_members_role_check check (role in ('member', 'maintainer')),
  created_at timestamptz(3) not null default now(),
  constraint team_members_pkey primary key (team_id, user_id),
  -- Leaving the organization leaves its teams.
  constraint team_members_member_fkey foreign key (organization_id, user_id)
    references organization_members (organization_id, user_id) on delete cascade
);
create index team_members_user on team_members (organization_id, user_id);

create table team_pipelines (
  organization_id uuid not null references organizations on delete cascade,
  team_id uuid not null references teams on delete cascade,
  pipeline_id uuid not null,
  access_level text not null constraint team_pipelines_access_level_check
    check (access_level in ('read_only', 'build_and_read', 'manage_build_and_read')),
  created_at timestamptz(3) not null default now(),
  constraint team_pipelines_pkey primary key (team_id, pipeline_id)
);
create index team_pipelines_pipeline on team_pipelines (organization_id, pipeline_id);

create table clusters (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  description text not null default '',
  emoji text,
  color text,
  hosted boolean not null default false,
  hosted_git_mirror_enabled boolean not null default false,
  hosted_container_cache_enabled boolean not null default false,
  default_queue_id uuid,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null
);
create index clusters_page on clusters (organization_id, created_at, id);

create table cluster_queues (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  key text not null,
  description text,
  retry_agent_affinity text not null default 'prefer-warmest'
    constraint cluster_queues_retry_agent_affinity_check
    check (retry_agent_affinity in ('prefer-warmest', 'prefer-different')),
  -- null: the queue is served by agents people run themselves.
  instance_shape text,
  agent_image_ref text,
  dispatch_paused_at timestamptz(3),
  dispatch_paused_by uuid references users on delete set null,
  dispatch_paused_note text,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  constraint cluster_queues_key_key unique (cluster_id, key)
);
create index cluster_queues_page on cluster_queues (cluster_id, created_at, id);
alter table clusters add constraint clusters_default_queue_fkey
  foreign key (default_queue_id) references cluster_queues on delete set null;

create table cluster_tokens (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  token_hash bytea not null constraint cluster_tokens_hash_key unique,
  description text not null,
  allowed_ip_addresses text not null default '0.0.0.0/0 ::/0',
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null
);
create index cluster_tokens_page on cluster_tokens (cluster_id, created_at, id);

create table cluster_maintainers (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  user_id uuid,
  team_id uuid references teams on delete cascade,
  created_at timestamptz(3) not null default now(),
  constraint cluster_maintainers_actor_check check (num_nonnulls(user_id, team_id) = 1),
  constraint cluster_maintainers_user_key unique (cluster_id, user_id),
  constraint cluster_maintainers_team_key unique (cluster_id, team_id),
  constraint cluster_maintainers_member_fkey foreign key (organization_id, user_id)
    references organization_members (organization_id, user_id) on delete cascade
);

create table cluster_secrets (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  key text not null,
  description text not null default '',
  policy text not null default '',
  -- AES-256-GCM; the key id says which key of the ring opens it.
  value_sealed bytea not null,
  value_key_id text not null,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  updated_at timestamptz(3) not null default now(),
  updated_by uuid references users on delete set null,
  last_read_at timestamptz(3),
  constraint cluster_secrets_key_key unique (cluster_id, key)
);
create index cluster_secrets_page on cluster_secrets (cluster_id, created_at, id);

create table organization_invitations (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  email text not null,
  state text not null default 'pending' constraint organization_invitations_state_check
    check (state in ('pending', 'accepted', 'revoked', 'expired')),
  role text not null constraint organization_invitations_role_check check (role in ('admin', 'member')),
  sso_mode text not null constraint organization_invitations_sso_mode_check
    check (sso_mode in ('required', 'optional')),
  -- [{"id": team uuid, "role": "member" | "maintainer"}]
  teams jsonb not null default '[]',
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by uuid references users on delete set null,
  revoked_at timestamptz(3),
  revoked_by uuid references users on delete set null,
  expired_at timestamptz(3)
);
create unique index organization_invitations_pending_key
  on organization_invitations (organization_id, lower(email)) where state = 'pending';
create index organization_invitations_page on organization_invitations (organization_id, created_at, id);

create table audit_events (
  id uuid primary key,
  organization_id uuid not null references organizations,
  type text not null,
  occurred_at timestamptz(3) not null,
  actor jsonb,
  subject jsonb not null,
  context jsonb,
  data jsonb not null default '{}'
);
create index audit_events_page on audit_events (organization_id, occurred_at, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
end
$$;
create trigger audit_events_are_append_only before update or delete on audit_events
  for each row execute function refuse_change();
create trigger audit_events_are_never_emptied before truncate on audit_events
  for each statement execute function refuse_change();

-- The first answer to a request that carried an Idempotency-Key, kept for a day.
create table idempotency_keys (
  user_id uuid not null references users on delete cascade,
  key text not null,
  fingerprint bytea not null,
  status integer not null,
  headers jsonb not null,
  body text,
  created_at timestamptz(3) not null default now(),
  primary key (user_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Counters of the rate limiter; losing them in a crash costs nobody anything.
create unlogged table rate_limits (
  key text primary key,
  points integer not null default 0,
  expire bigint
);
