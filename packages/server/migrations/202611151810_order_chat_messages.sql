-- What `notify` tells a chat stands in a lane of its branch. The build is named where the lane does not; servers of before name
-- it by the lane alone.
alter table notification_deliveries add column build_id uuid;
create index notification_deliveries_asked on notification_deliveries (coalesce(build_id::text, lane), seq)
  where target is not null;
drop index notification_deliveries_build;
