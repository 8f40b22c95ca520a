import { validationFailed } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import type { CreateMaintainerBody } from './schema.ts'

export interface Actor {
  kind: 'user' | 'team'
  id: string
}

/** A body names exactly one of `user` and `team`; an empty string counts as absent. `where` is its place in the request. */
export function readActor(body: CreateMaintainerBody, where = ''): Actor {
  const at = where === '' ? '' : `${where} `
  if (body.user && body.team) throw validationFailed(`${at}must name a user or a team, not both`)
  const kind = body.user ? 'user' : 'team'
  const id = body[kind] ?? ''
  if (id === '') throw validationFailed(`${at}must name a user or a team`)
  if (!isUuid(id)) throw validationFailed(`${at}${kind} must be a UUID`)
  return { kind, id }
}
