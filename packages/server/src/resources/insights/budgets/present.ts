import type { Static } from 'typebox'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { Month } from './month.ts'
import type { BudgetRow } from './queries.ts'
import type { Budget } from './schema.ts'

export const inUnits = (micros: number): number => micros / 1_000_000

/** To a tenth, and never more than it is: 100 is shown only when the amount is spent. */
const percentOf = (spentMicros: number, amountMicros: number): number =>
  Math.floor((spentMicros * 1000) / amountMicros) / 10

export const budgetUrl = (url: string, orgSlug: string, id: string): string =>
  `${url}/v2/organizations/${orgSlug}/budgets/${id}`

export const budgetWebUrl = (url: string, orgSlug: string): string =>
  `${url}/organizations/${orgSlug}/insights#budgets`

const presentNotice = ({ last_notice_at: at, last_notice_percent: share }: BudgetRow) =>
  at === null || share === null ? null : { share, at }

export const presentBudget = (
  url: string,
  orgSlug: string,
  month: Month,
  budget: BudgetRow,
): Static<typeof Budget> => ({
  id: budget.id,
  url: budgetUrl(url, orgSlug, budget.id),
  web_url: budgetWebUrl(url, orgSlug),
  pipeline: budget.pipeline,
  team: budget.team,
  amount: inUnits(budget.amount_micros),
  currency: budget.currency,
  month: month.name,
  spent: inUnits(budget.spent_micros),
  percent: percentOf(budget.spent_micros, budget.amount_micros),
  last_notice: presentNotice(budget),
  created_at: budget.created_at,
  created_by: presentUserOrNull(url, budget.created_by),
})
