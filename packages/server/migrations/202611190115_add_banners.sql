create table organization_banners (
  id uuid primary key,
  -- An organization has one banner at most.
  organization_id uuid not null unique references organizations (id) on delete cascade,
  message text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by uuid references users (id) on delete set null
);
