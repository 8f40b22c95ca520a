-- Tokens were stored to report statuses, often with more rights than that. Somebody who may edit pipelines chooses what jobs read
-- with them, so an administrator turns it on. The tokens of GitHub Apps were used for checkouts before.
alter table repository_connections add column checkout_enabled boolean not null default false;
update repository_connections set checkout_enabled = true where private_key_sealed is not null;
