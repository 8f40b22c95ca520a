-- What a check says beyond its state: {"title", "summary", "text", "annotations"}. Null: a commit status, which says nothing
-- more. The context of a check begins with `check: `, so that a check and a status may have the same name.
alter table commit_statuses add column output jsonb;
