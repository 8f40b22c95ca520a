-- Pipelines, builds, and the rows the engine moves.

create table organization_pipeline_settings (
  organization_id uuid primary key references organizations on delete cascade,
  default_branch text,
  default_cluster_id uuid references clusters on delete set null,
  default_timeout_in_minutes integer,
  maximum_timeout_in_minutes integer,
  scheduled_job_expiry_in_minutes integer,
  hosted_agents_ssh_enabled_at timestamptz(3),
  hosted_agents_ssh_enabled_by uuid references users on delete set null,
  public_pipelines_enabled_at timestamptz(3),
  public_pipelines_enabled_by uuid references users on delete set null,
  advanced_queue_metrics_enabled_at timestamptz(3),
  advanced_queue_metrics_enabled_by uuid references users on delete set null,
  build_export_location text,
  build_export_strategy_id text
);

create table pipeline_templates (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  name text not null,
  description text not null default '',
  configuration text not null,
  available boolean not null default false,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  updated_at timestamptz(3) not null default now(),
  updated_by uuid references users on delete set null,
  constraint pipeline_templates_name_key unique (organization_id, name)
);

create table pipelines (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  -- Without `cascade`: a cluster is deleted only when no pipeline belongs to it.
  cluster_id uuid constraint pipelines_cluster_fkey references clusters,
  pipeline_template_id uuid constraint pipelines_template_fkey references pipeline_templates,
  slug text not null,
  name text not null,
  description text not null default '',
  repository text not null,
  clone_mirror_url text,
  default_branch text not null default 'main',
  configuration text not null,
  -- Variables of pipelines whose steps were given as a list instead of YAML.
  env jsonb not null default '{}',
  branch_configuration text,
  skip_queued_branch_builds boolean not null default false,
  skip_queued_branch_builds_filter text,
  cancel_running_branch_builds boolean not null default false,
  cancel_running_branch_builds_filter text,
  allow_rebuilds boolean not null default true,
  default_command_step_timeout integer,
  maximum_command_step_timeout integer,
  visibility text not null default 'private'
    constraint pipelines_visibility_check check (visibility in ('private', 'public')),
  tags text[] not null default '{}',
  emoji text,
  color text,
  provider_id text not null default 'private',
  provider_settings jsonb not null default '{}',
  -- 50 hex digits each, the last part of the addresses they name.
  webhook_token text not null constraint pipelines_webhook_token_key unique,
  badge_token text not null constraint pipelines_badge_token_key unique,
  webhooks_disabled_at timestamptz(3),
  webhooks_disabled_by uuid references users on delete set null,
  last_build_number integer not null default 0,
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  archived_at timestamptz(3),
  constraint pipelines_slug_key unique (organization_id, slug),
  constraint pipelines_name_key unique (organization_id, name)
);
create index pipelines_page on pipelines (organization_id, created_at, id);
create index pipelines_cluster on pipelines (cluster_id);
create index pipelines_template on pipelines (pipeline_template_id);

alter table team_pipelines add constraint team_pipelines_pipeline_fkey
  foreign key (pipeline_id) references pipelines on delete cascade;

-- How many builds and jobs of a pipeline are in which phase: the sum over its slots. A build always counts in the
-- same slot, so builds of one pipeline seldom wait for each other's row.
create table pipeline_tallies (
  pipeline_id uuid not null references pipelines on delete cascade,
  slot smallint not null,
  scheduled_builds integer not null default 0,
  running_builds integer not null default 0,
  scheduled_jobs integer not null default 0,
  running_jobs integer not null default 0,
  waiting_jobs integer not null default 0,
  primary key (pipeline_id, slot)
) with (fillfactor = 50);

create table builds (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null references pipelines on delete cascade,
  number integer not null,
  state text not null,
  -- What a blocked build counts as; null in every other state.
  blocked_state text,
  shown_state text not null generated always as (coalesce(blocked_state, state)) stored,
  message text,
  commit text not null,
  branch text not null,
  tag text,
  env jsonb not null default '{}',
  -- Root variables of the pipeline's own configuration when the build was made; the build's own beat them.
  stored_env jsonb not null default '{}',
  -- Root variables of uploaded documents; they beat the build's own.
  uploaded_env jsonb not null default '{}',
  notify jsonb not null default '[]',
  source text not null constraint builds_source_check
    check (source in ('webhook', 'api', 'ui', 'trigger_job', 'schedule')),
  creator_id uuid references users on delete set null,
  -- {"name", "email"}
  author jsonb,
  -- {"id", "base", "repository", "labels", "draft"}
  pull_request jsonb,
  clean_checkout boolean not null default false,
  -- {"id", "number"} of the build this one repeats
  rebuilt_from jsonb,
  -- {"build_id", "build_number", "build_pipeline_slug", "job_id", "depth"}
  triggered_from jsonb,
  triggered_from_job_id uuid,
  is_superseded boolean not null default false,
  cancel_reason text,
  canceled_by uuid references users on delete set null,
  created_at timestamptz(3) not null,
  scheduled_at timestamptz(3) not null,
  started_at timestamptz(3),
  failing_at timestamptz(3),
  finished_at timestamptz(3),
  constraint builds_number_key unique (pipeline_id, number)
);
create index builds_org_page on builds (organization_id, created_at, id);
create index builds_pipeline_page on builds (pipeline_id, created_at, id);
create index builds_org_branch on builds (organization_id, branch, created_at, id);
create index builds_pipeline_branch on builds (pipeline_id, branch, created_at, id);
create index builds_org_state on builds (organization_id, shown_state, created_at, id);
create index builds_pipeline_state on builds (pipeline_id, shown_state, created_at, id);
create index builds_org_blocked on builds (organization_id, created_at, id) where state = 'blocked';
create index builds_commit on builds (organization_id, commit, created_at, id);
create index builds_creator on builds (organization_id, creator_id, created_at, id);
create index builds_finished on builds (organization_id, finished_at);
create index builds_unfinished on builds (pipeline_id, branch, number)
  where state in ('creating', 'scheduled', 'running', 'failing', 'blocked');
