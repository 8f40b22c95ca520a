-- When the job that an agent runs last spoke to the server, to within a few seconds. An agent that lives on without
-- the job it had says nothing else about it.
alter table agents add column job_heard_at timestamptz;
