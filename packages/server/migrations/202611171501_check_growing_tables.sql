-- Rows beyond the border have no UUID of version 7, or come from a machine whose clock was wrong. They move to the default
-- partition.
create function check_growing_table(name text, key text) returns void language plpgsql as $$
declare
  border text := (select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
    where conrelid = name::regclass and conname = name || '_border');
begin
  begin
    execute format('alter table %I validate constraint %I', name, name || '_border');
  exception when check_violation then
    execute format('alter table %I disable trigger user', name);
    execute format('with moved as (delete from %1$I where %2$I >= %3$L returning *) insert into %4$I select * from moved',
      name, key, border, name || '_default');
    execute format('alter table %I enable trigger user', name);
    execute format('alter table %I validate constraint %I', name, name || '_border');
  end;
end $$;

select check_growing_table('events', 'created_at');
select check_growing_table('job_log_chunks', 'job_id');
select check_growing_table('audit_events', 'id');
select check_growing_table('notification_messages', 'id');
select check_growing_table('notification_attempts', 'delivery_id');
drop function check_growing_table;
