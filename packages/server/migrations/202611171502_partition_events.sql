-- The table becomes the first partition of a new one with its name, indexes, keys and triggers. The new one gets no primary
-- key that lacks the key of the partitions: such a primary key is one of each partition.
create function partition_growing_table(name text, key text, unit text, is_uuid boolean) returns void
language plpgsql as $$
declare
  first text := name || '_first';
  border text := (select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
    where conrelid = name::regclass and conname = name || '_border');
  found record;
  has_key boolean;
  start timestamptz;
  next timestamptz;
  last bigint;
begin
  execute format('alter table %I rename to %I', name, first);
  execute format('create table %I (like %I including defaults including constraints including storage)
    partition by range (%I)', name, first, key);
  execute format('alter table %I drop constraint %I', name, name || '_border');

  for found in select a.attname, pg_get_serial_sequence(first, a.attname) as sequence from pg_attribute a
    where a.attrelid = first::regclass and a.attidentity <> '' loop
    execute format('select case when is_called then last_value end from %s', found.sequence) into last;
    execute format('alter table %I alter %I drop identity', first, found.attname);
    execute format('alter table %I alter %I add generated always as identity', name, found.attname);
    if last is not null then perform setval(pg_get_serial_sequence(name, found.attname), last); end if;
  end loop;

  for found in select c.conname, c.contype, pg_get_constraintdef(c.oid) as definition, c.conkey,
      key = any (array(select a.attname from pg_attribute a where a.attrelid = c.conrelid and a.attnum = any (c.conkey)))
        as has_key
    from pg_constraint c where c.conrelid = first::regclass and c.contype in ('p', 'f') loop
    if found.contype = 'p' then
      execute format('alter table %I rename constraint %I to %I', first, found.conname,
        replace(found.conname, name, first));
      has_key := found.has_key;
    end if;
    if found.contype = 'f' or has_key then
      execute format('alter table %I add constraint %I %s', name, found.conname, found.definition);
    else
      execute format('alter table %I add %s', name || '_default', found.definition);
    end if;
  end loop;

  for found in select i.relname, pg_get_indexdef(i.oid) as definition
    from pg_index x join pg_class i on i.oid = x.indexrelid
    where x.indrelid = first::regclass and not x.indisprimary loop
    execute format('alter index %I rename to %I', found.relname, replace(found.relname, name, first));
    execute regexp_replace(found.definition, ' ON \S+ USING', format(' ON %I USING', name));
  end loop;

  for found in select tgname, tgtype & 1 = 1 as is_of_rows, pg_get_triggerdef(oid) as definition
    from pg_trigger where tgrelid = first::regclass and not tgisinternal loop
    if found.is_of_rows then execute format('drop trigger %I on %I', found.tgname, first); end if;
    execute regexp_replace(found.definition, ' ON \S*' || first, format(' ON %I', name));
  end loop;

  execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', name, first, border);
  execute format('alter table %I drop constraint %I', first, name || '_border');
  execute format('alter table %I attach partition %I default', name, name || '_default');

  start := case when is_uuid then to_timestamp(('x' || replace(left(border, 13), '-', ''))::bit(48)::bigint / 1000.0)
    else border::timestamptz end;
  while start < now() + interval '28 days' loop
    next := (start at time zone 'UTC' + ('1 ' || unit)::interval) at time zone 'UTC';
    execute format('create table %I partition of %I %s for values from (%L) to (%L)',
      name || to_char(start at time zone 'UTC', '_YYYYMMDD'), name, case when has_key then '' else '(primary key (id))' end,
      case when is_uuid then first_uuid(start)::text else start::text end,
      case when is_uuid then first_uuid(next)::text else next::text end);
    start := next;
  end loop;
end $$;

select partition_growing_table('events', 'created_at', 'week', false);

-- The newest transaction whose events may be deleted: readers of the outbox that have not come so far start over.
create table event_horizon (
  is_only boolean primary key default true constraint event_horizon_only_check check (is_only),
  xid bigint not null
);
insert into event_horizon (xid) values (0);
