select partition_growing_table('job_log_chunks', 'job_id', 'week', true);
