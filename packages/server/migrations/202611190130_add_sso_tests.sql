-- A sign-in that only shows what the provider says, and opens no session.
alter table sso_starts add column is_test boolean not null default false;
