// How the page names what the API names.
import type { Answer } from '../../api/call.ts'

export type Insights = Answer<'GET /v2/organizations/{org}/insights'>

export type GroupBy = Insights['group_by']
export type Period = Insights['period']
export type Sort =
  | 'cost'
  | 'seconds'
  | 'jobs'
  | 'failures'
  | 'retries'
  | 'wait_p50'
  | 'wait_p95'
  | 'run_p50'
  | 'run_p95'
type Group = Insights['groups'][number]

export const groupNames: Readonly<Record<GroupBy, string>> = {
  pipeline: 'Pipelines',
  queue: 'Queues',
  team: 'Teams',
  creator: 'Creators',
  step: 'Steps',
}

export const periodNames: Readonly<Record<Period, string>> = {
  '1h': 'Last hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
}

export const sortNames: Readonly<Record<Sort, string>> = {
  cost: 'Cost',
  seconds: 'Time',
  jobs: 'Jobs',
  failures: 'Failures',
  retries: 'Retries',
  wait_p50: 'Wait, median',
  wait_p95: 'Wait, 95 %',
  run_p50: 'Run, median',
  run_p95: 'Run, 95 %',
}

const rest: Readonly<Record<GroupBy, string>> = {
  pipeline: 'Others',
  queue: 'Without a queue',
  team: 'Without a team',
  creator: 'Nobody known, or others',
  step: 'All other steps',
}

const deleted: Readonly<Record<GroupBy, string>> = {
  pipeline: 'A deleted pipeline',
  queue: 'A deleted queue',
  team: 'A deleted team',
  creator: 'Somebody who is gone',
  step: 'A step',
}

export const nameOf = ({ id, name }: Pick<Group, 'id' | 'name'>, groupBy: GroupBy): string =>
  id === null ? rest[groupBy] : name === null || name === '' ? deleted[groupBy] : name

/** Small amounts have more digits, so that a cheap job does not cost nothing. */
export const showMoney = (amount: number, currency: string): string =>
  new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency,
    maximumFractionDigits: amount > 0 && amount < 1 ? 4 : 2,
  }).format(amount)

export const showShare = (part: number, whole: number): string =>
  whole === 0 ? '0 %' : `${Math.round((part / whole) * 100)} %`
