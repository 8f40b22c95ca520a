// Abuse case R3: every event of every host, with the head of a fork as its commit.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline, type TestOrganization } from '../../test/builders.ts'
import {
  aPullRequest,
  aPush,
  commitOf,
  deliver,
  domains,
  giteaEvent,
  githubEvent,
  hosts,
  pathAt,
  type Host,
  type TestDelivery,
} from '../../test/deliveries.ts'
import { isUntrusted } from '../conductor/trust.ts'

const app = useApp()
let org: TestOrganization
let token: string
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
})

const everySetting = {
  build_pull_request_forks: true,
  skip_pull_request_builds_for_existing_commits: false,
  build_check_run_completed: true,
  build_deployment_status_created: true,
  build_pull_request_reopened: true,
  build_pull_request_ready_for_review: true,
  build_pull_request_labels_changed: true,
  build_pull_request_base_branch_changed: true,
  build_pull_request_edited: true,
  build_pull_request_converted_to_draft: true,
  build_pull_request_review_requested: true,
  build_pull_request_review_submitted: true,
  build_pull_request_review_dismissed: true,
  build_pull_request_review_comment_created: true,
  build_pull_request_dequeued: true,
  build_pull_request_stacks: true,
  build_issue_comment_created: true,
}

const aPipelineOn = (host: Host, settings: object = {}) =>
  aPipeline(app, org, 'steps: [{ command: make }]', {
    repository: `https://${domains[host]}/${pathAt(host)}`,
    provider_settings: JSON.stringify({ ...everySetting, ...settings }),
  })

/** The newest build of the pipeline, and whether it is trusted; null when none was made. */
async function newestOf(pipeline: { id: string }) {
  const build = await app.db
    .selectFrom('builds')
    .select(['id', 'branch', 'commit', 'pull_request'])
    .where('pipeline_id', '=', pipeline.id)
    .orderBy('number', 'desc')
    .executeTakeFirst()
  if (build === undefined) return null
  return { ...build, isTrusted: !(await isUntrusted(app.db, org.id, [build.id])) }
}

const checkRun = (headBranch: string | null, commit = commitOf('feature')) =>
  githubEvent('check_run', {
    action: 'completed',
    check_run: {
      name: 'lint',
      head_sha: commit,
      conclusion: 'success',
      check_suite: { head_branch: headBranch },
    },
  })
const deployment = (ref: string, commit = commitOf('feature')) =>
  githubEvent('deployment', { deployment: { id: 1, sha: commit, ref, environment: 'production' } })
const deploymentStatus = (commit = commitOf('feature')) =>
  githubEvent('deployment_status', {
    deployment: { id: 1, sha: commit, ref: 'main', environment: 'production' },
    deployment_status: { state: 'success' },
  })

const bodyOf = ({ body }: TestDelivery) => body as { pull_request: object }
const actions = [
  'opened',
  'synchronize',
  'reopened',
  'ready_for_review',
  'labeled',
  'unlabeled',
  'edited',
  'converted_to_draft',
  'review_requested',
  'dequeued',
  'stacked',
]

/** The pull request payloads of each host. */
const pullEvents: Record<Host, TestDelivery[]> = {
  github: [
    ...actions.map((action) => aPullRequest('github', { fork: true, action })),
    ...['submitted', 'dismissed'].map((action) =>
      githubEvent('pull_request_review', {
        action,
        pull_request: bodyOf(aPullRequest('github', { fork: true })).pull_request,
        review: { id: 1, state: 'approved' },
      }),
    ),
    githubEvent('pull_request_review_comment', {
      action: 'created',
      pull_request: bodyOf(aPullRequest('github', { fork: true })).pull_request,
      comment: { id: 1, body: '/bk', author_association: 'OWNER' },
    }),
    githubEvent('issue_comment', {
      action: 'created',
      issue: { number: 7, pull_request: {} },
      comment: { id: 1, body: '/bk', author_association: 'OWNER' },
    }),
  ],
  gitea: [
    ...actions.map((action) => aPullRequest('gitea', { fork: true, action })),
    giteaEvent('pull_request_approved', {
      action: 'reviewed',
      pull_request: bodyOf(aPullRequest('gitea', { fork: true })).pull_request,
    }),
  ],
  forgejo: actions.map((action) => aPullRequest('forgejo', { fork: true, action })),
  gitlab: ['opened', 'synchronize', 'reopened', 'edited'].map((action) =>
    aPullRequest('gitlab', { fork: true, action }),
  ),
  bitbucket: ['opened', 'synchronize'].map((action) => aPullRequest('bitbucket', { fork: true, action })),
  bitbucket_server: ['opened', 'synchronize', 'edited'].map((action) =>
    aPullRequest('bitbucket_server', { fork: true, action }),
  ),
  azure_devops: ['opened', 'synchronize'].map((action) =>
    aPullRequest('azure_devops', { fork: true, action }),
  ),
}

