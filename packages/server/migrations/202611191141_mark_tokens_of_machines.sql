-- The token is used by a machine: what it starts counts as a machine's in fair queues.
alter table api_access_tokens add column is_machine boolean not null default false;
