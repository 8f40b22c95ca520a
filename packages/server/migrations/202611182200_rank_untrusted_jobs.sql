-- Jobs of untrusted builds come after all others of their queue, and have concurrency groups of their own.
alter table jobs add column untrusted boolean not null default false;
create index jobs_dispatch on jobs (queue_id, untrusted, priority desc, scheduled_at, position, id) where state = 'scheduled';
