-- Hosted clusters: what an engine outside this installation holds for them, as it should be.

-- Engines can be shared: this is how an installation knows its own containers, images and volumes there.
create table installation (
  is_only boolean primary key default true constraint installation_only_check check (is_only),
  id uuid not null
);

create table agent_images (
  -- 13 lower-case letters and digits.
  id text primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  name text not null,
  version integer not null,
  status text not null default 'BUILDING' constraint agent_images_status_check
    check (status in ('BUILDING', 'READY', 'FAILED')),
  dockerfile text not null,
  -- The line that stood before the instructions when the image was created.
  base_image text not null,
  -- What the engine calls it, from the beginning; shown once it is built.
  ref text not null constraint agent_images_ref_key unique,
  last_build_error text,
  -- A worker builds it until then, unless it says that it goes on; null: nobody does.
  build_lease_until timestamptz(3),
  -- By whom; a worker that lost its lease no longer writes.
  build_lease_id uuid,
  build_attempts integer not null default 0,
  build_started_at timestamptz(3),
  -- Its deletion has begun: no queue may take it any more.
  deleting_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  finished_at timestamptz(3),
  constraint agent_images_name_key unique (cluster_id, name)
);
create index agent_images_building on agent_images (created_at) where status = 'BUILDING';
create index agent_images_deleting on agent_images (deleting_at) where deleting_at is not null;

-- Names count on after their images are deleted.
create table agent_image_versions (
  cluster_id uuid not null references clusters on delete cascade,
  name text not null,
  version integer not null,
  primary key (cluster_id, name)
);

-- What the builder said, in pieces.
create table agent_image_log_chunks (
  image_id text not null references agent_images on delete cascade,
  sequence integer not null,
  body text not null,
  primary key (image_id, sequence)
);

-- A container with an agent in it: warm, or for one job.
create table hosted_agents (
  -- Also the container's.
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  queue_id uuid not null references cluster_queues on delete cascade,
  image_ref text not null,
  instance_shape text not null,
  state text not null default 'starting' constraint hosted_agents_state_check
    check (state in ('starting', 'warm', 'running', 'stopping')),
  -- The only job it may take; null: it waits to be given one.
  job_id uuid references jobs on delete cascade,
  -- SHA-256 of what it registers with, once, until it expires.
  token_hash bytea not null constraint hosted_agents_token_key unique,
  token_expires_at timestamptz(3) not null,
  -- Once it has registered.
  agent_id uuid references agents on delete set null,
  start_attempts integer not null default 0,
  -- A worker starts or stops it until then; null: nobody does.
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- When its container had been started.
  started_at timestamptz(3),
  assigned_at timestamptz(3),
  -- Whatever happens, it is stopped then.
  ends_at timestamptz(3) not null
);
create unique index hosted_agents_job_key on hosted_agents (job_id) where job_id is not null;
create index hosted_agents_queue on hosted_agents (queue_id, state);
create index hosted_agents_agent on hosted_agents (agent_id) where agent_id is not null;

create table cache_volumes (
  -- vol- and 26 letters and digits; also the driver's.
  id text primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  tag text not null,
  state text not null constraint cache_volumes_state_check
    check (state in ('attaching', 'attached', 'keeping', 'detached', 'dropping')),
  size_mb integer not null default 0,
  -- Whose copy it began as; no reference, for the copy outlives it.
  parent_id text,
  hosted_agent_id uuid references hosted_agents on delete set null,
  created_at timestamptz(3) not null default now(),
  attached_at timestamptz(3),
  detached_at timestamptz(3),
  -- When a job last began with a copy of it.
  used_at timestamptz(3),
  -- Its tag was deleted while it was attached: what its job leaves is not kept.
  deleted_at timestamptz(3)
);
create index cache_volumes_newest on cache_volumes (cluster_id, tag, detached_at desc) where state = 'detached';
create index cache_volumes_agent on cache_volumes (hosted_agent_id) where hosted_agent_id is not null;
create index cache_volumes_unsettled on cache_volumes (state) where state <> 'detached';

-- A repository's copy in the cluster's git mirror.
create table git_mirrors (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  repository text not null,
  -- A container brings it up to date until then; null: none does.
  lease_until timestamptz(3),
  updated_at timestamptz(3),
  used_at timestamptz(3),
  last_error text,
  created_at timestamptz(3) not null default now(),
  constraint git_mirrors_repository_key unique (cluster_id, repository)
);
