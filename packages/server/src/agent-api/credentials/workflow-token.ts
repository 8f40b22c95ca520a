// A GitHub token with the permissions of one of the repository's workflows, for jobs that run such workflows. The file at
// the commit that is built decides the permissions, never the job.
import { sql } from 'kysely'
import { recordAudit } from '../../audit/record.ts'
import { originsOf } from '../../conductor/trust.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { badRequest, forbidden } from '../../lib/errors.ts'
import { OutboundError, type OutboundResponse } from '../../lib/outbound.ts'
import { makeInstallationToken, type App } from '../../source-hosts/github/installation-token.ts'
import { appToken } from '../../source-hosts/github/token.ts'
import { TokenRefused } from '../../source-hosts/host.ts'
import type { JobRepository } from './job-repository.ts'
import type { AgentRequest } from '../route.ts'
import { contextOf } from './secrets.ts'
import type { RunningJob } from '../tokens.ts'
import { beyond, grantsOf, mostWorkflowBytes, type WorkflowRequest } from './workflow-permissions.ts'

export async function requireOrigin(
  ctx: Context,
  job: RunningJob,
  { permissions }: WorkflowRequest,
): Promise<void> {
  const { isFork, isPullRequest, isMergeQueue } = await originsOf(ctx.db, job.organizationId, job.buildId)
  if (isFork) throw forbidden('Builds of pull requests from forks get no workflow access tokens.')
  if (isMergeQueue) throw forbidden('Builds of a merge queue get no workflow access tokens.')
  if (!isPullRequest) return
  const excess = beyond(permissions, { contents: 'read' })
  if (excess !== null) throw forbidden(`Builds of pull requests get contents: read, and not ${excess}.`)
}

const mostPerHour = 10

/** Null: the request is allowed; otherwise the seconds until the next one is. */
export async function countRequest(ctx: Context, job: RunningJob): Promise<number | null> {
  const now = ctx.now().toISOString()
  const recent = sql`array(
    select t from unnest(w.asked_at) t where t > ${now}::timestamptz - interval '1 hour' order by t)`
  const { rows: counted } = await sql`
    insert into workflow_token_requests as w (job_id, organization_id, asked_at)
    values (${job.id}, ${job.organizationId}, array[${now}::timestamptz])
    on conflict (job_id) do update set asked_at = ${recent} || ${now}::timestamptz
    where cardinality(${recent}) < ${mostPerHour}
    returning job_id`.execute(ctx.db)
  if (counted.length > 0) return null
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from (${recent})[1] + interval '1 hour' - ${now}::timestamptz))::int as seconds
    from workflow_token_requests w
    where w.organization_id = ${job.organizationId} and w.job_id = ${job.id}`.execute(ctx.db)
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** Never shared: each job gets its own, valid for an hour. */
export async function makeWorkflowToken(
  ctx: Context,
  job: RunningJob,
  { app, connection, path, commit }: JobRepository & { app: App },
  asked: WorkflowRequest,
  request: AgentRequest,
): Promise<string> {
  const reading = await appToken.find(ctx, connection, path, { contents: 'read' })
  const text = await readWorkflow(ctx, app, path, commit, asked.workflow, reading ?? '')
  const granted = grantsOf(text)
  const file = `.github/workflows/${asked.workflow} at ${commit}`
  if (!granted.ok) throw badRequest(`${file} grants nothing: ${granted.reason}.`)
  const excess = beyond(asked.permissions, granted.value)
  if (excess !== null) {
    throw badRequest(`${file} does not grant ${excess}: it must be among the permissions at its top level.`)
  }
  const { value } = await makeInstallationToken(ctx, app, path, asked.permissions)
  await inTransaction(ctx.db, (trx) =>
    recordAudit(
      trx,
      { kind: 'agent', agent: contextOf(job, request) },
      {
        organizationId: job.organizationId,
        type: 'GITHUB_WORKFLOW_TOKEN_CREATED',
        subject: { type: 'ScmRepositoryHost', uuid: connection.id, name: connection.host },
        data: {
          job_id: job.id,
          build_id: job.buildId,
          pipeline_id: job.pipelineId,
          repository: path,
          workflow: asked.workflow,
          permissions: asked.permissions,
        },
      },
    ),
  )
  return value
}

async function readWorkflow(
  ctx: Context,
  app: App,
  path: string,
  commit: string,
  workflow: string,
  token: string,
): Promise<string> {
  const segments = path.split('/').map(encodeURIComponent).join('/')
  const answer = await get(ctx, {
    url: `${app.apiUrl}/repos/${segments}/contents/.github/workflows/${workflow}?ref=${commit}`,
    headers: { ...appToken.apiHeaders(token), Accept: 'application/vnd.github.raw+json' },
  })
  if (answer.status === 404) throw badRequest(`There is no .github/workflows/${workflow} at ${commit}.`)
  if (answer.status !== 200) {
    throw new TokenRefused(`The host answered ${answer.status} when it was asked for ${workflow}.`, {
      isPassing: true,
    })
  }
  if (answer.isCut) throw badRequest(`${workflow} is larger than ${mostWorkflowBytes} bytes.`)
  return answer.body.toString()
}

async function get(
  ctx: Context,
  request: { url: string; headers: Record<string, string> },
): Promise<OutboundResponse> {
  try {
    return await ctx.outbound.send({ method: 'GET', ...request, body: null, keptBytes: mostWorkflowBytes })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new TokenRefused(`The workflow could not be read. ${error.message}`, {
      isPassing: true,
    })
  }
}
