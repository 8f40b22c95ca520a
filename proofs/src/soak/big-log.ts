// Sends and reads one very long log, before and after its chunks are merged, and measures the server's memory.
import { createHash, type Hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import pg from 'pg'
import { endedSeconds } from '@millrace/server/resources/builds/log/ingest/compaction-queries.ts'
import type { OnFailure } from './ask.ts'
import { Client } from './client.ts'
import { logText } from './log-text.ts'
import { databaseUrl, Server, type Started } from './program.ts'
import { restOf, type Rest } from './rest.ts'

interface BigLog {
  violations: string[]
  figures: Record<string, string>
}

const compress = promisify(gzip)
const mib = 1024 * 1024
const tailBytes = 3 * mib
const shortBytes = 8 * mib
const senders = 3

/** `boundMib` limits the server's additional memory. Without a data directory it creates one. */
export async function passBigLog(sizeMib: number, boundMib: number, data: string | null): Promise<BigLog> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-big-log-'))
  const server = new Server(data ?? join(folder, 'data'), { MILLRACE_AGENTS: '0' })
  try {
    const started = await server.start()
    return await pass(server, started, sizeMib * mib, boundMib)
  } finally {
    await server.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
}

async function pass(server: Server, started: Started, size: number, boundMib: number): Promise<BigLog> {
  const violations: string[] = []
  const figures: Record<string, string> = {}
  const { organization = '', token = '' } = started.first ?? {}
  const rest = restOf(started.url, organization, token)
  const onFailure: OnFailure = (call, _reason, status) => {
    if (status === 500) violations.push(`The server answered 500 to ${call}.`)
  }
  const job = await startJob(rest, started.url, onFailure)
  // Warm up, so that all code is loaded, the threads run, and the heaps have the size for a short log.
  await send(job.client, job.id, 0, shortBytes)
  await readWhole(started.url, organization, token, job.id)
  await readRows(started.url, organization, token, job.id)
  const usualMib = resetPeak(server.pid)

  const time = async (what: string, bytes: number, work: () => Promise<void>) => {
    const start = performance.now()
    await work()
    const seconds = (performance.now() - start) / 1000
    figures[what] = `${(bytes / mib / seconds).toFixed(1)} MiB/s`
  }
  const expected = digest(job.id, size)
  const compare = async (life: string) => {
    const read = await readWhole(started.url, organization, token, job.id)
    if (read.size !== size) violations.push(`The log has ${read.size} of ${size} bytes ${life}.`)
    if (read.digest !== expected) violations.push(`The log is not what was sent ${life}.`)
    const tail = await readTail(started.url, organization, token, job.id)
    if (!tail.equals(logText(job.id, size - tailBytes, size))) {
      violations.push(`The end of the log is not what was sent ${life}.`)
    }
  }
  await time('taken in', size - shortBytes, () => send(job.client, job.id, shortBytes, size))
  await job.client.call('PUT', `jobs/${job.id}/finish`, {
    json: { exit_status: '0', chunks_failed_count: 0 },
  })
  await time('read while in pieces', size, () => compare('while it lies in pieces'))
  await time('put together', size, () => untilCompacted(started, job.id))
  await time('read when put together', size, () => compare('when it is put together'))

  const tookMib = peakMib(server.pid) - usualMib
  figures['memory of the server'] =
    `${usualMib.toFixed(0)} MiB before, ${tookMib.toFixed(0)} MiB more at most`
  if (tookMib > boundMib) {
    violations.push(
      `The server took ${tookMib.toFixed(0)} MiB more for the log, and ${boundMib} MiB is the bound.`,
    )
  }
  return { violations, figures }
}

async function startJob(rest: Rest, address: string, onFailure: OnFailure) {
  const [cluster] = await rest.get<Array<{ id: string }>>('clusters')
  const path = `clusters/${cluster?.id ?? ''}`
  const { token } = await rest.post<{ token: string }>(`${path}/tokens`, { description: 'big log' })
  await rest.post('pipelines', {
    name: 'big-log',
    repository: 'https://git.example.com/big-log.git',
    cluster_id: cluster?.id,
    configuration: 'steps: [{command: talk}]',
  })
  await rest.post('pipelines/big-log/builds', { commit: 'HEAD', branch: 'main', message: 'big log' })
  const registration = new Client(address, token, onFailure)
  const { access_token } = await registration.call<{ access_token: string }>('POST', 'register', {
    json: { name: 'talker', meta_data: [], features: [] },
  })
  const session = registration.withToken(access_token)
  await session.call('POST', 'connect')
  for (;;) {
    const { job } = await session.call<{ job?: { id: string } }>('GET', 'ping')
    if (job === undefined) continue
    const given = await session.call<{ token: string }>('PUT', `jobs/${job.id}/accept`, {
      json: { start: true },
    })
    return { id: job.id, client: session.withToken(given.token) }
  }
}

const chunkBytes = 100 * 1024

async function send(client: Client, jobId: string, from: number, to: number): Promise<void> {
  let position = from
  const sendSome = async () => {
    while (position < to) {
      const start = position
      const end = Math.min(start + chunkBytes, to)
      position = end
      // Chunks with different offsets have different numbers.
      const sequence = Math.floor(start / chunkBytes) + (start % chunkBytes === 0 ? 1 : 1_000_000)
      const gzipped = await compress(logText(jobId, start, end), { level: 1 })
      const query = `sequence=${sequence}&offset=${start}&size=${end - start}`
      await client.call('POST', `jobs/${jobId}/chunks?${query}`, { gzipped })
    }
  }
  await Promise.all(Array.from({ length: senders }, sendSome))
}

function digest(jobId: string, size: number): string {
  const hash = createHash('sha256')
  for (let from = 0; from < size; from += mib) hash.update(logText(jobId, from, Math.min(from + mib, size)))
  return hash.digest('hex')
}

async function ask(address: string, organization: string, token: string, jobId: string, range?: string) {
  const headers = { authorization: `Bearer ${token}`, ...(range === undefined ? {} : { range }) }
  const answer = await fetch(`${address}/v2/organizations/${organization}/jobs/${jobId}/log.txt?raw=true`, {
    headers,
  })
  if (!answer.ok || answer.body === null) throw new Error(`The log was not given: ${answer.status}`)
  return answer.body
}

/** Rows are made in a thread. */
async function readRows(url: string, organization: string, token: string, job: string): Promise<void> {
  const path = `/v2/organizations/${organization}/jobs/${job}/log/rows?tail=2000`
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })
  if (!response.ok) throw new Error(`GET ${path}: ${await response.text()}`)
  await response.arrayBuffer()
}

