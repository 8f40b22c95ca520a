-- What a failed job said elsewhere than in its log: in annotations, and in the messages of failed tests. These lines follow those of
-- the log in `text`. In `rows` each has minus the number of its source, from 1 on.
alter table log_findings add column sources jsonb not null default '[]'::jsonb;

create index test_results_failed_job on test_results (job_id) where result = 'failed' and job_id is not null;

-- The job that wrote the annotation last. Most annotations belong to their build (`job_id` is null).
alter table annotations add column writer_job_id uuid;
create index annotations_errors on annotations (writer_job_id) where style = 'error' and writer_job_id is not null;
