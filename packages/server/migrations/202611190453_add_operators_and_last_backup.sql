-- Who may see the page of the installation, and when `millrace backup` last wrote a backup.
alter table users add column is_operator boolean not null default false;
alter table installation add column last_backup_at timestamptz(3), add column last_backup_bytes bigint;
