// Reads from a request what to search for, and where.
import { badRequest } from '../../../lib/errors.ts'
import type { Query } from '../log/rows/search-tasks.ts'

export interface Given {
  q?: string
  regex?: boolean
  case?: boolean
  pipeline?: string
  branch?: string
  state?: string
  step?: string
  from?: string
  to?: string
}

/** undefined: any. */
export interface Filters {
  pipeline: string | undefined
  branch: string | undefined
  state: string | undefined
  step: string | undefined
  from: string | undefined
  to: string | undefined
}

export function readQuery({ q, regex, case: isCaseSensitive }: Given): Query {
  if (q === undefined) throw badRequest('Query parameter q is missing: the text to search for.')
  return { text: q, isRegex: regex === true, isCaseSensitive: isCaseSensitive === true }
}

export const readFilters = ({ pipeline, branch, state, step, from, to }: Given): Filters => ({
  pipeline,
  branch,
  state,
  step,
  from,
  to,
})
