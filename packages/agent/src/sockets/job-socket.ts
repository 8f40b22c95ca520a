// The socket between jobs and their agent. A job reads and changes the environment of its later phases, and adds values to
// redact. All jobs of a process share the socket; each has a token of its own.

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { listen } from './http.ts'
import type { SocketAnswer, SocketRequest } from './http.ts'

export const JOB_SOCKET_PATH = '/api/current-job/v0'

interface JobApi {
  env(): Record<string, string>
  setEnv(changes: Readonly<Record<string, string>>): void
  unsetEnv(names: readonly string[]): void
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
])

export async function listenForJobs(folder: string): Promise<JobSockets> {
  const path = join(folder, 'job.sock')
  const jobs = new Map<string, JobApi>()
  const server = await listen(path, (request) => {
    for (const [token, job] of jobs) if (isSame(request.token, token)) return answer(job, request)
    return refuse(401, 'the token is wrong')
  })
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

function answer(job: JobApi, { method, path, body }: SocketRequest): SocketAnswer {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  switch (`${method} ${path.slice(JOB_SOCKET_PATH.length)}`) {
    case 'GET /env':
      return { status: 200, body: { env: job.env() } }
    case 'PATCH /env':
      return setEnv(job, given['env'])
    case 'DELETE /env':
      return unsetEnv(job, given['keys'])
    case 'POST /redactions':
      if (typeof given['redact'] !== 'string') return refuse(422, 'redact must be a text')
      job.hide(given['redact'])
      return { status: 201, body: { redacted: [] } }
    case 'POST /redacted':
      if (typeof given['text'] !== 'string') return refuse(422, 'text must be a text')
      return { status: 200, body: { text: job.redact(given['text']) } }
    default:
      return refuse(404, 'there is nothing here')
  }
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

function refuse(status: number, error: string): SocketAnswer {
  return { status, body: { error } }
}

function isSame(given: string, token: string): boolean {
  return given.length === token.length && timingSafeEqual(Buffer.from(given), Buffer.from(token))
}
