// The repository that the server relays to a job, and how much of it.
import { sql } from 'kysely'
import { isFork, isUntrusted } from '../../conductor/trust.ts'
import type { PullRequest } from '../../conductor/build.ts'
import type { Context } from '../../context.ts'
import { hostSettings, type Settings } from '../../source-hosts/settings.ts'
import type { RunningJob } from '../tokens.ts'

export interface Relayed {
  repository: string
  /** null: everything. */
  limits: ForkLimits | null
}

/** A fork's job reads what its pull request brings, and nothing else of a repository that may be private. */
interface ForkLimits {
  refs: string[]
  /** null: the build is of the merge with the base branch. */
  commit: string | null
}

/** `reason`: why the server has nothing for the job. */
type FoundRelayed = { ok: true; relayed: Relayed } | { ok: false; repository: string; reason: string }

export async function findRelayed(ctx: Context, job: RunningJob): Promise<FoundRelayed> {
  const { rows } = await sql<{
    repository: string
    provider: string
    settings: Settings
    commit: string
    isFork: boolean
    pull: PullRequest | null
  }>`
    select p.repository, p.provider_id as provider, p.provider_settings as settings, b.commit,
      ${isFork} as "isFork", b.pull_request as pull
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = ${job.organizationId} and b.id = ${job.buildId}`.execute(ctx.db)
  const [found] = rows
  if (found === undefined) throw new Error('A running job has no build.')
  const { repository, pull } = found
  if (!(await isUntrusted(ctx.db, job.organizationId, [job.buildId]))) {
    return { ok: true, relayed: { repository, limits: null } }
  }
  // What a fork's build triggers can name any commit.
  if (!found.isFork || pull === null || !/^\d{1,20}$/.test(pull.id)) {
    return {
      ok: false,
      repository,
      reason:
        'The build comes from a fork, but not directly: only builds of its pull request get the repository.',
    }
  }
  const { build_pull_request_merge, build_pull_request_merge_commits } = hostSettings(found.settings)
  const isMerge = build_pull_request_merge || build_pull_request_merge_commits
  return {
    ok: true,
    relayed: {
      repository,
      limits: {
        refs: refsOf(found.provider, pull.id, isMerge),
        commit: /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(found.commit) ? found.commit : null,
      },
    },
  }
}

/** Where the host keeps the commits of a pull request. */
function refsOf(provider: string, id: string, isMerge: boolean): string[] {
  if (provider === 'bitbucket_server') return [`refs/pull-requests/${id}/from`]
  if (provider === 'azure_devops') return [`refs/pull/${id}/merge`]
  const folder = provider.startsWith('gitlab') ? 'refs/merge-requests' : 'refs/pull'
  return [`${folder}/${id}/head`, ...(isMerge ? [`${folder}/${id}/merge`] : [])]
}
