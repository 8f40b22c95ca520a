select partition_growing_table('notification_attempts', 'delivery_id', 'week', true);
drop function partition_growing_table;
drop function first_uuid;
