// Simulated agents that run nothing, several in one process that may be killed at any moment. They report acknowledged
// requests to the parent process, always after the response.
import { createHash, randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { systemClock } from '@millrace/agent/clock.ts'
import { openSession } from '@millrace/agent/http/session.ts'
import { followStream } from '@millrace/agent/worker/stream.ts'
import { send } from '../../../testbed/dist/children.js'
import type { OnFailure } from './ask.ts'
import { Client, Refused } from './client.ts'
import { throwDice, type Dice } from '../dice.ts'
import type { Entry } from './ledger.ts'
import { logText } from './log-text.ts'

interface Settings {
  address: string
  token: string
  agents: number
  seed: number
  /** The share of agents that get their jobs on a stream. The others poll. */
  streams: number
  /** The longest duration of a job. */
  jobMs: number
}

interface Given {
  id: string
  token: string
  state?: string
  chunks_max_size_bytes: number
  env: Record<string, string>
}

const compress = promisify(gzip)
const note = (entry: Entry) => send(entry)

const noteFailure: OnFailure = (call, reason, status) => {
  if (status === 500) note({ kind: 'bug', call })
  note({ kind: 'failure', call, reason: `${status ?? 'no answer'} ${reason}`, at: Date.now() })
}

/** A lost agent, and one whose job was canceled, lost or ended, is refused with one of these. */
const expectedStatuses: ReadonlySet<number> = new Set([401, 404, 422])

function noteRefusal({ status, message }: Refused): void {
  if (!expectedStatuses.has(status)) note({ kind: 'refusal', reason: message })
}

interface Registered {
  id: string
  access_token: string
  heartbeat_interval: number
}

async function runAgent(settings: Settings, dice: Dice): Promise<never> {
  const registration = new Client(settings.address, settings.token, noteFailure)
  const hasStream = dice.happens(settings.streams)
  for (;;) {
    const registered = await registration.call<Registered>('POST', 'register', {
      json: { name: 'soak-%random', meta_data: ['queue=simulated'], features: [] },
    })
    const session = registration.withToken(registered.access_token)
    await session.call('POST', 'connect')
    const over = new AbortController()
    void beat(session, registered.heartbeat_interval, over.signal)
    const nextJob = hasStream
      ? streamOf(settings.address, registered, over.signal)
      : () => pollOnce(session, dice)
    try {
      await serve(session, nextJob, settings, dice)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // The agent was marked as lost, so it registers again.
      noteRefusal(error)
      note({ kind: 'note', what: `a session ended with ${error.status}` })
    } finally {
      over.abort()
    }
  }
}

async function beat(session: Client, seconds: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await delay(seconds * 1000)
    if (!signal.aborted) await session.call('POST', 'heartbeat', { json: {} }).catch(() => {})
  }
}

/** The id of a job for the agent; null: none so far. */
type NextJob = () => Promise<string | null>

async function pollOnce(session: Client, dice: Dice): Promise<string | null> {
  const { job } = await session.call<{ job?: { id: string } }>('GET', 'ping')
  if (job === undefined) await delay(50 + dice.next() * 100)
  return job?.id ?? null
}

/** Follows the ping stream with the code of our runner. */
function streamOf(address: string, { id, access_token }: Registered, signal: AbortSignal): NextJob {
  const offered: string[] = []
  const events = new EventEmitter()
  let isOver = false
  const end = () => {
    isOver = true
    events.emit('change')
  }
  void followStream({
    session: openSession(`${address}/v3`, access_token),
    agentId: id,
    clock: systemClock,
    signal,
    onMessage(message) {
      if (message.action === 'disconnect') return end()
      if (message.action === 'job') offered.push(message.job_id)
      events.emit('change')
    },
    onHealth: () => {},
  }).then(end)
  return async () => {
    if (offered.length === 0 && !isOver) await once(events, 'change')
    if (isOver) throw new Refused(401, 'The stream ended.')
    return offered.shift() ?? null
  }
}

async function serve(session: Client, nextJob: NextJob, settings: Settings, dice: Dice): Promise<never> {
  for (;;) {
    const jobId = await nextJob()
    if (jobId === null) continue
    try {
      const startsAtOnce = dice.happens(0.5)
      const json = startsAtOnce ? { start: true } : {}
      const askedAt = Date.now()
      const given = await session.call<Given>('PUT', `jobs/${jobId}/accept`, { json })
      if (startsAtOnce) noteStart(given, askedAt)
      await runJob(session.withToken(given.token), given, settings, dice)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      noteRefusal(error)
      note({ kind: 'note', what: `a job was dropped after ${error.status}` })
    }
  }
}

