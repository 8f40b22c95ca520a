// The checks after a soak. Each finding is one sentence; an empty list is a success.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Entry } from './ledger.ts'
import { logText, partsOf } from './log-text.ts'
import type { Rest } from './rest.ts'

export interface Outcome {
  violations: string[]
  counts: Record<string, number>
}

const finalJobs = [
  'passed',
  'failed',
  'canceled',
  'timed_out',
  'expired',
  'skipped',
  'broken',
  'waiting_failed',
]
const finalJobStates = new Set([...finalJobs, 'unblocked', 'unblocked_failed', 'blocked_failed'])
const finalBuilds = new Set(['passed', 'failed', 'canceled', 'skipped', 'not_run'])

export async function check(
  db: pg.Client,
  rest: Rest,
  { ledger, builds, runnerLines }: { ledger: readonly Entry[]; builds: number; runnerLines: number },
): Promise<Outcome> {
  const violations: string[] = []
  const counts: Record<string, number> = {}
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by
  }
  await checkStates(db, builds, violations, count)
  await checkHistories(db, violations)
  await checkFinishes(db, ledger, violations, count)
  await checkLogs(rest, ledger, violations, count)
  await checkArtifacts(rest, ledger, violations, count)
  await checkMetaData(db, ledger, violations, count)
  await checkAnnotations(db, ledger, violations, count)
  await checkRunnerJobs(db, rest, runnerLines, violations, count)
  for (const entry of ledger) {
    if (entry.kind === 'note') count(entry.what)
    if (entry.kind === 'refusal') violations.push(`The server refused: ${entry.reason}`)
    if (entry.kind === 'bug') violations.push(`The server answered 500 to ${entry.call}.`)
  }
  return { violations, counts }
}

type Count = (what: string, by?: number) => void

async function checkStates(db: pg.Client, builds: number, violations: string[], count: Count): Promise<void> {
  const { rows: states } = await db.query<{ state: string; n: number }>(
    'select state, count(*)::int as n from builds where pipeline_id in (select id from pipelines where slug like $1) group by state',
    ['soak-%'],
  )
  for (const { state, n } of states) {
    count(`builds ${state}`, n)
    if (!finalBuilds.has(state)) violations.push(`${n} builds never ended: they are ${state}.`)
  }
  const made = states.reduce((sum, { n }) => sum + n, 0)
  if (made !== builds) violations.push(`${builds} builds were asked for, and there are ${made}.`)
  const { rows: jobs } = await db.query<{ state: string; n: number }>(
    "select state, count(*)::int as n from jobs where kind = 'script' group by state",
  )
  for (const { state, n } of jobs) {
    count(`jobs ${state}`, n)
    if (!finalJobStates.has(state)) violations.push(`${n} jobs never ended: they are ${state}.`)
  }
  const { rows: tallies } = await db.query<Record<string, number>>(`
    select sum(scheduled_builds)::int as "scheduled builds", sum(running_builds)::int as "running builds",
      sum(scheduled_jobs)::int as "scheduled jobs", sum(running_jobs)::int as "running jobs",
      sum(waiting_jobs)::int as "waiting jobs"
    from pipeline_tallies where pipeline_id in (select id from pipelines where slug like 'soak-%')`)
  for (const [what, n] of Object.entries(tallies[0] ?? {})) {
    if (n !== 0) violations.push(`Nothing is left to do, and the pipelines count ${n} ${what}.`)
  }
  const { rows: numbers } = await db.query<{ n: number }>(
    'select count(*)::int as n from (select from builds group by pipeline_id, number having count(*) > 1) twice',
  )
  if (numbers[0]?.n !== 0) violations.push('Two builds of a pipeline have the same number.')
}

/** Every state change is one event that starts from the previous state, and none follows a final state. */
async function checkHistories(db: pg.Client, violations: string[]): Promise<void> {
  for (const [kind, id, table, isFinal] of [
    ['job.state_changed', 'job_id', 'jobs', finalJobStates],
    ['build.state_changed', 'build_id', 'builds', finalBuilds],
  ] as const) {
    const { rows } = await db.query<{
      id: string
      now: string
      moves: Array<{ from: string | null; to: string }>
    }>(
      `select e.${id} as id, t.state as now, json_agg(e.data order by e.id) as moves
       from events e join ${table} t on t.id = e.${id} where e.kind = $1 group by e.${id}, t.state`,
      [kind],
    )
    for (const { id: subject, now, moves } of rows) {
      const story = moves.map(({ to }) => to).join(', ')
      for (const [index, { from }] of moves.entries()) {
        const before = moves[index - 1]
        if (before === undefined) continue
        if (before.to !== from)
          violations.push(`${table} ${subject} went from ${before.to} on as if ${from}: ${story}.`)
        if (isFinal.has(before.to)) violations.push(`${table} ${subject} has two results: ${story}.`)
      }
      if (moves.at(-1)?.to !== now)
        violations.push(`${table} ${subject} is ${now}, and its events say ${story}.`)
    }
  }
}

async function checkFinishes(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const finishes = ledger.filter((entry) => entry.kind === 'finish')
  const { rows } = await db.query<{ id: string; state: string; exit_status: number | null }>(
    'select id, state, exit_status from jobs where id = any ($1::uuid[])',
    [finishes.map(({ jobId }) => jobId)],
  )
  const jobs = new Map(rows.map((row) => [row.id, row]))
  for (const { jobId, exitStatus } of finishes) {
    const job = jobs.get(jobId)
    if (job === undefined || !finalJobStates.has(job.state)) {
      violations.push(`The end of job ${jobId} was acknowledged, and it is ${job?.state ?? 'gone'}.`)
    } else if (job.exit_status === exitStatus) count('ends acknowledged')
    // It was canceled or lost before its agent reported.
    else if (job.state === 'canceled' || job.exit_status === -1)
      count('ends acknowledged after another result')
    else violations.push(`Job ${jobId} ended with ${exitStatus}, and ${job.exit_status} is what is kept.`)
  }
}

