-- The process that reads the metrics of the database. Others leave these metrics out, so that each has one value.
create table metrics_reader (
  is_only boolean primary key default true constraint metrics_reader_only_check check (is_only),
  process_id uuid not null,
  leased_until timestamptz not null
);
