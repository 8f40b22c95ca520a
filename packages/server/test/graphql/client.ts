// Sends documents of GraphQL as clients do.
import type { Json, TestApp } from '../app.ts'

export interface GraphqlAnswer {
  status: number
  data: Json
  errors: Array<{ message: string; path?: Array<string | number>; extensions?: { status?: number } }>
  /** The messages of `errors`. */
  messages: string[]
}

export async function graphql(
  app: TestApp,
  token: string,
  query: string,
  variables: Record<string, unknown> = {},
  more: { operationName?: string } = {},
): Promise<GraphqlAnswer> {
  const body = { query, variables, ...more }
  const { status, body: answer } = await app.request('POST', '/v1/graphql', { token, body })
  const { data, errors = [] } = answer as unknown as Partial<GraphqlAnswer>
  return { status, data: data ?? {}, errors, messages: errors.map(({ message }) => message) }
}

/** The data of an answer without errors. */
export async function graphqlData(
  app: TestApp,
  token: string,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Json> {
  const { status, data, messages } = await graphql(app, token, query, variables)
  if (status !== 200 || messages.length > 0) throw new Error(`${status}: ${messages.join(' ')}`)
  return data
}
