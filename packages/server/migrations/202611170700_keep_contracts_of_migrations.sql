-- Migrations that took away what older versions used, and the oldest version that works without.
create table migration_contracts (
  name text primary key,
  needs text not null
);
