-- Some features are on without anybody asking for them. This remembers which of those an operator has switched off.
alter table organizations add column features_off text[] not null default '{}';
