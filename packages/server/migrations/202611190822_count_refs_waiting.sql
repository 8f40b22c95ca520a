-- Branches and tags that have moved, beyond as many as one poll builds.
alter table pipeline_polls add column refs_waiting integer not null default 0;
