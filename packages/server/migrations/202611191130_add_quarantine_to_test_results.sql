-- Of a failed result whose test was muted or skipped when the result came: which. Null: the failure counts.
alter table test_results add column quarantine text;
