-- Of the webhook that Millrace has created at the host of a pipeline's repository.
create table webhook_secrets (
  pipeline_id uuid not null references pipelines on delete cascade,
  -- False: the host has been given it, but has not said that it took it.
  is_current boolean not null,
  organization_id uuid not null references organizations on delete cascade,
  repository text not null,
  secret_sealed bytea not null,
  secret_key_id text not null,
  created_at timestamptz(3) not null,
  primary key (pipeline_id, is_current)
);
