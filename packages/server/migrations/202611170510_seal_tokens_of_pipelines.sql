-- The address that webhooks are sent to is a secret, and so are the name and password in the address of a repository.
-- Both are kept sealed from now on; webhook_token, and the userinfo in repository, are what earlier versions wrote.
alter table pipelines
  alter column webhook_token drop not null,
  add column webhook_token_hash bytea,
  add column webhook_token_sealed bytea,
  add column webhook_token_key_id text,
  add column repository_userinfo_sealed bytea,
  add column repository_userinfo_key_id text,
  add constraint pipelines_webhook_token_hash_key unique (webhook_token_hash);

-- Who asks for the repository does not change which repository it is.
drop trigger pipelines_forget_their_commits on pipelines;
create trigger pipelines_forget_their_commits after update of repository on pipelines
  for each row when (regexp_replace(old.repository, '://[^/?#]*@', '://')
    is distinct from regexp_replace(new.repository, '://[^/?#]*@', '://'))
  execute function forget_repository_commits();
