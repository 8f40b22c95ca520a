// What the source host says of checks. Those that this installation has published never start a build by their end, which would
// publish the next one; asking for one again retries the failed jobs of its build.
import { isFinalBuild } from '@millrace/engine/states.ts'
import { recordAudit } from '../audit/record.ts'
import { advanceIn, type FollowUp } from '../conductor/advance.ts'
import { createBuild, describeRefusal } from '../conductor/create-build.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inSavepoint } from '../db/transaction.ts'
import { repeatOf } from '../resources/builds/builds/create.ts'
import * as builds from '../resources/builds/builds/queries.ts'
import { isParentCanceled } from '../resources/builds/jobs/queries.ts'
import {
  findOfRepository,
  type ConnectionRow,
} from '../resources/pipelines/repository_connections/queries.ts'
import type { CommitNamed, HostEvent, NamedCheck } from '../source-hosts/events.ts'
import { readExternalId } from '../source-hosts/status.ts'
import * as checked from './check-queries.ts'
import type { CheckedBuild } from './check-queries.ts'
import { listTargetsById, listTargetsWithChecks, type Target } from './queries.ts'

export interface BuiltAgain {
  kind: 'built'
  builds: Array<{ id: string; number: number }>
  followUps: FollowUp[]
}

type Ignored = { kind: 'ignored'; reason: string }

/** A build stays locked while its jobs are retried. */
const mostJobs = 500

/**
 * The pipelines whose checks are asked for again: an App has one address for the events of all of them. The caller has checked the
 * signature of the organization's connection; each pipeline compares the repository with its own later.
 */
export async function listTargetsOfCheck(
  ctx: Context,
  target: Target,
  connection: ConnectionRow,
  events: readonly HostEvent[],
): Promise<Target[]> {
  const [event] = events
  if (event?.kind !== 'commit' || !('again' in event.wants) || event.check === undefined) return [target]
  const { name, externalId } = event.check
  const made = readExternalId(externalId)
  const { organization_id: orgId } = target
  const found =
    name === null
      ? await listTargetsWithChecks(ctx.db, orgId, connection, event.commit)
      : made === null || made.pipelineId === target.id
        ? []
        : await listTargetsById(ctx.db, orgId, made.pipelineId, connection)
  return found.length === 0 ? [target] : found
}

/** Null: the event is judged like any other that names a commit. */
export async function takeCheck(
  trx: Trx,
  ctx: Context,
  target: Target,
  { wants, check, commit }: CommitNamed,
): Promise<BuiltAgain | Ignored | null> {
  if (check === undefined) return null
  const connection = await findOfRepository(trx, target.organization_id, target.repository)
  const isOfApp = check.appId !== null && check.appId === connection?.app_id
  const made = readExternalId(check.externalId)
  if (!('again' in wants)) {
    return isOfApp || made !== null ? ignore('The check is our own, and its end builds nothing.') : null
  }
  if (!isOfApp) return ignore('The check is of another App than that of the connection.')
  if (made !== null && made.pipelineId !== target.id) return ignore('The check is of another pipeline.')
  const found = await findChecked(trx, target, check, commit)
  if (found === null) return ignore('The check is not of this pipeline.')
  // The build is deleted, but its commit can be built.
  if (found.length === 0) return null
  const again: BuiltAgain = { kind: 'built', builds: [], followUps: [] }
  const reasons: string[] = []
  for (const build of found) {
    const done = await buildAgain(trx, ctx, target, build)
    if (done.kind === 'ignored') reasons.push(done.reason)
    else {
      again.builds.push(...done.builds)
      again.followUps.push(...done.followUps)
    }
  }
  return again.builds.length > 0 ? again : ignore(reasons.join(' '))
}

const ignore = (reason: string): Ignored => ({ kind: 'ignored', reason })

/** Null: the pipeline has published no such check. Empty: its build does not exist any more. */
async function findChecked(
  trx: Trx,
  target: Target,
  { name, externalId }: NamedCheck,
  commit: string,
): Promise<CheckedBuild[] | null> {
  const made = readExternalId(externalId)
  if (made !== null) return checked.listBuilds(trx, target, commit, [made.buildId])
  const ids = await checked.listPublishers(trx, target, commit, name)
  return ids.length === 0 ? null : checked.listBuilds(trx, target, commit, ids)
}

async function buildAgain(
  trx: Trx,
  ctx: Context,
  target: Target,
  build: CheckedBuild,
): Promise<BuiltAgain | Ignored> {
  const retried = await retryFailed(trx, ctx, target, build)
  if (retried !== null && retried.count > 0) {
    const { id, number } = build
    return { kind: 'built', builds: [{ id, number }], followUps: retried.followUps }
  }
  if (!isFinalBuild(build.state)) return ignore(`Build #${build.number} has not ended.`)
  if (build.rebuilt_as !== null)
    return ignore(`Build #${build.number} is built again as #${build.rebuilt_as}.`)
  return rebuild(trx, ctx, target, build)
}

/** Null: the build was canceled, so its jobs stay as they are. */
async function retryFailed(
  trx: Trx,
  ctx: Context,
  { organization_id: orgId, slug }: Target,
  { id, number }: CheckedBuild,
): Promise<{ count: number; followUps: FollowUp[] } | null> {
  const parentCanceled = await isParentCanceled(trx, orgId, id)
  const followUps: FollowUp[] = []
  let count = 0
  for (const jobId of (await builds.listFailedJobs(trx, orgId, id, null)).slice(0, mostJobs)) {
    const advanced = await advanceIn(trx, ctx, orgId, id, { type: 'retry', jobId, parentCanceled })
    if (!advanced.ok && advanced.reason === 'build_canceled') return null
    if (!advanced.ok) continue
    followUps.push(...advanced.followUps)
    count++
  }
  if (count > 0) {
    await recordAudit(
      trx,
      { kind: 'system' },
      {
        organizationId: orgId,
        type: 'BUILD_FAILED_JOBS_RETRIED',
        subject: { type: 'Build', uuid: id, name: `${slug} #${number}` },
        data: { retried_jobs_count: count },
      },
    )
  }
  return { count, followUps }
}

async function rebuild(
  trx: Trx,
  ctx: Context,
  target: Target,
  { id, number }: CheckedBuild,
): Promise<BuiltAgain | Ignored> {
  const original = await builds.findRepeatable(trx, target.organization_id, id)
  if (original?.allow_rebuilds !== true) return ignore('The pipeline does not allow builds to be rebuilt.')
  const request = {
    ...repeatOf(original, { id, number }),
    pipelineId: target.id,
    source: 'webhook' as const,
    creatorId: null,
    triggeredFrom: null,
    dueAt: null,
  }
  const created = await inSavepoint(
    trx,
    () => createBuild({ ...ctx, db: trx }, target.organization_id, request),
    ({ ok }) => ok,
  )
  if (!created.ok) return ignore(describeRefusal(created))
  return {
    kind: 'built',
    builds: [{ id: created.buildId, number: created.number }],
    followUps: created.followUps,
  }
}
