-- Browsers send the cookie of a session to every port of the host. It counts only together with a secret that the pages of this
-- origin keep; this is its hash. Sessions without one are of an earlier release, and their people sign in again.
alter table web_sessions add column page_secret_hash bytea;
