// Schemas that every slice uses.
import { Type } from 'typebox'

export const Uuid = Type.String({ format: 'uuid' })

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

/** The links of a list with cursors. */
export const CursorLinks = Type.Object({
  self: Type.String(),
  first: Type.Optional(Type.String()),
  prev: Type.Optional(Type.String()),
  next: Type.Optional(Type.String()),
})

export const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()])
