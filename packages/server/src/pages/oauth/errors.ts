import { ApiError } from '../../lib/errors.ts'

/** The response has the members that OAuth prescribes beside the message that all errors have. */
export const oauthError = (error: string, description: string, status = 400): ApiError =>
  new ApiError(status, description, { details: { error, error_description: description } })
