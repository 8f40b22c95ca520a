-- PostgreSQL reads checks from their text with every statement that writes a row, and these two tables are written with
-- every job. The compiler knows which values there are, and one place writes each.
alter table builds drop constraint builds_source_check;
alter table agents drop constraint agents_connection_state_check;
