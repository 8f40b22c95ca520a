-- The last delivery to each pipeline's webhook, also a refused one.
create table webhook_health (
  pipeline_id uuid primary key references pipelines on delete cascade,
  organization_id uuid not null,
  received_at timestamptz(3) not null,
  event text not null,
  status integer not null,
  message text not null
);
