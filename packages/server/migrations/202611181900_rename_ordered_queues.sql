-- contract: needs 0.1.0
-- Names that say what they are: ordered queues of deliveries, the state of a provider, and the names of events in the outbox.
alter table notification_lanes rename to notification_queues;
alter table notification_queues rename column lane to ordered_queue;
alter table notification_queues rename constraint notification_lanes_pkey to notification_queues_pkey;
alter table notification_queues
  rename constraint notification_lanes_organization_id_fkey to notification_queues_organization_id_fkey;
alter index notification_lanes_due rename to notification_queues_due;
alter table notification_deliveries rename column lane to ordered_queue;

alter table notification_memories rename to notification_provider_state;
alter table notification_provider_state rename constraint notification_memories_pkey to notification_provider_state_pkey;
alter table notification_provider_state
  rename constraint notification_memories_organization_id_fkey to notification_provider_state_organization_id_fkey;
alter table notification_provider_state
  rename constraint notification_memories_service_id_fkey to notification_provider_state_service_id_fkey;

update events set data = (data - 'news') || jsonb_build_object('event_names', data -> 'news') where data ? 'news';
