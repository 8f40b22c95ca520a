-- What the pipeline of a build asked for itself stands in a lane of the build's name.
create index notification_deliveries_build on notification_deliveries (lane, seq) where target is not null;
