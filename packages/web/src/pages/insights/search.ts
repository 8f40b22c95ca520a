// What the address of the page says.
import { groupNames, periodNames, sortNames, type GroupBy, type Period, type Sort } from './words.ts'

export interface InsightSearch {
  group?: GroupBy
  period?: Period
  sort?: Sort
  /** A slug. */
  pipeline?: string
  /** A UUID. */
  queue?: string
}

const among = <Name extends string>(
  names: Readonly<Record<Name, string>>,
  value: unknown,
): Name | undefined =>
  typeof value === 'string' && Object.hasOwn(names, value) ? (value as Name) : undefined

const textOf = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

export function readInsightSearch(search: Record<string, unknown>): InsightSearch {
  const read = {
    group: among(groupNames, search['group']),
    period: among(periodNames, search['period']),
    sort: among(sortNames, search['sort']),
    pipeline: textOf(search['pipeline']),
    queue: textOf(search['queue']),
  }
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined))
}
