// Checks beyond those of the soak: builds, cancellations, audit events, events of the outbox, webhooks and tasks.
import type pg from 'pg'
import type { Entry } from '../soak/ledger.ts'
import type { Received } from './receiver.ts'

interface Evidence {
  ledger: readonly Entry[]
  received: readonly Received[]
}

interface Findings {
  violations: string[]
  counts: Record<string, number>
}

export async function checkMore(db: pg.Client, { ledger, received }: Evidence): Promise<Findings> {
  const violations: string[] = []
  const counts: Record<string, number> = {}
  const count = (what: string, by = 1) => {
    counts[what] = (counts[what] ?? 0) + by
  }
  await checkBuilds(db, ledger, violations, count)
  await checkCancellations(db, ledger, violations, count)
  await checkAuditEvents(db, ledger, violations, count)
  await checkMoves(db, violations, count)
  await checkDeliveries(db, received, violations, count)
  await checkTasks(db, violations)
  return { violations, counts }
}

type Count = (what: string, by?: number) => void

/** Every acknowledged build is there once, under its number, also when its request was repeated. */
async function checkBuilds(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{
    key: string
    found: Array<{ id: string; number: number; slug: string }>
  }>(`
    select b.message as key, json_agg(json_build_object('id', b.id, 'number', b.number, 'slug', p.slug)) as found
    from builds b join pipelines p on p.id = b.pipeline_id where p.slug like 'soak-%' group by b.message`)
  const kept = new Map(rows.map(({ key, found }) => [key, found]))
  for (const entry of ledger) {
    if (entry.kind !== 'build') continue
    const found = kept.get(entry.key) ?? []
    const [first] = found
    const isSame =
      first?.id === entry.buildId && first.number === entry.number && first.slug === entry.pipeline
    if (found.length === 1 && isSame) count('builds acknowledged')
    else violations.push(`Build ${entry.buildId} was acknowledged and is there ${found.length} times.`)
  }
  const { rows: cleared } = await db.query<{ build_id: string }>('select build_id from faults.cleared')
  for (const { build_id } of cleared) violations.push(`Build ${build_id} lost its failing_at.`)
}

/** No job of a canceled build starts when its agent asked after the cancellation was acknowledged. */
async function checkCancellations(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const canceledAt = new Map<string, number>()
  for (const entry of ledger) if (entry.kind === 'cancel') canceledAt.set(entry.buildId, entry.at)
  for (const entry of ledger) {
    if (entry.kind !== 'start') continue
    count('starts acknowledged')
    if (entry.askedAt > (canceledAt.get(entry.buildId) ?? Infinity))
      violations.push(`Job ${entry.jobId} started after its build was canceled.`)
  }
  const { rows } = await db.query<{ id: string; state: string }>(
    `select id, state from builds where id = any ($1::uuid[]) and state not in ('canceled', 'failed', 'passed')`,
    [[...canceledAt.keys()]],
  )
  for (const { id, state } of rows) violations.push(`Build ${id} was canceled and is ${state}.`)
  count('cancellations acknowledged', canceledAt.size)
}

async function checkAuditEvents(
  db: pg.Client,
  ledger: readonly Entry[],
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{ type: string; subject: string; n: number }>(
    `select type, subject ->> 'uuid' as subject, count(*)::int as n from audit_events
     where type in ('BUILD_CREATED', 'BUILD_CANCELED') group by 1, 2`,
  )
  const kept = new Map(rows.map(({ type, subject, n }) => [`${type} ${subject}`, n]))
  for (const entry of ledger) {
    const type = entry.kind === 'build' ? 'BUILD_CREATED' : entry.kind === 'cancel' ? 'BUILD_CANCELED' : null
    if (type === null || !('buildId' in entry)) continue
    const n = kept.get(`${type} ${entry.buildId}`) ?? 0
    if (n === 1) count('audit events')
    else violations.push(`There are ${n} audit events ${type} of build ${entry.buildId}.`)
  }
}

/** The outbox has exactly the changes of states that the triggers in the database saw, in the same order. */
async function checkMoves(db: pg.Client, violations: string[], count: Count): Promise<void> {
  const { rows } = await db.query<{ subject: string; seen: string; published: string; n: number }>(`
    with seen as (
      select subject, ${story('moved_from', 'moved_to')} as story,
        count(*)::int as n
      from faults.moves group by subject
    ), published as (
      select case kind when 'job.state_changed' then job_id else build_id end as subject,
        ${story("data ->> 'from'", "data ->> 'to'")} as story
      from events where kind in ('job.state_changed', 'build.state_changed') group by 1
    )
    select coalesce(s.subject, p.subject) as subject, coalesce(s.story, 'nothing') as seen,
      coalesce(p.story, 'nothing') as published, coalesce(s.n, 0) as n
    from seen s full join published p on p.subject = s.subject`)
  for (const { subject, seen, published, n } of rows) {
    count('state changes', n)
    if (seen !== published) violations.push(`${subject} moved ${seen}, and its events say ${published}.`)
  }
}

