// Writes down what the engine changed. Patches that touch the same columns go in one statement, whatever their number.
import { sql, type RawBuilder } from 'kysely'
import type { Changes, Patch } from '@millrace/engine/advance/changes.ts'
import type { BuildRow, JobRow } from '@millrace/engine/rows.ts'
import type { JobState } from '@millrace/engine/states.ts'
import type { Timers } from '../config.ts'
import type { Trx } from '../db/pool.ts'
import { insertJobs } from './insert-jobs.ts'
import { buildColumns, columnName, jobColumns, snakeCase, stepColumns, tallyColumns } from './rows.ts'
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
}

export async function saveChanges(trx: Trx, changes: Changes, saving: Saving): Promise<void> {
  const { scope, buildBefore, moves } = saving
  const tally = new TallyChange()
  const kinds = new Map<string, string>()

  if (changes.newSteps.length > 0) await insertSteps(trx, changes, scope)
  if (changes.newEdges.length > 0 || changes.newRefs.length > 0) await insertWiring(trx, changes, scope)
  for (const { row } of changes.newJobs) kinds.set(row.id, row.kind)
  if (changes.newJobs.length > 0) await insertJobs(trx, changes.newJobs, saving)
  for (const group of sameColumns(changes.jobs)) {
    for (const { id, kind } of await updateJobs(trx, group, saving)) kinds.set(id, kind)
  }
  for (const group of sameColumns(changes.steps)) await updateMany(trx, 'build_steps', stepColumns, group)
  await remove(trx, changes, tally)
  if (changes.build !== null) await updateBuild(trx, scope.buildId, changes.build)

  for (const { jobId, from, to } of moves) if (kinds.get(jobId) === 'script') tally.job(from, to)
  const stateAfter = changes.build?.state ?? buildBefore.state
  tally.build(buildBefore.state === 'creating' ? null : buildBefore.state, stateAfter)
  await tally.write(trx, scope.pipelineId, scope.buildId)
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
  const json = JSON.stringify(group.map(({ id, set }) => ({ id, ...snakeCase(set as object) })))
  return {
    rows: sql`jsonb_to_recordset(${json}::jsonb) as p (${sql.raw(['id uuid', ...typed].join(', '))})`,
    set: sql.raw(fields.map((field) => `${columnName(field)} = p.${columnName(field)}`).join(', ')),
  }
}

async function updateMany(
  trx: Trx,
  table: 'build_steps',
  types: object,
  group: readonly Patch<unknown>[],
): Promise<void> {
  const { rows, set } = patchRows(types, group)
  await sql`update ${sql.table(table)} t set ${set} from ${rows} where t.id = p.id`.execute(trx)
}

async function updateJobs(
  trx: Trx,
  group: readonly Patch<JobRow>[],
  { timers, scope, at }: Saving,
): Promise<Array<{ id: string; kind: string }>> {
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
  const { rows: updated } = await sql<{ id: string; kind: string }>`
    update jobs t set ${set}${timed} from ${rows} where t.id = p.id returning t.id, t.kind`.execute(trx)
  return updated
}

async function updateBuild(trx: Trx, buildId: string, change: Partial<BuildRow>): Promise<void> {
  const pick = (types: object) =>
    Object.fromEntries(Object.entries(change).filter(([field]) => Object.hasOwn(types, field)))
  for (const [table, key, types] of [
    ['build_tallies', 'build_id', tallyColumns],
    ['builds', 'id', buildColumns],
  ] as const) {
    const set = pick(types)
    if (Object.keys(set).length === 0) continue
    const patch = patchRows(types, [{ id: buildId, set }])
    await sql`update ${sql.table(table)} t set ${patch.set} from ${patch.rows} where t.${sql.ref(key)} = p.id`.execute(
      trx,
    )
  }
}

async function insertSteps(
  trx: Trx,
  { newSteps }: Changes,
  { buildId, organizationId }: Scope,
): Promise<void> {
  const fields = Object.keys(stepColumns).map(columnName)
  const typed = Object.entries(stepColumns).map(([field, type]) => `${columnName(field)} ${type}`)
  const json = JSON.stringify(newSteps.map(({ row, definition }) => ({ ...snakeCase(row), definition })))
  await sql`
    insert into build_steps (build_id, organization_id, definition, ${sql.raw(fields.join(', '))})
    select ${buildId}, ${organizationId}, n.definition, ${sql.raw(fields.map((field) => `n.${field}`).join(', '))}
    from jsonb_to_recordset(${json}::jsonb) as n (definition jsonb, ${sql.raw(typed.join(', '))})`.execute(
    trx,
  )
}

async function insertWiring(trx: Trx, { newEdges, newRefs }: Changes, { buildId }: Scope): Promise<void> {
  if (newEdges.length > 0) {
    await sql`
      insert into build_edges (build_id, from_step, to_step, kind, allow_failure, whole)
      select ${buildId}, n."from", n."to", n.kind, n."allowFailure", n.whole
      from jsonb_to_recordset(${JSON.stringify(newEdges)}::jsonb)
        as n ("from" uuid, "to" uuid, kind text, "allowFailure" boolean, whole boolean)
      on conflict do nothing`.execute(trx)
  }
  if (newRefs.length > 0) {
    await sql`
      insert into build_refs (build_id, step_id, ref, allow_failure)
      select ${buildId}, n."stepId", n.ref, n."allowFailure"
      from jsonb_to_recordset(${JSON.stringify(newRefs)}::jsonb) as n ("stepId" uuid, ref text, "allowFailure" boolean)
      on conflict do nothing`.execute(trx)
  }
}

async function remove(trx: Trx, changes: Changes, tally: TallyChange): Promise<void> {
  for (const { stepId, ref } of changes.resolvedRefs) {
    await sql`delete from build_refs where step_id = ${stepId} and ref = ${ref}`.execute(trx)
  }
  if (changes.removedJobs.length > 0) {
    const { rows } = await sql<{ state: JobState; kind: string }>`
      delete from jobs where id = any (${changes.removedJobs}::uuid[]) returning state, kind`.execute(trx)
    for (const { state, kind } of rows) if (kind === 'script') tally.job(state, null)
  }
  // Their edges and references go with them.
  if (changes.removedSteps.length > 0) {
    await sql`delete from build_steps where id = any (${changes.removedSteps}::uuid[])`.execute(trx)
  }
}
