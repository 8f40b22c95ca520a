// Answers the engine's needs from the tables. The caller holds the build's lock, so nothing changes meanwhile.
import { setImmediate } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Answer, Need, SurroundingsNeed } from '@millrace/engine/advance/needs.ts'
import type { BuildRow, EdgeRow, JobRow, RefRow, StepRow } from '@millrace/engine/rows.ts'
import { isFinal, JOB_STATES } from '@millrace/engine/states.ts'
import type { Trx } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { batch } from '../db/batch.ts'
import { buildColumns, jobColumns, picker, selectFields, stepColumns, tallyColumns } from './rows.ts'
import {
  scopeFields,
  selectPipelineScope,
  type Inherited,
  type PipelineDefaults,
  type Scope,
} from './scope.ts'
import { chargedForUploads } from './shares/charged.ts'
import { isUntrusted } from './trust.ts'

const stepFields = selectFields('s', stepColumns)
const jobFields = selectFields('j', jobColumns)
const pickBuild = picker<BuildRow>({ id: 'uuid', ...tallyColumns, ...buildColumns })
const edgeFields = sql`e.from_step as "from", e.to_step as "to", e.kind, e.allow_failure as "allowFailure", e.whole`
const refFields = sql`r.step_id as "stepId", r.ref, r.allow_failure as "allowFailure"`
const isWaiting = sql`s.phase in ('waiting', 'blocked')`
const isNewest = sql`j.retried_in_job_id is null`
const isUnfinished = sql`j.state <> all (${JOB_STATES.filter(isFinal)}::text[])`

/**
 * Locks the build until the transaction ends. Locking and reading are two statements, because a statement that waits for
 * a row reads all others as they were before the wait. With a job's id the answer includes that job, its step, and
 * whether other steps depend on that step, which most ends of jobs need.
 */
export async function lockBuild(
  trx: Trx,
  orgId: string,
  buildId: string,
  jobId?: string,
): Promise<LockedBuild | undefined> {
  const build = [lock(orgId, buildId), readBuild(orgId, buildId)] as const
  if (jobId === undefined) {
    const [, [found]] = await batch(trx, build)
    return found && { build: pickBuild(found), scope: found }
  }
  const [, [found], [job], [step]] = await batch(trx, [...build, ...withStep(buildId, jobId)])
  if (found === undefined || job === undefined || step === undefined)
    return found && { build: pickBuild(found), scope: found }
  return { build: pickBuild(found), scope: found, rows: await answer(trx, job, step), job }
}

export interface LockedBuild {
  build: BuildRow
  scope: Scope
  /** Rows that were read already. */
  rows?: Answer
  /** The job that was asked for. */
  job?: HeldJob
  /** Set where it was read already. */
  inherited?: Inherited
}

/** A job, its agent and its queue. */
export type HeldJob = JobRow & { agentId: string | null; queueId: string | null }

const lock = prepared(
  (orgId: string, buildId: string) => sql`
    select from build_tallies t join builds b on b.id = t.build_id
    where b.organization_id = ${orgId} and b.id = ${buildId} for update of t`,
)

const readBuild = prepared(
  (orgId: string, buildId: string) => sql<BuildRow & Scope>`
    select b.id, ${selectFields('t', tallyColumns)}, ${selectFields('b', buildColumns)}, ${scopeFields}
    from builds b join build_tallies t on t.build_id = b.id join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${orgId} and b.id = ${buildId}`,
)

/**
 * A job and its step. Only the job is locked: steps change only under the build's lock. They are two statements, because a
 * join of so many columns costs more than both.
 */
const withStep = (buildId: string, jobId: string) =>
  [lockJob(buildId, jobId), readStepOf(buildId, jobId)] as const

const lockJob = prepared(
  (buildId: string, jobId: string) => sql<HeldJob>`
    select ${jobFields}, j.agent_id as "agentId", j.queue_id as "queueId" from jobs j
    where j.build_id = ${buildId} and j.id = ${jobId} for update`,
)

