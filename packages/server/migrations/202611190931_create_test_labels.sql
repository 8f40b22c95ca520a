create table test_labels (
  organization_id uuid not null,
  suite_id uuid not null,
  test_id uuid not null,
  name text not null,
  color text,
  source text not null check (source in ('detected', 'person')),
  set_by uuid references users on delete set null,
  set_at timestamptz(3) not null,
  -- Of a detected label: when the last evidence came in.
  last_evidence_at timestamptz(3),
  primary key (suite_id, test_id, name),
  constraint test_labels_test_fkey foreign key (suite_id, test_id) references tests on delete cascade
);

create index test_labels_name on test_labels (suite_id, name);

-- A person has removed the label: what was seen until then is no evidence.
alter table tests add column evidence_after timestamptz(3);

-- What the job ran, so that a test that fails on one system and passes on another is not flaky. Null: not known.
alter table test_results add column variant uuid;

alter table test_suites
  add column flaky_on_same_commit boolean not null default true,
  -- Null: transitions are no evidence.
  add column flaky_transitions integer default 4,
  add column flaky_window integer not null default 20,
  add column flaky_clear_days integer not null default 7,
  add column flaky_clear_executions integer not null default 100,
  add column quarantine_rule text check (quarantine_rule in ('muted', 'skipped')),
  add column quarantine_days integer not null default 14,
  add column labels_checked_at timestamptz(3) not null default now();

create index test_runs_updated on test_runs (suite_id, updated_at);
create index test_runs_commit on test_runs (suite_id, commit_sha);
