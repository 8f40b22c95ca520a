// Saves the engine's changes. One statement saves all patches of the same columns.
import { sql, type RawBuilder } from 'kysely'
import type { Changes, Patch } from '@millrace/engine/advance/changes.ts'
import type { BuildRow, JobRow } from '@millrace/engine/rows.ts'
import type { JobState } from '@millrace/engine/states.ts'
import type { Timers } from '../config/timers.ts'
import type { Statement } from '../db/statement.ts'
import { groupBy } from '../lib/group-by.ts'
import { insertJobs } from './insert-jobs.ts'
import { noteJobEnds } from './insights/job-ends.ts'
import { buildColumns, columnName, jobColumns, onRows, stepColumns, tallyColumns } from './rows.ts'
import type { Inherited, Scope } from './scope.ts'
import { TallyUpdate } from './tallies.ts'
import { deadlineIn, waits, type Entering, type Waits } from './timers.ts'

export interface JobMove {
  jobId: string
  from: JobState | null
  to: JobState
}

interface Saving {
  scope: Scope
  timers: Timers
  at: string
  buildBefore: BuildRow
  moves: readonly JobMove[]
  /** The jobs that the engine asked for, as they were before the event. */
  jobsBefore: ReadonlyMap<string, Pick<JobRow, 'kind' | 'state'>>
  /** null: there are no new jobs. */
  inherited: Inherited | null
}

/** Without the pipeline's counts. In parts, so that a caller with thousands of rows can pause between them. */
export function* saveChanges(changes: Changes, saving: Saving): Generator<Statement[]> {
  const { scope, buildBefore, inherited } = saving
  if (changes.newSteps.length > 0) yield [insertSteps(changes, scope)]
  yield insertWiring(changes, scope)
  if (inherited !== null) yield [insertJobs(changes.newJobs, inherited, saving)]
  for (const group of groupByColumns(changes.jobs, ({ set }) => set.state)) yield [updateJobs(group, saving)]
  yield noteJobEnds(scope.organizationId, saving.moves)
  for (const group of groupByColumns(changes.steps)) yield [updateSteps(group)]
  yield deleteRows(changes)
  // create-build.ts inserts a new build.
  if (changes.build !== null && buildBefore.state !== 'creating')
    yield updateBuild(scope.buildId, changes.build)
}

/** The pipeline's counts, which are locked last. */
export const saveCounts = (changes: Changes, saving: Saving): Statement[] =>
  count(changes, saving).save(saving.scope.pipelineId)

function count(changes: Changes, { buildBefore, moves, jobsBefore }: Saving): TallyUpdate {
  const tally = new TallyUpdate()
  const added = new Map(changes.newJobs.map(({ row }) => [row.id, row]))
  const known = (jobId: string) => {
    const job = added.get(jobId) ?? jobsBefore.get(jobId)
    if (job === undefined) throw new Error('The engine changed a job that it never asked for.')
    return job
  }
  for (const { jobId, from, to } of moves) if (known(jobId).kind === 'script') tally.job(from, to)
  for (const { kind, state } of changes.removedJobs.map(known)) {
    if (kind === 'script') tally.job(state, null)
  }
  const stateAfter = changes.build?.state ?? buildBefore.state
  tally.build(buildBefore.state === 'creating' ? null : buildBefore.state, stateAfter)
  return tally
}

/** Groups patches that one statement can save: they have the same columns and the same `also`. */
const groupByColumns = <Row>(
  patches: readonly Patch<Row>[],
  also: (patch: Patch<Row>) => string | undefined = () => undefined,
): Iterable<Patch<Row>[]> =>
  groupBy(patches, (patch) => [also(patch), ...Object.keys(patch.set).sort()].join()).values()

/** Caches the result of `make` for each set of fields and `also`; there are few of them. */
function byFields<Made, Also extends string | undefined = undefined>(
  make: (fields: readonly string[], also?: Also) => Made,
): (set: object, also?: Also) => Made {
  const made = new Map<string, Made>()
  return (set, also) => {
    const fields = Object.keys(set)
    const key = [also, ...fields].join()
    const known = made.get(key)
    if (known !== undefined) return known
    const fresh = make(fields, also)
    made.set(key, fresh)
    return fresh
  }
}

const patchTypes = (types: object, fields: readonly string[]) => ({
  id: 'uuid',
  ...Object.fromEntries(fields.map((field): [string, unknown] => [field, Reflect.get(types, field)])),
})

const assignments = (fields: readonly string[]) =>
  sql.raw(fields.map((field) => `${columnName(field)} = p."${field}"`).join(', '))

const rowOf = ({ id, set }: Patch<unknown>) => ({ id, ...(set as object) })

/** The update of a table by patches of the same fields. */
const updates = (table: string, key: string, types: object) =>
  byFields((fields) =>
    onRows(
      'p',
      patchTypes(types, fields),
      (rows) => sql`
        update ${sql.table(table)} t set ${assignments(fields)} from ${rows} where t.${sql.ref(key)} = p.id`,
    ),
  )

