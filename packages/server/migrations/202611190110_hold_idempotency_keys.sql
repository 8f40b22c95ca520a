-- Until when the request is under way that calls other systems. Its row has no answer yet.
alter table idempotency_keys add column held_until timestamptz;
