import type { ApiError } from '../lib/errors.ts'

export const errorBody = (error: ApiError): Record<string, unknown> => ({
  message: error.message,
  ...(error.errors === undefined ? {} : { errors: error.errors }),
  ...error.details,
})
