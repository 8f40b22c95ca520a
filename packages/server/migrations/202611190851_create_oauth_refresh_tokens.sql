-- An access token that a program renews: it gets a new value each time, and is valid for an hour. `expires_at` is the end of the
-- value, `renewable_until` that of the program's access. The client may revoke what it got.
alter table api_access_tokens
  add column client_hash bytea,
  add column renewable_until timestamptz(3);

create table oauth_refresh_tokens (
  token_hash bytea primary key,
  access_token_id uuid not null references api_access_tokens (id) on delete cascade,
  -- Each refresh makes the next one. Only the newest may be used.
  generation integer not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  used_at timestamptz(3),
  constraint oauth_refresh_tokens_generation_key unique (access_token_id, generation)
);

create index oauth_refresh_tokens_age on oauth_refresh_tokens (expires_at);
