-- A fair queue gives each share its part of the agents' time: each pipeline, team or creator. See conductor/dispatch/claim-fairly.ts.
alter table cluster_queues
  add column fair_by text not null default 'none'
    constraint cluster_queues_fair_by_check check (fair_by in ('none', 'pipeline', 'team', 'creator')),
  add column fair_weights jsonb not null default '{}',
  add column machine_limit_percent integer
    constraint cluster_queues_machine_limit_check check (machine_limit_percent between 1 and 100);

-- Who is charged for the jobs of a build: of the build that triggered it, where there is one. Null: its creator and its pipeline.
alter table builds
  add column charged_user_id uuid,
  add column charged_pipeline_id uuid,
  add column is_machine boolean not null default false;

-- charged_user_id: who has retried the job; null: as its build. share_key is null where the queue is not fair. charged_share and
-- charge are set while the job counts as running for its share.
alter table jobs
  add column charged_user_id uuid,
  add column is_machine boolean not null default false,
  add column share_key text collate "C",
  add column charged_share text collate "C",
  add column charge double precision;

create index jobs_by_share on jobs (
    queue_id, rules_key(agent_query_rules), share_key, is_machine, untrusted, priority desc, scheduled_at, position, id)
  where state = 'scheduled' and share_key is not null;
create index jobs_charged on jobs (queue_id)
  where charged_share is not null and (finished_at is not null or state = 'scheduled');
create index jobs_of_machines on jobs (queue_id)
  where is_machine and state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling');

-- There is a row while the queue is fair. A claim locks it, so claims of one fair queue follow each other.
create table fair_queues (
  queue_id uuid primary key references cluster_queues (id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  virtual_time double precision not null default 0
);

create table queue_shares (
  queue_id uuid not null references fair_queues (queue_id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  share_key text collate "C" not null,
  finish double precision not null,
  running double precision not null,
  primary key (queue_id, share_key)
);

-- The mean length of the last jobs of a pipeline in a fair queue.
create table queue_job_lengths (
  queue_id uuid not null references fair_queues (queue_id) on delete cascade,
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  seconds double precision not null,
  primary key (queue_id, pipeline_id)
);
