-- How long a build ran before a retry opened it again: its start then becomes that of the retry.
alter table builds add column worked_seconds double precision not null default 0;
