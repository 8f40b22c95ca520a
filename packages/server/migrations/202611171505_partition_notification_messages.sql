select partition_growing_table('notification_messages', 'id', 'week', true);
