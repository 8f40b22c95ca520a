// Lists of open pull requests, as the APIs of hosts answer them.
import type { Static, TSchema } from 'typebox'
import { checker } from '../lib/check.ts'
import { ApiError } from '../lib/errors.ts'
import type { ListedPull, PullRequestApi } from './host.ts'

/** The hosts allow it without exception. */
export const pullsPerPage = 50

/** `key`: where the answer has the list; null: it is the list. A pull request that is not as documented is left out. */
export function pullReader<S extends TSchema>(
  schema: S,
  key: string | null,
  present: (found: Static<S>) => ListedPull,
): PullRequestApi['readList'] {
  const check = checker(schema)
  const readOne = (one: unknown): ListedPull[] => {
    const found = check(one)
    if (!found.ok) return []
    try {
      return [present(found.value)]
    } catch (error) {
      if (error instanceof ApiError) return []
      throw error
    }
  }
  return (answer) => {
    const list: unknown = key === null ? answer : Reflect.get(Object(answer), key)
    return Array.isArray(list) ? list.flatMap(readOne) : null
  }
}
