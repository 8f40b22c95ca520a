-- Tags that were set on executions of tests afterwards. Whether there is such an execution shows when they are read.
create table execution_tags (
  organization_id uuid not null,
  suite_id uuid not null references test_suites on delete cascade,
  execution_id uuid not null,
  tags jsonb not null,
  set_at timestamptz(3) not null,
  primary key (suite_id, execution_id)
);

create index execution_tags_set on execution_tags (suite_id, set_at);
