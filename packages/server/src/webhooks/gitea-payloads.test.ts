// Every event of Gitea and Forgejo, with the fields of their API, through the endpoint of a pipeline. Both send the same.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, type TestOrganization } from '../../test/builders.ts'
import { commitOf, domains, forgejoEvent, giteaEvent, noCommit } from '../../test/deliveries.ts'
import { outcomesOf } from '../../test/payloads.ts'

const app = useApp()
let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

const userOf = (login: string, id: number) => ({
  id,
  login,
  login_name: '',
  full_name: '',
  email: `${login}@example.com`,
  avatar_url: '',
  username: login,
})
const ada = userOf('ada', 1)
const repositoryOf = (domain: string, owner: string, id: number) => ({
  id,
  owner: userOf(owner, 4 + id),
  name: 'app',
  full_name: `${owner}/app`,
  description: '',
  empty: false,
  private: true,
  fork: id !== 1,
  html_url: `https://${domain}/${owner}/app`,
  ssh_url: `git@${domain}:${owner}/app.git`,
  clone_url: `https://${domain}/${owner}/app.git`,
  default_branch: 'main',
  archived: false,
  permissions: { admin: true, push: true, pull: true },
})
const commit = (name: string) => ({
  id: commitOf(name),
  message: 'Make it faster\n',
  url: `https://git.example.com/acme/app/commit/${commitOf(name)}`,
  author: { name: 'Ada', email: 'ada@example.com', username: 'ada' },
  committer: { name: 'Ada', email: 'ada@example.com', username: 'ada' },
  verification: null,
  timestamp: '2026-01-02T03:04:05Z',
  added: [],
  removed: [],
  modified: ['a'],
})

const push = {
  ref: 'refs/heads/main',
  before: commitOf('before'),
  after: commitOf('head'),
  compare_url: '',
  commits: [commit('head')],
  total_commits: 1,
  head_commit: commit('head'),
  pusher: ada,
}
const nothing = { after: noCommit, commits: [], total_commits: 0, head_commit: null }

const label = { id: 1, name: 'bug', color: 'ededed', description: '' }
const issue = { id: 9, number: 7, title: 'Add a wheel', body: '', user: ada, state: 'open', labels: [label] }
const comment = { id: 17, body: '/bk', user: ada, html_url: '' }
const release = { id: 1, tag_name: 'v1', target_commitish: 'main', name: '', draft: false, author: ada }
const run = {
  id: 1,
  head_branch: 'main',
  head_sha: commitOf('head'),
  status: 'completed',
  conclusion: 'success',
}

type Fields = (domain: string) => object
const pulled =
  (action: string, given: object = {}, { fork = false, more = {} } = {}): Fields =>
  (domain) => {
    const own = repositoryOf(domain, 'acme', 1)
    const head = fork ? repositoryOf(domain, 'mallory', 2) : own
    return {
      action,
      number: 7,
      pull_request: {
        id: 3,
        number: 7,
        user: ada,
        title: 'Add a wheel',
        body: '',
        labels: [label],
        milestone: null,
        assignee: null,
        requested_reviewers: [],
        state: 'open',
        draft: false,
        is_locked: false,
        mergeable: true,
        merged: false,
        merged_at: null,
        base: { label: 'main', ref: 'main', sha: commitOf('before'), repo_id: own.id, repo: own },
        head: { label: 'feature', ref: 'feature', sha: commitOf('feature'), repo_id: head.id, repo: head },
        merge_base: commitOf('before'),
        ...given,
      },
      commit_id: '',
      review: null,
      ...more,
    }
  }
const just =
  (fields: object): Fields =>
  () =>
    fields

const feature = '200 pull request 7 of feature at feature'
const other = '200 Pull request #7: what changed makes no builds.'
const closed = '200 Pull request #7 was closed.'
const isOff = (setting: string) => `200 Pull request #7: build_${setting} is off.`
const notBuilt = (event: string) => `200 The event ${event} makes no builds.`
const reviewed = (type: string) => ({ more: { review: { type, content: '/bk' } } })

type Row = [what: string, event: string, fields: Fields, outcome: string, settings?: object]

