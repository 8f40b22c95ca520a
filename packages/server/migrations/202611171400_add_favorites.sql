create table favorites (
  organization_id uuid not null,
  user_id uuid not null,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (organization_id, user_id, pipeline_id),
  foreign key (organization_id, user_id) references organization_members on delete cascade
);

create index favorites_pipeline on favorites (pipeline_id);
create index favorites_user on favorites (user_id);
