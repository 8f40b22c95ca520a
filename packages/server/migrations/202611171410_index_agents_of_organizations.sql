-- For lists of agents that are not connected.
create index agents_org on agents (organization_id, created_at, id);
