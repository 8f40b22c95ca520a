// A server on a database of the tests, called over real HTTP. Every response is checked against the schema of its route, so
// each test also tests the fields that it does not name.
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import pino from 'pino'
import { Compile } from 'typebox/compile'
import { Pool } from 'undici'
import { afterAll, beforeAll, inject } from 'vitest'
import { buildApp, slices } from '../src/app.ts'
import { readConfig } from '../src/config/config.ts'
import { createContext, type Context } from '../src/context.ts'
import { openDatabase, type Database, type DatabaseOptions, type Db } from '../src/db/pool.ts'
import type { HostedDriver } from '../src/hosted/driver.ts'
import { closer } from '../src/http/close.ts'
import { createMetrics } from '../src/lib/metrics.ts'
import type { Tracer } from '../src/lib/tracing.ts'
import type { Route } from '../src/http/route.ts'
import { demoteConsequences } from '../src/program/log.ts'
import { cloneTemplate, dropClone } from './app/database.ts'
import { eventually } from './eventually.ts'
import { offerExample, type Candidate } from './app/examples.ts'
import { asHeaders, exchange, type Exchanged } from './app/exchange.ts'

export { eventually }

export interface TestApp {
  ctx: Context
  db: Db
  /** For a second server on the same database: `startApp({}, app.database)`. */
  database: Database
  /** The address it listens on. Links in responses begin with `ctx.config.url` instead. */
  address: string
  logLines: string[]
  /** Everything that is registered, such as `GET /v2/user`. */
  endpoints: readonly string[]
  request(method: string, path: string, options?: RequestOptions): Promise<TestAnswer>
  close(): Promise<void>
}

interface RequestOptions {
  token?: string
  body?: unknown
  /** Sent as it is, instead of `body`. */
  text?: string
  headers?: Record<string, string>
}

export interface TestAnswer {
  status: number
  headers: Headers
  text: string
  body: Json
  /** The body of a list: a bare array, or the `items` of a cursor list. */
  list: Json[]
}

/** A JSON value read the way a client reads it: by the names of its fields. */
export interface Json {
  [key: string]: Json
}

export interface AppOptions {
  env?: Record<string, string>
  hosted?: HostedDriver | null
  tracer?: Tracer
  now?: () => Date
}

export const baseUrl = 'http://millrace.test'

/** Starts a server on the given database, or on a new one that ends with it. */
export async function startApp(options: AppOptions = {}, database?: Database): Promise<TestApp> {
  if (database !== undefined) return startOn(database, options)
  const clone = await openClone({ tracer: options.tracer ?? null })
  const app = await startOn(clone, options)
  return {
    ...app,
    async close() {
      await app.close()
      await clone.drop()
    },
  }
}

async function startOn(database: Database, options: AppOptions): Promise<TestApp> {
  const dataDir = await mkdtemp(join(inject('dataFolder'), 'server-'))
  const read = readConfig({ MILLRACE_URL: baseUrl, MILLRACE_DATA_DIR: dataDir, ...options.env })
  if (!read.ok) throw new Error(read.problems.join(' '))
  const logLines: string[] = []
  const log = pino(
    { level: 'info', hooks: { logMethod: demoteConsequences } },
    { write: (line: string) => void logLines.push(line) },
  )
  database.outage.reportTo(log)
  const secretKeys = ['a secret key that only tests know, 32+ characters']
  const ctx = createContext({
    config: read.config,
    db: database.db,
    direct: database.direct,
    log,
    secretKeys,
    hosted: options.hosted ?? null,
    metrics: createMetrics(),
    tracer: options.tracer ?? null,
    ...(options.now && { now: options.now }),
  })
  const app = await buildApp(ctx, database)
  const checkAnswer = answerChecker(app)
  const { close } = closer(app, 10_000)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const client = new Pool(address)

  return {
    ctx,
    db: database.db,
    database,
    address,
    logLines,
    endpoints: endpointsOf(app),
    async request(method, path, { token, body, text, headers = {} } = {}) {
      const payload = text ?? (body === undefined ? undefined : JSON.stringify(body))
      const answer = await exchange(client, {
        method,
        path,
        headers: {
          ...likeFetch,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined
            ? {}
            : { 'content-type': text === undefined ? 'application/json' : textType }),
          ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        },
        body: payload ?? null,
      })
      const read = readAnswer(answer)
      checkAnswer(read)
      return read
    },
    async close() {
      await Promise.all([close(), client.close()])
      await Promise.all([ctx.tokenUse.flush(), ctx.sessionUse.flush(), ctx.agentActivity.flush()])
      await ctx.outbound.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Reads the tree that Fastify prints: each line has the rest of a path, and its methods. */
function endpointsOf(app: FastifyInstance): string[] {
  const above: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] = /^([│ ]*)[├└]── (.*) \(([A-Z, ]+)\)$/.exec(line) ?? []
      const depth = indent.length / 4
      above.length = depth
      above[depth] = part
      return methods === '' ? [] : methods.split(', ').map((method) => `${method} ${above.join('')}`)
    })
}

