-- Null: no build was needed for the commit. Its number is 0, so that every build takes the status over.
alter table commit_statuses alter column build_id drop not null;