/** The states before and after each change. Nothing is before a row, so the first change has no state before it. */
const story = (from: string, to: string): string =>
  `regexp_replace(string_agg(coalesce(${from}, '') || '>' || (${to}), ' ' order by id), '^[^>]*', '')`

/**
 * The contract of webhooks: one delivery for each event, sent at least once. Every attempt has the same id and body. The
 * first arrivals of a build are in the order of its events. In the end every delivery is delivered.
 */
async function checkDeliveries(
  db: pg.Client,
  received: readonly Received[],
  violations: string[],
  count: Count,
): Promise<void> {
  const { rows } = await db.query<{ id: string; state: string }>(
    'select id, state from notification_deliveries',
  )
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const byId = new Map<string, Received[]>()
  for (const one of received) byId.set(one.deliveryId, [...(byId.get(one.deliveryId) ?? []), one])
  for (const [id, state] of states) {
    const attempts = byId.get(id) ?? []
    if (state !== 'delivered') violations.push(`Delivery ${id} is ${state}.`)
    else if (!attempts.some(({ isAccepted }) => isAccepted))
      violations.push(`Delivery ${id} counts as delivered, and the receiver did not accept it.`)
    else count('webhooks delivered')
  }
  for (const [id, attempts] of byId) {
    if (!states.has(id)) violations.push(`The receiver got delivery ${id}, which does not exist.`)
    if (new Set(attempts.map(({ sha256 }) => sha256)).size > 1)
      violations.push(`The attempts of delivery ${id} have different bodies.`)
    count('webhooks repeated', attempts.length - 1)
  }
  checkArrivals(await listEnded(db), received, violations)
}

interface Ended {
  builds: Array<{ id: string; is_started: boolean }>
  jobs: string[]
}

async function listEnded(db: pg.Client): Promise<Ended> {
  const { rows: builds } = await db.query<{ id: string; is_started: boolean }>(
    'select id, started_at is not null as is_started from builds where finished_at is not null',
  )
  const { rows: jobs } = await db.query<{ id: string }>(
    "select id from jobs where kind = 'script' and started_at is not null and finished_at is not null",
  )
  return { builds, jobs: jobs.map(({ id }) => id) }
}

/** Derived from the tables of builds and jobs, so that a lost event is noticed as well. */
function checkArrivals({ builds, jobs }: Ended, received: readonly Received[], violations: string[]): void {
  const ids = new Map<string, Set<string>>()
  const first = new Map<string, number>()
  for (const [index, { event, buildId, jobId, deliveryId }] of received.entries()) {
    const key = `${event} ${event.startsWith('job.') ? jobId : buildId}`
    ids.set(key, (ids.get(key) ?? new Set()).add(deliveryId))
    if (!first.has(key)) first.set(key, index)
  }
  const expectOne = (key: string) => {
    const n = ids.get(key)?.size ?? 0
    if (n !== 1) violations.push(`The receiver got ${n} deliveries of ${key}.`)
  }
  for (const { id, is_started } of builds) {
    const expected = ['build.scheduled', ...(is_started ? ['build.running'] : []), 'build.finished']
    for (const event of expected) expectOne(`${event} ${id}`)
    const order = expected.map((event) => first.get(`${event} ${id}`) ?? -1)
    if (order.some((place, index) => index > 0 && place < (order[index - 1] ?? -1)))
      violations.push(`The webhooks of build ${id} arrived in another order than they happened.`)
  }
  for (const id of jobs) expectOne(`job.finished ${id}`)
}

/** A task that fails is repeated; none may still fail in the end. */
async function checkTasks(db: pg.Client, violations: string[]): Promise<void> {
  const { rows } = await db.query<{ task: string; attempts: number; last_error: string }>(failingTasks)
  for (const { task, attempts, last_error } of rows)
    violations.push(`A task ${task} failed ${attempts} times: ${last_error.slice(0, 200)}`)
}

export const failingTasks = `
  select task_identifier as task, attempts::int, last_error from graphile_worker.jobs where last_error is not null`
