import { Type, type Static } from 'typebox'

/** The body of an answer with an error status. */
export const ErrorBody = Type.Object({ message: Type.String() })
export type ErrorBody = Static<typeof ErrorBody>