-- A trigger job makes one build, however often it is carried out.
create unique index builds_triggered_from_key on builds (triggered_from_job_id) where triggered_from_job_id is not null;

-- What the engine counts of a build. Locking this row is locking the build. Narrow and without indexes but its
-- key, because the end of every job rewrites it.
create table build_tallies (
  build_id uuid primary key references builds on delete cascade,
  active integer not null,
  on_agent integer not null,
  hard_failed integer not null,
  promised integer not null,
  cut_short integer not null,
  waiting integer not null,
  wanted integer not null,
  fail_fast integer not null,
  manual_passed integer not null,
  manual_failed integer not null,
  manual_running integer not null,
  jobs integer not null,
  uploads integer not null,
  impossible integer not null,
  ever_started boolean not null,
  cancel_requested boolean not null
) with (fillfactor = 50);

create table build_meta_data (
  build_id uuid not null references builds on delete cascade,
  key text not null,
  value text not null,
  -- Copied from the build, so that a filter by meta-data reads one index in list order.
  organization_id uuid not null,
  created_at timestamptz(3) not null,
  primary key (build_id, key)
);
create index build_meta_data_filter on build_meta_data (organization_id, key, md5(value), created_at, build_id);

create table build_steps (
  id uuid primary key,
  organization_id uuid not null,
  build_id uuid not null references builds on delete cascade,
  kind text not null,
  key text,
  position text not null collate "C",
  group_id uuid,
  uploader_id uuid,
  upload_path uuid[] not null default '{}',
  barrier text,
  continue_on_failure boolean not null,
  phase text not null,
  missing integer not null,
  impossible boolean not null,
  total integer not null,
  open integer not null,
  on_agent integer not null,
  broken integer not null,
  soft_failed integer not null,
  hard_failed integer not null,
  canceled integer not null,
  timed_out integer not null,
  not_run integer not null,
  promised integer not null,
  unmet integer not null,
  held integer not null,
  failed integer not null,
  cut integer not null,
  tolerated integer not null,
  uploads_open integer not null,
  uploads_held integer not null,
  uploads_failed integer not null,
  uploads_cut integer not null,
  -- As the reader understood it.
  definition jsonb not null
) with (fillfactor = 70);
create index build_steps_order on build_steps (build_id, position);
create unique index build_steps_key_key on build_steps (build_id, key) where key is not null;
create index build_steps_group on build_steps (group_id) where group_id is not null;

create table build_edges (
  build_id uuid not null references builds on delete cascade,
  from_step uuid not null references build_steps on delete cascade,
  to_step uuid not null references build_steps on delete cascade,
  kind text not null,
  allow_failure boolean not null,
  whole boolean not null,
  primary key (from_step, to_step, kind)
);
create index build_edges_to on build_edges (to_step);

-- Dependencies on keys that no step has yet.
create table build_refs (
  build_id uuid not null references builds on delete cascade,
  step_id uuid not null references build_steps on delete cascade,
  ref text not null,
  allow_failure boolean not null,
  primary key (step_id, ref)
);
create index build_refs_build on build_refs (build_id, ref);

