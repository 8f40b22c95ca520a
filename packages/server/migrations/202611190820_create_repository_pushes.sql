-- Every movement of a branch or tag that a webhook, a hook or a poll has told of.
create table repository_pushes (
  pipeline_id uuid not null references pipelines on delete cascade,
  ref text not null,
  number integer not null,
  organization_id uuid not null,
  from_commit text,
  commit text,
  tag_commit text,
  found_by text not null check (found_by in ('webhook', 'hook', 'poll', 'reconcile')),
  seen_at timestamptz(3) not null,
  delivered_at timestamptz(3),
  is_ordered boolean not null,
  build_number integer,
  primary key (pipeline_id, ref, number)
);

create index repository_pushes_seen on repository_pushes (seen_at);
create index repository_pushes_unordered on repository_pushes (pipeline_id, ref) where not is_ordered;
create index repository_pushes_undelivered on repository_pushes (pipeline_id, seen_at) where delivered_at is null;

alter table pipeline_polls add column delivered_at timestamptz(3);
alter table builds add column found_by text;
