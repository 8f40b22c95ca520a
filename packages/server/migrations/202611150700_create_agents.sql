-- Agents, what they bring back (logs, artifacts), and what jobs ask for.

create table agents (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  cluster_id uuid not null references clusters on delete cascade,
  queue_id uuid references cluster_queues on delete set null,
  cluster_token_id uuid references cluster_tokens on delete set null,
  name text not null,
  hostname text not null default '',
  os text not null default '',
  arch text not null default '',
  version text not null default '',
  build text not null default '',
  pid integer,
  machine_id text,
  -- null: below every number.
  priority integer,
  tags text[] not null default '{}',
  features text[] not null default '{}',
  -- SHA-256 of the session token, which is good while the agent is connected or stopping.
  session_hash bytea not null constraint agents_session_key unique,
  connection_state text not null default 'never_connected' constraint agents_connection_state_check
    check (connection_state in ('never_connected', 'connected', 'disconnected', 'stopping', 'stopped', 'lost')),
  ignore_in_dispatches boolean not null default false,
  ip_address text,
  user_agent text,
  created_at timestamptz(3) not null default now(),
  connected_at timestamptz(3),
  disconnected_at timestamptz(3),
  lost_at timestamptz(3),
  stopped_at timestamptz(3),
  last_seen_at timestamptz(3),
  last_job_finished_at timestamptz(3),
  last_job_passed_at timestamptz(3),
  paused_at timestamptz(3),
  paused_by uuid references users on delete set null,
  paused_note text,
  paused_timeout_in_minutes integer,
  -- When a paused agent goes on by itself.
  resume_at timestamptz(3)
) with (fillfactor = 70);
create index agents_page on agents (organization_id, created_at, id)
  where connection_state in ('connected', 'stopping');
create index agents_queue on agents (queue_id) where connection_state in ('connected', 'stopping');
create index agents_silent on agents (last_seen_at) where connection_state in ('connected', 'stopping');
create index agents_resume on agents (resume_at) where resume_at is not null;

alter table jobs add constraint jobs_agent_fkey foreign key (agent_id) references agents on delete set null;
-- An agent has at most one job; this is also where it is found.
create unique index jobs_on_agent_key on jobs (agent_id)
  where state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling');
-- SHA-256 of the job's token, which is good until the job ends.
alter table jobs add column token_hash bytea constraint jobs_token_key unique;
alter table jobs add column env_overrides jsonb not null default '{}';
alter table jobs add column chunks_failed_count integer not null default 0;
alter table jobs add column reserved_by uuid;

-- A job's output while it runs: what arrived, in any order. Gone when the log is put together. Without a foreign
-- key, which would lock the job's row for every chunk; chunks whose job is gone are swept away.
create table job_log_chunks (
  job_id uuid not null,
  sequence integer not null,
  byte_offset bigint not null,
  size integer not null,
  -- Gzipped, as agents send it; offset and size count what is inside.
  data bytea not null,
  primary key (job_id, sequence)
);
alter table job_log_chunks alter column data set storage external;
create index job_log_chunks_end on job_log_chunks (job_id, (byte_offset + size));

create table job_logs (
  job_id uuid primary key references jobs on delete cascade,
  organization_id uuid not null,
  -- Of the object.
  size bigint not null default 0,
  -- What agents report apart from the output, by the number of the section: RFC 3339.
  header_times jsonb not null default '{}',
  -- Where the finished log lies; null while it is in chunks.
  blob_key text,
  -- Output beyond the limit was thrown away.
  is_truncated boolean not null default false,
  -- So much came again and again that nothing more is taken.
  is_full boolean not null default false,
  -- Until then the log is being put together by one worker.
  compacting_until timestamptz(3),
  finished_at timestamptz(3),
  deleted_at timestamptz(3)
);

create table artifacts (
  id uuid primary key,
  organization_id uuid not null,
  build_id uuid not null references builds on delete cascade,
  job_id uuid not null references jobs on delete cascade,
  batch_id uuid not null,
  batch_index integer not null,
  path text not null,
  absolute_path text not null default '',
  file_size bigint not null,
  sha1sum text not null,
  sha256sum text,
  mime_type text not null,
  state text not null default 'new' constraint artifacts_state_check
    check (state in ('new', 'error', 'finished', 'deleted', 'expired')),
  -- Empty: kept by us. Else where the agent put it, and its public address.
  upload_destination text not null default '',
  external_url text,
  blob_key text,
  upload jsonb,
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  expires_at timestamptz(3),
  constraint artifacts_batch_key unique (job_id, batch_id, batch_index)
);
create index artifacts_build on artifacts (build_id, created_at, id) where state <> 'deleted';
create index artifacts_job on artifacts (job_id, created_at, id) where state <> 'deleted';
create index artifacts_expiry on artifacts (expires_at) where state = 'finished';
create index artifacts_unfinished on artifacts (created_at) where state = 'new';

-- Objects of the blob store that no row refers to, or not yet: a key is written down here before its object, and
-- taken out by the transaction that refers to it. What is here when its time has come is deleted.
create table unclaimed_blobs (
  key text primary key,
  delete_after timestamptz(3) not null
);
create index unclaimed_blobs_due on unclaimed_blobs (delete_after);

create function unclaim_blob() returns trigger language plpgsql as $$
begin
  insert into unclaimed_blobs (key, delete_after) values (old.blob_key, now()) on conflict (key) do nothing;
  return null;
end $$;
create trigger artifacts_leave_their_blob after delete on artifacts
  for each row when (old.blob_key is not null) execute function unclaim_blob();
create trigger job_logs_leave_their_blob after delete on job_logs
  for each row when (old.blob_key is not null) execute function unclaim_blob();

-- Changes that jobs made to steps, so that one asked for again is made once.
create table step_updates (
  id uuid primary key,
  step_id uuid not null references build_steps on delete cascade
);
create index step_updates_step on step_updates (step_id);

-- Keys that sign the identity tokens of jobs; the newest signs, all verify until they are retired.
create table oidc_keys (
  id text primary key,
  private_key_sealed bytea not null,
  private_key_id text not null,
  public_jwk jsonb not null,
  created_at timestamptz(3) not null default now(),
  retired_at timestamptz(3)
);
