// Every provider setting, by its name: what is done with it, and what without.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import { environmentOf } from '../conductor/environment.ts'
import { anAdmin, anOrganization, aPipeline, type TestOrganization } from '../../test/builders.ts'
import {
  aPullRequest,
  aPush,
  commitOf,
  deliver,
  giteaEvent,
  githubEvent,
  type Host,
  type PullOptions,
  type TestDelivery,
} from '../../test/deliveries.ts'

const app = useApp()

let org: TestOrganization
let token: string
beforeAll(async () => {
  org = await anOrganization(app)
  token = (await anAdmin(app, org)).token
})

const repositories: Record<Host, string> = {
  github: 'git@github.com:acme/app.git',
  gitea: 'https://git.example.com/acme/app.git',
  forgejo: 'https://forge.example.com/acme/app.git',
  gitlab: 'https://gitlab.com/acme/app.git',
  bitbucket: 'git@bitbucket.org:acme/app.git',
  bitbucket_server: 'https://bitbucket.example.com/scm/acme/app.git',
  azure_devops: 'https://dev.azure.com/acme/work/_git/app',
}

const aPipelineWith = (settings: object, given: object = {}, host: Host = 'github') =>
  aPipeline(app, org, 'steps: [{ command: make }]', {
    repository: repositories[host],
    provider_settings: JSON.stringify(settings),
    ...given,
  })

interface Outcome {
  result: string
  reason: string | null
  builds: Array<{ id: string; number: number }>
}

const outcomeOf = (answer: { body: Json }) => {
  const [outcome] = answer.body.outcomes as unknown as Outcome[]
  if (outcome === undefined) throw new Error(JSON.stringify(answer.body))
  return outcome
}

/** Where a pull request of Bitbucket comes from. */
const sourceIn = ({ body }: TestDelivery) =>
  (body as { pullrequest: { source: { repository: object } } }).pullrequest.source

/** The outcome of a delivery for a pipeline with these settings: `built`, or the reason why not. */
async function outcome(settings: object, delivery: TestDelivery, given: object = {}, host: Host = 'github') {
  const pipeline = await aPipelineWith(settings, given, host)
  const { result, reason } = outcomeOf(await deliver(app, pipeline, delivery))
  return reason ?? result
}

async function builtBy(
  settings: object,
  delivery: TestDelivery,
  given: object = {},
  host: Host = 'github',
): Promise<Json> {
  const pipeline = await aPipelineWith(settings, given, host)
  const { builds, reason } = outcomeOf(await deliver(app, pipeline, delivery))
  if (builds[0] === undefined) throw new Error(reason ?? 'not built')
  return (await app.request('GET', `${pipeline.path}/builds/${builds[0].number}`, { token })).body
}

const fork = (options: PullOptions = {}) => aPullRequest('github', { fork: true, ...options })

