// Steps that a running job adds to its own build. The upload's id makes asking twice the same as asking once: what
// came of it is kept, and whoever asks again, or at the same time, is told the same.
import { sql } from 'kysely'
import type { Problem } from '@millrace/engine/problem.ts'
import { readPipelines, readPipelineTree, DEFAULT_MAX_BYTES } from '@millrace/engine/steps/document.ts'
import type { ReadPipelines } from '@millrace/engine/steps/document.ts'
import { formatProblem } from '@millrace/engine/steps/format-problem.ts'
import type { PipelineDocument } from '@millrace/engine/steps/types.ts'
import { sourceFromValue } from '@millrace/engine/source.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { inTransaction } from '../db/transaction.ts'
import { isStorable } from '../lib/unstorable.ts'
import { carryOut } from './act.ts'
import { advanceIn, type FollowUp } from './advance.ts'
import { findKnownBuild, uploadFacts } from './facts.ts'
import { lockBuild } from './load.ts'
import { isUntrusted, tellingOnlyItsHost } from './trust.ts'

const mostProblems = 20

export interface StepUpload {
  /** Chosen by whoever uploads. */
  uploadId: string
  jobId: string
  /** As written, or JSON that was parsed already; variables have been filled in where the job runs. */
  steps: { text: string } | { value: unknown }
  /** Clear away what has not started first. */
  replace: boolean
}

export interface UploadOutcome {
  state: 'applied' | 'rejected'
  createdJobs: number
  /** Why it was rejected: for programs, and for people. */
  rejectionType: string | null
  message: string | null
}

/** undefined: the organization has no such job. */
export async function uploadSteps(
  ctx: Context,
  organizationId: string,
  upload: StepUpload,
): Promise<UploadOutcome | undefined> {
  const read = readSteps(upload.steps)
  const done = await inTransaction(ctx.db, async (trx) => {
    const buildId = await findBuildId(trx, organizationId, upload.jobId)
    if (buildId === undefined) return undefined
    if (!(await register(trx, organizationId, buildId, upload))) {
      return { outcome: await recall(trx, organizationId, upload), followUps: [] }
    }
    const applied = await applyAll(trx, ctx, { organizationId, buildId, upload, read })
    await record(trx, upload.uploadId, applied.outcome)
    return applied
  })
  if (done === undefined) return undefined
  await carryOut(ctx, done.followUps)
  return done.outcome
}

function readSteps(steps: StepUpload['steps']): ReadPipelines {
  if ('text' in steps) return readPipelines(steps.text, { origin: 'upload', maxBytes: DEFAULT_MAX_BYTES })
  const tree = sourceFromValue(steps.value)
  if (tree === null) {
    const message = 'the steps nest too deeply, or hold characters that cannot be kept'
    return { ok: false, problems: [{ message, line: 0, column: 0, step: null }] }
  }
  const read = readPipelineTree(tree, { origin: 'upload' })
  return read.ok ? { ok: true, documents: [read.document], warnings: read.warnings } : read
}

interface Upload {
  organizationId: string
  buildId: string
  upload: StepUpload
  read: ReadPipelines
}

interface Applied {
  outcome: UploadOutcome
  followUps: FollowUp[]
}

/** All documents or none. */
async function applyAll(trx: Trx, ctx: Context, given: Upload): Promise<Applied> {
  const { read, upload } = given
  if (!read.ok) return reject('invalid_upload', describeProblems(read.problems, upload.steps))
  await sql`savepoint upload`.execute(trx)
  const applied = await applyDocuments(trx, ctx, given, read.documents)
  if (applied.outcome.state === 'rejected') await sql`rollback to savepoint upload`.execute(trx)
  return applied
}

function describeProblems(problems: readonly Problem[], steps: StepUpload['steps']): string {
  const text = 'text' in steps ? keptText(steps) : ''
  return problems
    .slice(0, mostProblems)
    .map((problem) => formatProblem('pipeline', text, problem))
    .join('\n')
}

/** What is kept of the text: nothing, where it is too long or holds what the database cannot. */
function keptText(steps: StepUpload['steps']): string {
  const text = 'text' in steps ? steps.text : JSON.stringify(steps.value ?? null, null, 2)
  return isStorable(text) && Buffer.byteLength(text) <= DEFAULT_MAX_BYTES ? text : ''
}

async function applyDocuments(
  trx: Trx,
  ctx: Context,
  { organizationId, buildId, upload }: Upload,
  given: readonly PipelineDocument[],
): Promise<Applied> {
  await lockBuild(trx, organizationId, buildId)
  const build = await findKnownBuild(trx, organizationId, buildId)
  if (build === undefined) throw new Error('A build vanished while its job uploaded steps.')
  const taken = (await isUntrusted(trx, organizationId, [buildId])) ? given.map(tellingOnlyItsHost) : given
  const followUps: FollowUp[] = []
  const uploadedEnv = { ...build.uploadedEnv }
  let createdJobs = 0
  for (const [index, document] of taken.entries()) {
    Object.assign(uploadedEnv, Object.fromEntries(document.env))
    const advanced = await advanceIn(trx, ctx, organizationId, buildId, {
      type: 'upload',
      jobId: upload.jobId,
      document,
      facts: uploadFacts(build, uploadedEnv),
      replace: upload.replace && index === 0,
    })
    if (!advanced.ok) return reject(advanced.reason, advanced.message)
    followUps.push(...advanced.followUps)
    createdJobs += advanced.newJobs.length
  }
  const notify = taken.flatMap((document) => document.notify)
  await sql`
    update builds set uploaded_env = ${JSON.stringify(uploadedEnv)}::jsonb, notify = notify || ${JSON.stringify(notify)}::jsonb
    where organization_id = ${organizationId} and id = ${buildId}`.execute(trx)
  return { outcome: { state: 'applied', createdJobs, rejectionType: null, message: null }, followUps }
}

const reject = (rejectionType: string, message: string): Applied => ({
  outcome: { state: 'rejected', createdJobs: 0, rejectionType, message },
  followUps: [],
})

async function findBuildId(trx: Trx, organizationId: string, jobId: string): Promise<string | undefined> {
  const row = await trx
    .selectFrom('jobs')
    .select('build_id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', jobId)
    .executeTakeFirst()
  return row?.build_id
}

/** Whether the id is new. While another request with the same id is at work, this waits for it. */
async function register(
  trx: Trx,
  organizationId: string,
  buildId: string,
  { uploadId, jobId, steps, replace }: StepUpload,
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
      definition_yaml: keptText(steps),
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst()
  return inserted.numInsertedOrUpdatedRows === 1n
}

async function record(trx: Trx, uploadId: string, outcome: UploadOutcome): Promise<void> {
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

async function recall(
  trx: Trx,
  organizationId: string,
  { uploadId, jobId }: StepUpload,
): Promise<UploadOutcome> {
  const { rows } = await sql<UploadOutcome>`
    select state, created_jobs_count as "createdJobs", rejection_type as "rejectionType", message from step_uploads
    where organization_id = ${organizationId} and source_job_id = ${jobId} and id = ${uploadId}`.execute(trx)
  return rows[0] ?? reject('id_taken', 'The id of the upload belongs to another one').outcome
}
