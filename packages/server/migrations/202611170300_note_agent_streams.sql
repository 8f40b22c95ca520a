-- When the agent last opened its ping stream. Agents on a stream never ask for work, so the server needs another way
-- to notice that one of them has dropped its job.
alter table agents add column stream_opened_at timestamptz;
