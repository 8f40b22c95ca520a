import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller } from '../../../auth/caller.ts'
import { carryOut } from '../../../conductor/act.ts'
import type { BuildRequest } from '../../../conductor/build.ts'
import { createBuild, type BuildRefusal } from '../../../conductor/create-build.ts'
import { isAgentTaken } from '../../../conductor/dispatch/claim.ts'
import { dispatcherOf } from '../../../conductor/dispatch/dispatcher.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction, isOpen } from '../../../db/transaction.ts'
import { invalidFields, notFound, refused, type ApiError } from '../../../lib/errors.ts'
import { findCommitOrigin } from './commit-origin.ts'
import type { BuildAddress } from '../../addresses/builds.ts'
import * as builds from './queries.ts'
import { readAuthor, readMaps, readPullRequest } from './rules.ts'
import type { CreateBuildBody } from './schema.ts'

type CreatedBuild = Pick<BuildAddress, 'id' | 'pipeline_id'>

interface NamedPipeline {
  id: string
  slug: string
}

export async function createFromBody(
  { ctx, org, caller }: RequestContext,
  pipeline: NamedPipeline,
  body: CreateBuildBody,
): Promise<CreatedBuild> {
  return create({ ctx, org, caller }, pipeline, 'BUILD_CREATED', {
    ...requestOf(caller, pipeline),
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

/** Builds the same again from the stored build, without a request to the repository. */
export async function rebuild(
  { ctx, org, caller }: RequestContext,
  { id, number, pipeline_id, pipeline_slug }: BuildAddress,
): Promise<CreatedBuild> {
  const original = await builds.findRepeatable(ctx.db, org.id, id)
  if (original === undefined) throw notFound('No build found')
  if (!original.allow_rebuilds) throw refused('The pipeline does not allow builds to be rebuilt.')
  const pipeline = { id: pipeline_id, slug: pipeline_slug }
  return create({ ctx, org, caller }, pipeline, 'BUILD_REBUILT', {
    ...requestOf(caller, pipeline),
    ...repeatOf(original, { id, number }),
  })
}

/** What a build that repeats another has of it. */
export function repeatOf(
  original: builds.RepeatableBuild,
  { id, number }: Pick<BuildAddress, 'id' | 'number'>,
): Omit<BuildRequest, 'pipelineId' | 'source' | 'creatorId' | 'triggeredFrom' | 'dueAt'> {
  const { commit, branch, tag, message, env, author } = original
  return {
    author,
    commit,
    commitOrigin: original.from_fork === true || original.pull_request?.fork === true ? 'fork' : 'own',
    branch,
    tag,
    message,
    env,
    metaData: {},
    pullRequest: original.pull_request,
    cleanCheckout: false,
    // The filter was applied when the original was created.
    ignoreBranchFilters: true,
    rebuiltFrom: { id, number },
  }
}

const requestOf = (caller: Caller, pipeline: NamedPipeline) =>
  ({
    pipelineId: pipeline.id,
    source: caller.session === null ? 'api' : 'ui',
    creatorId: caller.user.id,
    isMachine: caller.token.is_machine,
    triggeredFrom: null,
    dueAt: null,
  }) as const

async function create(
  { ctx, org, caller }: RequestContext,
  pipeline: NamedPipeline,
  type: Extract<AuditType, 'BUILD_CREATED' | 'BUILD_REBUILT'>,
  request: BuildRequest,
): Promise<CreatedBuild> {
  // A caller's transaction is not retried.
  const dispatcher = isOpen(ctx.db) ? null : dispatcherOf(ctx)
  const inserting = async (trx: Trx) => {
    const created = await createBuild({ ...ctx, db: trx }, org.id, request, dispatcher)
    if (!created.ok) throw toError(created)
    const { branch, commit, rebuiltFrom } = request
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type,
      subject: { type: 'Build', uuid: created.buildId, name: `${pipeline.slug} #${created.number}` },
      data: { branch, commit, ...(rebuiltFrom === null ? {} : { rebuilt_from: rebuiltFrom.id }) },
    })
    return created
  }
  const { buildId, followUps } = await inTransaction(ctx.db, inserting, isAgentTaken)
  await carryOut(ctx, followUps)
  return { id: buildId, pipeline_id: pipeline.id }
}

function toError({ reason, message, errors }: BuildRefusal): ApiError {
  if (errors !== undefined) return invalidFields(errors)
  return reason === 'no_pipeline' ? notFound(message) : refused(message)
}