const stepUpdates = updates('build_steps', 'id', stepColumns)

function updateSteps(group: readonly Patch<unknown>[]): Statement {
  return stepUpdates(group[0]?.set ?? {})(group.map(rowOf))
}

const jobUpdates = byFields((fields, state?: JobState) =>
  onRows(
    'p',
    patchTypes(jobColumns, fields),
    (
      rows,
      at: string,
      expiryMinutes: number,
      acceptSeconds: number,
      cancelGraceSeconds: number,
      runningMinutes: number,
    ) => {
      const limits: Waits = [expiryMinutes, acceptSeconds, cancelGraceSeconds, runningMinutes]
      const entering = { at, waits: limits, job: sql`t` }
      return sql`
        update jobs t set ${assignments(fields)}${state === undefined ? sql`` : columnsOf(state, entering)}
        from ${rows} where t.id = p.id`
    },
  ),
)

/** The columns outside of the engine that change with a job's state. */
function columnsOf(state: JobState, entering: Entering): RawBuilder<unknown> {
  const at = sql`${entering.at}::timestamptz`
  const columns = {
    deadline_at: deadlineIn(state, entering),
    ...(state === 'expired' && { expired_at: at }),
    ...(state === 'limited' && { limited_at: at }),
    ...(state === 'scheduled' && {
      agent_id: sql`null`,
      concurrency_wait_ms: sql`case when t.concurrency_group is not null and t.runnable_at is null
        then coalesce(extract(epoch from ${at} - t.limited_at) * 1000, 0)::int else t.concurrency_wait_ms end`,
    }),
  }
  return sql.join(
    Object.entries(columns).map(([column, value]) => sql`, ${sql.ref(column)} = ${value}`),
    sql``,
  )
}

function updateJobs(group: readonly Patch<JobRow>[], { timers, at }: Saving): Statement {
  const set = group[0]?.set ?? {}
  return jobUpdates(set, set.state)(group.map(rowOf), at, ...waits(timers))
}

const buildTables = [
  { types: tallyColumns, update: updates('build_tallies', 'build_id', tallyColumns) },
  { types: buildColumns, update: updates('builds', 'id', buildColumns) },
]

function updateBuild(buildId: string, change: Partial<BuildRow>): Statement[] {
  return buildTables.flatMap(({ types, update }) => {
    const changed = Object.entries(change).filter(([field]) => Object.hasOwn(types, field))
    if (changed.length === 0) return []
    const set = Object.fromEntries(changed)
    return [update(set)([{ id: buildId, ...set }])]
  })
}

const stepFields = Object.keys(stepColumns)

const insertStepRows = onRows(
  'n',
  { definition: 'jsonb', ...stepColumns },
  (rows, buildId: string, organizationId: string) => sql`
    insert into build_steps (build_id, organization_id, definition, ${sql.raw(stepFields.map(columnName).join(', '))})
    select ${buildId}, ${organizationId}, n.definition, ${sql.raw(stepFields.map((field) => `n."${field}"`).join(', '))}
    from ${rows}`,
)

const insertSteps = ({ newSteps }: Changes, { buildId, organizationId }: Scope): Statement =>
  insertStepRows(
    newSteps.map(({ row, definition }) => ({ ...row, definition })),
    buildId,
    organizationId,
  )

function insertWiring({ newEdges, newRefs }: Changes, { buildId }: Scope): Statement[] {
  const edges = sql`
    insert into build_edges (build_id, from_step, to_step, kind, allow_failure, whole)
    select ${buildId}, n."from", n."to", n.kind, n."allowFailure", n.whole
    from jsonb_to_recordset(${JSON.stringify(newEdges)}::jsonb)
      as n ("from" uuid, "to" uuid, kind text, "allowFailure" boolean, whole boolean)
    on conflict do nothing`
  const refs = sql`
    insert into build_refs (build_id, step_id, ref, allow_failure)
    select ${buildId}, n."stepId", n.ref, n."allowFailure"
    from jsonb_to_recordset(${JSON.stringify(newRefs)}::jsonb) as n ("stepId" uuid, ref text, "allowFailure" boolean)
    on conflict do nothing`
  return [...(newEdges.length > 0 ? [edges] : []), ...(newRefs.length > 0 ? [refs] : [])]
}

function deleteRows({ resolvedRefs, removedJobs, removedSteps }: Changes): Statement[] {
  const refs = resolvedRefs.map(
    ({ stepId, ref }) => sql`delete from build_refs where step_id = ${stepId} and ref = ${ref}`,
  )
  const jobs = sql`delete from jobs where id = any (${removedJobs}::uuid[])`
  // The foreign keys of their edges and references cascade.
  const steps = sql`delete from build_steps where id = any (${removedSteps}::uuid[])`
  return [...refs, ...(removedJobs.length > 0 ? [jobs] : []), ...(removedSteps.length > 0 ? [steps] : [])]
}
