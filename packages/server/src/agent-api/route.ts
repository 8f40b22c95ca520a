// One endpoint of the agent API: whose token it needs, its input and its answer. `token` is a required field, so an
// endpoint that needs none says so.
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Dispatcher } from '../conductor/dispatch/dispatcher.ts'
import type { Context } from '../context.ts'
import type { Answer } from '../http/answer.ts'
import type { RawQuery } from '../http/query.ts'
import { forbidden } from '../lib/errors.ts'
import type { SendingSuite } from '../resources/tests/suites/queries.ts'
import { bodyReader } from './read-body.ts'
import type { Agent, Joining, Registration, RunningJob } from './tokens.ts'

/** The owner of a token, by the kind of the token. */
export interface TokenOwners {
  /** A cluster's token. Agents register with it. */
  registration: { registration: Registration }
  /** The same, or the token of a container that was started for one agent. */
  joining: { joining: Joining }
  /** The token that an agent got when it registered. */
  session: { agent: Agent }
  /** The same, also when the session is over. */
  ended_session: { agent: Agent }
  /** The token of the job named in the URL as `:job`, or of any job where the URL names none. */
  job: { job: RunningJob }
  /** The same, also when the job has ended. */
  ended_job: { job: RunningJob }
  /** The token of an agent, or of a job in the name of its agent. */
  session_or_job: { agent: Agent }
  /** The token of a test suite. */
  suite: { suite: SendingSuite }
  none: object
}

export type TokenKind = keyof TokenOwners

/**
 * The rights of a job that runs the code of a fork. `own_job` and `own_build`: the same as other jobs, because the route
 * reaches nothing else or its handler checks. `reads_shared`: it may read what all jobs of the cluster share.
 */
type ForkAccess = 'own_job' | 'own_build' | 'reads_shared' | { refused: string }

/** A required field of every route that takes the token of a job. */
type ForkRule<Kind extends TokenKind> = Kind extends 'job' | 'ended_job' | 'session_or_job'
  ? { forks: ForkAccess }
  : { forks?: never }

interface Definition<Kind extends TokenKind, Body extends TSchema> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  token: Kind
  /** `build`: the URL may name another job of the same build. Default: only the token's own job. */
  reach?: 'build'
  /** The last request of a job, which is not recorded as a sign of life. */
  isLast?: true
  /** Idle agents send it again and again, and no background loop has anything to do afterwards. */
  makesNoWork?: true
  /** git sends the token as the password of Basic. */
  takesBasic?: true
  body?: Body
  /** Default 1 MiB. */
  bodyLimitBytes?: number
  /** How many values the JSON may have. Default 10,000. */
  mostValues?: number
  handler(input: Input<Body> & TokenOwners[Kind]): Promise<Answer>
}

interface Input<Body extends TSchema> {
  ctx: Context
  dispatcher: Dispatcher
  request: AgentRequest
  params: Record<string, string>
  query: RawQuery
  body: Static<Body>
}

export interface AgentRequest {
  id: string
  ip: string
  headers: IncomingHttpHeaders
  userAgent: string | null
  body: Buffer
  /** Aborted when the connection closes. */
  gone(): AbortSignal
}

/** A route without its type parameters. */
export interface AgentRoute {
  method: Definition<TokenKind, TSchema>['method']
  url: string
  token: TokenKind
  reach: 'build' | 'job'
  /** null: the route takes no token of a job. */
  forks: ForkAccess | null
  isLast: boolean
  makesNoWork: boolean
  takesBasic: boolean
  body: TSchema | undefined
  bodyLimitBytes: number
  run(input: Omit<Input<TSchema>, 'body'>, owner: TokenOwners[TokenKind]): Promise<Answer>
}

export function agentRoute<const Kind extends TokenKind, Body extends TSchema = TSchema>(
  definition: Definition<Kind, Body> & ForkRule<Kind>,
): AgentRoute {
  const {
    method,
    url,
    token,
    reach = 'job',
    isLast = false,
    makesNoWork = false,
    takesBasic = false,
    bodyLimitBytes = 1024 * 1024,
  } = definition
  const readBody = definition.body && bodyReader(definition.body, definition.mostValues)
  return {
    method,
    url,
    token,
    reach,
    forks: definition.forks ?? null,
    isLast,
    makesNoWork,
    takesBasic,
    body: definition.body,
    bodyLimitBytes,
    async run(input, owner) {
      const body = readBody?.(input.request.body)
      // The check above and the token guarantee the types.
      const checked = { ...input, ...owner, body } as unknown
      return definition.handler(checked as Input<Body> & TokenOwners[Kind])
    },
  }
}

/** An empty object, because agents parse the body of every answer. */
export const done = (): Answer => ({ status: 200, body: {} })

export const otherJob = () => forbidden('The token belongs to another job.')

/** The last value of a parameter that occurs several times, as in `?key=a&key=b`. */
export const lastOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.at(-1) : value
