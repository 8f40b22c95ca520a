-- What a pipeline or the pipelines of a team may cost in a calendar month of UTC, in millionths of the organization's currency.
create table budgets (
  id uuid primary key,
  organization_id uuid not null references organizations on delete cascade,
  pipeline_id uuid constraint budgets_pipeline_key unique references pipelines on delete cascade,
  team_id uuid constraint budgets_team_key unique references teams on delete cascade,
  amount_micros bigint not null constraint budgets_amount_check check (amount_micros between 10000 and 1000000000000000),
  -- The highest share that was announced in this month. It is written in the transaction that announces it.
  noticed_month date,
  noticed_percent smallint not null default 0 check (noticed_percent in (0, 80, 100)),
  created_at timestamptz(3) not null default now(),
  created_by uuid references users on delete set null,
  constraint budgets_subject_check check (num_nonnulls(pipeline_id, team_id) = 1)
);
create index budgets_organization on budgets (organization_id, created_at, id);
