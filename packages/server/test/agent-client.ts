// A fake agent: it makes the HTTP calls of public agents, with their headers, and runs no commands. The test decides what
// it sends and when.
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { STREAM_PINGS_PATH } from '@millrace/protocol/pings.ts'
import type { BuildRequest } from '../src/conductor/build.ts'
import type { Json, TestApp } from './app.ts'
import {
  aCluster,
  anAdmin,
  anOrganization,
  aPipeline,
  aQueue,
  type TestOrganization,
  type TestUser,
} from './builders.ts'
import { aBuild, type TestBuild } from './runs.ts'

export interface AgentAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  body: Json
}

export interface Sent {
  body?: unknown
  headers?: Record<string, string>
}

const userAgent = 'buildkite-agent/3.137.0.x (linux; amd64)'

/**
 * One call of the agent API, as a Go client makes it: JSON with a newline, or no body and no Content-Type at all, and
 * the path as it is, where fetch would read `%2E%2E` as a way up.
 */
export function call(
  app: TestApp,
  token: string | null,
  method: string,
  path: string,
  { body, headers = {} }: Sent = {},
): Promise<AgentAnswer> {
  const payload = body === undefined ? '' : `${JSON.stringify(body)}\n`
  return new Promise((resolve, reject) => {
    const sent = httpRequest(app.address, {
      method,
      path: `/v3/${path}`,
      agent: connections,
      headers: {
        'User-Agent': userAgent,
        ...(token === null ? {} : { Authorization: `Token ${token}` }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' || method === 'DELETE' ? {} : { 'Content-Length': Buffer.byteLength(payload) }),
        ...headers,
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      buffer(response).then((bytes) => resolve(answerOf(response, bytes.toString())), reject)
    })
    sent.end(method === 'GET' || method === 'DELETE' ? undefined : payload)
  })
}

/** Closed before the server closes idle ones, which it does after 95 seconds: a request may be on its way then. */
const connections = new Agent({ keepAlive: true, timeout: 60_000 })

function answerOf({ statusCode = 0, headers }: IncomingMessage, text: string): AgentAnswer {
  const isJson = headers['content-type']?.includes('json') ?? false
  return { status: statusCode, headers, text, body: (isJson ? JSON.parse(text) : {}) as Json }
}

/** Agents escape the dot too. */
export const segment = (text: string): string => encodeURIComponent(text).replaceAll('.', '%2E')

/** Created over HTTP by an administrator. Returns the token's value. */
export async function aClusterToken(
  app: TestApp,
  cluster: { path: string },
  admin: TestUser,
  given: Record<string, unknown> = {},
): Promise<string> {
  const body = { description: 'for agents', ...given }
  const answer = await app.request('POST', `${cluster.path}/tokens`, { token: admin.token, body })
  if (answer.status !== 201) throw new Error(`Could not make a token: ${answer.text}`)
  return String(answer.body.token)
}

interface AgentGiven {
  tags?: string[]
  name?: string
  priority?: string
  ignore?: boolean
  connect?: boolean
}

export const registerBody = ({ tags = [], name = 'tester', priority, ignore = false }: AgentGiven = {}) => ({
  name,
  hostname: 'ci-host-1',
  os: 'linux\n6.1',
  arch: 'amd64',
  script_eval_enabled: true,
  ignore_in_dispatches: ignore,
  ...(priority === undefined ? {} : { priority }),
  version: '3.137.0',
  build: 'x',
  meta_data: tags,
  pid: 4711,
  machine_id: 'abcdef',
  features: ['experiment-none'],
})

export class TestAgent {
  readonly app: TestApp
  readonly id: string
  readonly name: string
  readonly session: string
  readonly registered: Json

  constructor(app: TestApp, registered: Json) {
    this.app = app
    this.registered = registered
    this.id = String(registered.id)
    this.name = String(registered.name)
    this.session = String(registered.access_token)
  }

  call(method: string, path: string, sent?: Sent): Promise<AgentAnswer> {
    return call(this.app, this.session, method, path, sent)
  }

  ping(): Promise<AgentAnswer> {
    return this.call('GET', 'ping')
  }

  /** The job that a ping offers; null when there is none. */
  async offered(): Promise<string | null> {
    const { body, status, text } = await this.ping()
    if (status !== 200) throw new Error(`ping: ${text}`)
    const job: Json | undefined = body.job
    return job === undefined ? null : String(job.id)
  }

  async accept(jobId: string): Promise<TestRun> {
    const answer = await this.call('PUT', `jobs/${jobId}/accept`)
    if (answer.status !== 200) throw new Error(`accept: ${answer.text}`)
    return new TestRun(this, answer.body)
  }

  /** Takes the next job and starts it. */
  async begin(): Promise<TestRun> {
    const jobId = await this.offered()
    if (jobId === null) throw new Error('The agent was offered no job.')
    const run = await this.accept(jobId)
    const started = await run.start()
    if (started.status !== 200) throw new Error(`start: ${started.text}`)
    return run
  }
}

/** A job that an agent has accepted. */
export class TestRun {
  readonly agent: TestAgent
  readonly job: Json
  readonly id: string
  readonly token: string

  constructor(agent: TestAgent, job: Json) {
    this.agent = agent
    this.job = job
    this.id = String(job.id)
    this.token = String(job.token)
  }

  get env(): Record<string, string> {
    return this.job.env as unknown as Record<string, string>
  }

  /** With the job's token. */
  call(method: string, path: string, sent?: Sent): Promise<AgentAnswer> {
    return call(this.agent.app, this.token, method, path, sent)
  }

  start(): Promise<AgentAnswer> {
    return this.call('PUT', `jobs/${this.id}/start`, {
      body: { started_at: '2026-01-02T03:04:05.678901234Z' },
    })
  }

  finish(exitStatus: number | string = 0, more: object = {}): Promise<AgentAnswer> {
    const body = {
      exit_status: String(exitStatus),
      finished_at: '2026-01-02T03:04:06.678901234Z',
      chunks_failed_count: 0,
      ...more,
    }
    return this.call('PUT', `jobs/${this.id}/finish`, { body })
  }

  async state(): Promise<string> {
    const { status, body } = await this.call('GET', `jobs/${this.id}`)
    return status === 200 ? String(body.state) : String(status)
  }
}

/** Registers and connects. */
export async function anAgent(
  app: TestApp,
  clusterToken: string,
  given: AgentGiven = {},
): Promise<TestAgent> {
  const answer = await call(app, clusterToken, 'POST', 'register', { body: registerBody(given) })
  if (answer.status !== 200) throw new Error(`register: ${answer.text}`)
  const agent = new TestAgent(app, answer.body)
  if (given.connect !== false) await agent.call('POST', 'connect')
  return agent
}

interface PingStream {
  status: number
  headers: Record<string, unknown>
  /** The next frame as hex; null when the stream has ended. */
  next(): Promise<string | null>
  trailers(): Record<string, string | undefined>
  close(): void
}

/** Opens the stream as gRPC over HTTP/1.1 does. */
export function openStream(agent: TestAgent, agentId = agent.id): Promise<PingStream> {
  const message = Buffer.concat([Buffer.from([0x0a, agentId.length]), Buffer.from(agentId)])
  const body = Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message])
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${agent.app.address}${STREAM_PINGS_PATH}`, {
      method: 'POST',
      headers: {
        Authorization: `Token ${agent.session}`,
        'Content-Type': 'application/grpc',
        'Content-Length': body.length,
        Te: 'trailers',
        'Accept-Encoding': 'identity',
        'Grpc-Accept-Encoding': 'gzip',
        'User-Agent': userAgent,
      },
    })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let buffered = Buffer.alloc(0)
      const chunks = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>
      const next = async (): Promise<string | null> => {
        for (;;) {
          const end = buffered.length < 5 ? Infinity : 5 + buffered.readUInt32BE(1)
          if (buffered.length >= end) {
            const frame = buffered.subarray(0, end).toString('hex')
            buffered = buffered.subarray(end)
            return frame
          }
          const { done, value } = await chunks.next()
          if (done) return null
          buffered = Buffer.concat([buffered, value])
        }
      }
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        next,
        trailers: () => response.trailers,
        close: () => sent.destroy(),
      })
    })
    sent.end(body)
  })
}

export const resumeFrame = '00000000021200'
export const jobFrame = (jobId: string): string =>
  `000000002a2a280a260a24${Buffer.from(jobId).toString('hex')}`

export interface AgentWorld {
  org: TestOrganization
  admin: TestUser
  cluster: { id: string; name: string; path: string }
  queue: { id: string; key: string; path: string }
  /** With it agents register. */
  token: string
}

/** An organization with a cluster, its default queue, and an administrator. */
export async function anAgentWorld(app: TestApp): Promise<AgentWorld> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const cluster = await aCluster(app, org, admin)
  const queue = await aQueue(app, cluster, admin, { key: 'default' })
  await app.db
    .updateTable('clusters')
    .set({ default_queue_id: queue.id })
    .where('id', '=', cluster.id)
    .execute()
  return { org, admin, cluster, queue, token: await aClusterToken(app, cluster, admin) }
}

/** An agent that runs the first job of a build of these steps. */
export async function aRunningJob(
  app: TestApp,
  steps = '[{ command: one, key: one }]',
  given: Partial<BuildRequest> = {},
): Promise<{ world: AgentWorld; build: TestBuild; run: TestRun }> {
  const world = await anAgentWorld(app)
  const build = await aBuild(app, world.org, await aPipeline(app, world.org, `steps: ${steps}`), given)
  return { world, build, run: await (await anAgent(app, world.token)).begin() }
}
