import { badRequest } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { readCursor, type Cursor } from './cursor.ts'
import { mostBuilds } from './schema.ts'

/** A reader that reconnects sends the header; it is newer than the parameter. null: from now on. */
export function readAfter(
  header: string | string[] | undefined,
  parameter: string | undefined,
): Cursor | null {
  const given = typeof header === 'string' && header !== '' ? header : parameter
  if (given === undefined) return null
  const cursor = readCursor(given)
  if (cursor === null) throw badRequest('Last-Event-ID or `after` is not a cursor of events.')
  return cursor
}

export function readBuildIds(given: readonly string[] = []): string[] {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))]
  if (ids.length > mostBuilds) throw badRequest(`\`build\` may be given at most ${mostBuilds} times.`)
  if (!ids.every(isUuid)) throw badRequest('`build` is not the UUID of a build.')
  return ids
}