async function checkLogs(
  rest: Rest,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const byJob = new Map<string, Array<{ from: number; to: number }>>()
  for (const entry of ledger) {
    if (entry.kind === 'log') byJob.set(entry.jobId, [...(byJob.get(entry.jobId) ?? []), entry])
  }
  await eachOf(byJob, async ([jobId, pieces]) => {
    const bytes = await rest.bytes(`jobs/${jobId}/log.txt?raw=true`)
    const parts = partsOf(bytes?.toString('latin1') ?? '')
    const wrong = parts.find(
      ({ from, text }) => !logText(jobId, from, from + text.length).equals(Buffer.from(text)),
    )
    if (wrong !== undefined)
      violations.push(`The log of job ${jobId} is not what was written, from byte ${wrong.from} on.`)
    for (const { from, to } of pieces) {
      const isThere = parts.some((part) => part.from <= from && to <= part.from + part.text.length)
      if (isThere) count('log bytes acknowledged', to - from)
      else
        violations.push(
          `Bytes ${from} to ${to} of the log of job ${jobId} were acknowledged and are missing.`,
        )
    }
    count('logs checked')
  })
}

async function checkArtifacts(
  rest: Rest,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const artifacts = ledger.filter((entry) => entry.kind === 'artifact')
  await eachOf(artifacts, async ({ jobId, artifactId, sha256 }) => {
    const bytes = await rest.bytes(`jobs/${jobId}/artifacts/${artifactId}/download`)
    const found = bytes && createHash('sha256').update(bytes).digest('hex')
    if (found === sha256) count('artifacts acknowledged')
    else
      violations.push(
        `Artifact ${artifactId} of job ${jobId} was acknowledged and is ${found === null ? 'missing' : 'another'}.`,
      )
  })
}

async function checkMetaData(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{ build_id: string; key: string; value: string }>(
    "select build_id, key, value from build_meta_data where key like 'soak-%'",
  )
  const kept = new Map(rows.map(({ build_id, key, value }) => [`${build_id} ${key}`, value]))
  for (const entry of ledger) {
    if (entry.kind !== 'meta_data') continue
    if (kept.get(`${entry.buildId} ${entry.key}`) === entry.value) count('meta-data acknowledged')
    else violations.push(`The meta-data ${entry.key} was acknowledged and is missing.`)
  }
}

async function checkAnnotations(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{ build_id: string; context: string; bodies: string[] }>(
    "select build_id, context, array_agg(body) as bodies from annotations where context like 'soak-%' group by 1, 2",
  )
  const kept = new Map(rows.map(({ build_id, context, bodies }) => [`${build_id} ${context}`, bodies]))
  for (const entry of ledger) {
    if (entry.kind !== 'annotation') continue
    const bodies = kept.get(`${entry.buildId} ${entry.context}`) ?? []
    if (bodies.length === 1 && bodies[0] === entry.body) count('annotations acknowledged')
    else
      violations.push(`The annotation ${entry.context} was acknowledged and is there ${bodies.length} times.`)
  }
}

/** A command of our runner passes only if the server acknowledged all of its requests. */
async function checkRunnerJobs(
  db: pg.Client,
  rest: Rest,
  lines: number,
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{ id: string; has_meta_data: boolean; annotations: number }>(`
    select j.id, exists (select from build_meta_data m where m.build_id = j.build_id
      and m.key = 'runner-' || j.id and m.value = j.id::text) as has_meta_data,
      (select count(*)::int from annotations a where a.build_id = j.build_id
        and a.context = 'runner-' || j.id and a.body = 'note of ' || j.id) as annotations
    from jobs j join pipelines p on p.id = j.pipeline_id where p.slug = 'soak-runner' and j.state = 'passed'`)
  await eachOf(rows, async ({ id, has_meta_data, annotations }) => {
    const log = (await rest.bytes(`jobs/${id}/log.txt`))?.toString() ?? ''
    const said = [...log.matchAll(/^line (\d+) of ([0-9a-f-]+)\r?$/gm)]
    const isWhole =
      said.length === lines && said.every(([, line, job], index) => Number(line) === index + 1 && job === id)
    if (!isWhole)
      violations.push(`The log of job ${id} has ${said.length} of the ${lines} lines its command wrote.`)
    if (!has_meta_data)
      violations.push(`The meta-data of job ${id} is missing, although its command ended well.`)
    if (annotations !== 1)
      violations.push(`Job ${id} ended well, and its annotation is there ${annotations} times.`)
    const [artifact] = await rest.get<Array<{ id: string; state: string }>>(`jobs/${id}/artifacts`)
    const bytes = artifact && (await rest.bytes(`jobs/${id}/artifacts/${artifact.id}/download`))
    if (bytes?.toString() !== `file of ${id}\n`)
      violations.push(`The artifact of job ${id} is missing or another.`)
    count('jobs of our runner checked')
  })
}

/** Runs a few at a time. */
async function eachOf<T>(items: Iterable<T>, check: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const look8 = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await check(item)
  }
  await Promise.all(Array.from({ length: 8 }, look8))
}
