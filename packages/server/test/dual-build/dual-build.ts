// One build stored twice: in the engine's memory and in the tables. Both stores read their documents with the
// pipeline reader.
import { sql } from 'kysely'
import type { BuildEvent } from '@millrace/engine/advance/events.ts'
import { MemoryBuild } from '@millrace/engine/memory/build.ts'
import { decideGroupSlots } from '@millrace/engine/memory/slots.ts'
import type { EdgeRow, JobRow, RefRow, StepRow } from '@millrace/engine/rows.ts'
import { DEFAULT_MAX_BYTES, readPipeline } from '@millrace/engine/steps/document.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import { eventOf, type Move } from '../../../engine/test/random-events.ts'
import { counter, someFacts } from '../../../engine/test/running.ts'
import { advanceBuild, type UntimedEvent, type FollowUp } from '../../src/conductor/advance.ts'
import { decideGroup } from '../../src/conductor/concurrency.ts'
import { createBuild } from '../../src/conductor/create-build.ts'
import {
  buildColumns,
  jobColumns,
  selectFields,
  stepColumns,
  tallyColumns,
} from '../../src/conductor/rows.ts'
import type { Context } from '../../src/context.ts'
import type { Db } from '../../src/db/pool.ts'
import { newId } from '../../src/lib/ids.ts'
import type { TestApp } from '../app.ts'
import { anOrganization, aPipeline } from '../builders.ts'
import { aBuildRequest } from '../runs.ts'
import { writeDocument } from './write-document.ts'

/** The outcome of an event and the build's state after it. The two must be equal. */
interface Views {
  inMemory: unknown
  inTables: unknown
}

const facts = someFacts()
const time = (step: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, step)).toISOString()
const contextAt = (ctx: Context, serial: number): Context => ({ ...ctx, now: () => new Date(time(serial)) })

/** `dual` is null when the steps are refused. */
export async function startDualBuild(
  app: TestApp,
  document: PipelineDocument,
): Promise<Views & { dual: DualBuild | null }> {
  const org = await anOrganization(app)
  const pipeline = await aPipeline(app, org, writeDocument(document))
  const created = await createBuild(contextAt(app.ctx, 1), org.id, aBuildRequest(pipeline.id))
  const memory = new MemoryBuild({ scheduledAt: time(1), mint: counter('id-') })
  const stored = read(document, 'stored')
  const begun = stored === null ? { ok: false } : memory.begin(stored, facts, time(1))
  if (!created.ok || !begun.ok) return { dual: null, inMemory: begun.ok, inTables: created.ok }
  const dual = new DualBuild(app.ctx, memory, org.id, created.buildId)
  if (created.followUps.some(({ kind }) => kind === 'decide_slots')) dual.decideSlots('g')
  await dual.decide(created.followUps)
  return { dual, ...(await dual.compare('made')) }
}

function read(document: PipelineDocument, origin: 'stored' | 'upload'): PipelineDocument | null {
  const found = readPipeline(writeDocument(document), { origin, maxBytes: DEFAULT_MAX_BYTES })
  return found.ok ? found.document : null
}

class DualBuild {
  private readonly ctx: Context
  private readonly memory: MemoryBuild
  private readonly organizationId: string
  private readonly buildId: string
  private serial = 1
  /** As of the last comparison. Only this class writes them. */
  private tables: Rows = { build: {}, steps: [], jobs: [], edges: [], refs: [] }

  constructor(ctx: Context, memory: MemoryBuild, organizationId: string, buildId: string) {
    this.ctx = ctx
    this.memory = memory
    this.organizationId = organizationId
    this.buildId = buildId
  }

  async apply(move: Move): Promise<Views> {
    this.serial += 1
    const event = this.eventOf(move)
    if (event === null) return this.compare('skipped')
    const translated = this.translate(event, this.tables)
    const outcome = this.memory.apply(event)
    for (const effect of outcome.ok ? outcome.effects : []) {
      if (effect.kind === 'concurrency_changed') this.decideSlots(effect.group)
    }
    const ctx = contextAt(this.ctx, this.serial)
    const advanced = await advanceBuild(ctx, this.organizationId, this.buildId, translated)
    if (advanced.ok) await this.decide(advanced.followUps)
    return this.compare(outcome.ok ? 'ok' : outcome.message, advanced.ok ? 'ok' : advanced.message)
  }

  decideSlots(group: string): void {
    decideGroupSlots([this.memory], group, time(this.serial))
  }

  async decide(followUps: readonly FollowUp[]): Promise<void> {
    for (const next of followUps) {
      if (next.kind !== 'decide_slots') continue
      await decideGroup(contextAt(this.ctx, this.serial), next)
    }
  }

  async compare(outcome: string, outcomeInTables = outcome): Promise<Views> {
    this.tables = await rowsInTables(this.ctx.db, this.buildId)
    return {
      inMemory: { outcome, ...snapshot(rowsInMemory(this.memory)) },
      inTables: { outcome: outcomeInTables, ...snapshot(this.tables) },
    }
  }

