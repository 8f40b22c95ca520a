import { Type, type TSchema } from 'typebox'

/** A field that some programs send as null and others leave out. */
export const maybe = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

/** A field that agents send and the server does not read. */
export const unread = Type.Optional(Type.Unknown())
