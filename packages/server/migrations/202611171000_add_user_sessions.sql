-- Sessions belong to a user. A session that an access token opened stays bound to that token; only such rows have one.
-- Servers of the previous release insert rows without user_id; the owner of the token is the user then.
alter table web_sessions
  alter column access_token_id drop not null,
  add column user_id uuid references users (id) on delete cascade,
  add column opened_with text not null default 'token',
  -- The organization whose single sign-on opened the session.
  add column organization_id uuid references organizations (id) on delete cascade,
  add column ip text,
  add column user_agent text,
  add column last_used_at timestamptz(3),
  add column last_used_ip text,
  add constraint web_sessions_opened_with_check check (opened_with in ('password', 'link', 'sso', 'token')),
  add constraint web_sessions_token_check check ((opened_with = 'token') = (access_token_id is not null)),
  add constraint web_sessions_user_check check (user_id is not null or access_token_id is not null),
  add constraint web_sessions_sso_check check ((opened_with = 'sso') or organization_id is null);

create index web_sessions_user on web_sessions (user_id);

-- Servers cache sessions as they cache tokens. Prolonging a session changes no access.
create trigger announce_access_change
  after delete or update of token_hash, user_id, access_token_id, opened_with, organization_id or truncate on web_sessions
  for each statement execute function announce_access_change();

create trigger announce_shortened_session after update of expires_at on web_sessions
  for each row when (new.expires_at < old.expires_at) execute function announce_access_change();
