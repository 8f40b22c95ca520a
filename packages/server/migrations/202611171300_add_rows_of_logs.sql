-- The object with the rows of a finished log, and where its parts are. null: made when somebody reads the rows.
alter table job_logs add column rows_blob_key text, add column rows_layout jsonb;

create function unclaim_rows_blob() returns trigger language plpgsql as $$
begin
  insert into unclaimed_blobs (key, delete_after) values (old.rows_blob_key, now()) on conflict (key) do nothing;
  return null;
end $$;
create trigger job_logs_leave_their_rows after delete on job_logs
  for each row when (old.rows_blob_key is not null) execute function unclaim_rows_blob();

-- Servers of the release before delete a log without knowing of its rows.
create function delete_rows_with_log() returns trigger language plpgsql as $$
begin
  insert into unclaimed_blobs (key, delete_after) values (new.rows_blob_key, now()) on conflict (key) do nothing;
  new.rows_blob_key = null;
  new.rows_layout = null;
  return new;
end $$;
create trigger job_logs_delete_their_rows before update on job_logs
  for each row when (new.deleted_at is not null and new.rows_blob_key is not null)
  execute function delete_rows_with_log();

-- States from which the rows of a growing log are replayed. Deleted when the log is compacted or deleted.
create table job_log_checkpoints (
  job_id uuid not null references jobs on delete cascade,
  organization_id uuid not null,
  -- The bytes before it are contained in the state.
  byte_offset bigint not null,
  -- How many rows can no longer change.
  row_count bigint not null,
  state bytea not null,
  -- The groups that began since the checkpoint before.
  groups jsonb not null,
  primary key (job_id, byte_offset)
);