interface Clone extends Database {
  drop(): Promise<void>
}

async function openClone({
  tracer = null,
  maxConnections = 16,
}: Pick<DatabaseOptions, 'tracer' | 'maxConnections'>): Promise<Clone> {
  const server = inject('database')
  const connection = await cloneTemplate(server)
  const database = openDatabase(connection, {
    maxConnections,
    // A busy machine does not reach them.
    limits: { connectSeconds: 120, statementSeconds: 120 },
    tracer,
  })
  return {
    ...database,
    async drop() {
      await database.close()
      await dropClone(server, connection.database ?? '')
    },
  }
}

const likeFetch = { accept: '*/*', 'user-agent': 'node' }
const textType = 'text/plain;charset=UTF-8'

function readAnswer({ status, headers, text }: Exchanged): TestAnswer {
  const isJson = String(headers['content-type']).includes('json')
  const body = (isJson && text !== '' ? JSON.parse(text) : {}) as Json
  const list = (Array.isArray(body) ? body : Array.isArray(body.items) ? body.items : []) as Json[]
  return {
    status,
    text,
    body,
    list,
    // Built lazily, because few tests read them.
    get headers() {
      return asHeaders(headers)
    },
  }
}

/**
 * The server that all files of this worker share, with whatever rows they leave. So a test makes its own organization and
 * asserts only about it. `logLines` begins with the file. Files that give an equal `env` share one more server on the same
 * database, so give only what several files need.
 */
export function useApp({ env = {} }: { env?: Record<string, string> } = {}): TestApp {
  let intact: Context
  return useRunning(
    async () => {
      const app = await sharedApp(env)
      app.logLines.length = 0
      intact = { ...app.ctx }
      return app
    },
    ({ ctx }) => {
      const changed = Object.entries(intact).filter(([name, part]) => Reflect.get(ctx, name) !== part)
      Object.assign(ctx, intact)
      if (changed.length === 0) return
      const names = changed.map(([name]) => name).join(', ')
      throw new Error(`Other files use this server too: restore ctx.${names}, or start one with useOwnApp.`)
    },
  )
}

/**
 * A server and a database for one file: for tests of what belongs to no organization. Such tests read or count whole
 * tables, run loops over all organizations, set what is global, break or stop the server, or need options of their own.
 */
export function useOwnApp(options: AppOptions = {}): TestApp {
  return useRunning(
    () => startApp(options),
    (app) => app.close(),
  )
}

// Both live as long as the worker, whose thread closes its sockets when it ends. The run deletes all databases and data
// folders after that.
let sharedDatabase: Promise<Database> | undefined
const sharedApps = new Map<string, Promise<TestApp>>()

function sharedApp(env: Record<string, string>): Promise<TestApp> {
  const key = JSON.stringify(env)
  const app = sharedApps.get(key) ?? startSharedApp(env)
  sharedApps.set(key, app)
  return app
}

