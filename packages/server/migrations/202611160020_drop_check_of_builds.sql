-- PostgreSQL reads checks from their text with every statement that writes a row, and builds are written twice with every
-- job. Where a build comes from is written in one place, and the compiler knows the values it can have there.
alter table builds drop constraint builds_source_check;