async function runJob(client: Client, job: Given, settings: Settings, dice: Dice): Promise<void> {
  if (job.state !== 'running') {
    const askedAt = Date.now()
    await client.call('PUT', `jobs/${job.id}/start`, { json: {} })
    noteStart(job, askedAt)
  }
  const endsAt = Date.now() + dice.next() * settings.jobMs
  const size = dice.happens(0.05) ? dice.between(1, 2_000_000) : dice.between(0, 20_000)
  const parts = cut(job, size, dice)
  const senders = Array.from({ length: 3 }, async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) await sendPart(client, job, part)
  })
  await Promise.all([
    ...senders,
    sendFiles(client, job, dice),
    sendMetaData(client, job),
    annotate(client, job),
  ])
  while (Date.now() < endsAt) {
    const { state } = await client.call<{ state: string }>('GET', `jobs/${job.id}`)
    if (state !== 'running') break
    await delay(Math.min(200, Math.max(endsAt - Date.now(), 0)))
  }
  const exitStatus = dice.happens(0.02) ? 1 : 0
  await client.call('PUT', `jobs/${job.id}/finish`, {
    json: { exit_status: String(exitStatus), chunks_failed_count: 0, finished_at: new Date().toISOString() },
  })
  note({ kind: 'finish', jobId: job.id, exitStatus })
}

interface Part {
  sequence: number
  from: number
  to: number
}

/** Split anywhere, also within a line, and sent out of order. */
function cut(job: Given, size: number, dice: Dice): Part[] {
  const parts: Part[] = []
  for (let from = 0; from < size;) {
    const to = Math.min(size, from + dice.between(1, job.chunks_max_size_bytes))
    parts.push({ sequence: parts.length + 1, from, to })
    from = to
  }
  return parts
    .map((part) => ({ part, place: part.sequence + dice.between(0, 3) }))
    .sort((a, b) => a.place - b.place)
    .map(({ part }) => part)
}

async function sendPart(client: Client, job: Given, { sequence, from, to }: Part): Promise<void> {
  const gzipped = await compress(logText(job.id, from, to), { level: 1 })
  const query = `sequence=${sequence}&offset=${from}&size=${to - from}`
  await client.call('POST', `jobs/${job.id}/chunks?${query}`, { gzipped })
  note({ kind: 'log', jobId: job.id, from, to })
}

interface Instructions {
  data: Record<string, string>
  action: { url: string; method: string; path: string; file_input: string }
}

async function sendFiles(client: Client, job: Given, dice: Dice): Promise<void> {
  if (dice.happens(0.3)) return
  const bytes = logText(job.id, 0, dice.between(0, 50_000))
  const path = `out/${job.id}.txt`
  const sum = (algorithm: string) => createHash(algorithm).update(bytes).digest('hex')
  const sha256 = sum('sha256')
  const file = {
    path,
    absolute_path: `/${path}`,
    file_size: bytes.length,
    sha1sum: sum('sha1'),
    sha256sum: sha256,
  }
  const json = {
    id: randomUUID(),
    upload_destination: '',
    artifacts: [{ ...file, content_type: 'text/plain' }],
  }
  const batch = await client.call<{
    artifact_ids: string[]
    per_artifact_instructions: Record<string, Instructions>
  }>('POST', `jobs/${job.id}/artifacts`, { json })
  const [artifactId = ''] = batch.artifact_ids
  const instructions = batch.per_artifact_instructions[artifactId]
  if (instructions === undefined) throw new Error('The server did not say where to send a file.')
  await upload(client, instructions, path, bytes)
  await client.call('PUT', `jobs/${job.id}/artifacts`, {
    json: { artifacts: [{ id: artifactId, state: 'finished' }] },
  })
  note({ kind: 'artifact', jobId: job.id, artifactId, sha256 })
}

async function upload(
  client: Client,
  { data, action }: Instructions,
  path: string,
  bytes: Buffer,
): Promise<void> {
  const form = new FormData()
  for (const [name, value] of Object.entries(data)) form.set(name, value)
  form.set(action.file_input, new Blob([new Uint8Array(bytes)]), path)
  await client.sendForm(action.method, new URL(action.path, action.url).href, form)
}

async function sendMetaData(client: Client, job: Given): Promise<void> {
  const key = `soak-${job.id}`
  const value = createHash('sha256').update(job.id).digest('hex')
  await client.call('POST', `jobs/${job.id}/data/set`, { json: { key, value } })
  note({ kind: 'meta_data', buildId: buildOf(job), key, value })
}

/** Not appended: an annotation that replaces the one of its context may be sent again. */
async function annotate(client: Client, job: Given): Promise<void> {
  const context = `soak-${job.id}`
  const body = createHash('sha256').update(context).digest('hex')
  await client.call('POST', `jobs/${job.id}/annotations`, { json: { context, body, append: false } })
  note({ kind: 'annotation', buildId: buildOf(job), context, body })
}

const buildOf = ({ env }: Given): string => env['BUILDKITE_BUILD_ID'] ?? ''

const noteStart = (job: Given, askedAt: number): void =>
  note({ kind: 'start', jobId: job.id, buildId: buildOf(job), askedAt })

const settings = JSON.parse(process.env['SOAK_AGENTS'] ?? '{}') as Settings
for (let number = 0; number < settings.agents; number++) {
  runAgent(settings, throwDice(settings.seed + number)).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
}
send('ready')
