-- What starting hosted agents has to remember beside the agents themselves.

alter table hosted_agents
  -- Why it could not be started, or ended, the last time; null: nothing went wrong.
  add column last_error text;

alter table agents
  -- Started by this installation for one job, of which it takes no other.
  add column is_hosted boolean not null default false;

alter table cache_volumes
  -- What the job finds in it: what its step asked for, or the layers of the containers it builds.
  add column purpose text not null default 'cache' constraint cache_volumes_purpose_check
    check (purpose in ('cache', 'container_cache')),
  -- How much its job wants to be able to keep.
  add column requested_mb integer not null default 20480;

alter table cluster_queues
  -- When a hosted queue last had a job to run. Agents are kept warm for a while after that.
  add column hosted_used_at timestamptz(3);
