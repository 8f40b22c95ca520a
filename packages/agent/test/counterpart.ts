// A server for tests: answers the calls that an agent needs to run jobs, and records every request. It
// decides nothing; a test that needs another answer puts one in.

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { PingResponse } from '@millrace/protocol/agents.ts'
import type { FinishRequest, Job } from '@millrace/protocol/jobs.ts'
import { freePort } from '../../../testbed/src/free-port.ts'

export interface ReceivedRequest {
  method: string
  /** Decoded, with the query. */
  path: string
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

interface Reply {
  status: number
  body?: unknown
  headers?: Record<string, string>
}

type Responder = (request: ReceivedRequest, response: ServerResponse) => Reply | null

export class Counterpart {
  readonly received: ReceivedRequest[] = []
  /** The state that jobs read. */
  jobState = 'running'
  /** The response to a ping when no job waits. */
  idle: PingResponse = {}
  private readonly waiting: Job[] = []
  private readonly jobs = new Map<string, Job>()
  private readonly special: Array<{ match: RegExp; respond: Responder }> = []
  private watchers: (() => void)[] = []
  private readonly port: number
  private server: Server

  private constructor(port: number) {
    this.port = port
    this.server = this.create()
  }

  static async start(): Promise<Counterpart> {
    const counterpart = new Counterpart(await freePort())
    await counterpart.open()
    return counterpart
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get endpoint(): string {
    return `${this.origin}/v3`
  }

  /** For requests such as `PUT /v3/jobs/…/finish`; the newest that matches answers, null passes it on. */
  answer(match: RegExp, respond: Responder): void {
    this.special.unshift({ match, respond })
  }

  offer(env: Record<string, string>, rest: Partial<Job> = {}): string {
    const id = randomUUID()
    const job: Job = {
      id,
      token: `job-token-${id}`,
      chunks_max_size_bytes: 100_000,
      ...rest,
      env: { ...jobEnv(id), ...env },
    }
    this.jobs.set(id, job)
    this.waiting.push(job)
    this.wake()
    return id
  }

  jobOf(id: string): Job | undefined {
    return this.jobs.get(id)
  }

  find(match: RegExp): ReceivedRequest[] {
    return this.received.filter(({ method, path }) => match.test(`${method} ${path}`))
  }

  /** Resolves with the first request that matches, now or later. */
  async heard(match: RegExp, count = 1): Promise<ReceivedRequest> {
    for (;;) {
      const found = this.find(match)[count - 1]
      if (found) return found
      await this.next()
    }
  }

  async finished(jobId: string): Promise<FinishRequest> {
    const { body } = await this.heard(new RegExp(`^PUT /v3/jobs/${jobId}/finish`))
    return JSON.parse(body.toString()) as FinishRequest
  }

  /** The log as it would be read: every chunk at its place, without times. */
  log(jobId: string): string {
    const { text, isWhole } = this.logSoFar(jobId)
    if (!isWhole) throw new Error(`the log has a gap after: ${text}`)
    return text
  }

  async logHas(jobId: string, text: string): Promise<void> {
    while (!this.logSoFar(jobId).text.includes(text)) await this.next()
  }

  /** Up to the first gap: chunks are sent in parallel and may arrive in any order. */
  private logSoFar(jobId: string): { text: string; isWhole: boolean } {
    const parts = this.find(new RegExp(`^POST /v3/jobs/${jobId}/chunks`)).map(({ path, body }) => ({
      offset: Number(new URL(path, this.origin).searchParams.get('offset')),
      bytes: gunzipSync(body),
    }))
    let read = Buffer.alloc(0)
    for (const { offset, bytes } of parts.toSorted((one, other) => one.offset - other.offset)) {
      if (offset > read.length) return { text: withoutTimes(read), isWhole: false }
      if (offset === read.length) read = Buffer.concat([read, bytes])
    }
    return { text: withoutTimes(read), isWhole: true }
  }

  /** As if the process had been killed: connections end in the middle. */
  async crash(): Promise<void> {
    await this.close()
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(this.port, '127.0.0.1', resolve)
    })
  }

  async reopen(): Promise<void> {
    this.server = this.create()
    await this.open()
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    await new Promise((resolve) => {
      this.server.close(resolve)
    })
  }

  private create(): Server {
    return createServer((request, response) => void this.respond(request, response))
  }

  private async respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of incoming as AsyncIterable<Buffer>) parts.push(part)
    const url = incoming.url ?? ''
    const request: ReceivedRequest = {
      method: incoming.method ?? '',
      path: decodeURIComponent(url),
      url,
      headers: incoming.headers,
      body: Buffer.concat(parts),
    }
    this.received.push(request)
    const reply = this.reply(request, response)
    if (reply) {
      response.writeHead(reply.status, { 'Content-Type': 'application/json', ...reply.headers })
      response.end(reply.body === undefined ? '' : JSON.stringify(reply.body))
    }
    this.wake()
  }

  private reply(request: ReceivedRequest, response: ServerResponse): Reply | null {
    const line = `${request.method} ${request.path}`
    for (const { match, respond } of this.special) {
      const reply = match.test(line) ? respond(request, response) : null
      if (reply || response.headersSent) return reply
    }
    if (line === 'POST /v3/register') return { status: 200, body: REGISTERED }
    if (line.startsWith('POST /agentedge')) return { status: 404, body: {} }
    if (line === 'GET /v3/ping') {
      const [job] = this.waiting
      return { status: 200, body: job ? { job: { id: job.id } } : this.idle }
    }
    const [, id = '', verb = ''] = /^\w+ \/v3\/jobs\/([^/?]+)\/?(\w*)/.exec(line) ?? []
    if (verb === 'accept' || verb === 'acquire') {
      const at = this.waiting.findIndex((job) => job.id === id)
      if (at < 0) return { status: 422, body: { message: 'The job is not to be had' } }
      this.waiting.splice(at, 1)
      return { status: 200, body: this.jobs.get(id) }
    }
    if (request.method === 'GET' && verb === '') return { status: 200, body: { state: this.jobState } }
    return { status: 200, body: {} }
  }

  private wake(): void {
    const waiting = this.watchers
    this.watchers = []
    for (const waker of waiting) waker()
  }

  private next(): Promise<void> {
    return new Promise((resolve) => {
      this.watchers.push(resolve)
    })
  }
}

const REGISTERED = {
  id: 'agent-id',
  name: 'tester',
  access_token: 'session-token',
  ping_interval: 1,
  heartbeat_interval: 10,
  job_status_interval: 1,
  meta_data: [],
}

function jobEnv(id: string): Record<string, string> {
  return {
    BUILDKITE: 'true',
    CI: 'true',
    BUILDKITE_JOB_ID: id,
    BUILDKITE_BUILD_ID: '7d5f0e3c-0d0f-4a4b-8a53-3a1b8a3c9d10',
    BUILDKITE_REPO: 'none',
    BUILDKITE_COMMIT: 'HEAD',
    BUILDKITE_BRANCH: 'main',
    BUILDKITE_PULL_REQUEST: 'false',
    BUILDKITE_AGENT_NAME: 'tester',
    BUILDKITE_ORGANIZATION_SLUG: 'acme',
    BUILDKITE_PIPELINE_SLUG: 'demo',
    BUILDKITE_PIPELINE_PROVIDER: 'git',
    BUILDKITE_SKIP_CHECKOUT: 'true',
  }
}

const withoutTimes = (log: Buffer): string => log.toString().replaceAll(/\x1b_bk;t=\d+\x07/g, '')