const readStepOf = prepared(
  (buildId: string, jobId: string) => sql<StepRow & { hasDependents: boolean }>`
    select ${stepFields}, exists (select from build_edges e where e.from_step = s.id) as "hasDependents"
    from build_steps s
    where s.build_id = ${buildId} and s.id = (select j.step_id from jobs j where j.id = ${jobId})`,
)

/** `uploaderId`: the job that uploads the new jobs. */
export async function findInherited(trx: Trx, scope: Scope, uploaderId: string | null): Promise<Inherited> {
  const { organizationId, pipelineId, buildId, mayBeUntrusted } = scope
  const { chargedUserId, chargedPipelineId, isMachine } = scope
  const [[uploader]] = await batch(trx, [chargedForUploads(organizationId, buildId, uploaderId)])
  const defaults = await findPipelineDefaults(trx, organizationId, pipelineId)
  return {
    ...defaults,
    chargedPipelineId,
    chargedUserId: uploader?.retriedByUserId ?? chargedUserId,
    isMachine: uploader?.isMachine ?? isMachine,
    retriedByUserId: uploader?.retriedByUserId ?? null,
    isUntrusted: mayBeUntrusted && (await isUntrusted(trx, organizationId, [buildId])),
  }
}

export async function findPipelineDefaults(
  trx: Trx,
  organizationId: string,
  pipelineId: string,
): Promise<PipelineDefaults> {
  const [[found]] = await batch(trx, [selectPipelineScope(organizationId, pipelineId)])
  if (found === undefined) throw new Error('A pipeline disappeared while one of its builds was locked.')
  return found
}

export function fetchNeed(trx: Trx, buildId: string, need: Need): Promise<Answer> {
  switch (need.kind) {
    case 'job':
      return jobWithStep(trx, buildId, need.jobId)
    case 'steps':
      return steps(trx, sql`s.build_id = ${buildId} and s.id = any (${[...need.stepIds]})`)
    case 'jobs':
      return jobsOf(trx, need.ofSteps)
    case 'dependents':
      return need.reach === 'next' ? nextBehind(trx, need.ofSteps) : allBehind(trx, need.ofSteps)
    case 'unfinished_jobs':
      return jobsWithSteps(
        trx,
        sql`j.build_id = ${buildId} and ${isNewest} and ${isUnfinished} and (${need.only} = 'all' or j.fail_fast)`,
      )
    case 'waiting_steps':
      return stepsWithJobs(trx, sql`s.build_id = ${buildId} and ${isWaiting} and s.open > 0`)
    case 'impossible_steps':
      return stepsWithJobs(trx, sql`s.build_id = ${buildId} and s.impossible`)
    case 'pause':
      return setImmediate({})
    case 'unstarted_jobs':
      return unstarted(trx, buildId)
    case 'surroundings':
      return readSurroundings(trx, buildId, need)
  }
}

async function steps(trx: Trx, where: RawBuilder<unknown>): Promise<{ steps: StepRow[] }> {
  const { rows } = await sql<StepRow>`select ${stepFields} from build_steps s where ${where}`.execute(trx)
  return { steps: await withRelatives(trx, rows) }
}

/** With their groups, and the steps of their upload paths with their groups. */
async function withRelatives(trx: Trx, found: StepRow[]): Promise<StepRow[]> {
  const known = new Map(found.map((step) => [step.id, step]))
  const missing = (rows: readonly StepRow[]) =>
    [...new Set(rows.flatMap((step) => [step.groupId, ...step.uploadPath]))].filter(
      (id) => id !== null && !known.has(id),
    )
  // Twice at most: a step leads to its uploaders, and those to their groups.
  for (let wanted = missing(found); wanted.length > 0;) {
    const { rows } = await sql<StepRow>`
      select ${stepFields} from build_steps s where s.id = any (${wanted}::uuid[])`.execute(trx)
    for (const step of rows) known.set(step.id, step)
    wanted = missing(rows)
  }
  return [...known.values()]
}

