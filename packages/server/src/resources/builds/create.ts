import { byCaller, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import { carryOut } from '../../conductor/act.ts'
import { createBuild, type BuildRequest, type CreatedBuild } from '../../conductor/create-build.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { invalidFields, notFound, refused, type ApiError } from '../../lib/errors.ts'
import { findCommitOrigin } from './commit-origin.ts'
import * as builds from './queries.ts'
import { readAuthor, readMaps, readPullRequest } from './rules.ts'
import type { CreateBuildBody } from './schema.ts'

export interface NewBuild {
  id: string
  pipeline_id: string
}

interface NamedPipeline {
  id: string
  slug: string
}

export async function createFromBody(
  ctx: Context,
  org: Organization,
  caller: Caller,
  pipeline: NamedPipeline,
  body: CreateBuildBody,
): Promise<NewBuild> {
  return create(ctx, org, caller, pipeline, 'BUILD_CREATED', {
    ...byHand(caller, pipeline),
    author: readAuthor(body, caller),
    commit: body.commit,
    commitOrigin: await findCommitOrigin(ctx.db, org.id, pipeline.id, body),
    branch: body.branch,
    tag: null,
    message: body.message ?? null,
    ...readMaps(body),
    pullRequest: readPullRequest(body),
    cleanCheckout: body.clean_checkout ?? false,
    ignoreBranchFilters: body.ignore_pipeline_branch_filters ?? false,
    rebuiltFrom: null,
  })
}

/** The same once more, from what was kept of it; nothing is asked of the repository. */
export async function rebuild(
  ctx: Context,
  org: Organization,
  caller: Caller,
  original: builds.BuildRow,
): Promise<NewBuild> {
  const kept = await builds.findRepeatable(ctx.db, org.id, original.id)
  if (kept === undefined) throw notFound('No build found')
  if (!kept.allow_rebuilds) throw refused('The pipeline does not allow builds to be rebuilt.')
  const pipeline = { id: original.pipeline_id, slug: original.pipeline_slug }
  const { commit, branch, tag, message, env, author } = kept
  return create(ctx, org, caller, pipeline, 'BUILD_REBUILT', {
    ...byHand(caller, pipeline),
    author,
    commit,
    commitOrigin: kept.from_fork === true || kept.pull_request?.fork === true ? 'fork' : 'own',
    branch,
    tag,
    message,
    env,
    metaData: {},
    pullRequest: kept.pull_request,
    cleanCheckout: false,
    // What was built once was wanted; the filter has had its say.
    ignoreBranchFilters: true,
    rebuiltFrom: { id: original.id, number: original.number },
  })
}

const byHand = (caller: Caller, pipeline: NamedPipeline) =>
  ({
    pipelineId: pipeline.id,
    source: 'api',
    creatorId: caller.user.id,
    triggeredFrom: null,
    dueAt: null,
  }) as const

async function create(
  ctx: Context,
  org: Organization,
  caller: Caller,
  pipeline: NamedPipeline,
  type: Extract<AuditType, 'BUILD_CREATED' | 'BUILD_REBUILT'>,
  request: BuildRequest,
): Promise<NewBuild> {
  const made = await inTransaction(ctx.db, async (trx) => {
    const created = await createBuild({ ...ctx, db: trx }, org.id, request)
    if (!created.ok) throw toError(created)
    const { branch, commit, rebuiltFrom } = request
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type,
      subject: { type: 'Build', uuid: created.buildId, name: `${pipeline.slug} #${created.number}` },
      data: { branch, commit, ...(rebuiltFrom === null ? {} : { rebuilt_from: rebuiltFrom.id }) },
    })
    return created
  })
  await carryOut(ctx, made.followUps)
  return { id: made.buildId, pipeline_id: pipeline.id }
}

function toError({ message, errors }: Extract<CreatedBuild, { ok: false }>): ApiError {
  if (errors !== undefined) return invalidFields(errors)
  return message === 'No pipeline found' ? notFound(message) : refused(message)
}
