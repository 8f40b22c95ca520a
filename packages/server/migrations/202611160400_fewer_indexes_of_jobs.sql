-- Each index costs something with every row that is written, also those that the row is not in: a job is written four
-- times between its queue and its end.

-- A job's token says which job it speaks for, and its code can be made again; nothing of it has to be kept.
alter table jobs drop column token_hash;

-- Jobs with a queue and those without one are looked for by the same index.
drop index jobs_queue_open;
drop index jobs_without_queue;
create index jobs_open on jobs (queue_id, cluster_id) where finished_at is null;

-- Trigger jobs that wait for their build, and those that were canceled.
drop index jobs_triggering;
drop index jobs_trigger_canceled;
create index jobs_triggers on jobs (state, finished_at) where kind = 'trigger';

-- Of builds nobody asks by the organization.
drop index events_org;
create index events_beside_builds on events (organization_id, id) where build_id is null;
