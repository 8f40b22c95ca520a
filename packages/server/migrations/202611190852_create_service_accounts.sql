-- Members that are programs. The user stays when the account is deleted, so that builds still show who created them.
alter table users add column is_service_account boolean not null default false;

create table service_accounts (
  id uuid primary key references users (id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  description text not null default '',
  created_at timestamptz(3) not null default now(),
  constraint service_accounts_member_fkey foreign key (organization_id, id)
    references organization_members (organization_id, user_id) on delete cascade,
  constraint service_accounts_organization_key unique (organization_id, id)
);

-- The people who answer for an account. The row goes when they leave.
create table service_account_owners (
  organization_id uuid not null references organizations (id) on delete cascade,
  service_account_id uuid not null,
  user_id uuid not null,
  primary key (service_account_id, user_id),
  constraint service_account_owners_account_fkey foreign key (organization_id, service_account_id)
    references service_accounts (organization_id, id) on delete cascade,
  constraint service_account_owners_member_fkey foreign key (organization_id, user_id)
    references organization_members (organization_id, user_id) on delete cascade
);

create index service_account_owners_member on service_account_owners (organization_id, user_id);
