-- One comment of a pipeline on a pull request, with the failing lines of its last failed build. A row is also what is due at the host.
create table failure_comments (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid not null references pipelines on delete cascade,
  -- As the pipeline had it: the ids of a repository mean nothing in another.
  repository text not null,
  pull_request text not null,
  -- Null: the build is deleted. The comment stays.
  build_id uuid references builds on delete set null,
  build_number integer not null,
  build_finished_at timestamptz(3),
  state text not null,
  -- The comment holds it, so that it is found when the host's answer was lost.
  marker uuid not null,
  -- The host's id of the comment; null: the host has not confirmed it.
  comment_id text,
  version integer not null default 1,
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz(3),
  leased_until timestamptz(3),
  error text,
  constraint failure_comments_pull_request_key unique (pipeline_id, repository, pull_request),
  constraint failure_comments_state_check check (state in ('failed', 'passed'))
);

create index failure_comments_build on failure_comments (build_id);
create index failure_comments_due on failure_comments (pipeline_id, next_attempt_at) where next_attempt_at is not null;
