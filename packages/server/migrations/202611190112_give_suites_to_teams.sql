-- The token of a new suite can be shown again to those who manage the suite. Of older suites only the hash is known.
alter table test_suites
  add column emoji text,
  add column color text,
  add column application_name text,
  add column token_sealed bytea,
  add column token_key_id text;

create table team_suites (
  organization_id uuid not null references organizations (id) on delete cascade,
  team_id uuid not null references teams (id) on delete cascade,
  suite_id uuid not null references test_suites (id) on delete cascade,
  access_level text not null check (access_level in ('read_only', 'manage_and_read')),
  created_at timestamptz(3) not null default now(),
  primary key (team_id, suite_id)
);
create index team_suites_suite on team_suites (suite_id);
create index team_suites_organization on team_suites (organization_id);
