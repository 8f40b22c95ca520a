import { measureJson } from '../../../http/json-body.ts'
import { badRequest, refused } from '../../../lib/errors.ts'
import { readResult, type TestResult } from './results.ts'

/** In all results of an upload, because tests can have many spans. */
const mostValues = 1_000_000

export function parseJson(text: string): unknown {
  const { values } = measureJson(text)
  if (values > mostValues) throw refused(`An upload has at most ${mostValues} values.`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw badRequest(`The JSON is not valid: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
}

/** Our own format: a list of results. null in place of what is no result. */
export function* readJsonResults(list: unknown): Generator<TestResult | null> {
  if (!Array.isArray(list)) throw refused('Data must be a list of results.')
  for (const item of list) yield readResult(item)
}