const rows: Row[] = [
  ['a push', 'push', just(push), '200 branch main at head'],
  ['a new branch', 'push', just({ ...push, before: noCommit }), '200 branch main at head'],
  [
    'the test of the webhook',
    'push',
    just({ ...push, before: push.after }),
    '200 A push that moves nothing, as in a test: the webhook works.',
  ],
  [
    'a tag',
    'push',
    just({ ...push, ref: 'refs/tags/v1' }),
    '200 The tag v1 is not built: build_tags is off.',
  ],
  ['a tag', 'push', just({ ...push, ref: 'refs/tags/v1' }), '200 tag v1 at head', { build_tags: true }],
  [
    'a push for review',
    'push',
    just({ ...push, ref: 'refs/for/main' }),
    '200 The ref refs/for/main is neither branch nor tag.',
  ],
  [
    'a deleted branch',
    'push',
    just({ ...push, ...nothing }),
    '200 The branch main was deleted, and cancel_deleted_branch_builds is off.',
  ],
  [
    'create',
    'create',
    just({ sha: commitOf('head'), ref: 'feature', ref_type: 'branch' }),
    '200 build_create_event is off.',
  ],
  [
    'delete',
    'delete',
    just({ ref: 'feature', ref_type: 'branch', pusher_type: 'user' }),
    '200 The branch feature was deleted, and cancel_deleted_branch_builds is off.',
  ],
  [
    'delete',
    'delete',
    just({ ref: 'v1', ref_type: 'tag', pusher_type: 'user' }),
    '200 The tag v1 was deleted; nothing is built.',
  ],
  [
    'fork',
    'fork',
    (domain) => ({ forkee: repositoryOf(domain, 'acme', 1) }),
    '200 trigger_mode is code, not fork.',
  ],
  ['opened', 'pull_request', pulled('opened'), feature],
  [
    'opened from a fork',
    'pull_request',
    pulled('opened', {}, { fork: true }),
    '200 Pull request #7: it comes from a fork, and build_pull_request_forks is off.',
  ],
  [
    'opened from a fork',
    'pull_request',
    pulled('opened', {}, { fork: true }),
    '200 pull request 7 of mallory:feature at feature',
    { build_pull_request_forks: true },
  ],
  [
    'synchronized',
    'pull_request',
    pulled('synchronized'),
    '200 Pull request #7: the push to feature is built.',
  ],
  ['synchronized', 'pull_request', pulled('synchronized'), feature, { build_branches: false }],
  ['closed', 'pull_request', pulled('closed', { state: 'closed' }), closed],
  ['merged', 'pull_request', pulled('closed', { state: 'closed', merged: true }), closed],
  ['reopened', 'pull_request', pulled('reopened'), isOff('pull_request_reopened')],
  [
    'edited',
    'pull_request',
    pulled('edited', {}, { more: { changes: { title: { from: 'Old' } } } }),
    isOff('pull_request_edited'),
  ],
  [
    'edited to another base',
    'pull_request',
    pulled('edited', {}, { more: { changes: { ref: { from: 'old' } } } }),
    isOff('pull_request_base_branch_changed'),
  ],
  ['assigned', 'pull_request', pulled('assigned'), other],
  ['unassigned', 'pull_request', pulled('unassigned'), other],
  ['milestoned', 'pull_request', pulled('milestoned'), other],
  ['demilestoned', 'pull_request', pulled('demilestoned'), other],
  ['label_updated', 'pull_request', pulled('label_updated'), isOff('pull_request_labels_changed')],
  ['label_cleared', 'pull_request', pulled('label_cleared'), isOff('pull_request_labels_changed')],
  ['review_requested', 'pull_request', pulled('review_requested'), isOff('pull_request_review_requested')],
  ['review_request_removed', 'pull_request', pulled('review_request_removed'), other],
  [
    'an approval',
    'pull_request_approved',
    pulled('reviewed', {}, reviewed('pull_request_review_approved')),
    isOff('pull_request_review_submitted'),
  ],
  [
    'a rejection',
    'pull_request_rejected',
    pulled('reviewed', {}, reviewed('pull_request_review_rejected')),
    isOff('pull_request_review_submitted'),
  ],
  [
    'a review',
    'pull_request_comment',
    pulled('reviewed', {}, reviewed('pull_request_review_comment')),
    isOff('pull_request_review_comment_created'),
  ],
  [
    'a comment',
    'issue_comment',
    just({ action: 'created', issue: { ...issue, pull_request: { merged: false } }, comment, is_pull: true }),
    isOff('issue_comment_created'),
  ],
  [
    'an edited comment',
    'issue_comment',
    just({ action: 'edited', issue: { ...issue, pull_request: null }, comment, is_pull: true }),
    other,
  ],
  [
    'a comment on an issue',
    'issue_comment',
    just({ action: 'created', issue: { ...issue, pull_request: null }, comment, is_pull: false }),
    '200 The comment is on an issue, not on a pull request.',
  ],
  ['published', 'release', just({ action: 'published', release }), '200 build_release_published is off.'],
  [
    'published',
    'release',
    just({ action: 'published', release }),
    '200 tag v1 at HEAD',
    { build_release_published: true },
  ],
  ['updated', 'release', just({ action: 'updated', release }), '200 release updated makes no builds.'],
  ['deleted', 'release', just({ action: 'deleted', release }), '200 release deleted makes no builds.'],
  ['opened', 'issues', just({ action: 'opened', number: 7, issue }), notBuilt('issues')],
  ['a page', 'wiki', just({ action: 'created', page: 'Home', comment: '' }), notBuilt('wiki')],
  ['created', 'repository', just({ action: 'created' }), notBuilt('repository')],
  ['created', 'package', just({ action: 'created', package: { id: 1, name: 'app' } }), notBuilt('package')],
  ['a status', 'status', just({ sha: commitOf('head'), context: 'a', state: 'success' }), notBuilt('status')],
  ['a run', 'workflow_run', just({ action: 'completed', workflow_run: run }), notBuilt('workflow_run')],
  ['a job', 'workflow_job', just({ action: 'completed', workflow_job: run }), notBuilt('workflow_job')],
  [
    'a run that failed',
    'action_run_failure',
    just({ action: 'failure', run }),
    notBuilt('action_run_failure'),
  ],
  [
    'a push of another repository',
    'push',
    (domain) => ({ ...push, repository: repositoryOf(domain, 'mallory', 2) }),
    "200 The delivery is about another repository than the pipeline's acme/app.",
  ],
]

describe.each([
  ['Gitea', giteaEvent, domains.gitea],
  ['Forgejo', forgejoEvent, domains.forgejo],
] as const)('%s', (_, eventOf, domain) => {
  it.each(rows)('sends %s (%s)', async (_what, event, fields, outcome, settings = {}) => {
    const payload = { repository: repositoryOf(domain, 'acme', 1), sender: ada, ...fields(domain) }
    const repository = `https://${domain}/acme/app.git`
    const { status, outcomes } = await outcomesOf(app, org, eventOf(event, payload), { repository, settings })
    expect([status, ...outcomes].join(' ')).toBe(outcome)
  })
})
