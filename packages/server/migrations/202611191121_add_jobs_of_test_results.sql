-- Null: the sender did not say, or named no job of the organization.
alter table test_results add column job_id uuid;
