-- What a person has allowed a program, until the program exchanges its code for an access token.
create table oauth_codes (
  code_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  client_hash bytea not null,
  redirect_uri text not null,
  -- The SHA-256 of the program's secret, as PKCE encodes it.
  challenge text not null,
  -- The scopes, organizations and expiry of the token.
  token_request jsonb not null,
  expires_at timestamptz(3) not null
);

create index oauth_codes_user on oauth_codes (user_id);
create index oauth_codes_age on oauth_codes (expires_at);
