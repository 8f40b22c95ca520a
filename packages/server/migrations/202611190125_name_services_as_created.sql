-- The name by which the provider was named when the service was created, if it is another than the provider's own.
alter table notification_services add column provider_name text;
