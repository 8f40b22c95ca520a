-- A link that signs a person in once: printed at the first start, and made by operators for people without a password.
create table sign_in_links (
  -- SHA-256 of the code in the link.
  code_hash bytea primary key,
  user_id uuid not null references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null
);
create index sign_in_links_user on sign_in_links (user_id);
create index sign_in_links_age on sign_in_links (expires_at);

-- SHA-256 of the code in the link of an invitation. Invitations of the previous release have none.
alter table organization_invitations
  add column code_hash bytea,
  add constraint organization_invitations_code_key unique (code_hash);
