// Tokens for the repository of a job's pipeline, made with the GitHub App of the connection to its host. No job gets a token
// for another repository.
import {
  RepositoryTokenRequest,
  WorkflowTokenRequest,
  type RepositoryTokenResponse,
} from '@millrace/protocol/secrets.ts'
import type { Context } from '../../context.ts'
import { ok, type Answer } from '../../http/answer.ts'
import { badRequest, notFound, refused, type ApiError } from '../../lib/errors.ts'
import { installationToken } from '../../source-hosts/github/installation-token.ts'
import { TokenRefused } from '../../source-hosts/host.ts'
import { findRepository, isSame, isUnchanged, type JobRepository } from './job-repository.ts'
import { agentRoute } from '../route.ts'
import type { RunningJob } from '../tokens.ts'
import { readWorkflowRequest } from './workflow-permissions.ts'
import { countRequest, makeWorkflowToken, requireOrigin } from './workflow-token.ts'

const forCheckout = {
  method: 'POST',
  token: 'job',
  // The relay gives them their own pull request.
  forks: { refused: 'tokens of the repository' },
  body: RepositoryTokenRequest,
  async handler({
    ctx,
    job,
    body,
  }: {
    ctx: Context
    job: RunningJob
    body: RepositoryTokenRequest
  }): Promise<Answer> {
    const found = await findRepository(ctx, job)
    if (found?.app == null || !found.connection.checkout_enabled) {
      throw refused(
        'No repository provider is connected, so there are no credentials to give out: let git use its own.',
      )
    }
    const { app, path } = found
    if (body.repo_url && !isSame(body.repo_url, found)) throw refused(otherRepository(found))
    return answerToken(ctx, job, found, refused, () =>
      installationToken(ctx, app, path, { contents: 'read' }, `job ${job.id}`),
    )
  },
} as const

const repositoryToken = agentRoute({ ...forCheckout, url: '/v3/jobs/:job/repository_access_token' })
/** The name that agents before 3.136 use. */
const githubToken = agentRoute({ ...forCheckout, url: '/v3/jobs/:job/github_code_access_token' })

const workflowToken = agentRoute({
  method: 'POST',
  url: '/v3/jobs/:job/github_workflow_access_token',
  token: 'job',
  // `requireOrigin` refuses forks, also where the pipeline trusts them.
  forks: 'own_job',
  body: WorkflowTokenRequest,
  async handler({ ctx, job, body, request }) {
    const found = await findRepository(ctx, job)
    const { app } = found ?? {}
    if (!found || !app || !found.mayHaveTokens) throw notFound(notEnabled(found))
    const asked = readWorkflowRequest(body)
    if (!asked.ok) throw badRequest(asked.reason)
    if (!isSame(asked.value.repository, found)) throw badRequest(otherRepository(found))
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(found.commit)) {
      throw badRequest('The commit of the build is not known yet: the first job that checks it out tells it.')
    }
    await requireOrigin(ctx, job, asked.value)
    const waitSeconds = await countRequest(ctx, job)
    if (waitSeconds !== null)
      return askAgain(429, 'A job gets 10 workflow access tokens an hour.', waitSeconds)
    return answerToken(ctx, job, found, badRequest, () =>
      makeWorkflowToken(ctx, job, { ...found, app }, asked.value, request),
    )
  },
})

const otherRepository = ({ path }: JobRepository) =>
  `A job gets credentials for the repository of its pipeline, ${path}, and for no other.`

const notEnabled = (found: JobRepository | null) =>
  found?.app == null
    ? 'There are no workflow access tokens: no GitHub App is connected at the host of the repository.'
    : 'There are no workflow access tokens: github_workflow_access_tokens_enabled is off for the pipeline.'

/** No token is issued if the connection changed while the host was asked. */
async function answerToken(
  ctx: Context,
  job: RunningJob,
  found: JobRepository,
  refusal: (message: string) => ApiError,
  make: () => Promise<string>,
): Promise<Answer> {
  try {
    const answer: RepositoryTokenResponse = { token: await make() }
    const now = await findRepository(ctx, job)
    if (now === null || !isUnchanged(found, now)) {
      return askAgain(503, 'The connection of the repository was changed in the meantime; ask again.', 1)
    }
    return ok(answer)
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error
    if (!error.isPassing) throw refusal(error.message)
    return askAgain(503, error.message, Math.max(error.waitSeconds, 5))
  }
}

const askAgain = (status: 429 | 503, message: string, seconds: number): Answer => ({
  status,
  headers: { 'Retry-After': String(seconds) },
  body: { message },
})

export const repositoryTokenApi = [repositoryToken, githubToken, workflowToken]
