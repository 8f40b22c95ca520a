-- While a poll waits or runs, so that one host has only a part of those at a time.
alter table pipeline_polls add column leased_until timestamptz(3);
create index pipeline_polls_leased on pipeline_polls (leased_until) where leased_until is not null;

-- Hosts of repositories that did not answer the last time.
create table silent_hosts (
  host text primary key,
  silent_at timestamptz(3) not null
);