  /** The counts stored with the pipeline, and the same counts taken from its jobs. */
  async tallies(): Promise<{ kept: unknown; counted: unknown }> {
    const { rows } = await sql<{ kept: unknown; counted: unknown }>`
      select (select jsonb_build_array(coalesce(sum(t.waiting_jobs), 0), coalesce(sum(t.scheduled_jobs), 0),
            coalesce(sum(t.running_jobs), 0), coalesce(sum(t.scheduled_builds), 0), coalesce(sum(t.running_builds), 0))
          from pipeline_tallies t where t.pipeline_id = b.pipeline_id) as kept,
        (select jsonb_build_array(
            count(*) filter (where j.state in ('waiting', 'blocked')),
            count(*) filter (where j.state in ('limiting', 'limited', 'scheduled', 'reserved', 'assigned', 'accepted')),
            count(*) filter (where j.state in ('running', 'timing_out', 'canceling')),
            (b.state = 'scheduled')::int, (b.state in ('running', 'failing', 'canceling'))::int)
          from jobs j where j.build_id = b.id and j.kind = 'script') as counted
      from builds b where b.id = ${this.buildId}`.execute(this.ctx.db)
    return rows[0] ?? { kept: null, counted: 'nothing' }
  }

  /** null: an upload that the reader refuses. */
  private eventOf(move: Move): BuildEvent | null {
    const event = eventOf(move, this.memory, facts, time(this.serial), this.serial)
    if (event.type !== 'upload') return event
    const document = read(event.document, 'upload')
    return document === null ? null : { ...event, document }
  }

  /** The same event, about the same jobs and steps as the tables know them. */
  private translate(event: BuildEvent, tables: Rows): UntimedEvent {
    const rows = rowsInMemory(this.memory)
    const names = new Map(rows.jobs.map((job) => [job.id, nameOf(rows, job)]))
    const ids = new Map(tables.jobs.map((job) => [nameOf(tables, job), job.id]))
    const jobOf = (id: string) => ids.get(names.get(id) ?? '') ?? newId()
    const stepOf = (id: string) => {
      const place = placeOf(rows, id)
      return tables.steps.find((step) => step.position === place)?.id ?? newId()
    }
    return {
      ...event,
      ...('jobId' in event ? { jobId: jobOf(event.jobId) } : {}),
      ...('stepId' in event ? { stepId: stepOf(event.stepId) } : {}),
      ...('start' in event ? { start: event.start.map(jobOf), wait: event.wait.map(jobOf) } : {}),
      ...('buildId' in event ? { buildId: newId() } : {}),
    }
  }
}

interface Rows {
  build: object
  steps: StepRow[]
  jobs: JobRow[]
  edges: readonly EdgeRow[]
  refs: readonly RefRow[]
}

const rowsInMemory = ({ store }: MemoryBuild): Rows => ({
  build: store.build,
  steps: [...store.steps.values()],
  jobs: [...store.jobs.values()],
  edges: store.allEdges(),
  refs: store.refs,
})

const buildFields = sql`${selectFields('t', tallyColumns)}, ${selectFields('b', buildColumns)}`
const stepFields = selectFields('s', stepColumns)
const jobFields = selectFields('j', jobColumns)

async function rowsInTables(db: Db, buildId: string): Promise<Rows> {
  const ofBuild = sql`where build_id = ${buildId}`
  const builds = await sql<object>`
    select ${buildFields}
    from builds b join build_tallies t on t.build_id = b.id where b.id = ${buildId}`.execute(db)
  const steps = await sql<StepRow>`
    select ${stepFields} from build_steps s ${ofBuild}`.execute(db)
  const jobs = await sql<JobRow>`
    select ${jobFields} from jobs j ${ofBuild}`.execute(db)
  const edges = await sql<EdgeRow>`
    select from_step as "from", to_step as "to", kind, allow_failure as "allowFailure", whole
    from build_edges ${ofBuild}`.execute(db)
  const refs = await sql<RefRow>`
    select step_id as "stepId", ref, allow_failure as "allowFailure" from build_refs ${ofBuild}`.execute(db)
  const [build = {}] = builds.rows
  return { build, steps: steps.rows, jobs: jobs.rows, edges: edges.rows, refs: refs.rows }
}

const placeOf = (rows: Rows, stepId: string | null) =>
  rows.steps.find(({ id }) => id === stepId)?.position ?? null

/** A job is identified by its step's position, its slot and its attempt. */
const nameOf = (rows: Rows, job: JobRow) => [placeOf(rows, job.stepId), job.slot, job.retriesCount].join('/')

/** All rows of a build, with ids replaced by positions and names. */
function snapshot(rows: Rows): object {
  const names = new Map(rows.jobs.map((job) => [job.id, nameOf(rows, job)]))
  const place = (id: string | null) => placeOf(rows, id)
  const step = (row: StepRow) => ({
    ...row,
    id: null,
    groupId: place(row.groupId),
    uploaderId: place(row.uploaderId),
    uploadPath: row.uploadPath.map(place),
  })
  const job = (row: JobRow) => ({
    ...row,
    id: null,
    stepId: place(row.stepId),
    retriedInJobId: names.get(row.retriedInJobId ?? ''),
    retrySourceJobId: names.get(row.retrySourceJobId ?? ''),
    triggeredBuildId: row.triggeredBuildId !== null,
  })
  return {
    build: { ...rows.build, id: null },
    steps: Object.fromEntries(rows.steps.map((row) => [row.position, step(row)])),
    jobs: Object.fromEntries(rows.jobs.map((row) => [nameOf(rows, row), job(row)])),
    edges: rows.edges
      .map((edge) => [place(edge.from), place(edge.to), edge.kind, edge.allowFailure, edge.whole].join(' '))
      .sort(),
    refs: rows.refs.map((ref) => [place(ref.stepId), ref.ref, ref.allowFailure].join(' ')).sort(),
  }
}
