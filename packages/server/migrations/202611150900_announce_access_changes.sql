-- Servers keep the tokens they found in memory. Whatever may take a right away is announced, whoever changes it;
-- what only gives (a new token, a new membership) is not kept from anybody by that memory and needs no word.
create function announce_access_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('access_changed', '');
  return null;
end
$$;

-- Not last_used_at and last_used_ip, which change all the time.
create trigger announce_access_change
  after update of token_hash, user_id, description, scopes, organization_ids, allowed_ip_addresses, created_at,
    expires_at, revoked_at or delete or truncate
  on api_access_tokens execute function announce_access_change();
create trigger announce_access_change
  after update or delete or truncate on users execute function announce_access_change();
create trigger announce_access_change
  after update or delete or truncate on organizations execute function announce_access_change();
create trigger announce_access_change
  after update or delete or truncate on organization_members execute function announce_access_change();
