-- The webhook that was created at the host: its id there, and the repository it is of, which may have changed since.
alter table pipelines add column host_webhook_id text, add column host_webhook_repository text;
