// Simulated agents that run nothing, several in one process that may be killed at any moment. They report acknowledged
// requests to the parent process, always after the response.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { send } from '../children.ts'
import { Client, Refused } from './client.ts'
import { throwDice, type Dice } from './dice.ts'
import type { Entry } from './ledger.ts'
import { logText } from './log-text.ts'

interface Settings {
  address: string
  token: string
  agents: number
  seed: number
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

async function runAgent(settings: Settings, dice: Dice): Promise<never> {
  const registration = new Client(settings.address, settings.token, (call) => note({ kind: 'bug', call }))
  for (;;) {
    const { access_token, heartbeat_interval } = await registration.call<{
      access_token: string
      heartbeat_interval: number
    }>('POST', 'register', { json: { name: 'soak-%random', meta_data: ['queue=simulated'], features: [] } })
    const session = registration.withToken(access_token)
    await session.call('POST', 'connect')
    const over = new AbortController()
    void beat(session, heartbeat_interval, over.signal)
    try {
      await serve(session, settings, dice)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      // The agent was marked as lost, so it registers again.
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

async function serve(session: Client, settings: Settings, dice: Dice): Promise<never> {
  for (;;) {
    const { job } = await session.call<{ job?: { id: string } }>('GET', 'ping')
    if (job === undefined) {
      await delay(50 + dice.next() * 100)
      continue
    }
    try {
      const startsAtOnce = dice.happens(0.5)
      const json = startsAtOnce ? { start: true } : {}
      const given = await session.call<Given>('PUT', `jobs/${job.id}/accept`, { json })
      await runJob(session.withToken(given.token), given, settings, dice)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      note({ kind: 'note', what: `a job was dropped after ${error.status}` })
    }
  }
}

async function runJob(client: Client, job: Given, settings: Settings, dice: Dice): Promise<void> {
  if (job.state !== 'running') await client.call('PUT', `jobs/${job.id}/start`, { json: {} })
  const endsAt = Date.now() + dice.next() * settings.jobMs
  const size = dice.happens(0.05) ? dice.between(1, 2_000_000) : dice.between(0, 20_000)
  const parts = cut(job, size, dice)
  const senders = Array.from({ length: 3 }, async () => {
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) await sendPart(client, job, part)
  })
  await Promise.all([...senders, sendFiles(client, job, dice), sendMetaData(client, job)])
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
  await upload(instructions, path, bytes)
  await client.call('PUT', `jobs/${job.id}/artifacts`, {
    json: { artifacts: [{ id: artifactId, state: 'finished' }] },
  })
  note({ kind: 'artifact', jobId: job.id, artifactId, sha256 })
}

async function upload({ data, action }: Instructions, path: string, bytes: Buffer): Promise<void> {
  const url = new URL(action.path, action.url)
  for (;;) {
    const form = new FormData()
    for (const [name, value] of Object.entries(data)) form.set(name, value)
    form.set(action.file_input, new Blob([new Uint8Array(bytes)]), path)
    const answer = await fetch(url, { method: action.method, body: form }).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
    if (answer?.ok === true) return
    if (answer !== null && answer.status < 500 && answer.status !== 429) {
      throw new Refused(answer.status, 'The file was refused.')
    }
    await delay(200)
  }
}

async function sendMetaData(client: Client, job: Given): Promise<void> {
  const key = `soak-${job.id}`
  const value = createHash('sha256').update(job.id).digest('hex')
  await client.call('POST', `jobs/${job.id}/data/set`, { json: { key, value } })
  note({ kind: 'meta_data', buildId: job.env['BUILDKITE_BUILD_ID'] ?? '', key, value })
}

const settings = JSON.parse(process.env['SOAK_AGENTS'] ?? '{}') as Settings
for (let number = 0; number < settings.agents; number++) {
  runAgent(settings, throwDice(settings.seed + number)).catch((error: unknown) => {
    console.error(error)
    process.exit(1)
  })
}
send('ready')
