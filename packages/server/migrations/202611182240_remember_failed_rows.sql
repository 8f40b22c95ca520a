-- Rows that a loop of the background could not handle. The loop goes on with other rows, and tries each of these less and less
-- often. A row is deleted when it succeeds.
create table failed_rows (
  loop text not null,
  row_id text not null,
  -- Rows of a group are handled in order, as far as possible: the events of a build.
  group_id text,
  attempts integer not null check (attempts >= 0),
  first_failed_at timestamptz not null,
  last_failed_at timestamptz not null,
  next_try_at timestamptz not null,
  error text not null,
  primary key (loop, row_id)
);
create index failed_rows_due on failed_rows (loop, next_try_at);
