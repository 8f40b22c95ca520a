// Steps that a running job adds to its own build. An upload is idempotent by its id: the outcome is stored, and a
// repeated or concurrent request with the same id gets the same outcome.
import { sql } from 'kysely'
import type { RefusalReason } from '@millrace/engine/advance/refusal.ts'
import { isUnoffered, type JobState } from '@millrace/engine/states.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import type { Context } from '../context.ts'
import { defer } from '../db/batch.ts'
import type { Trx } from '../db/pool.ts'
import { inSavepoint, inTransaction } from '../db/transaction.ts'
import { publishBuild } from '../events/builds.ts'
import { describeMovedStatuses } from '../source-hosts/moved-statuses.ts'
import { carryOut } from './act.ts'
import { advanceIn, type FollowUp } from './advance.ts'
import { conditionFacts, findBuild } from './build.ts'
import { lockBuild } from './load.ts'
import { readSteps, type GivenSteps, type ReadSteps } from './read-steps.ts'
import { isUntrusted, notifyingOnlyItsHost } from './trust.ts'
import { describeUnknownKeys } from './unknown-keys.ts'

interface StepUpload {
  /** Chosen by the agent. */
  uploadId: string
  jobId: string
  /** The agent has filled in the variables. */
  steps: GivenSteps | ReadSteps
  /** Delete the steps that have not started first. */
  replace: boolean
}

export interface UploadOutcome {
  state: 'applied' | 'rejected'
  createdJobs: number
  /** Why it was rejected, for programs. */
  rejectionType: RefusalReason | 'id_taken' | null
  /** Why it was rejected, or a warning about what was applied; for people. */
  message: string | null
}

/** undefined: the organization has no such job. */
export async function uploadSteps(
  ctx: Context,
  organizationId: string,
  upload: StepUpload,
): Promise<UploadOutcome | undefined> {
  const steps = 'keptText' in upload.steps ? upload.steps : readSteps(upload.steps)
  const done = await inTransaction(ctx.db, async (trx) => {
    const buildId = await findBuildId(trx, organizationId, upload.jobId)
    if (buildId === undefined) return undefined
    if (!(await register(trx, organizationId, buildId, upload, steps.keptText))) {
      return { outcome: await findOutcome(trx, organizationId, upload), followUps: [] }
    }
    const applied = await applyAll(trx, ctx, { organizationId, buildId, upload, steps })
    await saveOutcome(trx, upload.uploadId, applied.outcome)
    return applied
  })
  if (done === undefined) return undefined
  await carryOut(ctx, done.followUps)
  return done.outcome
}

interface Upload {
  organizationId: string
  buildId: string
  upload: StepUpload
  steps: ReadSteps
}

interface Applied {
  outcome: UploadOutcome
  followUps: FollowUp[]
}

/** All documents or none. */
async function applyAll(trx: Trx, ctx: Context, given: Upload): Promise<Applied> {
  const { outcome } = given.steps
  if (!outcome.ok) return reject('invalid_upload', outcome.message)
  return inSavepoint(
    trx,
    () => applyDocuments(trx, ctx, given, outcome.documents),
    (applied) => applied.outcome.state !== 'rejected',
  )
}

async function applyDocuments(
  trx: Trx,
  ctx: Context,
  { organizationId, buildId, upload }: Upload,
  given: readonly PipelineDocument[],
): Promise<Applied> {
  await lockBuild(trx, organizationId, buildId)
  const build = await findBuild(trx, organizationId, buildId)
  if (build === undefined) throw new Error('A build disappeared while its job uploaded steps.')
  const untrusted = await isUntrusted(trx, organizationId, [buildId])
  if (untrusted && upload.replace && (await hasUnstartedOfPipeline(trx, organizationId, buildId))) {
    return reject('invalid_upload', 'Builds of forks may not replace steps that their pipeline has itself.')
  }
  const documents = untrusted ? given.map(notifyingOnlyItsHost) : given
  const followUps: FollowUp[] = []
  const uploadedEnv = { ...build.uploadedEnv }
  let createdJobs = 0
  for (const [index, document] of documents.entries()) {
    Object.assign(uploadedEnv, Object.fromEntries(document.env))
    const advanced = await advanceIn(trx, ctx, organizationId, buildId, {
      type: 'upload',
      jobId: upload.jobId,
      document,
      facts: conditionFacts({ ...build, uploadedEnv }),
      replace: upload.replace && index === 0,
    })
    if (!advanced.ok) return reject(advanced.reason, advanced.message)
    followUps.push(...advanced.followUps)
    createdJobs += advanced.newJobs.length
  }
  const notify = documents.flatMap((document) => document.notify)
  await sql`
    update builds set uploaded_env = ${JSON.stringify(uploadedEnv)}::jsonb, notify = notify || ${JSON.stringify(notify)}::jsonb
    where organization_id = ${organizationId} and id = ${buildId}`.execute(trx)
  await defer(trx, [publishBuild('build.steps_changed', organizationId, buildId, ctx.now().toISOString())])
  const messages = [
    await describeUnknownKeys(trx, buildId, documents),
    untrusted ? describeMovedStatuses(build.pipeline.slug, documents) : null,
  ]
  const message = messages.filter((one) => one !== null).join('\n') || null
  return { outcome: { state: 'applied', createdJobs, rejectionType: null, message }, followUps }
}

const reject = (rejectionType: UploadOutcome['rejectionType'], message: string): Applied => ({
  outcome: { state: 'rejected', createdJobs: 0, rejectionType, message },
  followUps: [],
})

/** Hosts would see the build as green without them. */
async function hasUnstartedOfPipeline(trx: Trx, organizationId: string, buildId: string): Promise<boolean> {
  const { rows } = await sql<{ state: JobState }>`
    select distinct j.state from jobs j join build_steps s on s.id = j.step_id
    where j.organization_id = ${organizationId} and j.build_id = ${buildId} and j.retried_in_job_id is null
      and s.uploader_id is null`.execute(trx)
  return rows.some(({ state }) => isUnoffered(state))
}

async function findBuildId(trx: Trx, organizationId: string, jobId: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom('jobs')
    .select('build_id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', jobId)
    .executeTakeFirst()
  return row?.build_id
}

/** Whether the id is new. Waits for another request with the same id that is under way. */
async function register(
  trx: Trx,
  organizationId: string,
  buildId: string,
  { uploadId, jobId, replace }: StepUpload,
  keptText: string,
): Promise<boolean> {
  const inserted = await trx
    .insertInto('step_uploads')
    .values({
      id: uploadId,
      organization_id: organizationId,
      build_id: buildId,
      source_job_id: jobId,
      state: 'processing',
      replace_existing_steps: replace,
      definition_yaml: keptText,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

async function saveOutcome(trx: Trx, uploadId: string, outcome: UploadOutcome): Promise<void> {
  await trx
    .updateTable('step_uploads')
    .set({
      state: outcome.state,
      created_jobs_count: outcome.createdJobs,
      rejection_type: outcome.rejectionType,
      message: outcome.message,
      processed_at: sql<string>`now()`,
    })
    .where('id', '=', uploadId)
    .execute()
}

async function findOutcome(
  trx: Trx,
  organizationId: string,
  { uploadId, jobId }: StepUpload,
): Promise<UploadOutcome> {
  const { rows } = await sql<UploadOutcome>`
    select state, created_jobs_count as "createdJobs", rejection_type as "rejectionType", message from step_uploads
    where organization_id = ${organizationId} and source_job_id = ${jobId} and id = ${uploadId}`.execute(trx)
  return rows[0] ?? reject('id_taken', 'The id of the upload belongs to another one').outcome
}
