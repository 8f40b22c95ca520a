-- As pipelines and clusters have one, in colon syntax.
alter table organizations add column emoji text;
