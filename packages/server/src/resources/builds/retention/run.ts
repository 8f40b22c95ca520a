// The work of retention: pipeline by pipeline, in small batches. One process at a time works on a pipeline.
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { eachRowApart } from '../../../db/each-row.ts'
import { expireArtifacts, expireArtifactsOfOpenBuilds } from './expire-artifacts.ts'
import { buildExpirer, expireArchives } from './expire-builds.ts'
import { expireArchivedLogs, expireLogs } from './expire-logs.ts'
import * as retention from './queries.ts'
import { add, emptyReport, isEmpty, kinds, type Report } from './report.ts'
import {
  archivesWithDueLogs,
  dueArchives,
  dueArtifactsOfOpenBuilds,
  overdueBuilds,
  policies,
  strippableBuilds,
  type Scope,
  type Terms,
} from './selection.ts'
import type { PipelineAddress, Step, Work } from './step.ts'
import { deleteTestRuns } from './test-runs.ts'

interface Pace {
  /** The work ends after the batch that it is at. */
  stopping: AbortSignal
  /** The pause after a batch, as a multiple of the time that the batch took. */
  pause: number
}

export interface Done extends Report {
  /** Pipelines that another process is at work on. */
  busy: string[]
}

/** For the poller of a worker: everything that is due in the installation, at half of the speed. */
export async function expireAll(ctx: Context, stopping: AbortSignal): Promise<void> {
  const terms = { now: ctx.now().toISOString(), defaults: ctx.config.retention }
  const pace = { stopping, pause: 1 }
  const released = new Set<string>()
  const due = await listDuePipelines(ctx.db, 'all', terms)
  await eachRowApart(
    ctx,
    'retention',
    due,
    ({ pipelineId }) => pipelineId,
    async (pipeline) => {
      if (stopping.aborted) return
      const done = await expirePipeline(ctx, pipeline, terms, pace, released)
      if (done !== null && !isEmpty(done)) {
        const counts = Object.fromEntries(kinds.map((kind) => [kind, done[kind].count]))
        ctx.log.info({ pipeline_id: pipeline.pipelineId, ...counts }, 'Retention has deleted what was due.')
      }
    },
  )
  await eachRowApart(ctx, 'retention_of_tests', await listOrganizations(ctx.db), String, (orgId) =>
    inBatches(pace, () => deleteTestRuns(ctx.db, orgId, terms, emptyReport().test_runs)),
  )
}

/** For a command: what is due in an organization, or in some of its pipelines. */
export async function expireSome(
  work: Work,
  scope: { organizationId: string; pipelineIds: readonly string[] | null },
  terms: Terms,
  pace: Pace,
): Promise<Done> {
  const done: Done = { ...emptyReport(), busy: [] }
  const released = new Set<string>()
  for (const pipeline of await listDuePipelines(work.db, scope, terms)) {
    const own = await expirePipeline(work, pipeline, terms, pace, released)
    if (own === null) done.busy.push(pipeline.slug)
    else for (const kind of kinds) add(done[kind], own[kind])
  }
  if (scope.pipelineIds === null) {
    await inBatches(pace, () => deleteTestRuns(work.db, scope.organizationId, terms, done.test_runs))
  }
  return done
}

/** null: another process is at work on the pipeline. */
async function expirePipeline(
  work: Work,
  pipeline: PipelineAddress,
  terms: Terms,
  pace: Pace,
  released: Set<string>,
): Promise<Report | null> {
  const { organizationId, pipelineId } = pipeline
  if (!(await retention.claimPipeline(work.db, organizationId, pipelineId))) return null
  const report = emptyReport()
  // Logs and artifacts first, so that a build is archived without those that are due.
  const steps: Step[] = [
    expireLogs,
    expireArtifacts,
    expireArtifactsOfOpenBuilds,
    buildExpirer(released),
    expireArchivedLogs,
    expireArchives,
  ]
  try {
    for (const step of steps) {
      await inBatches(pace, async () => {
        const hasMore = await step(work, pipeline, terms, report)
        await retention.renewClaim(work.db, organizationId, pipelineId)
        return hasMore
      })
    }
  } finally {
    await retention.releaseClaim(work.db, organizationId, pipelineId)
  }
  return report
}

async function inBatches({ stopping, pause }: Pace, batch: () => Promise<boolean>): Promise<void> {
  while (!stopping.aborted) {
    const begunMs = performance.now()
    if (!(await batch())) return
    await delay((performance.now() - begunMs) * pause, undefined, { signal: stopping }).catch(() => {})
  }
}

type DuePipeline = PipelineAddress & { slug: string }

/** The pipelines of which something may be due. `exists` would make PostgreSQL ignore the limit of one. */
async function listDuePipelines(db: Db, scope: Scope, terms: Terms): Promise<DuePipeline[]> {
  const first = { after: null, limit: 1 }
  const { rows } = await sql<DuePipeline>`
    with ${policies(scope, terms)}
    select p.organization_id as "organizationId", p.pipeline_id as "pipelineId", p.slug from policy p
    where ${sql.join(
      [
        strippableBuilds('logs', first),
        strippableBuilds('artifacts', first),
        overdueBuilds(first),
        dueArtifactsOfOpenBuilds(1),
        archivesWithDueLogs(1),
        dueArchives(1),
      ].map((due) => sql`(select true from (${due}) one)`),
      sql` or `,
    )}
    order by p.pipeline_id`.execute(db)
  return rows
}

async function listOrganizations(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select o.id from organizations o where exists (
      select from test_suites s where s.organization_id = o.id) order by o.id`.execute(db)
  return rows.map(({ id }) => id)
}
