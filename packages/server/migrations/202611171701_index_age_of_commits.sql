-- For the deletion of commits that were seen long ago.
create index repository_commits_age on repository_commits (seen_at);
