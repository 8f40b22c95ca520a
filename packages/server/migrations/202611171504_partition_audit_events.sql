select partition_growing_table('audit_events', 'id', 'month', true);

-- Triggers of rows run in the partition, but people know the table.
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', regexp_replace(tg_table_name, '_(first|default|\d{8})$', '')
    using errcode = 'insufficient_privilege';
end
$$;
