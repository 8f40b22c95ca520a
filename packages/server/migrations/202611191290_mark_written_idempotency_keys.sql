-- A try may die between its change and its answer. Then the next try finds here that the change is made.
alter table idempotency_keys add column is_written boolean not null default false;
