// Creates a build in one transaction: its number, its row, its steps and jobs. REST, schedules, webhooks, trigger steps
// and rebuilds all create builds here.
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { matchesBranch } from '@millrace/engine/branches.ts'
import { newBuild } from '@millrace/engine/new-build.ts'
import { planInParts, type PlanResult } from '@millrace/engine/plan.ts'
import { describeProblem } from '@millrace/engine/problem.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import type { BuildRow } from '@millrace/engine/rows.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { batch, onCommit } from '../db/batch.ts'
import { prepared, type Statement } from '../db/statement.ts'
import { inTransaction } from '../db/transaction.ts'
import type { FieldError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { apply, type FollowUp } from './advance.ts'
import {
  buildVariables,
  conditionFacts,
  originFields,
  requestedBuild,
  type Build,
  type BuildOrigin,
  type BuildRequest,
} from './build.ts'
import { chargedFor, type Charged } from './shares/charged.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { setMetaData } from './meta-data.ts'
import { readStored } from './read-stored.ts'
import { columnName, tallyColumns } from './rows.ts'
import { selectPipelineScope, type PipelineScope } from './scope.ts'
import { isUntrusted } from './trust.ts'

type CreatedBuild = { ok: true; buildId: string; number: number; followUps: FollowUp[] } | BuildRefusal

export interface BuildRefusal {
  ok: false
  reason: 'no_pipeline' | 'pipeline_archived' | 'branch_filtered' | 'invalid_configuration'
  /** For the person who asked. */
  message: string
  errors?: FieldError[]
}

/** A refusal as one sentence, for callers that show no list of errors. */
export function describeRefusal({ message, errors = [] }: BuildRefusal): string {
  const details = errors.map(({ field, code }) => `${field} ${code}`)
  return details.length === 0 ? message : `${message}: ${details.join('; ')}`
}

const mostStepsAtOnce = 300

/** Planning thousands of steps lets other requests run between its parts. */
async function planPausing(...given: Parameters<typeof planInParts>): Promise<PlanResult> {
  const parts = planInParts(...given)
  for (let part = parts.next(); ; part = parts.next()) {
    if (part.done) return part.value
    if (given[0].steps.length > mostStepsAtOnce) await setImmediate()
  }
}

/** With a `dispatcher` the transaction must be retried after an error that `isAgentTaken`. */
export function createBuild(
  ctx: Context,
  organizationId: string,
  request: BuildRequest,
  dispatcher: Dispatcher | null = null,
): Promise<CreatedBuild> {
  return inTransaction(ctx.db, async (trx): Promise<CreatedBuild> => {
    const target = await findTarget(trx, organizationId, request)
    if (target === undefined) return noPipeline
    const refusal = refuse(target, request)
    if (refusal !== null) return refusal

    const unnumbered = requestedBuild(request, target, target.env)
    const read = await readStored(
      { text: target.configuration, variables: buildVariables(unnumbered) },
      { kind: 'upload', organizationId, sender: request.creatorId ?? request.pipelineId, until: null },
    )
    if (!read.ok) return invalidConfiguration(read.problems.map(describeProblem))

    const build = { ...unnumbered, number: target.number }
    const at = ctx.now().toISOString()
    const scheduledAt = request.dueAt ?? at
    const planned = await planPausing(read.document, conditionFacts(build), {
      mint: newId,
      at,
      scheduledAt,
      jobsInBuild: 0,
      uploadsInBuild: 0,
      upload: null,
    })
    if (!planned.ok) return invalidConfiguration([planned.message])
    const triggeredFromJobId = request.triggeredFrom?.job_id ?? null
    const scope = {
      ...target.scope,
      ...target.charged,
      buildId: build.id,
      triggeredFromJobId,
      mayBeUntrusted: target.isFromFork,
    }
    const begun = await apply(
      trx,
      ctx,
      {
        scope,
        build: newBuild(build.id, scheduledAt),
        inherited: { ...target.scope, ...target.charged, isUntrusted: target.isUntrusted },
      },
      { type: 'begin', plan: planned.plan },
      (row) => [
        setLastNumber(target.pipeline.id, build.number),
        ...insertBuild(trx, { build, row, at }, target, request, read.document),
        ...setMetaData(scope, request.metaData),
      ],
      dispatcher,
    )
    if (!begun.ok) throw new Error(`A new build refused its own steps: ${begun.message}`)
    await onCommit(trx, () => ctx.metrics.buildsCreated.inc({ source: request.source }))
    return { ok: true, buildId: build.id, number: build.number, followUps: begun.followUps }
  })
}

const noPipeline: BuildRefusal = { ok: false, reason: 'no_pipeline', message: 'No pipeline found' }

const invalidConfiguration = (problems: readonly string[]): BuildRefusal => ({
  ok: false,
  reason: 'invalid_configuration',
  message: 'Validation Failed',
  errors: problems.map((code) => ({ field: 'configuration', code })),
})

/** The pipeline that the request asks to build. */
interface Target extends BuildOrigin {
  /** The number of the new build. */
  number: number
  configuration: string
  env: Record<string, string>
  branch_configuration: string | null
  archived_at: string | null
  isFromFork: boolean
  isUntrusted: boolean
  scope: PipelineScope
  charged: Charged
}

/** Locks the pipeline until the transaction ends, so that builds get their numbers one after another. */
async function findTarget(
  trx: Trx,
  organizationId: string,
  request: BuildRequest,
): Promise<Target | undefined> {
  const target = sql<
    Omit<Target, 'scope' | 'charged' | 'isFromFork' | 'isUntrusted'> & { trusts_forks: boolean }
  >`
    select p.last_build_number + 1 as number, p.configuration, p.env, p.branch_configuration, p.archived_at,
      coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) as trusts_forks,
      ${originFields(organizationId, sql`${request.creatorId}::uuid`)}
    from pipelines p join organizations o on o.id = p.organization_id
    where p.organization_id = ${organizationId} and p.id = ${request.pipelineId}
    for no key update of p`
  const [[found], [scope], [charged]] = await batch(trx, [
    target,
    selectPipelineScope(organizationId, request.pipelineId),
    chargedFor(organizationId, request),
  ])
  if (found === undefined || scope === undefined || charged === undefined) return undefined
  const isForkCommit = request.commitOrigin === 'fork' || request.pullRequest?.fork === true
  const descends = await descendsFromFork(trx, organizationId, request)
  const untrusted = descends || (isForkCommit && !found.trusts_forks)
  // Forks do not see the variables that are stored with the pipeline instead of in its repository.
  const visible = untrusted ? { ...found, env: {} } : found
  return { ...visible, isFromFork: isForkCommit || descends, isUntrusted: untrusted, scope, charged }
}

/** The result is stored with the build, so that it holds when the earlier build is deleted. */
const descendsFromFork = (
  trx: Trx,
  organizationId: string,
  { rebuiltFrom, triggeredFrom }: BuildRequest,
): Promise<boolean> =>
  isUntrusted(trx, organizationId, [rebuiltFrom?.id ?? [], triggeredFrom?.build_id ?? []].flat())

function refuse(target: Target, request: BuildRequest): BuildRefusal | null {
  if (target.archived_at !== null) {
    const message = 'The pipeline is archived; unarchive it to build it.'
    return { ok: false, reason: 'pipeline_archived', message }
  }
  // A pull request's filter was applied when its webhook arrived.
  const filter =
    request.ignoreBranchFilters || request.pullRequest !== null ? null : target.branch_configuration
  if (filter === null || matchesBranch(filter, request.branch)) return null
  const message = `The branch "${request.branch}" does not match the pipeline's branch filter "${filter}".`
  return { ok: false, reason: 'branch_filtered', message }
}

const setLastNumber = prepared(
  (pipelineId: string, number: number) =>
    sql`update pipelines set last_build_number = ${number} where id = ${pipelineId}`,
)

function insertBuild(
  trx: Trx,
  { build, row, at }: { build: Build; row: BuildRow; at: string },
  target: Target,
  request: BuildRequest,
  document: PipelineDocument,
): Statement[] {
  const json = (value: unknown) => (value == null ? null : JSON.stringify(value))
  const insert = trx.insertInto('builds').values({
    id: build.id,
    organization_id: build.organization.id,
    pipeline_id: build.pipeline.id,
    number: build.number,
    state: row.state,
    blocked_state: row.blockedState,
    cancel_reason: row.cancelReason,
    message: build.message,
    commit: build.commit,
    branch: build.branch,
    tag: build.tag,
    env: JSON.stringify(build.env),
    stored_env: JSON.stringify({ ...build.storedEnv, ...Object.fromEntries(document.env) }),
    notify: JSON.stringify(document.notify),
    source: build.source,
    creator_id: request.creatorId,
    charged_user_id: target.charged.chargedUserId,
    charged_pipeline_id: target.charged.chargedPipelineId,
    is_machine: target.charged.isMachine,
    author: json(build.author),
    pull_request: json(build.pullRequest),
    from_fork: target.isFromFork,
    host_event: json(build.hostEvent),
    found_by: request.foundBy ?? null,
    clean_checkout: build.cleanCheckout,
    rebuilt_from: json(build.rebuiltFrom),
    triggered_from: json(build.triggeredFrom),
    triggered_from_job_id: build.triggeredFrom?.job_id ?? null,
    created_at: at,
    scheduled_at: row.scheduledAt,
    started_at: row.startedAt,
    failing_at: row.failingAt,
    finished_at: row.finishedAt,
  })
  const fields = Object.keys(tallyColumns) as Array<keyof typeof tallyColumns>
  const tally = sql`
    insert into build_tallies (build_id, ${sql.raw(fields.map(columnName).join(', '))})
    values (${row.id}, ${sql.join(fields.map((field) => row[field]))})`
  return [insert, tally]
}
