-- The first estimates of when jobs start, so that their errors can be shown. No reference to the job: the check of one would lock its row.
create table job_estimates (
  job_id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  queue_id uuid not null references cluster_queues (id) on delete cascade,
  estimated_at timestamptz(3) not null,
  estimated_start_at timestamptz(3) not null
);

create index job_estimates_queue on job_estimates (queue_id, estimated_at);
create index job_estimates_time on job_estimates (estimated_at);
