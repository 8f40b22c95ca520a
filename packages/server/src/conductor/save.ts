// Writes down what the engine changed. Patches that touch the same columns go in one statement, whatever their number.
import { sql, type RawBuilder } from 'kysely'
import type { Changes, Patch } from '@millrace/engine/advance/changes.ts'
import type { BuildRow, JobRow } from '@millrace/engine/rows.ts'
import type { JobState } from '@millrace/engine/states.ts'
import type { Timers } from '../config.ts'
import type { Statement } from '../db/together.ts'
import { insertJobs } from './insert-jobs.ts'
import { buildColumns, columnName, jobColumns, rowsOf, snakeCase, stepColumns, tallyColumns } from './rows.ts'
import type { Scope } from './scope.ts'
import { TallyChange } from './tallies.ts'
import { deadline } from './timers.ts'

export interface JobMove {
  jobId: string
  from: JobState | null
  to: JobState
}

export interface Saving {
  scope: Scope
  timers: Timers
  at: string
  buildBefore: BuildRow
  moves: readonly JobMove[]
  /** The jobs that the engine was shown, as they are before the changes. */
  jobsBefore: ReadonlyMap<string, Pick<JobRow, 'kind' | 'state'>>
}

export function saveChanges(changes: Changes, saving: Saving): Statement[] {
  const { scope, buildBefore } = saving
  return [
    ...(changes.newSteps.length > 0 ? [insertSteps(changes, scope)] : []),
    ...insertWiring(changes, scope),
    ...(changes.newJobs.length > 0 ? [insertJobs(changes.newJobs, saving)] : []),
    ...sameColumns(changes.jobs).map((group) => updateJobs(group, saving)),
    ...sameColumns(changes.steps).map(updateSteps),
    ...remove(changes),
    // A new one is written as it begins; see create-build.ts.
    ...(changes.build === null || buildBefore.state === 'creating'
      ? []
      : updateBuild(scope.buildId, changes.build)),
    ...count(changes, saving).write(scope.pipelineId),
  ]
}

/** What becomes different in the pipeline's counts. */
function count(changes: Changes, { buildBefore, moves, jobsBefore }: Saving): TallyChange {
  const tally = new TallyChange()
  const added = new Map(changes.newJobs.map(({ row }) => [row.id, row]))
  const known = (jobId: string) => {
    const job = added.get(jobId) ?? jobsBefore.get(jobId)
    if (job === undefined) throw new Error('The engine changed a job that it was never shown.')
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

function sameColumns<Row>(patches: readonly Patch<Row>[]): Patch<Row>[][] {
  const groups = new Map<string, Patch<Row>[]>()
  for (const patch of patches) {
    const columns = Object.keys(patch.set).sort().join()
    groups.set(columns, [...(groups.get(columns) ?? []), patch])
  }
  return [...groups.values()]
}

/** The patches as a set of rows `p (id, …)`, and the assignments from it. */
function patchRows(
  types: object,
  group: readonly Patch<unknown>[],
): { rows: RawBuilder<unknown>; set: RawBuilder<unknown> } {
  const fields = Object.keys(group[0]?.set ?? {})
  const typed = fields.map((field) => `${columnName(field)} ${String(Reflect.get(types, field))}`)
  const objects = group.map(({ id, set }) => ({ id, ...snakeCase(set as object) }))
  return {
    rows: rowsOf(objects, `p (${['id uuid', ...typed].join(', ')})`),
    set: sql.raw(fields.map((field) => `${columnName(field)} = p.${columnName(field)}`).join(', ')),
  }
}

function updateSteps(group: readonly Patch<unknown>[]): Statement {
  const { rows, set } = patchRows(stepColumns, group)
  return sql`update build_steps t set ${set} from ${rows} where t.id = p.id`
}

function updateJobs(group: readonly Patch<JobRow>[], { timers, scope, at }: Saving): Statement {
  const { rows, set } = patchRows(jobColumns, group)
  const movesState = group[0]?.set.state !== undefined
  const state = sql`p.state`
  const timed = movesState
    ? sql`, agent_id = case when p.state <> 'scheduled' then t.agent_id end,
        token_hash = case when p.state <> 'scheduled' then t.token_hash end,
        deadline_at = ${deadline(timers, scope.expiryMinutes, at, state, sql`t`)},
        expired_at = case when p.state = 'expired' then ${at}::timestamptz end,
        limited_at = case when p.state = 'limited' then ${at}::timestamptz else t.limited_at end,
        concurrency_wait_ms = case when p.state = 'scheduled' and t.concurrency_group is not null and t.runnable_at is null
          then coalesce(extract(epoch from ${at}::timestamptz - t.limited_at) * 1000, 0)::int
          else t.concurrency_wait_ms end`
    : sql``
  return sql`update jobs t set ${set}${timed} from ${rows} where t.id = p.id`
}

function updateBuild(buildId: string, change: Partial<BuildRow>): Statement[] {
  const pick = (types: object) =>
    Object.fromEntries(Object.entries(change).filter(([field]) => Object.hasOwn(types, field)))
  const tables = [
    ['build_tallies', 'build_id', tallyColumns],
    ['builds', 'id', buildColumns],
  ] as const
  return tables.flatMap(([table, key, types]) => {
    const set = pick(types)
    if (Object.keys(set).length === 0) return []
    const patch = patchRows(types, [{ id: buildId, set }])
    const statement = sql`
      update ${sql.table(table)} t set ${patch.set} from ${patch.rows} where t.${sql.ref(key)} = p.id`
    return [statement]
  })
}

function insertSteps({ newSteps }: Changes, { buildId, organizationId }: Scope): Statement {
  const fields = Object.keys(stepColumns).map(columnName)
  const typed = Object.entries(stepColumns).map(([field, type]) => `${columnName(field)} ${type}`)
  const steps = newSteps.map(({ row, definition }) => ({ ...snakeCase(row), definition }))
  return sql`
    insert into build_steps (build_id, organization_id, definition, ${sql.raw(fields.join(', '))})
    select ${buildId}, ${organizationId}, n.definition, ${sql.raw(fields.map((field) => `n.${field}`).join(', '))}
    from ${rowsOf(steps, `n (definition jsonb, ${typed.join(', ')})`)}`
}

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

function remove({ resolvedRefs, removedJobs, removedSteps }: Changes): Statement[] {
  const refs = resolvedRefs.map(
    ({ stepId, ref }) => sql`delete from build_refs where step_id = ${stepId} and ref = ${ref}`,
  )
  const jobs = sql`delete from jobs where id = any (${removedJobs}::uuid[])`
  // Their edges and references go with them.
  const steps = sql`delete from build_steps where id = any (${removedSteps}::uuid[])`
  return [...refs, ...(removedJobs.length > 0 ? [jobs] : []), ...(removedSteps.length > 0 ? [steps] : [])]
}
