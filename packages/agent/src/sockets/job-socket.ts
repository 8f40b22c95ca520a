// The socket between jobs and their agent. A job reads and changes the environment and the working directory of its later phases,
// and adds values to redact. All jobs of a process share the socket; each has a token of its own.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { isAbsolute, join, resolve } from 'node:path'
import { TooManySecrets } from '../log/job-log.ts'
import { listen, refuse } from './http.ts'
import type { SocketAnswer, SocketRoute } from './http.ts'

export const JOB_SOCKET_PATH = '/api/current-job/v0'

export interface JobApi {
  env(): Record<string, string>
  setEnv(changes: Readonly<Record<string, string>>): void
  unsetEnv(names: readonly string[]): void
  /** Returns why not; null: it is done. */
  setWorkdir(path: string): string | null
  hide(value: string): void
  redact(text: string): string
}

export interface JobSocket {
  path: string
  token: string
  /** Requests before this are refused. */
  open(job: JobApi): void
  /** Requests after this are refused. */
  close(): void
}

export interface JobSockets {
  path: string
  add(): JobSocket
  close(): void
}

/** Variables with which a job's processes reach their agent and server. */
const FIXED = new Set([
  'BUILDKITE_AGENT_ACCESS_TOKEN',
  'BUILDKITE_AGENT_ENDPOINT',
  'BUILDKITE_AGENT_JOB_API_SOCKET',
  'BUILDKITE_AGENT_JOB_API_TOKEN',
  'BUILDKITE_AGENT_PID',
  'BUILDKITE_BIN_PATH',
  'BUILDKITE_BUILD_PATH',
  'BUILDKITE_HOOKS_PATH',
  'BUILDKITE_JOB_ID',
  'BUILDKITE_PLUGINS_PATH',
  'BUILDKITE_SOCKETS_PATH',
  'MILLRACE_LOCK_TOKEN',
])

export async function listenForJobs(folder: string): Promise<JobSockets> {
  const path = join(folder, 'job.sock')
  const jobs = new Map<string, JobApi>()
  const server = await listen(path, routesOf(jobs))
  return {
    path,
    add() {
      const token = randomBytes(24).toString('hex')
      return {
        path,
        token,
        open: (job) => void jobs.set(token, job),
        close: () => void jobs.delete(token),
      }
    },
    close: () => void server.close(),
  }
}

interface JobRoute {
  name: string
  maxBodyBytes: number
  answer(job: JobApi, given: Readonly<Record<string, unknown>>): SocketAnswer
}

const MEBIBYTE = 1024 * 1024
/** Linux starts no process with a larger environment. */
const MAX_ENV_BYTES = 2 * MEBIBYTE

const ROUTES: readonly JobRoute[] = [
  { name: 'GET /env', maxBodyBytes: 0, answer: (job) => ({ status: 200, body: { env: job.env() } }) },
  { name: 'PATCH /env', maxBodyBytes: 4 * MEBIBYTE, answer: (job, { env }) => setEnv(job, env) },
  { name: 'DELETE /env', maxBodyBytes: 4 * MEBIBYTE, answer: (job, { keys }) => unsetEnv(job, keys) },
  { name: 'PATCH /workdir', maxBodyBytes: MEBIBYTE, answer: (job, { workdir }) => setWorkdir(job, workdir) },
  {
    name: 'POST /redactions',
    maxBodyBytes: 4 * MEBIBYTE,
    answer(job, { redact }) {
      if (typeof redact !== 'string') return refuse(422, 'redact must be a text')
      job.hide(redact)
      return { status: 201, body: { redacted: [] } }
    },
  },
  {
    name: 'POST /redacted',
    maxBodyBytes: 16 * MEBIBYTE,
    answer(job, { text }) {
      if (typeof text !== 'string') return refuse(422, 'text must be a text')
      return { status: 200, body: { text: job.redact(text) } }
    },
  },
]

export function routesOf(jobs: ReadonlyMap<string, JobApi>): SocketRoute[] {
  return ROUTES.map(({ name, maxBodyBytes, answer }): SocketRoute => {
    const [method = '', path = ''] = name.split(' ')
    return {
      method,
      path: `${JOB_SOCKET_PATH}${path}`,
      maxBodyBytes,
      answer(request) {
        const [, job] = [...jobs].find(([token]) => isSame(request.token, token)) ?? []
        if (job === undefined) return refuse(401, 'the token is wrong')
        const { body } = request
        const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
        try {
          return answer(job, given)
        } catch (error) {
          if (error instanceof TooManySecrets) return refuse(422, error.message)
          throw error
        }
      },
    }
  })
}

function setEnv(job: JobApi, env: unknown): SocketAnswer {
  const entries =
    typeof env === 'object' && env !== null ? Object.entries(env as Record<string, unknown>) : []
  const changes: Record<string, string> = {}
  for (const [name, value] of entries) {
    if (FIXED.has(name)) return refuse(422, `${name} cannot be changed`)
    if (typeof value !== 'string' || name === '' || /[=\0]/.test(name))
      return refuse(422, `${name} is no variable`)
    changes[name] = value
  }
  const before = job.env()
  const names = Object.keys(changes)
  if (bytesOf({ ...before, ...changes }) > MAX_ENV_BYTES)
    return refuse(422, `the environment would have more than ${MAX_ENV_BYTES} bytes`)
  job.setEnv(changes)
  return {
    status: 200,
    body: {
      added: names.filter((name) => !Object.hasOwn(before, name)),
      updated: names.filter((name) => Object.hasOwn(before, name)),
    },
  }
}

function unsetEnv(job: JobApi, keys: unknown): SocketAnswer {
  const names = Array.isArray(keys) ? keys.filter((key): key is string => typeof key === 'string') : []
  const fixed = names.find((name) => FIXED.has(name))
  if (fixed !== undefined) return refuse(422, `${fixed} cannot be unset`)
  const before = job.env()
  job.unsetEnv(names)
  return { status: 200, body: { unset: names.filter((name) => Object.hasOwn(before, name)) } }
}

function setWorkdir(job: JobApi, workdir: unknown): SocketAnswer {
  if (typeof workdir !== 'string' || !isAbsolute(workdir) || workdir.includes('\0'))
    return refuse(422, 'workdir must be an absolute path')
  const path = resolve(workdir)
  const problem = job.setWorkdir(path)
  return problem === null ? { status: 200, body: { workdir: path } } : refuse(422, problem)
}

function bytesOf(env: Readonly<Record<string, string>>): number {
  return Object.entries(env).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 2,
    0,
  )
}

function isSame(given: string, token: string): boolean {
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token))
}
