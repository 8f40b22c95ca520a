create table deploy_keys (
  pipeline_id uuid primary key references pipelines on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  public_key text not null,
  fingerprint text not null,
  private_key_sealed bytea not null,
  private_key_id text not null,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null
);
