-- Addresses that turn the webhooks of any program into builds.
create table pipeline_triggers (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  name text not null,
  enabled boolean not null default true,
  branch jsonb,
  commit jsonb,
  message jsonb,
  env jsonb not null default '{}',
  condition text,
  signature text not null check (signature in ('hmac_sha256', 'token', 'none')),
  signature_header text,
  secret_sealed bytea,
  secret_key_id text,
  address_hash bytea not null unique,
  address_sealed bytea not null,
  address_key_id text not null,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users (id) on delete set null,
  check ((signature = 'none') = (secret_sealed is null) and (secret_sealed is null) = (secret_key_id is null)
    and (signature = 'none') = (signature_header is null))
);

create index pipeline_triggers_page on pipeline_triggers (pipeline_id, created_at, id);

-- The last requests that each trigger has received.
create table trigger_deliveries (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  trigger_id uuid not null references pipeline_triggers (id) on delete cascade,
  received_at timestamptz(3) not null,
  headers jsonb not null,
  body text not null,
  body_bytes integer not null,
  status integer not null,
  message text not null,
  build_id uuid,
  build_number integer
);

create index trigger_deliveries_page on trigger_deliveries (trigger_id, id);
