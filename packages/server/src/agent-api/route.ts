// One endpoint of the agent API: whose token it takes, what it takes, what it answers. `token` is a required field,
// so an endpoint that anybody may call says so.
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TSchema } from 'typebox'
import type { Dispatcher } from '../conductor/dispatch.ts'
import type { Context } from '../context.ts'
import type { Answer } from '../http/answer.ts'
import type { RawQuery } from '../http/query.ts'
import { forbidden } from '../lib/errors.ts'
import type { SendingSuite } from '../resources/suites/queries.ts'
import { bodyReader } from './read-body.ts'
import type { Agent, Joining, Registration, RunningJob } from './tokens.ts'

/** Who may call, by the token they show. */
export interface Speakers {
  /** A cluster's token, with which agents register. */
  registration: { registration: Registration }
  /** The same, or that of a container which was started for one agent. */
  joining: { joining: Joining }
  /** The token an agent got when it registered. */
  session: { agent: Agent }
  /** The same, also when the session is over. */
  ended_session: { agent: Agent }
  /** The token of the job in the URL as `:job`; where there is none, of any job. */
  job: { job: RunningJob }
  /** The same, also when the job has ended. */
  ended_job: { job: RunningJob }
  /** An agent, or a job that speaks for its agent. */
  session_or_job: { agent: Agent }
  /** The token of a test suite. */
  suite: { suite: SendingSuite }
  none: object
}

export type TokenKind = keyof Speakers

/**
 * What a job of a fork may do with the route. `own_job` and `own_build`: the same as others, since nothing beyond that
 * can be reached, or the handler looks for itself. `reads_shared`: reads what all jobs of the cluster share.
 */
export type ForkAccess = 'own_job' | 'own_build' | 'reads_shared' | { refused: string }

/** Every route that takes the token of a job says it: forgetting it does not compile. */
type ForkRule<Kind extends TokenKind> = Kind extends 'job' | 'ended_job' | 'session_or_job'
  ? { forks: ForkAccess }
  : { forks?: never }

interface Definition<Kind extends TokenKind, Body extends TSchema> {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  token: Kind
  /** Where the URL names another job than the token's: `build` lets it through if both are of one build. */
  reach?: 'build'
  /** The job's last word, after which nobody asks whether it was heard. */
  isLast?: true
  body?: Body
  /** Default 1 MiB. */
  bodyLimitBytes?: number
  /** In the JSON; default 10,000. */
  mostValues?: number
  handler(input: Input<Body> & Speakers[Kind]): Promise<Answer>
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
  /** As it came. */
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
  /** Null: it takes no token of a job. */
  forks: ForkAccess | null
  isLast: boolean
  body: TSchema | undefined
  bodyLimitBytes: number
  run(input: Omit<Input<TSchema>, 'body'>, speaker: Speakers[TokenKind]): Promise<Answer>
}

export function agentRoute<const Kind extends TokenKind, Body extends TSchema = TSchema>(
  definition: Definition<Kind, Body> & ForkRule<Kind>,
): AgentRoute {
  const { method, url, token, reach = 'job', isLast = false, bodyLimitBytes = 1024 * 1024 } = definition
  const readBody = definition.body && bodyReader(definition.body, definition.mostValues)
  return {
    method,
    url,
    token,
    reach,
    forks: definition.forks ?? null,
    isLast,
    body: definition.body,
    bodyLimitBytes,
    async run(input, speaker) {
      const body = readBody?.(input.request.body)
      // The check above and the look at the token before it are what makes this true.
      const checked = { ...input, ...speaker, body } as unknown
      return definition.handler(checked as Input<Body> & Speakers[Kind])
    },
  }
}

/** Agents read the answers of some calls whether there is anything to say or not. */
export const done = (): Answer => ({ status: 200, body: {} })

export const otherJob = () => forbidden('The token belongs to another job.')

/** The last of several, as `?key=a&key=b` gives them. */
export const lastOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.at(-1) : value
