// Ids of GraphQL: base64 of the type, three dashes and the UUID, as `graphql_id` of REST.
import { badRequest } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'

/** Memberships have no UUID of their own, so their ids have two: of the team, and of the user or the pipeline. */
export interface GlobalId {
  type: string
  uuid: string
  second: string | null
}

export const globalId = (type: string, uuid: string, second?: string): string =>
  btoa(`${type}---${uuid}${second === undefined ? '' : `/${second}`}`)

/** null: the text is no id. */
export function readGlobalId(text: string): GlobalId | null {
  if (text.length > 200) return null
  const [, type = '', uuid = '', second = null] =
    /^(\w+)---([^/]+)(?:\/(.+))?$/.exec(Buffer.from(text, 'base64').toString()) ?? []
  if (!isUuid(uuid) || (second !== null && !isUuid(second))) return null
  return { type, uuid: uuid.toLowerCase(), second: second?.toLowerCase() ?? null }
}

/** For arguments that name one type. Some clients send the UUID alone. */
export function uuidOf(type: string, id: string): string {
  if (isUuid(id)) return id.toLowerCase()
  const read = readGlobalId(id)
  if (read === null || read.type !== type) {
    throw badRequest(`${JSON.stringify(id.slice(0, 100))} is not the id of a ${type}.`)
  }
  return read.uuid
}