async function readWhole(address: string, organization: string, token: string, jobId: string) {
  const hash: Hash = createHash('sha256')
  let size = 0
  for await (const bytes of await ask(address, organization, token, jobId)) {
    hash.update(bytes)
    size += bytes.length
  }
  return { size, digest: hash.digest('hex') }
}

async function readTail(
  address: string,
  organization: string,
  token: string,
  jobId: string,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of await ask(address, organization, token, jobId, `bytes=-${tailBytes}`))
    parts.push(part)
  return Buffer.concat(parts)
}

/** The server merges chunks a while after the end of a job, so the end is moved to where it looks next. */
async function untilCompacted(started: Started, jobId: string): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl(started) })
  await db.connect()
  try {
    await db.query('update jobs set finished_at = now() - make_interval(secs => $2) where id = $1', [
      jobId,
      endedSeconds - 1,
    ])
    for (;;) {
      const { rows } = await db.query('select from job_logs where job_id = $1 and finished_at is not null', [
        jobId,
      ])
      if (rows.length > 0) return
      await delay(200)
    }
  } finally {
    await db.end()
  }
}

const statusMib = (pid: number, field: string) =>
  Number(
    new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0,
  ) / 1024

const peakMib = (pid: number) => statusMib(pid, 'VmHWM')

/** Resets the peak. */
function resetPeak(pid: number): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return statusMib(pid, 'VmRSS')
}
