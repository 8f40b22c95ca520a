-- How the tests of a build are divided among parallel jobs. All of them ask for one plan, and must get the same.
create table test_plans (
  organization_id uuid not null references organizations on delete cascade,
  suite_id uuid not null references test_suites on delete cascade,
  -- What the clients call it: usually the ids of build and step.
  identifier text not null,
  -- JSON as it is answered, without the muted tests, which are those of the moment.
  plan text not null,
  size_bytes integer not null,
  created_at timestamptz(3) not null,
  primary key (suite_id, identifier)
);

create index test_plans_organization on test_plans (organization_id);