describe('abuse case R3: an event that names a commit of a fork', () => {
  it.each(hosts)('makes no trusted build, whatever %s says of the pull request', async (host) => {
    const pipeline = await aPipelineOn(host)
    let built = 0
    for (const delivery of pullEvents[host]) {
      await deliver(app, pipeline, delivery)
      const builds = await app.db
        .selectFrom('builds')
        .select('id')
        .where('pipeline_id', '=', pipeline.id)
        .execute()
      built = builds.length
      for (const { id } of builds) expect(await isUntrusted(app.db, org.id, [id])).toBe(true)
    }
    expect(built).toBeGreaterThan(0)
  })

  it('makes no trusted build by checks and deployments, also when the pull request is not known', async () => {
    const named = [
      checkRun(null),
      checkRun('main'),
      checkRun('feature'),
      deployment('main'),
      deployment(commitOf('feature')),
      deployment('refs/pull/7/merge'),
      deploymentStatus(),
    ]
    for (const delivery of named) {
      const mode = delivery.headers['X-GitHub-Event'] === 'deployment' ? 'deployment' : 'code'
      const pipeline = await aPipelineOn('github', { trigger_mode: mode })
      await deliver(app, pipeline, delivery)
      expect(await newestOf(pipeline)).toMatchObject({ commit: commitOf('feature'), isTrusted: false })
    }
  })

  it('never counts as one of the default branch', async () => {
    const pipeline = await aPipelineOn('github')
    await deliver(app, pipeline, checkRun(null))
    expect((await newestOf(pipeline))?.branch).toBe(`unknown:${commitOf('feature').slice(0, 12)}`)
    await deliver(app, pipeline, aPullRequest('github', { fork: true }))
    await deliver(app, pipeline, checkRun(null))
    expect(await newestOf(pipeline)).toMatchObject({
      branch: 'mallory:feature',
      pull_request: { id: '7', fork: true },
      isTrusted: false,
    })
  })

  it('is not built at all where the pipeline builds no forks', async () => {
    const pipeline = await aPipelineOn('github', { build_pull_request_forks: false })
    await deliver(app, pipeline, aPullRequest('github', { fork: true }))
    const { body } = await deliver(app, pipeline, checkRun('main'))
    expect(body.message).toMatch(/pull request #7 from a fork, and build_pull_request_forks is off/)
    expect(await newestOf(pipeline)).toBeNull()
  })
})

describe('an event that names a commit of the repository', () => {
  it.each(['refs/heads/main', 'refs/tags/v1'])('is trusted after a push to %s', async (ref) => {
    const commit = commitOf('head')
    for (const delivery of [checkRun(null, commit), deployment('main', commit), deploymentStatus(commit)]) {
      const mode = delivery.headers['X-GitHub-Event'] === 'deployment' ? 'deployment' : 'code'
      const pipeline = await aPipelineOn('github', { trigger_mode: mode })
      await deliver(app, pipeline, aPush('github', { ref }))
      await deliver(app, pipeline, delivery)
      expect(await newestOf(pipeline)).toMatchObject({ commit, branch: 'main', isTrusted: true })
    }
  })

  it('is no longer trusted when the pipeline builds another repository', async () => {
    const pipeline = await aPipelineOn('github')
    await deliver(app, pipeline, aPush('github'))
    await app.db
      .updateTable('pipelines')
      .set({ repository: 'https://github.com/acme/other.git' })
      .where('id', '=', pipeline.id)
      .execute()
    expect(
      await app.db
        .selectFrom('repository_commits')
        .select('commit')
        .where('pipeline_id', '=', pipeline.id)
        .execute(),
    ).toEqual([])
  })
})

describe('abuse case R3: POST builds', () => {
  const build = async (pipeline: { path: string; id: string }, body: object) => {
    const made = await app.request('POST', `${pipeline.path}/builds`, {
      token,
      body: { commit: commitOf('feature'), branch: 'main', ...body },
    })
    expect(made.status).toBe(201)
    return { number: made.body.number, trusted: (await newestOf(pipeline))?.isTrusted }
  }

  it('trusts no commit of another repository, with or without a pull request', async () => {
    const pipeline = await aPipelineOn('github')
    const own = [
      'https://github.com/acme/app.git',
      'git@github.com:Acme/app.git',
      'ssh://git@github.com/acme/app',
    ]
    for (const repository of own) {
      const body = { pull_request_id: 3, pull_request_repository: repository }
      expect((await build(pipeline, body)).trusted).toBe(true)
    }
    for (const repository of [
      'https://github.com/mallory/app.git',
      'https://evil.example/acme/app',
      '/srv/x',
    ]) {
      for (const id of [{ pull_request_id: 3 }, {}]) {
        const { trusted } = await build(pipeline, { ...id, pull_request_repository: repository })
        expect([repository, trusted]).toEqual([repository, false])
      }
    }
    expect((await build(pipeline, {})).trusted).toBe(true)
  })

  it('trusts no pull request that the host has called a fork', async () => {
    const pipeline = await aPipelineOn('github')
    await deliver(app, pipeline, aPullRequest('github', { fork: true }))
    expect((await build(pipeline, { pull_request_id: 7 })).trusted).toBe(false)
  })

  it('keeps the distrust in what is built again, also when the first build is gone', async () => {
    const pipeline = await aPipelineOn('github')
    const { number } = await build(pipeline, {
      pull_request_id: 3,
      pull_request_repository: 'https://github.com/mallory/app.git',
    })
    const first = await newestOf(pipeline)
    const again = await app.request('PUT', `${pipeline.path}/builds/${String(number)}/rebuild`, { token })
    expect(again.status).toBe(200)
    await app.db
      .deleteFrom('builds')
      .where('id', '=', first?.id ?? '')
      .execute()
    expect((await newestOf(pipeline))?.isTrusted).toBe(false)
  })
})
