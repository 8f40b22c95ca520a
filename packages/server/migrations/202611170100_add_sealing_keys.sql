-- Which keys have sealed secrets here, by their ids, so that a server with another key can be refused at its start.
create table sealing_keys (
  key_id text not null,
  last_used_at timestamptz(3) not null default now(),
  constraint sealing_keys_pkey primary key (key_id)
);