async function jobWithStep(trx: Trx, buildId: string, jobId: string): Promise<Answer> {
  const [[job], [step]] = await batch(trx, withStep(buildId, jobId))
  return job === undefined || step === undefined ? {} : answer(trx, job, step)
}

async function answer(trx: Trx, job: JobRow, step: StepRow & { hasDependents: boolean }): Promise<Answer> {
  return {
    jobs: [job],
    steps: await withRelatives(trx, [step]),
    ...(step.hasDependents ? {} : { edges: [], edgesFrom: [step.id] }),
  }
}

async function jobsOf(trx: Trx, stepIds: readonly string[]): Promise<Answer> {
  const where = sql`j.step_id = any (${[...stepIds]}::uuid[]) and ${isNewest}`
  return { jobs: await lockedJobs(trx, where, sql`j.step_id, j.slot`), jobsOf: stepIds }
}

/** dispatch/assign.ts assigns and accepts jobs without the build's lock, so scheduled and assigned jobs are locked before they are read. */
async function lockedJobs(
  trx: Trx,
  where: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
): Promise<JobRow[]> {
  const [, jobs] = await batch(trx, [
    sql`select from jobs j where ${where} and j.state in ('scheduled', 'assigned') order by j.id for update`,
    sql<JobRow>`select ${jobFields} from jobs j where ${where} order by ${order}`,
  ])
  return jobs
}

async function jobsWithSteps(trx: Trx, where: RawBuilder<unknown>): Promise<Answer> {
  const jobs = await lockedJobs(trx, where, sql`j.position, j.id`)
  if (jobs.length === 0) return {}
  const stepIds = [...new Set(jobs.map((job) => job.stepId))]
  return { jobs, ...(await steps(trx, sql`s.id = any (${stepIds}::uuid[])`)) }
}

async function stepsWithJobs(trx: Trx, where: RawBuilder<unknown>): Promise<Answer> {
  const { rows } = await sql<StepRow>`
    select ${stepFields} from build_steps s where ${where} order by s.position`.execute(trx)
  return {
    ...(await jobsOf(
      trx,
      rows.map((step) => step.id),
    )),
    steps: await withRelatives(trx, rows),
  }
}

async function nextBehind(trx: Trx, stepIds: readonly string[]): Promise<Answer> {
  const { rows: edges } = await sql<EdgeRow>`
    select ${edgeFields} from build_edges e where e.from_step = any (${[...stepIds]}::uuid[])`.execute(trx)
  return { edges, edgesFrom: stepIds, ...(await targets(trx, edges)) }
}

async function targets(trx: Trx, edges: readonly EdgeRow[]): Promise<{ steps: StepRow[] }> {
  const ids = [...new Set(edges.map((edge) => edge.to))]
  return ids.length === 0 ? { steps: [] } : steps(trx, sql`s.id = any (${ids}::uuid[])`)
}

async function allBehind(trx: Trx, stepIds: readonly string[]): Promise<Answer> {
  const { rows: edges } = await sql<EdgeRow>`
    with recursive reached (id) as (
      select unnest(${[...stepIds]}::uuid[])
      union
      select s.id from reached r
      join build_edges e on e.from_step = r.id
      join build_steps s on s.id = e.to_step and s.phase in ('waiting', 'blocked', 'not_run')
    )
    select ${edgeFields} from build_edges e join reached r on r.id = e.from_step`.execute(trx)
  const found = await targets(trx, edges)
  const open = found.steps.filter(
    ({ phase }) => phase === 'waiting' || phase === 'blocked' || phase === 'not_run',
  )
  const behind = open.map((step) => step.id)
  const jobs = behind.length === 0 ? { jobs: [], jobsOf: [] } : await jobsOf(trx, behind)
  return { ...found, ...jobs, edges, edgesFrom: [...new Set([...stepIds, ...behind])] }
}

