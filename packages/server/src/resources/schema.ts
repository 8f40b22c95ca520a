// Schemas that every slice uses.
import { Type, type TSchema } from 'typebox'

export const Uuid = Type.String({ format: 'uuid' })

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

/** The links of a list with cursors. */
export const CursorLinks = Type.Object({
  self: Type.String(),
  first: Type.Optional(Type.String()),
  prev: Type.Optional(Type.String()),
  next: Type.Optional(Type.String()),
})

/** The query parameter that adds `viewer` to a response. */
export const IncludeViewer = {
  include_viewer: Type.Optional(
    Type.Boolean({ description: 'Add `viewer`: what the caller may do. Default false.' }),
  ),
}

/** `viewer` of a response: what the caller may do, whatever the scopes of the token are. */
export const viewerOf = <T extends Record<string, TSchema>>(may: T) =>
  Type.Optional(Type.Object({ may: Type.Object(may) }))

export const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
