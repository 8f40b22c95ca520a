-- What the host's list of open pull requests showed the last time: its ETag, so that it need not be sent again while nothing
-- changes, when it was read whole, and why it could not be read.
alter table pipeline_polls
  add column pulls_etag text,
  add column pulls_read_at timestamptz(3),
  add column pulls_error text;
