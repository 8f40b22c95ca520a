-- Authorities whose tokens a service account's tokens are given for.
create table token_issuers (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  service_account_id uuid not null,
  issuer text not null,
  audience text not null,
  jwks jsonb,
  claims jsonb not null,
  scopes text[] not null,
  most_minutes integer not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint token_issuers_account_fkey foreign key (organization_id, service_account_id)
    references service_accounts (organization_id, id) on delete cascade
);

create index token_issuers_account on token_issuers (organization_id, service_account_id);

-- The tokens that were given for those of an issuer end with it.
alter table api_access_tokens add column token_issuer_id uuid references token_issuers (id) on delete cascade;

create index api_access_tokens_issuer on api_access_tokens (token_issuer_id) where token_issuer_id is not null;
