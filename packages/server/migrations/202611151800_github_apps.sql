-- A connection may be that of a GitHub App: its installation and its key take the place of the token, and tokens of an hour
-- are made with them. The hint of the key is its fingerprint, as GitHub shows it.
alter table repository_connections
  add column app_id text,
  add column installation_id text,
  add column private_key_sealed bytea,
  add column private_key_id text,
  add column private_key_hint text,
  drop constraint repository_connections_type_check,
  add constraint repository_connections_type_check check (
    type in ('github', 'github_app', 'github_enterprise_app', 'gitlab', 'bitbucket', 'gitea', 'forgejo', 'git')),
  add constraint repository_connections_app_check check (
    case when type in ('github_app', 'github_enterprise_app')
      then num_nulls(app_id, installation_id, private_key_sealed, private_key_id, private_key_hint) = 0
        and token_sealed is null
      else num_nonnulls(app_id, installation_id, private_key_sealed, private_key_id, private_key_hint) = 0 end);

-- When a job has asked for tokens of its repository, in the last hour: there is a limit.
create table workflow_token_requests (
  job_id uuid primary key references jobs (id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  asked_at timestamptz(3)[] not null
);
