-- What the services of the event log have heard, for whoever asks. Only the one reader of the outbox writes it, so
-- that ids grow in the order in which entries can be seen. An entry goes with its message.
create table notification_log_entries (
  service_id uuid not null references notification_services on delete cascade,
  id bigint generated always as identity,
  organization_id uuid not null references organizations on delete cascade,
  message_id uuid not null references notification_messages on delete cascade,
  created_at timestamptz(3) not null,
  primary key (service_id, id)
);
create index notification_log_entries_message on notification_log_entries (message_id);
