-- The file CODEOWNERS of the commit of a pipeline for which it was read last.
create table code_owners (
  pipeline_id uuid primary key references pipelines on delete cascade,
  organization_id uuid not null references organizations on delete cascade,
  repository text not null,
  commit text not null,
  -- Empty: the commit has no such file.
  content text not null,
  read_at timestamptz(3) not null
);

create index code_owners_organization on code_owners (organization_id);

-- Owners of the tests of results until then are known.
alter table test_suites add column owners_checked_at timestamptz(3) not null default now();
