// Runs one request of GraphQL: reads the document, checks its limits, validates and executes it.
import type { FastifyBaseLogger } from 'fastify'
import {
  execute,
  getOperationAST,
  GraphQLError,
  parse,
  validate,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql'
import { toApiError } from '../http/error-handler.ts'
import { checkCost, checkShape, limits } from './limits.ts'
import type { GraphqlContext } from './node.ts'

export interface GraphqlRequest {
  query: string
  operationName: string | null
  variables: Readonly<Record<string, unknown>>
}

/** `isGraphql` is false if the text is no document at all. */
interface GraphqlAnswer {
  isGraphql: boolean
  result: ExecutionResult
}

export async function run(
  schema: GraphQLSchema,
  { query, operationName, variables }: GraphqlRequest,
  context: GraphqlContext,
  signal: AbortSignal,
): Promise<GraphqlAnswer> {
  const refused = (errors: readonly GraphQLError[], isGraphql = true) => ({ isGraphql, result: { errors } })
  if (Buffer.byteLength(query) > limits.documentBytes) {
    return refused([new GraphQLError(`The document is larger than ${limits.documentBytes} bytes.`)], false)
  }
  const document = parseDocument(query)
  if (document instanceof GraphQLError) return refused([document], false)
  try {
    checkShape(document)
    const problems = validate(schema, document, undefined, { maxErrors: 5 })
    if (problems.length > 0) return refused(problems)
    const operation = getOperationAST(document, operationName)
    if (!operation) {
      const cause = operationName === null ? 'has several operations' : 'has no operation of that name'
      return refused([new GraphQLError(`The document ${cause}. Name one in \`operationName\`.`)])
    }
    checkCost(schema, document, operation, variables)
    const result = await beforeAbort(
      signal,
      execute({
        schema,
        document,
        operationName,
        variableValues: variables,
        contextValue: context,
      }),
    )
    return { isGraphql: true, result }
  } catch (error) {
    if (error instanceof GraphQLError) return refused([error])
    throw error
  }
}

function parseDocument(query: string): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens: limits.tokens })
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}

async function beforeAbort<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  if (!(work instanceof Promise)) return work
  const aborted = new Promise<never>((_, refuse) => {
    const tooLong = () =>
      refuse(
        new GraphQLError(
          `The query took longer than ${limits.milliseconds / 1000} seconds. Ask for fewer rows with \`first\`.`,
        ),
      )
    if (signal.aborted) tooLong()
    else signal.addEventListener('abort', tooLong, { once: true })
  })
  return Promise.race([work, aborted])
}

const longestMessage = 1000

/** Errors as they are sent: those of REST with its words, and no details of bugs. */
export function presentError(error: GraphQLError, log: FastifyBaseLogger, requestId: string) {
  const { message, ...more } = reasonOf(error, log, requestId)
  return {
    message: message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message,
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    ...(error.path === undefined ? {} : { path: error.path }),
    ...more,
  }
}

function reasonOf(error: GraphQLError, log: FastifyBaseLogger, requestId: string) {
  const { originalError } = error
  if (originalError === undefined || originalError instanceof GraphQLError) {
    return { message: error.message + (isUnknownName(error.message) ? subsetHint : '') }
  }
  const known = toApiError(originalError)
  if (known === null) {
    log.error({ err: originalError, request_id: requestId }, 'A GraphQL request failed because of a bug.')
    return {
      message: `Something went wrong on our side. The request id ${requestId} finds it in the server's log.`,
    }
  }
  const fields = (known.errors ?? []).map(({ field, code }) => `${field} ${code}`)
  return {
    message: fields.length === 0 ? known.message : `${known.message}: ${fields.join('; ')}`,
    extensions: { status: known.status, ...(known.errors === undefined ? {} : { errors: known.errors }) },
  }
}

const subsetHint =
  ' Millrace has a subset of this schema. docs/graphql.md lists it, and so does a query of `__schema`.'

const isUnknownName = (message: string): boolean =>
  /^(Cannot query field|Unknown (argument|type|directive|fragment))|is not defined by type|does not exist in/.test(
    message,
  )