create table jobs (
  id uuid primary key,
  organization_id uuid not null,
  pipeline_id uuid not null,
  build_id uuid not null references builds on delete cascade,
  step_id uuid not null references build_steps on delete cascade,
  kind text not null,
  state text not null,
  slot integer not null,
  -- The step's place and the slot: the order of jobs in a build.
  position text not null collate "C",
  policy jsonb not null,
  -- What it does: command, form or child build.
  work jsonb not null,
  step_key text,
  group_key text,
  cluster_id uuid references clusters on delete set null,
  queue_id uuid references cluster_queues on delete set null,
  agent_query_rules text[] not null default '{}',
  priority integer not null default 0,
  timeout_minutes integer,
  agent_id uuid,
  concurrency_group text,
  concurrency_limit integer,
  concurrency_method text,
  limited_at timestamptz(3),
  concurrency_wait_ms integer,
  fail_fast boolean not null,
  blocked_state text,
  unblockable boolean not null,
  soft_failed boolean not null,
  cut_short boolean not null,
  reason text,
  exit_status integer,
  signal text,
  signal_reason text,
  promised_exit_status integer,
  promised_at timestamptz(3),
  promised_hard boolean not null,
  retried_in_job_id uuid,
  retry_type text,
  retried_by uuid references users on delete set null,
  retry_source_job_id uuid,
  retry_source_type text,
  retries_count integer not null,
  rule_uses integer[] not null,
  triggered_build_id uuid,
  unblocked_by uuid references users on delete set null,
  unblocked_at timestamptz(3),
  created_at timestamptz(3) not null,
  scheduled_at timestamptz(3) not null,
  runnable_at timestamptz(3),
  started_at timestamptz(3),
  finished_at timestamptz(3),
  expired_at timestamptz(3),
  -- When time itself becomes an event for the job; which event, its state says.
  deadline_at timestamptz(3)
) with (fillfactor = 70);
create index jobs_build on jobs (build_id, position, created_at, id);
create index jobs_step on jobs (step_id, slot) where retried_in_job_id is null;
create index jobs_runnable on jobs (queue_id, priority desc, scheduled_at, position, id) where state = 'scheduled';
create index jobs_group on jobs (organization_id, concurrency_group, scheduled_at)
  where concurrency_group is not null and finished_at is null;
create index jobs_deadline on jobs (deadline_at) where deadline_at is not null;
create index jobs_agent on jobs (agent_id) where agent_id is not null;
create index jobs_queue_open on jobs (queue_id) where finished_at is null;
create index jobs_without_queue on jobs (cluster_id) where queue_id is null and finished_at is null;
create index jobs_triggering on jobs (started_at) where kind = 'trigger' and finished_at is null;
create index jobs_trigger_canceled on jobs (finished_at) where kind = 'trigger' and state = 'canceled';

create table step_uploads (
  id uuid primary key,
  organization_id uuid not null,
  build_id uuid not null references builds on delete cascade,
  source_job_id uuid not null,
  source text not null default 'job',
  state text not null constraint step_uploads_state_check
    check (state in ('pending', 'processing', 'applied', 'rejected', 'failed')),
  replace_existing_steps boolean not null default false,
  created_jobs_count integer not null default 0,
  rejection_type text,
  message text,
  definition_yaml text not null,
  created_at timestamptz(3) not null default now(),
  processed_at timestamptz(3)
);
create index step_uploads_page on step_uploads (build_id, created_at, id);

create table annotations (
  id uuid primary key,
  organization_id uuid not null,
  build_id uuid not null references builds on delete cascade,
  -- null: an annotation of the whole build.
  job_id uuid references jobs on delete cascade,
  context text not null,
  style text constraint annotations_style_check check (style in ('success', 'info', 'warning', 'error')),
  priority integer not null default 3 constraint annotations_priority_check check (priority between 1 and 10),
  body text not null,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now()
);
create unique index annotations_build_context_key on annotations (build_id, context) where job_id is null;
create unique index annotations_job_context_key on annotations (job_id, context) where job_id is not null;
create index annotations_page on annotations (build_id, priority desc, created_at, id);

create table pipeline_schedules (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null references pipelines on delete cascade,
  label text not null default '',
  cronline text not null,
  message text,
  commit text not null default 'HEAD',
  branch text,
  env jsonb not null default '{}',
  enabled boolean not null default true,
  next_build_at timestamptz(3),
  failed_message text,
  failed_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null
);
create index pipeline_schedules_page on pipeline_schedules (pipeline_id, created_at, id);
create index pipeline_schedules_due on pipeline_schedules (next_build_at) where enabled;

create table rules (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  type text not null,
  source_pipeline_id uuid not null references pipelines on delete cascade,
  target_pipeline_id uuid not null references pipelines on delete cascade,
  conditions text[] not null default '{}',
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  constraint rules_key unique (organization_id, type, source_pipeline_id, target_pipeline_id)
);
create index rules_page on rules (organization_id, created_at, id);

-- The outbox: every state change, in the transaction that made it. Readers go by (xid, id) and stop at the oldest
-- transaction still open, so that none that commits late is passed over.
create table events (
  id bigint generated always as identity primary key,
  xid bigint not null default (pg_current_xact_id()::text)::bigint,
  organization_id uuid not null,
  pipeline_id uuid,
  build_id uuid,
  job_id uuid,
  kind text not null,
  data jsonb not null default '{}',
  created_at timestamptz(3) not null
);
create index events_order on events (xid, id);
create index events_org on events (organization_id, id);
create index events_build on events (build_id, id) where build_id is not null;
