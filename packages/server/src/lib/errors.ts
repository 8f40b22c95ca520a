// Errors that are answered with their own status. Anything else that is thrown is a bug.

export interface FieldError {
  field: string
  code: string
}

export class ApiError extends Error {
  readonly status: number
  readonly errors: FieldError[] | undefined
  readonly details: Record<string, unknown> | undefined

  constructor(
    status: number,
    message: string,
    more: { errors?: FieldError[]; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, { cause: more.cause })
    this.status = status
    this.errors = more.errors
    this.details = more.details
  }
}

export const badRequest = (message: string) => new ApiError(400, message)
export const unauthorized = (message: string) => new ApiError(401, message)
export const forbidden = (message = 'Forbidden') => new ApiError(403, message)
export const notFound = (message: string) => new ApiError(404, message)
export const conflict = (message: string) => new ApiError(409, message)
export const refused = (message: string) => new ApiError(422, message)
export const validationFailed = (reason: string) => new ApiError(422, `Validation failed: ${reason}`)
/** Pipelines and builds report errors field by field, and spell the message differently. */
export const invalidFields = (errors: FieldError[]) => new ApiError(422, 'Validation Failed', { errors })

/** Another system failed. Retrying is safe. */
export const unavailable = (message: string, cause?: unknown) => new ApiError(503, message, { cause })