describe('provider settings', () => {
  it('build_branches', async () => {
    expect(await outcome({}, aPush('github'))).toBe('built')
    expect(await outcome({ build_branches: false }, aPush('github'))).toBe(
      'The branch main is not built: build_branches is off.',
    )
    // Pull requests build commits that pushes do not.
    const synchronize = aPullRequest('github', { action: 'synchronize' })
    expect(await outcome({ build_branches: false }, synchronize)).toBe('built')
    expect(await outcome({}, synchronize)).toBe('Pull request #7: the push to feature is built.')
  })

  it('build_tags', async () => {
    const push = aPush('github', { ref: 'refs/tags/v1.0' })
    expect(await outcome({}, push)).toBe('The tag v1.0 is not built: build_tags is off.')
    const build = await builtBy({ build_tags: true, build_branches: false }, push)
    expect([build.branch, build.tag]).toEqual(['v1.0', 'v1.0'])
  })

  it('build_pull_requests', async () => {
    expect(await outcome({ build_pull_requests: false }, aPullRequest('github'))).toBe(
      'Pull request #7 is not built: build_pull_requests is off.',
    )
  })

  it('branch_configuration filters pushes, and leaves pull requests alone', async () => {
    const filter = { branch_configuration: 'main release/* !release/old' }
    const push = (name: string) => outcome({}, aPush('github', { ref: `refs/heads/${name}` }), filter)
    expect([await push('main'), await push('release/2')]).toEqual(['built', 'built'])
    expect(await push('release/old')).toBe(
      'release/old does not match the pipeline\'s branch filter "main release/* !release/old".',
    )
    expect(await outcome({}, aPullRequest('github'), filter)).toBe('built')
    expect(await outcome({}, aPullRequest('github', { action: 'synchronize' }), filter)).toBe('built')
  })

  it('build_pull_request_forks', async () => {
    expect(await outcome({}, fork())).toBe(
      'Pull request #7: it comes from a fork, and build_pull_request_forks is off.',
    )
    expect(await outcome({ build_pull_request_forks: true }, fork())).toBe('built')
    expect(await outcome({ build_pull_request_forks: true }, fork({ action: 'synchronize' }))).toBe('built')
    // A fork that was deleted has no repository to compare with.
    const { headers, body } = fork()
    Reflect.set(
      Reflect.get(Reflect.get(body as object, 'pull_request') as object, 'head') as object,
      'repo',
      null,
    )
    expect(await outcome({}, { headers, body })).toMatch(/comes from a fork/)
  })

  it.each([
    ['public', false, 'git@bitbucket.org:acme/app.git', 'https://bitbucket.org/mallory/app.git'],
    ['private', true, 'git@bitbucket.org:acme/app.git', 'git@bitbucket.org:mallory/app.git'],
    ['private', true, 'https://bitbucket.org/acme/app.git', 'https://bitbucket.org/mallory/app.git'],
  ])(
    'build_pull_request_forks of Bitbucket: a %s one is checked out itself',
    async (_, isPrivate, own, address) => {
      const settings = { build_pull_request_forks: true }
      const delivery = aPullRequest('bitbucket', { fork: true, branch: 'fix' })
      Reflect.set(sourceIn(delivery).repository, 'is_private', isPrivate)
      const pipeline = await aPipelineWith(settings, { repository: own }, 'bitbucket')
      const [built] = outcomeOf(await deliver(app, pipeline, delivery)).builds
      const job = await app.db
        .selectFrom('jobs')
        .select('id')
        .where('build_id', '=', built?.id ?? '')
        .executeTakeFirstOrThrow()
      expect(await environmentOf(app.ctx, org.id, job.id)).toMatchObject({
        BUILDKITE_REPO: address,
        BUILDKITE_REFSPEC: 'refs/heads/fix',
        BUILDKITE_BRANCH: 'mallory:fix',
        BUILDKITE_PULL_REQUEST: '7',
      })
      const own7 = aPullRequest('bitbucket', { branch: 'other' })
      const [other] = outcomeOf(await deliver(app, pipeline, own7)).builds
      const stored = await app.db
        .selectFrom('builds')
        .select('pull_request')
        .where('id', '=', other?.id ?? '')
        .executeTakeFirstOrThrow()
      expect(stored.pull_request).not.toHaveProperty('checkout')
    },
  )

  it.each([
    ['is gone', {}],
    [
      'has a name that is none',
      {
        uuid: '{2}',
        full_name: '--upload-pack=x/y',
        links: { html: { href: 'https://bitbucket.org/m/app' } },
      },
    ],
    [
      'has an address that is none',
      { uuid: '{2}', full_name: 'm/app', links: { html: { href: 'ext::sh -c x' } } },
    ],
  ])('build_pull_request_forks of Bitbucket: not one that %s', async (_, repository) => {
    const delivery = aPullRequest('bitbucket', { fork: true })
    Reflect.set(sourceIn(delivery), 'repository', repository)
    expect(await outcome({ build_pull_request_forks: true }, delivery, {}, 'bitbucket')).toMatch(
      /comes from a fork that is gone, and Bitbucket keeps its commits nowhere else/,
    )
  })

  it('prefix_pull_request_fork_branch_names', async () => {
    const forks = { build_pull_request_forks: true }
    const branch = async (settings: object) => (await builtBy({ ...forks, ...settings }, fork())).branch
    expect(await branch({})).toBe('mallory:feature')
    expect(await branch({ prefix_pull_request_fork_branch_names: false })).toBe('feature')
  })

  it('says to agents where the commits of a fork are', async () => {
    const settings = { build_pull_request_forks: true }
    const env = async (host: Host) =>
      (await builtBy(settings, aPullRequest(host, { fork: true }), {}, host)).env?.BUILDKITE_REFSPEC
    expect([await env('github'), await env('gitea'), await env('gitlab')]).toEqual([
      undefined,
      'refs/pull/7/head',
      'refs/merge-requests/7/head',
    ])
  })

  it('trigger_mode', async () => {
    expect(await outcome({ trigger_mode: 'none' }, aPush('github'))).toBe(
      'Pushes are not built: trigger_mode is none.',
    )
    expect(await outcome({ trigger_mode: 'none' }, aPullRequest('github'))).toMatch(/trigger_mode is none/)
    const deployment = githubEvent('deployment', {
      deployment: {
        id: 42,
        sha: commitOf('head'),
        ref: 'main',
        task: 'deploy',
        environment: 'production',
        payload: { region: 'eu' },
      },
    })
    expect(await outcome({}, deployment)).toBe('trigger_mode is code, not deployment.')
    expect(await outcome({ trigger_mode: 'deployment' }, aPush('github'))).toMatch(
      /trigger_mode is deployment/,
    )
    expect(await builtBy({ trigger_mode: 'deployment' }, deployment)).toMatchObject({
      branch: 'main',
      commit: commitOf('head'),
      env: {
        BUILDKITE_GITHUB_EVENT: 'deployment',
        BUILDKITE_GITHUB_DEPLOYMENT_ID: '42',
        BUILDKITE_GITHUB_DEPLOYMENT_TASK: 'deploy',
        BUILDKITE_GITHUB_DEPLOYMENT_ENVIRONMENT: 'production',
        BUILDKITE_GITHUB_DEPLOYMENT_PAYLOAD: '{"region":"eu"}',
      },
    })
    const forked = githubEvent('fork', { forkee: { full_name: 'mallory/app' } })
    expect(await builtBy({ trigger_mode: 'fork' }, forked, { default_branch: 'trunk' })).toMatchObject({
      branch: 'trunk',
      commit: 'HEAD',
    })
  })

  it('pull_request_branch_filter_enabled and pull_request_branch_filter_configuration', async () => {
    const filter = { pull_request_branch_filter_configuration: 'feature* !feature/x' }
    const on = { pull_request_branch_filter_enabled: true, ...filter }
    const pull = (branch: string) => aPullRequest('github', { branch })
    expect(await outcome(filter, pull('other'))).toBe('built')
    expect(await outcome(on, pull('feature/y'))).toBe('built')
    expect(await outcome(on, pull('feature/x'))).toBe(
      'Pull request #7: feature/x does not match the pull request branch filter "feature* !feature/x".',
    )
  })

  it('ignore_default_branch_pull_requests', async () => {
    const pull = aPullRequest('github', { branch: 'main' })
    expect(await outcome({}, pull)).toBe('built')
    expect(await outcome({ ignore_default_branch_pull_requests: true }, pull)).toMatch(
      /it is of the default branch/,
    )
  })

  it('skip_pull_request_builds_for_existing_commits', async () => {
    const again = async (settings: object, branch: string, host: Host = 'github') => {
      const pipeline = await aPipelineWith(settings, {}, host)
      const commit = commitOf('same')
      await deliver(app, pipeline, aPush(host, { ref: 'refs/heads/feature', commit }))
      const { reason, result } = outcomeOf(
        await deliver(app, pipeline, aPullRequest(host, { branch, commit })),
      )
      return reason ?? result
    }
    expect(await again({}, 'feature')).toBe('The commit was built before, as #1.')
    // Bitbucket names the commit by its first characters only.
    expect(await again({}, 'feature', 'bitbucket')).toBe('The commit was built before, as #1.')
    expect(await again({}, 'other')).toBe('built')
    expect(await again({ skip_pull_request_builds_for_existing_commits: false }, 'feature')).toBe('built')
  })

  it('skip_builds_for_existing_commits', async () => {
    const again = async (settings: object) => {
      const pipeline = await aPipelineWith(settings)
      const commit = commitOf('same')
      await deliver(app, pipeline, aPush('github', { commit }))
      const push = aPush('github', { ref: 'refs/heads/other', commit })
      const { reason, result } = outcomeOf(await deliver(app, pipeline, push))
      return reason ?? result
    }
    expect(await again({})).toBe('built')
    expect(await again({ skip_builds_for_existing_commits: true })).toBe(
      'The commit was built before, as #1.',
    )
  })

  it('builds a commit once when its push and its pull request come at the same moment', async () => {
    const pipeline = await aPipelineWith({ skip_builds_for_existing_commits: true })
    const commit = commitOf('same')
    const answers = await Promise.all([
      deliver(app, pipeline, aPush('github', { ref: 'refs/heads/feature', commit })),
      deliver(app, pipeline, aPullRequest('github', { commit })),
      deliver(app, pipeline, aPush('github', { ref: 'refs/heads/feature', commit })),
    ])
    const results = answers.map((answer) => outcomeOf(answer).result).toSorted()
    expect(results).toEqual(['built', 'ignored', 'ignored'])
  })

  it('skip_builds_for_closed_pull_requests', async () => {
    const labels = { build_pull_request_labels_changed: true }
    const closed = aPullRequest('github', { action: 'labeled', state: 'closed' })
    expect(await outcome(labels, closed)).toBe('Pull request #7: it is closed.')
    expect(await outcome({ ...labels, skip_builds_for_closed_pull_requests: false }, closed)).toBe('built')
  })

  it('cancel_deleted_branch_builds', async () => {
    const deleted = async (settings: object, deletion: TestDelivery) => {
      const pipeline = await aPipelineWith(settings)
      await deliver(app, pipeline, aPush('github', { ref: 'refs/heads/feature' }))
      await deliver(app, pipeline, aPush('github', { ref: 'refs/heads/main' }))
      const { result, reason } = outcomeOf(await deliver(app, pipeline, deletion))
      const { list } = await app.request('GET', `${pipeline.path}/builds`, { token })
      return [result, reason, ...list.map(({ state, cancel_reason: why }) => why ?? state)]
    }
    const push = aPush('github', { ref: 'refs/heads/feature', deleted: true })
    expect(await deleted({}, push)).toEqual([
      'ignored',
      'The branch feature was deleted, and cancel_deleted_branch_builds is off.',
      'scheduled',
      'scheduled',
    ])
    const on = { cancel_deleted_branch_builds: true }
    const event = githubEvent('delete', { ref: 'feature', ref_type: 'branch' })
    for (const deletion of [push, event]) {
      expect(await deleted(on, deletion)).toEqual([
        'canceled',
        'The branch feature was deleted.',
        'scheduled',
        'The branch feature was deleted',
      ])
    }
  })

  it('filter_enabled and filter_condition', async () => {
    const filter_condition = 'build.pull_request.draft != true && build.branch != "wip"'
    const on = { filter_enabled: true, filter_condition }
    expect(await outcome({ filter_condition }, aPullRequest('github', { draft: true }))).toBe('built')
    expect(await outcome(on, aPullRequest('github', { draft: true }))).toBe(
      `The filter condition does not hold: ${filter_condition}`,
    )
    expect(await outcome(on, aPullRequest('github'))).toBe('built')
    expect(await outcome(on, aPush('github', { ref: 'refs/heads/wip' }))).toMatch(/filter condition/)
    const labels = { filter_enabled: true, filter_condition: 'build.pull_request.labels includes "ci"' }
    expect(await outcome(labels, aPullRequest('github', { labels: ['ci'] }))).toBe('built')
    expect(await outcome(labels, aPullRequest('github'))).toMatch(/does not hold/)
    const forks = { filter_enabled: true, filter_condition: 'build.pull_request.repository.fork == false' }
    expect(await outcome({ ...forks, build_pull_request_forks: true }, fork())).toMatch(/does not hold/)
    expect(await outcome({ ...forks, filter_condition: 'build.nonsense == 1' }, aPush('github'))).toMatch(
      /cannot be decided/,
    )
  })

  it.each([
    [
      'build_pull_request_base_branch_changed',
      { action: 'edited', more: { changes: { base: { ref: { from: 'old' } } } } },
    ],
    ['build_pull_request_labels_changed', { action: 'labeled' }],
    ['build_pull_request_labels_changed', { action: 'unlabeled' }],
    ['build_pull_request_ready_for_review', { action: 'ready_for_review' }],
    ['build_pull_request_reopened', { action: 'reopened' }],
    ['build_pull_request_edited', { action: 'edited', more: { changes: { title: { from: 'Old' } } } }],
    ['build_pull_request_converted_to_draft', { action: 'converted_to_draft' }],
    ['build_pull_request_review_requested', { action: 'review_requested' }],
    ['build_pull_request_dequeued', { action: 'dequeued' }],
    ['build_pull_request_stacks', { action: 'stacked' }],
  ])('%s (%j)', async (setting, options) => {
    const delivery = aPullRequest('github', options)
    expect(await outcome({}, delivery)).toBe(`Pull request #7: ${setting} is off.`)
    const pipeline = await aPipelineWith({ [setting]: true })
    await deliver(app, pipeline, aPullRequest('github'))
    // Asked for by name, it is built although the commit has been.
    expect(outcomeOf(await deliver(app, pipeline, delivery)).result).toBe('built')
  })

  it('build_pull_request_labels_changed, as Gitea and GitLab send it', async () => {
    const settings = { build_pull_request_labels_changed: true }
    const gitea = aPullRequest('gitea', { action: 'label_updated', labels: ['bug'] })
    expect([await outcome({}, gitea, {}, 'gitea'), await outcome(settings, gitea, {}, 'gitea')]).toEqual([
      'Pull request #7: build_pull_request_labels_changed is off.',
      'built',
    ])
    const gitlab = aPullRequest('gitlab', {
      action: 'update',
      more: { changes: { labels: { current: [] } } },
    })
    expect([await outcome({}, gitlab, {}, 'gitlab'), await outcome(settings, gitlab, {}, 'gitlab')]).toEqual([
      'Pull request #7: build_pull_request_labels_changed is off.',
      'built',
    ])
  })

  it('build_pull_request_base_branch_changed, as Gitea, Forgejo and GitLab send it', async () => {
    const settings = { build_pull_request_base_branch_changed: true }
    const changed = { action: 'edited', more: { changes: { ref: { from: 'old' } } } }
    const deliveries: Array<[Host, TestDelivery]> = [
      ['gitea', aPullRequest('gitea', changed)],
      ['forgejo', aPullRequest('forgejo', changed)],
      [
        'gitlab',
        aPullRequest('gitlab', {
          action: 'update',
          more: { changes: { target_branch: { previous: 'old' } } },
        }),
      ],
    ]
    for (const [host, delivery] of deliveries) {
      expect([await outcome({}, delivery, {}, host), await outcome(settings, delivery, {}, host)]).toEqual([
        'Pull request #7: build_pull_request_base_branch_changed is off.',
        'built',
      ])
    }
  })

  it('build_pull_request_ready_for_review, as GitLab sends it', async () => {
    const settings = { build_pull_request_ready_for_review: true }
    const ready = aPullRequest('gitlab', {
      action: 'update',
      more: { changes: { draft: { current: false } } },
    })
    expect(await outcome({}, ready, {}, 'gitlab')).toBe(
      'Pull request #7: build_pull_request_ready_for_review is off.',
    )
    expect(await outcome(settings, ready, {}, 'gitlab')).toBe('built')
  })

  it('build_pull_request_review_submitted and build_pull_request_review_dismissed', async () => {
    const review = (action: string) =>
      githubEvent('pull_request_review', {
        ...(aPullRequest('github').body as object),
        action,
        review: { id: 3, state: 'approved' },
      })
    expect(await outcome({}, review('submitted'))).toMatch(/build_pull_request_review_submitted is off/)
    expect(await outcome({}, review('dismissed'))).toMatch(/build_pull_request_review_dismissed is off/)
    expect(await outcome({ build_pull_request_review_dismissed: true }, review('dismissed'))).toBe('built')
    const build = await builtBy({ build_pull_request_review_submitted: true }, review('submitted'))
    expect(build.env).toMatchObject({
      BUILDKITE_GITHUB_REVIEW_ID: '3',
      BUILDKITE_GITHUB_REVIEW_STATE: 'approved',
    })
    const approved = giteaEvent('pull_request_approved', {
      ...(aPullRequest('gitea').body as object),
      action: 'reviewed',
    })
    expect(await outcome({ build_pull_request_review_submitted: true }, approved, {}, 'gitea')).toBe('built')
  })

  it('build_issue_comment_created, issue_comment_command_word and issue_comment_match_mode', async () => {
    const comment = (body: string, author_association = 'MEMBER', number = 7) =>
      githubEvent('issue_comment', {
        action: 'created',
        issue: { number, pull_request: { url: 'x' } },
        comment: { id: 9, body, author_association },
      })
    const said = async (settings: object, delivery: TestDelivery) => {
      const pipeline = await aPipelineWith(settings)
      await deliver(app, pipeline, aPullRequest('github'))
      const { reason, result } = outcomeOf(await deliver(app, pipeline, delivery))
      return reason ?? result
    }
    const on = { build_issue_comment_created: true }
    expect(await said({}, comment('/bk'))).toMatch(/build_issue_comment_created is off/)
    expect(await said(on, comment(' /bk\n'))).toBe('built')
    expect(await said(on, comment('please /bk'))).toMatch(/does not ask for a build with "\/bk"/)
    expect(await said({ ...on, issue_comment_match_mode: 'contains' }, comment('please /bk'))).toBe('built')
    expect(await said({ ...on, issue_comment_command_word: '/go' }, comment('/go'))).toBe('built')
    // A stranger could otherwise have anything built.
    expect(await said(on, comment('/bk', 'NONE'))).toMatch(/not by somebody whom the host says may push/)
    expect(await said(on, comment('/bk', 'MEMBER', 8))).toMatch(/#8 is not known/)
    const onIssue = githubEvent('issue_comment', {
      action: 'created',
      issue: { number: 7 },
      comment: { body: '/bk', author_association: 'OWNER' },
    })
    expect(await said(on, onIssue)).toMatch(/on an issue/)
  })

  it('build_pull_request_review_comment_created, review_comment_command_word and review_comment_match_mode', async () => {
    const comment = (body: string) =>
      githubEvent('pull_request_review_comment', {
        ...(aPullRequest('github').body as object),
        action: 'created',
        comment: { id: 9, body, author_association: 'OWNER' },
      })
    const on = { build_pull_request_review_comment_created: true }
    expect(await outcome({}, comment('/bk'))).toMatch(/review_comment_created is off/)
    expect(await outcome(on, comment('/bk'))).toBe('built')
    expect(await outcome({ ...on, review_comment_command_word: '/go' }, comment('/bk'))).toMatch(
      /does not ask/,
    )
    expect(await outcome({ ...on, review_comment_match_mode: 'contains' }, comment('and /bk'))).toBe('built')
  })

  it('build_pull_request_merge_commits', async () => {
    const env = async (settings: object) =>
      (await builtBy(settings, aPullRequest('github'))).env?.BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC
    expect(await env({})).toBeUndefined()
    expect(await env({ build_pull_request_merge_commits: true })).toBe('true')
  })

  it('build_pull_request_merge', async () => {
    const build = await builtBy({ build_pull_request_merge: true }, aPullRequest('gitlab'), {}, 'gitlab')
    expect([build.commit, build.env]).toEqual(['HEAD', { BUILDKITE_REFSPEC: 'refs/merge-requests/7/merge' }])
  })

  it('build_merge_group_checks_requested, use_merge_group_base_commit_for_git_diff_base and cancel_when_merge_group_destroyed', async () => {
    const branch = 'gh-readonly-queue/main/pr-7-abc'
    const group = (action: string) =>
      githubEvent('merge_group', {
        action,
        merge_group: {
          head_sha: commitOf('group'),
          head_ref: `refs/heads/${branch}`,
          base_sha: commitOf('base'),
          base_ref: 'refs/heads/main',
          head_commit: { message: 'Merge [ci skip]', author: { name: 'Ada', email: 'a@example.com' } },
        },
      })
    const on = { build_merge_group_checks_requested: true }
    const filtered = { branch_configuration: 'main' }
    expect(await outcome({}, group('checks_requested'))).toBe('build_merge_group_checks_requested is off.')
    expect(await outcome({}, aPush('github', { ref: `refs/heads/${branch}` }))).toBe('built')
    expect(await outcome(on, aPush('github', { ref: `refs/heads/${branch}` }))).toMatch(
      /built when its merge group/,
    )
    expect(await builtBy(on, group('checks_requested'), filtered)).toMatchObject({
      branch,
      commit: commitOf('group'),
      merge_queue: { base_branch: 'main' },
      env: { BUILDKITE_GITHUB_ACTION: 'checks_requested' },
    })
    const based = { ...on, use_merge_group_base_commit_for_git_diff_base: true }
    expect((await builtBy(based, group('checks_requested'))).env).toMatchObject({
      BUILDKITE_GIT_DIFF_BASE: commitOf('base'),
    })
    const ended = async (settings: object) => {
      const pipeline = await aPipelineWith(settings)
      await deliver(app, pipeline, group('checks_requested'))
      await deliver(app, pipeline, group('destroyed'))
      return (await app.request('GET', `${pipeline.path}/builds/1`, { token })).body.state
    }
    expect(await ended(on)).toBe('scheduled')
    expect(await ended({ ...on, cancel_when_merge_group_destroyed: true })).toBe('canceled')
  })

  it.each([
    ['build_release_published', 'published'],
    ['build_release_created', 'created'],
    ['build_release_released', 'released'],
  ])('%s', async (setting, action) => {
    const release = githubEvent('release', {
      action,
      release: { tag_name: 'v2', name: 'Two', draft: false, prerelease: true },
    })
    expect(await outcome({}, release)).toBe(`${setting} is off.`)
    expect(await builtBy({ [setting]: true }, release)).toMatchObject({
      branch: 'v2',
      tag: 'v2',
      commit: 'HEAD',
      message: 'Two',
      env: { BUILDKITE_GITHUB_RELEASE_TAG: 'v2', BUILDKITE_GITHUB_RELEASE_PRERELEASE: 'true' },
    })
  })

  it('build_check_run_completed', async () => {
    const run = (action: string) =>
      githubEvent('check_run', {
        action,
        check_run: {
          name: 'lint',
          head_sha: commitOf('head'),
          conclusion: 'success',
          check_suite: { head_branch: 'feature' },
        },
      })
    expect(await outcome({}, run('completed'))).toBe('build_check_run_completed is off.')
    expect(await outcome({ build_check_run_completed: true }, run('created'))).toMatch(/makes no builds/)
    expect(await builtBy({ build_check_run_completed: true }, run('completed'))).toMatchObject({
      branch: 'feature',
      env: { BUILDKITE_GITHUB_CHECK_RUN_NAME: 'lint', BUILDKITE_GITHUB_CHECK_RUN_CONCLUSION: 'success' },
    })
  })

  it('build_deployment_status_created', async () => {
    const status = githubEvent('deployment_status', {
      deployment: { id: 1, sha: commitOf('head'), ref: 'main', environment: 'staging' },
      deployment_status: { state: 'success', environment: 'staging' },
    })
    expect(await outcome({}, status)).toBe('build_deployment_status_created is off.')
    const build = await builtBy({ build_deployment_status_created: true }, status)
    expect(build.env).toMatchObject({
      BUILDKITE_GITHUB_DEPLOYMENT_STATUS_STATE: 'success',
      BUILDKITE_GITHUB_DEPLOYMENT_STATUS_ENVIRONMENT: 'staging',
    })
  })

  it('build_create_event', async () => {
    const created = githubEvent('create', { ref: 'v3', ref_type: 'tag' })
    expect(await outcome({}, created)).toBe('build_create_event is off.')
    expect(await builtBy({ build_create_event: true }, created)).toMatchObject({ branch: 'v3', tag: 'v3' })
  })
})
