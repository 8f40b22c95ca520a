-- Programs that cannot open a browser, while they wait for a person to enter their code on another device.
create table oauth_devices (
  device_hash bytea primary key,
  -- Keyed with the installation's secret, because the code that people type is short.
  user_code_hash bytea not null,
  client_hash bytea not null,
  program text not null,
  scopes text[] not null,
  -- From where the program asked.
  ip text not null,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  interval_seconds integer not null,
  polled_at timestamptz(3),
  -- Null: nobody has decided.
  is_allowed boolean,
  user_id uuid references users (id) on delete cascade,
  -- The scopes, organizations and expiry of the token.
  token_request jsonb,
  constraint oauth_devices_user_code_key unique (user_code_hash),
  constraint oauth_devices_allowed_check check (is_allowed is not true or user_id is not null and token_request is not null)
);

create index oauth_devices_user on oauth_devices (user_id) where user_id is not null;
create index oauth_devices_age on oauth_devices (expires_at);
