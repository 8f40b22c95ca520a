-- For forgetting agents that have been gone for long.
create index agents_gone on agents (coalesce(disconnected_at, lost_at, created_at))
  where connection_state in ('never_connected', 'disconnected', 'stopped', 'lost');
