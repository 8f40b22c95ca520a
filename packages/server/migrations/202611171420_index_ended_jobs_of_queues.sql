-- For the metrics of queues.
create index jobs_ended on jobs (queue_id, finished_at) where finished_at is not null and queue_id is not null;
