-- New builds that are yet to skip or cancel older ones of their branch. A row is written with the change that calls for it, and
-- deleted when that is done, so that the sweep finds what a dead process left undone.
create table superseding_builds (
  build_id uuid primary key references builds on delete cascade,
  organization_id uuid not null,
  since timestamptz not null,
  -- A build is here again when it starts.
  version integer not null default 1
);
