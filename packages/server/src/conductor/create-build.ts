// Makes a build: the number, the row, the plan, the first advance; one transaction. REST, schedules, webhooks,
// trigger steps and rebuilds all enter here.
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { matchesBranch } from '@millrace/engine/branches.ts'
import { newBuild } from '@millrace/engine/new-build.ts'
import { planInParts, type PlanResult } from '@millrace/engine/plan.ts'
import { describeProblem, type Problem } from '@millrace/engine/problem.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import type { BuildRow } from '@millrace/engine/rows.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { batch } from '../db/batch.ts'
import type { Statement } from '../db/statement.ts'
import { inTransaction } from '../db/transaction.ts'
import type { FieldError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { apply, type FollowUp } from './advance.ts'
import { conditionFacts, personJson, type Creator } from './facts.ts'
import { setMetaData } from './meta-data.ts'
import { readStored } from './read-stored.ts'
import { columnName, tallyColumns } from './rows.ts'
import { selectPipelineScope, type PipelineScope } from './scope.ts'
import { isUntrusted, type CommitOrigin } from './trust.ts'
import { listStoredVariables } from './variables.ts'

export interface PullRequest {
  id: string
  base: string | null
  repository: string | null
  labels: readonly string[]
  draft: boolean | null
  /** Whether its commits come from another repository; unsaid where nobody but the caller would know. */
  fork?: boolean
  /** Its newest commit, where what is built is how it would merge. */
  head?: string
  /** The repository to check out, where the pipeline's own does not have its commits. */
  checkout?: string
}

/** What the source host said beside the commit. */
export interface BuildSourceEvent {
  event: string
  action: string | null
  /** Of a labeled or unlabeled event. */
  label: string | null
  mergeQueue: { baseBranch: string; baseCommit: string } | null
}

export interface Author {
  name: string | null
  email: string | null
}

export interface BuildRequest {
  pipelineId: string
  source: 'webhook' | 'api' | 'ui' | 'trigger_job' | 'schedule'
  creatorId: string | null
  author: Author | null
  commit: string
  /** A build that is made because of another one, or again, is in addition a fork's if that one is. */
  commitOrigin: CommitOrigin
  branch: string
  tag: string | null
  message: string | null
  env: Readonly<Record<string, string>>
  metaData: Readonly<Record<string, string>>
  pullRequest: PullRequest | null
  /** Only for what a source host told of. */
  hostEvent?: BuildSourceEvent | null
  cleanCheckout: boolean
  ignoreBranchFilters: boolean
  rebuiltFrom: { id: string; number: number } | null
  triggeredFrom: {
    build_id: string
    build_number: number
    build_pipeline_slug: string
    job_id: string
    depth: number
  } | null
  /** When the build was due; null: now. */
  dueAt: string | null
}

export type CreatedBuild =
  | { ok: true; buildId: string; number: number; followUps: FollowUp[] }
  | { ok: false; message: string; errors?: FieldError[] }

interface PipelineRow {
  id: string
  slug: string
  name: string
  repository: string
  default_branch: string
  configuration: string
  env: Record<string, string>
  branch_configuration: string | null
  archived_at: string | null
  trusts_forks: boolean
  isFromFork: boolean
  organization_slug: string
  creator: Creator | null
  scope: PipelineScope
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

export function createBuild(
  ctx: Context,
  organizationId: string,
  request: BuildRequest,
): Promise<CreatedBuild> {
  return inTransaction(ctx.db, async (trx): Promise<CreatedBuild> => {
    const pipeline = await findPipeline(trx, organizationId, request)
    if (pipeline === undefined) return { ok: false, message: 'No pipeline found' }
    const refusal = refusalOf(pipeline, request)
    if (refusal !== null) return { ok: false, message: refusal }

    const id = newId()
    const variables = listStoredVariables({
      organizationSlug: pipeline.organization_slug,
      pipeline,
      build: request,
    })
    const read = await readStored({ text: pipeline.configuration, variables })
    if (!read.ok)
      return { ok: false, message: 'Validation Failed', errors: read.problems.map(configurationError) }

    const number = await takeNumber(trx, pipeline.id)
    if (number === undefined) return { ok: false, message: 'No pipeline found' }
    const at = ctx.now().toISOString()
    const facts = conditionFacts({
      organization: { id: organizationId, slug: pipeline.organization_slug },
      pipeline,
      build: { ...request, id, number, state: 'creating', blockedState: null },
      creator: pipeline.creator,
      env: (name) => variables.get(name),
    })
    const planned = await planPausing(read.document, facts, {
      mint: newId,
      at,
      scheduledAt: request.dueAt ?? at,
      jobsInBuild: 0,
      uploadsInBuild: 0,
      place: null,
    })
    if (!planned.ok) {
      throw new PlanRefused([{ field: 'configuration', code: planned.message }])
    }
    const triggeredFromJobId = request.triggeredFrom?.job_id ?? null
    const scope = { ...pipeline.scope, buildId: id, triggeredFromJobId }
    const begun = await apply(
      trx,
      ctx,
      { scope, build: newBuild(id, request.dueAt ?? at), inherited: pipeline.scope },
      { type: 'begin', plan: planned.plan },
      (after) => [
        ...insertBuild(trx, { number, at, after }, pipeline, request, read.document),
        ...setMetaData(scope, request.metaData),
      ],
    )
    if (!begun.ok) throw new Error(`A new build refused its own steps: ${begun.message}`)
    return { ok: true, buildId: id, number, followUps: begun.followUps }
  }).catch((error: unknown): CreatedBuild => {
    if (error instanceof PlanRefused) return { ok: false, message: 'Validation Failed', errors: error.errors }
    throw error
  })
}

/** Thrown to undo the number that was taken; never leaves this file. */
class PlanRefused extends Error {
  readonly errors: FieldError[]

  constructor(errors: FieldError[]) {
    super('The configuration cannot be planned.')
    this.errors = errors
  }
}

const configurationError = (problem: Problem): FieldError => ({
  field: 'configuration',
  code: describeProblem(problem),
})

async function findPipeline(
  trx: Trx,
  organizationId: string,
  request: BuildRequest,
): Promise<PipelineRow | undefined> {
  const creator = personJson(organizationId, sql`${request.creatorId}::uuid`)
  const pipeline = sql<Omit<PipelineRow, 'scope' | 'isFromFork'>>`
    select p.id, p.slug, p.name, p.repository, p.default_branch, p.configuration, p.env, p.branch_configuration,
      p.archived_at, o.slug as organization_slug,
      coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) as trusts_forks, ${creator} as creator
    from pipelines p join organizations o on o.id = p.organization_id
    where p.organization_id = ${organizationId} and p.id = ${request.pipelineId}`
  const [[found], [scope]] = await batch(trx, [
    pipeline,
    selectPipelineScope(organizationId, request.pipelineId),
  ])
  if (found === undefined || scope === undefined) return undefined
  const isForkCommit = request.commitOrigin === 'fork' || request.pullRequest?.fork === true
  const descends = await descendsFromFork(trx, organizationId, request)
  // The variables that are kept with the pipeline, and not in its repository, are not for everybody who has a fork.
  const isWithheld = descends || (isForkCommit && !found.trusts_forks)
  return { ...found, ...(isWithheld ? { env: {} } : {}), isFromFork: isForkCommit || descends, scope }
}

/** Kept with the build as well, so that it also holds when the earlier build is deleted. */
const descendsFromFork = (
  trx: Trx,
  organizationId: string,
  { rebuiltFrom, triggeredFrom }: BuildRequest,
): Promise<boolean> =>
  isUntrusted(trx, organizationId, [rebuiltFrom?.id ?? [], triggeredFrom?.build_id ?? []].flat())

function refusalOf(pipeline: PipelineRow, request: BuildRequest): string | null {
  if (pipeline.archived_at !== null) return 'The pipeline is archived; unarchive it to build it.'
  // A pull request is judged by its own filter, where its webhook comes in.
  const filter =
    request.ignoreBranchFilters || request.pullRequest !== null ? null : pipeline.branch_configuration
  if (filter !== null && !matchesBranch(filter, request.branch)) {
    return `The branch "${request.branch}" does not match the pipeline's branch filter "${filter}".`
  }
  return null
}

/** undefined: somebody deleted the pipeline a moment ago. */
async function takeNumber(trx: Trx, pipelineId: string): Promise<number | undefined> {
  const { rows } = await sql<{ number: number }>`
    update pipelines set last_build_number = last_build_number + 1 where id = ${pipelineId}
    returning last_build_number as number`.execute(trx)
  return rows[0]?.number
}

function insertBuild(
  trx: Trx,
  { number, at, after }: { number: number; at: string; after: BuildRow },
  pipeline: PipelineRow,
  request: BuildRequest,
  document: PipelineDocument,
): Statement[] {
  const build = trx.insertInto('builds').values({
    id: after.id,
    organization_id: pipeline.scope.organizationId,
    pipeline_id: pipeline.id,
    number,
    state: after.state,
    blocked_state: after.blockedState,
    cancel_reason: after.cancelReason,
    message: request.message,
    commit: request.commit,
    branch: request.branch,
    tag: request.tag,
    env: JSON.stringify(request.env),
    stored_env: JSON.stringify({ ...pipeline.env, ...Object.fromEntries(document.env) }),
    notify: JSON.stringify(document.notify),
    source: request.source,
    creator_id: request.creatorId,
    author: request.author === null ? null : JSON.stringify(request.author),
    pull_request: request.pullRequest === null ? null : JSON.stringify(request.pullRequest),
    from_fork: pipeline.isFromFork,
    host_event: request.hostEvent ? JSON.stringify(request.hostEvent) : null,
    clean_checkout: request.cleanCheckout,
    rebuilt_from: request.rebuiltFrom === null ? null : JSON.stringify(request.rebuiltFrom),
    triggered_from: request.triggeredFrom === null ? null : JSON.stringify(request.triggeredFrom),
    triggered_from_job_id: request.triggeredFrom?.job_id ?? null,
    created_at: at,
    scheduled_at: after.scheduledAt,
    started_at: after.startedAt,
    failing_at: after.failingAt,
    finished_at: after.finishedAt,
  })
  const fields = Object.keys(tallyColumns) as Array<keyof typeof tallyColumns>
  const tally = sql`
    insert into build_tallies (build_id, ${sql.raw(fields.map(columnName).join(', '))})
    values (${after.id}, ${sql.join(fields.map((field) => after[field]))})`
  return [build, tally]
}
