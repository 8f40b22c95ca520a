-- Single sign-on of an organization with an OpenID Connect provider.
create table organization_sso (
  organization_id uuid primary key references organizations (id) on delete cascade,
  id uuid not null unique,
  issuer text not null,
  client_id text not null,
  client_secret_sealed bytea not null,
  client_secret_key_id text not null,
  scopes text[] not null,
  groups_claim text not null,
  email_domains text[] not null,
  -- Whether people without an invitation become members.
  provision boolean not null,
  -- Whether every member must use it; otherwise only members whose sso_mode is required.
  is_required boolean not null,
  is_enabled boolean not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);

create table organization_sso_group_teams (
  organization_id uuid not null references organization_sso (organization_id) on delete cascade,
  position integer not null,
  group_name text not null,
  team_id uuid not null references teams (id) on delete cascade,
  primary key (organization_id, position)
);

create index organization_sso_group_teams_team on organization_sso_group_teams (team_id);

-- A person at a provider and the member that this person is. The identity ends with the membership.
create table sso_identities (
  organization_id uuid not null,
  issuer text not null,
  subject text not null,
  user_id uuid not null,
  created_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3) not null default now(),
  primary key (organization_id, issuer, subject),
  constraint sso_identities_member_fkey foreign key (organization_id, user_id)
    references organization_members (organization_id, user_id) on delete cascade
);

create index sso_identities_member on sso_identities (organization_id, user_id);

-- Sign-ins that were begun. Each can be finished once, by the browser that began it.
create table sso_starts (
  state_hash bytea primary key,
  organization_id uuid not null references organization_sso (organization_id) on delete cascade,
  browser_hash bytea not null,
  nonce text not null,
  verifier_sealed bytea not null,
  verifier_key_id text not null,
  next_path text,
  expires_at timestamptz(3) not null
);

create index sso_starts_age on sso_starts (expires_at);
create index sso_starts_organization on sso_starts (organization_id);

-- The organizations whose single sign-on a session has passed.
create table web_session_sso (
  session_id uuid not null references web_sessions (id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  signed_in_at timestamptz(3) not null,
  primary key (session_id, organization_id)
);

create index web_session_sso_organization on web_session_sso (organization_id);

-- Memberships of the source sso come from the groups of the provider, and end with them.
alter table team_members
  add column source text not null default 'manual',
  add constraint team_members_source_check check (source in ('manual', 'sso'));

-- Servers cache sessions together with whether single sign-on is missing.
create trigger announce_access_change
  after insert or update or delete or truncate on organization_sso execute function announce_access_change();
create trigger announce_access_change
  after insert or update or delete or truncate on web_session_sso execute function announce_access_change();
