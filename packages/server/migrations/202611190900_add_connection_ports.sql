-- Source hosts with one host name and different ports can all be connected.

-- Where the repositories have another host name than the pages, they are at https's usual port.
alter table repository_connections add column port integer generated always as (
  case when lower(substring(url from '^[A-Za-z]+://(\[[^]]*\]|[^/:]+)')) = host
    then coalesce(
      substring(url from '^[A-Za-z]+://(?:\[[^]]*\]|[^/:]+):0*([0-9]{1,5})(?:/|$)')::integer,
      case when lower(url) like 'http:%' then 80 else 443 end)
    else 443 end) stored;
alter table repository_connections
  drop constraint repository_connections_host_key,
  add constraint repository_connections_host_key unique (organization_id, host, port);

-- Null: the address is not of http.
alter table pipelines add column repository_port integer generated always as (
  case when lower(repository) ~ '^https?://'
    then coalesce(
      substring(repository from '^[A-Za-z]+://(?:[^@/]*@)?[^/:]+:0*([0-9]{1,5})(?:/|$)')::integer,
      case when lower(repository) like 'http:%' then 80 else 443 end)
    end) stored;
