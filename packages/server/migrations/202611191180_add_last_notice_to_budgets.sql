-- When a share of a budget was last announced, and which. Unlike `noticed_percent`, a raised amount does not take it back.
alter table budgets
  add column last_notice_at timestamptz(3),
  add column last_notice_percent smallint check (last_notice_percent in (80, 100));
