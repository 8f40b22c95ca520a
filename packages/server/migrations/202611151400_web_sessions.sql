-- Somebody who has signed in on a web page, with an access token: the session may what the token may, and ends with it.
create table web_sessions (
  id uuid primary key,
  -- SHA-256 of the value in the cookie.
  token_hash bytea not null constraint web_sessions_token_hash_key unique,
  access_token_id uuid not null references api_access_tokens on delete cascade,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index web_sessions_access_token on web_sessions (access_token_id);
create index web_sessions_age on web_sessions (expires_at);

-- Nobody could begin one until now.
delete from notification_oauth_starts;
alter table notification_oauth_starts
  -- Only the session that began may finish.
  add column session_id uuid not null references web_sessions on delete cascade,
  -- What was chosen on the page: the settings that the service is to have.
  add column settings jsonb not null default '{}';

-- Whoever renews the access token of a service holds this meanwhile: a refresh token may be good for one use only.
alter table notification_services add column refresh_leased_until timestamptz(3);
