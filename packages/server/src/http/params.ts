// Placeholders of a URL. A value that cannot exist is answered with 404 and the message of a missing resource.
import { Type, type TSchema } from 'typebox'
import { isUuid } from '../lib/ids.ts'
import { isStorable } from '../lib/unstorable.ts'

export interface Param {
  schema: TSchema
  notFound: string
  matches(text: string): boolean
}

/** `uuid('cluster')`: a UUID, or "No cluster found". */
export const uuid = (resource: string): Param => ({
  schema: Type.String({ format: 'uuid' }),
  notFound: `No ${resource} found`,
  matches: isUuid,
})

export const text = (resource: string): Param => ({
  schema: Type.String(),
  notFound: `No ${resource} found`,
  matches: isStorable,
})

/** `numberOrUuid('build')`: a number from 1 that fits its column, or a UUID; else "No build found". */
export const numberOrUuid = (resource: string): Param => ({
  schema: Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.String({ format: 'uuid' })]),
  notFound: `No ${resource} found`,
  matches: (text) => isUuid(text) || (/^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2_147_483_647),
})
