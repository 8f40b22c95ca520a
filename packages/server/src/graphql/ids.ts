// Ids of GraphQL: base64 of the type, three dashes and the UUID, as `graphql_id` of REST.
import { badRequest } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'

/** Memberships have no UUID of their own, so their ids have two: of the parent, and of the user or the pipeline. */
export interface GlobalId {
  type: string
  uuid: string
  second: string | null
}

/** The types of jobs by `type` of REST. */
export const jobTypes: Readonly<Record<string, string>> = {
  manual: 'JobTypeBlock',
  script: 'JobTypeCommand',
  trigger: 'JobTypeTrigger',
  waiter: 'JobTypeWait',
}

export const globalId = (type: string, uuid: string, second?: string): string =>
  btoa(`${type}---${uuid}${second === undefined ? '' : `/${second}`}`)

/** null: the text is no id. */
export function readGlobalId(text: string): GlobalId | null {
  if (text.length > 200) return null
  const [, type = '', uuid = '', second = null] =
    /^(\w+)---([^/]+)(?:\/(.+))?$/.exec(Buffer.from(text, 'base64').toString()) ?? []
  if (!isUuid(uuid) || (second !== null && !isUuid(second))) return null
  // Job ids have the type `Job` in REST. Clients also make ids with the type of GraphQL.
  const isJob = Object.values(jobTypes).includes(type)
  return {
    type: isJob ? 'Job' : type,
    uuid: uuid.toLowerCase(),
    second: second?.toLowerCase() ?? null,
  }
}

/** For arguments that name one type. Some clients send the UUID alone. */
export function readIdOf(type: string, id: string): GlobalId {
  const read = isUuid(id) ? { type, uuid: id.toLowerCase(), second: null } : readGlobalId(id)
  if (read?.type !== type) throw notTheIdOf(type, id)
  return read
}

export const uuidOf = (type: string, id: string): string => readIdOf(type, id).uuid

/** `Job` is not a type that clients know. */
export const notTheIdOf = (type: string, id: string) =>
  badRequest(`${JSON.stringify(id.slice(0, 100))} is not the id of a ${type === 'Job' ? 'job' : type}.`)