async function unstarted(trx: Trx, buildId: string): Promise<Answer> {
  const found = await jobsWithSteps(
    trx,
    sql`j.build_id = ${buildId} and ${isNewest} and j.retry_source_job_id is null
      and j.state in ('pending', 'waiting', 'blocked', 'limiting', 'limited', 'scheduled')`,
  )
  const stepIds = [...new Set(found.jobs?.map((job) => job.stepId))]
  if (stepIds.length === 0) return found
  const { rows: edges } = await sql<EdgeRow>`
    select ${edgeFields} from build_edges e where e.from_step = any (${stepIds}::uuid[])`.execute(trx)
  const { rows: refs } = await sql<RefRow>`
    select ${refFields} from build_refs r where r.step_id = any (${stepIds}::uuid[])`.execute(trx)
  const known = new Map(
    [...(found.steps ?? []), ...(await targets(trx, edges)).steps].map((step) => [step.id, step]),
  )
  return { ...found, steps: [...known.values()], edges, edgesFrom: stepIds, refs }
}

async function readSurroundings(trx: Trx, buildId: string, need: SurroundingsNeed): Promise<Answer> {
  const isKept = sql`s.build_id = ${buildId} and s.id <> all (${[...need.without]}::uuid[])`
  const outside = sql`${isKept} and s.group_id is null`
  const one = async (where: RawBuilder<unknown>, order: RawBuilder<unknown>) => {
    const { rows } = await sql<StepRow>`
      select ${stepFields} from build_steps s where ${where} order by ${order} limit 1`.execute(trx)
    return rows[0]
  }
  const barrierBefore = await one(
    sql`${outside} and s.barrier is not null and s.phase <> 'ignored' and s.position < ${need.position}`,
    sql`s.position desc`,
  )
  const fullBefore = await one(
    sql`${outside} and s.barrier = 'full' and s.phase <> 'ignored' and s.position < ${need.position}`,
    sql`s.position desc`,
  )
  const barrierAfter = await one(
    sql`${outside} and s.barrier = 'full' and ${isWaiting} and s.position > ${need.position}`,
    sql`s.position`,
  )
  const { rows: earlier } = need.coversEarlier
    ? await sql<StepRow>`
        select ${stepFields} from build_steps s
        where ${isKept} and s.phase <> 'ignored' and s.kind <> 'group' and s.position < ${need.position}
          and s.position >= ${fullBefore?.position ?? ''}
        order by s.position`.execute(trx)
    : { rows: [] }
  const names = [...need.keys, ...need.refs]
  const { rows: keyed } = await sql<StepRow>`
    select ${stepFields} from build_steps s
    where ${isKept} and (s.key = any (${names}::text[]) or s.group_id in (
      select g.id from build_steps g where g.build_id = ${buildId} and g.kind = 'group' and g.key = any (${names}::text[])))
    order by s.position`.execute(trx)
  const { rows: refs } = await sql<RefRow>`
    select ${refFields} from build_refs r
    where r.build_id = ${buildId} and r.ref = any (${[...need.keys]}::text[])
      and r.step_id <> all (${[...need.without]}::uuid[])`.execute(trx)
  const referring = await steps(trx, sql`s.id = any (${refs.map((ref) => ref.stepId)}::uuid[])`)
  const barriers = [barrierBefore, barrierAfter].filter((step) => step !== undefined)
  const known = new Map(
    [...barriers, ...earlier, ...keyed, ...referring.steps].map((step) => [step.id, step]),
  )
  return {
    steps: await withRelatives(trx, [...known.values()]),
    surroundings: {
      barrierBefore: barrierBefore?.id ?? null,
      earlier: earlier.map((step) => step.id),
      barrierAfter: barrierAfter?.id ?? null,
      keyed: keyed.map((step) => step.id),
      refs,
    },
  }
}
