// Turns everything thrown into a response. The caller's errors are sent as they are, failures of the database become 503.
// All other errors are bugs: they are logged, and the response is a 500 that contains only the request's id.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isDatabaseAway, isDatabaseBusy } from '../db/away.ts'
import { ApiError, unavailable } from '../lib/errors.ts'
import { errorBody } from './error-body.ts'

export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toApiError(error)
  keepForTheRest(error, request, reply)
  if (known === null) {
    request.log.error({ err: error, request_id: request.id }, 'A request failed because of a bug.')
    void reply.code(500).send({
      message: `Something went wrong on our side. The request id ${request.id} finds it in the server's log.`,
    })
    return
  }
  if (known.status >= 500) {
    request.log.warn(
      { err: known.cause ?? known, request_id: request.id },
      'A request could not be carried out.',
    )
  }
  if (known.status === 401 && !reply.hasHeader('WWW-Authenticate')) {
    void reply.header('WWW-Authenticate', 'Bearer')
  }
  sayWhenToRetry(known, reply)
  void reply.code(known.status).send(errorBody(known))
}

const retryAfterSeconds = 2

export function sayWhenToRetry({ status, details }: ApiError, reply: FastifyReply): void {
  if (status === 429) void reply.header('Retry-After', String(details?.['reset']))
  if (status === 503) void reply.header('Retry-After', String(retryAfterSeconds))
}

/** For endpoints that take Basic: git and programs that watch builds send a password only to who asks for one. */
export function askForPassword(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (toApiError(error)?.status === 401) void reply.header('WWW-Authenticate', 'Basic realm="Millrace"')
  answerError(error, request, reply)
}

/** null: the error is a bug. */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error)) return null
  if (isDatabaseAway(error)) return unavailable('The database does not answer. Asking again is safe.', error)
  if (isDatabaseBusy(error)) return unavailable('The database is too busy. Asking again is safe.', error)
  // Fastify's own errors, such as a body that is too large, truncated or of the wrong length.
  const status: unknown = Reflect.get(error, 'statusCode')
  if (typeof status === 'number' && status >= 400 && status < 500)
    return new ApiError(status, sentence(error))
  return null
}

const tooLarge = 'FST_ERR_CTP_BODY_TOO_LARGE'
const mostDiscardedBytes = 32 * 1024 * 1024

/**
 * Fastify closes the connection after a body that is too large. A sender that is still sending would then lose the answer, so
 * the rest is read and discarded, in the time that slow-bodies.ts gives it.
 */
export function keepForTheRest(error: unknown, { headers }: FastifyRequest, reply: FastifyReply): void {
  const isTooLarge = error instanceof Error && Reflect.get(error, 'code') === tooLarge
  if (isTooLarge && Number(headers['content-length']) <= mostDiscardedBytes)
    void reply.removeHeader('connection')
}

const sentence = (error: Error) => sentences[String(Reflect.get(error, 'code'))] ?? error.message

const sentences: Readonly<Record<string, string>> = {
  [tooLarge]: 'The request body is too large.',
  FST_ERR_CTP_INVALID_MEDIA_TYPE:
    'The Content-Type cannot be read. Send one such as Content-Type: application/json.',
}
