-- Whether a build's commit, or that of a build it descends from, comes from somewhere else than the pipeline's own
-- repository. Null: made by a version that kept this in pull_request only.
alter table builds add column from_fork boolean;

-- Commits that the source host has shown on a branch or tag of the pipeline's own repository. Events that name just any
-- commit (a check, a deployment) are trusted only when their commit is among these.
create table repository_commits (
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  commit text not null,
  organization_id uuid not null,
  seen_at timestamptz(3) not null default now(),
  constraint repository_commits_pkey primary key (pipeline_id, commit)
);

insert into repository_commits (pipeline_id, commit, organization_id, seen_at)
select b.pipeline_id, b.commit, b.organization_id, min(b.created_at) from builds b join pipelines p on p.id = b.pipeline_id
where b.source = 'webhook' and b.host_event ->> 'event' in ('push', 'Push Hook', 'Tag Push Hook', 'repo:push')
group by b.pipeline_id, b.commit, b.organization_id;

-- The commits of another repository say nothing about this one.
create function forget_repository_commits() returns trigger language plpgsql as $$
begin
  delete from repository_commits where pipeline_id = new.id;
  return null;
end $$;
create trigger pipelines_forget_their_commits after update of repository on pipelines
  for each row when (old.repository is distinct from new.repository) execute function forget_repository_commits();
