-- Bitbucket Data Center, Azure DevOps and Gogs.
alter table repository_connections
  drop constraint repository_connections_type_check,
  add constraint repository_connections_type_check check (
    type in ('github', 'github_app', 'github_enterprise_app', 'gitlab', 'bitbucket', 'bitbucket_server',
      'azure_devops', 'gitea', 'forgejo', 'gogs', 'git'));

-- The ssh address of Azure DevOps has a host of its own too.
drop index pipelines_repository_host;
alter table pipelines drop column repository_host;
alter table pipelines add column repository_host text generated always as (
  regexp_replace(
    lower(coalesce(
      substring(repository from '^[A-Za-z][A-Za-z0-9+.-]*://(?:[^@/]*@)?([^/:]+)'),
      substring(repository from '^(?:[^@/:]+@)?([^/:]+):(?!//)'))),
    '^(?:www|ssh|altssh)\.(github\.com|gitlab\.com|bitbucket\.org|dev\.azure\.com)$', '\1')) stored;
create index pipelines_repository_host on pipelines (organization_id, repository_host);
update pipelines set provider_id = 'azure_devops' where repository_host = 'dev.azure.com' and provider_id = 'private';
