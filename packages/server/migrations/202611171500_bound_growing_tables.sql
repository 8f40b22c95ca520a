-- Prepares the tables that grow for partitions by time. The rows of today become the first partition of each table, up to a
-- border two to three weeks from now (audit events: up to seven weeks). The next migration checks that no row is beyond the
-- border, while servers keep reading and writing. So the migrations that then make the partitions copy and check nothing.

-- A partition can be dropped at once only if no table refers to it.
alter table notification_deliveries drop constraint notification_deliveries_message_id_fkey;
alter table notification_log_entries drop constraint notification_log_entries_message_id_fkey;
alter table notification_attempts drop constraint notification_attempts_delivery_id_fkey;

create function first_uuid(at timestamptz) returns uuid language sql immutable as $$
  select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- The default partition takes rows that fit into no other one.
create function bound_growing_table(name text, key text, unit text, is_uuid boolean) returns void language plpgsql as $$
declare
  border timestamptz := (date_trunc(unit, (now() + interval '14 days') at time zone 'UTC') + ('1 ' || unit)::interval)
    at time zone 'UTC';
begin
  execute format('create table %I (like %I including defaults including constraints including storage)',
    name || '_default', name);
  execute format('alter table %I add constraint %I check (%I < %L) not valid', name, name || '_border', key,
    case when is_uuid then first_uuid(border)::text else border::text end);
end $$;

select bound_growing_table('events', 'created_at', 'week', false);
select bound_growing_table('job_log_chunks', 'job_id', 'week', true);
select bound_growing_table('audit_events', 'id', 'month', true);
select bound_growing_table('notification_messages', 'id', 'week', true);
select bound_growing_table('notification_attempts', 'delivery_id', 'week', true);
drop function bound_growing_table;
