-- Servers authorize open streams again when somebody may have lost a pipeline.
create trigger announce_access_change
  after delete or truncate on team_members
  for each statement execute function announce_access_change();
create trigger announce_access_change
  after delete or truncate on team_pipelines
  for each statement execute function announce_access_change();
create trigger announce_access_change
  after update of visibility on pipelines
  for each statement execute function announce_access_change();
