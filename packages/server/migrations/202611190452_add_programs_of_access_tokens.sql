-- The program that a person has connected, as it calls itself. Null: a person has made the token. Tokens of programs that were
-- connected before stay among those that people have made.
alter table api_access_tokens add column program text;