async function startSharedApp(env: Record<string, string>): Promise<TestApp> {
  // Each server holds two connections for notifications.
  sharedDatabase ??= openClone({ maxConnections: 24 })
  // An agent without work would wait for seconds.
  return startApp({ env: { MILLRACE_PING_HOLD_SECONDS: '0', ...env } }, await sharedDatabase)
}

function useRunning(start: () => Promise<TestApp>, leave: (app: TestApp) => void | Promise<void>): TestApp {
  let running: TestApp | undefined
  beforeAll(async () => {
    running = await start()
  })
  afterAll(async () => {
    if (running !== undefined) await leave(running)
  })
  const current = () => {
    if (running === undefined) throw new Error('The app runs only while tests do.')
    return running
  }
  return {
    get ctx() {
      return current().ctx
    },
    get db() {
      return current().db
    },
    get database() {
      return current().database
    },
    get endpoints() {
      return current().endpoints
    },
    get address() {
      return current().address
    },
    get logLines() {
      return current().logLines
    },
    request: (...args) => current().request(...args),
    close: () => Promise.reject(new Error('A hook closes it.')),
  }
}

/** Checks an answer against the schema that its route declares. The request's id says which route it was. */
function answerChecker(app: FastifyInstance): (answer: TestAnswer) => void {
  const declared = new Map<string, Route['answers']>(
    Object.values(slices)
      .flat()
      .flatMap((route) => route.methods.map((method) => [`${method} ${route.url}`, route.answers] as const)),
  )
  const taken = new Map<string, Pick<Candidate, 'endpoint' | 'params'>>()
  app.addHook('onRequest', (request, _reply, next) => {
    const endpoint = `${request.method} ${request.routeOptions.url}`
    if (declared.has(endpoint)) {
      taken.set(request.id, { endpoint, params: request.params as Record<string, string> })
    }
    next()
  })
  return ({ status, headers, body, text }) => {
    const id = headers.get('x-request-id') ?? ''
    const request = taken.get(id)
    taken.delete(id)
    const schema = request === undefined ? undefined : declared.get(request.endpoint)?.[status]
    if (request === undefined || status >= 400 || !schema) return
    const isJson = String(headers.get('content-type')).includes('json')
    // Some routes have other formats on request; their schema describes the JSON.
    if (!isJson && !('contentMediaType' in schema)) return
    const [wrong] = checkOf(schema).Errors(isJson ? body : text)
    if (wrong !== undefined) {
      throw new Error(`The answer does not fit its schema: ${JSON.stringify(wrong)} in ${text}`)
    }
    if (isJson) offerExample({ ...request, status, body })
  }
}

// Compiling all schemas takes longer than most tests, so compile each on first use.
const compiled = new WeakMap<object, ReturnType<typeof Compile>>()

/** A check that also refuses fields which the schema does not name. */
export function checkOf(schema: object): ReturnType<typeof Compile> {
  const check = compiled.get(schema) ?? Compile(closed(schema))
  compiled.set(schema, check)
  return check
}

/** The same schema, refusing keys it does not name. */
function closed(schema: object): object {
  if (Array.isArray(schema)) return schema.map((entry: object) => closed(entry))
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      typeof value === 'object' && value !== null ? closed(value) : value,
    ]),
  )
  const isOpen = copy['type'] !== 'object' || !('properties' in copy) || 'additionalProperties' in copy
  return isOpen ? copy : { ...copy, additionalProperties: false }
}

/** Waits until a statement of this app waits for a lock, other than the shared locks of the access watch. */
export async function untilBlocked(app: TestApp): Promise<void> {
  await eventually('a statement waits for a lock', async () => {
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and query not like '%pg_advisory_lock_shared%'`.execute(app.db)
    return rows.length > 0
  })
}

/** The statuses of simultaneous requests, whose order is not defined. */
export const sortedStatuses = (answers: ReadonlyArray<{ status: number }>): number[] =>
  answers.map(({ status }) => status).sort((a, b) => a - b)
