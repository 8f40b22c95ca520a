import type { ApiError, FieldError } from '../lib/errors.ts'

export const errorBody = (error: ApiError): Record<string, unknown> => ({
  message: messageOf(error),
  ...(error.errors === undefined ? {} : { errors: error.errors }),
  ...error.details,
})

/** Many clients print only the message, so it includes the first error. */
const messageOf = ({ message, errors: [first] = [] }: ApiError): string =>
  first === undefined ? message : `${message}: ${reasonOf(first)}`

/** A code is a whole sentence, or continues the name of the field. */
const reasonOf = ({ field, code }: FieldError): string =>
  field === '' || /^[A-Z]/.test(code) ? code : `${field} ${code}`
