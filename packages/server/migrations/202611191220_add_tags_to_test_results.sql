-- What the sender says of this one run of a test, such as the version of its language: an object of texts. Null: nothing.
alter table test_results add column tags jsonb;
