-- The caches of steps (`cache:`) on agents that have no cache volumes. A cache is a manifest and blobs; blobs are found by
-- the digest of their contents, so caches of one pipeline share them.
create table step_caches (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  name text not null,
  branch text not null,
  platform text not null,
  paths text[] not null,
  paths_hash bytea not null,
  file_count integer not null,
  size_bytes bigint not null,
  stored_bytes bigint not null,
  job_id uuid not null,
  created_at timestamp(3) with time zone not null default now(),
  saved_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone not null,
  constraint step_caches_place_key unique (pipeline_id, name, branch, platform, paths_hash)
);
create index step_caches_use on step_caches (organization_id, used_at);

-- `unused_at`: when no cache was found to refer to the blob; null: one does, or one is being saved.
create table step_cache_blobs (
  id uuid primary key,
  organization_id uuid not null references organizations (id) on delete cascade,
  pipeline_id uuid not null references pipelines (id) on delete cascade,
  digest bytea not null,
  size_bytes bigint not null,
  stored_bytes bigint not null,
  blob_key text not null,
  created_at timestamp(3) with time zone not null default now(),
  unused_at timestamp(3) with time zone,
  constraint step_cache_blobs_digest_key unique (pipeline_id, digest)
);
create index step_cache_blobs_organization on step_cache_blobs (organization_id);
create index step_cache_blobs_unused on step_cache_blobs (unused_at) where unused_at is not null;

create trigger step_cache_blobs_leave_their_blob after delete on step_cache_blobs
  for each row execute function unclaim_blob();

-- The blob at position 0 is the manifest.
create table step_cache_refs (
  organization_id uuid not null references organizations (id) on delete cascade,
  cache_id uuid not null references step_caches (id) on delete cascade,
  position integer not null,
  blob_id uuid not null references step_cache_blobs (id),
  primary key (cache_id, position)
);
create index step_cache_refs_blob on step_cache_refs (blob_id);
