// Every event of the documentation of Bitbucket Cloud, with the fields that it has there, through the endpoint of a pipeline.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, type TestOrganization } from '../../test/builders.ts'
import { bitbucketEvent, commitOf } from '../../test/deliveries.ts'
import { outcomesOf } from '../../test/payloads.ts'

const app = useApp()
let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

const linksOf = (path: string) => ({
  self: { href: `https://api.bitbucket.org/2.0/${path}` },
  html: { href: `https://bitbucket.org/${path}` },
})
const owner = { type: 'user', display_name: 'Ada Example', uuid: '{5}', account_id: '5', nickname: 'ada' }
const repositoryOf = (name: string, uuid: string) => ({
  type: 'repository',
  name: 'app',
  full_name: name,
  uuid,
  links: linksOf(name),
  scm: 'git',
  is_private: true,
  website: '',
  owner,
  workspace: { type: 'workspace', slug: name.split('/')[0], uuid: '{9}' },
  project: { type: 'project', key: 'APP', name: 'App', uuid: '{8}' },
})
const repository = repositoryOf('acme/app', '{1}')

const target = (name: string) => ({
  type: 'commit',
  hash: commitOf(name),
  author: { type: 'author', raw: 'Ada Example <ada@example.com>', user: owner },
  message: 'Make it faster\n',
  date: '2026-01-02T03:04:05+00:00',
  parents: [{ type: 'commit', hash: commitOf('before') }],
  links: linksOf(`acme/app/commits/${commitOf(name)}`),
})
const refOf = (type: string, name: string, commit: string) => ({
  type,
  name,
  target: target(commit),
  links: linksOf(`acme/app/branch/${name}`),
})
const main = refOf('branch', 'main', 'head')
const old = refOf('branch', 'main', 'before')
const change = (given: object) => ({
  old: null,
  new: null,
  created: false,
  closed: false,
  forced: false,
  truncated: false,
  commits: [],
  links: {},
  ...given,
})
const pushOf = (...changes: object[]) => ({ repository, push: { changes: changes.map(change) } })

const sideOf = (branch: string, commit: string, of: object | null) => ({
  branch: { name: branch },
  commit: { type: 'commit', hash: commitOf(commit).slice(0, 12), links: {} },
  repository: of,
})
const pulled = (given: object = {}, fields: object = {}) => ({
  repository,
  pullrequest: {
    type: 'pullrequest',
    id: 7,
    title: 'Add a wheel',
    description: '',
    state: 'OPEN',
    draft: false,
    author: owner,
    source: sideOf('feature', 'feature', repository),
    destination: sideOf('main', 'before', repository),
    merge_commit: null,
    participants: [owner],
    reviewers: [owner],
    close_source_branch: true,
    closed_by: null,
    reason: '',
    created_on: '2026-01-02T03:04:05+00:00',
    updated_on: '2026-01-02T03:04:05+00:00',
    links: linksOf('acme/app/pull-requests/7'),
    ...given,
  },
  ...fields,
})
const fork = { source: sideOf('feature', 'feature', repositoryOf('mallory/app', '{2}')) }
const gone = { source: sideOf('feature', 'feature', null) }
const comment = { id: 17, content: { raw: '/bk', html: '<p>/bk</p>', markup: 'markdown' }, user: owner }
const issue = { id: 3, title: 'It is slow', state: 'new', type: 'bug' }
const status = { key: 'millrace/app', state: 'SUCCESSFUL', type: 'build', url: 'https://example.com' }

const feature = '200 pull request 7 of feature at feature'
const closed = '200 Pull request #7 was closed.'
const forks = { build_pull_request_forks: true }
const isOff = (setting: string) => `200 Pull request #7: build_${setting} is off.`

type Row = [event: string, payload: object, outcome: string, settings?: object]

const rows: Row[] = [
  ['repo:push', pushOf({ old, new: main }), '200 branch main at head'],
  ['repo:push', pushOf({ new: main, created: true }), '200 branch main at head'],
  ['repo:push', pushOf({ old, new: main, forced: true, truncated: true }), '200 branch main at head'],
  ['repo:push', pushOf({ new: refOf('named_branch', 'main', 'head') }), '200 branch main at head'],
  [
    'repo:push',
    pushOf({ old, closed: true }),
    '200 The branch main was deleted, and cancel_deleted_branch_builds is off.',
  ],
  [
    'repo:push',
    pushOf({ new: refOf('tag', 'v1', 'head'), created: true }),
    '200 The tag v1 is not built: build_tags is off.',
  ],
  ['repo:push', pushOf({ new: refOf('tag', 'v1', 'head') }), '200 tag v1 at head', { build_tags: true }],
  [
    'repo:push',
    pushOf({ new: refOf('annotated_tag', 'v1', 'head') }),
    '200 tag v1 at head',
    { build_tags: true },
  ],
  [
    'repo:push',
    pushOf({ old: refOf('tag', 'v1', 'head'), closed: true }),
    '200 The tag v1 was deleted; nothing is built.',
  ],
  ['repo:push', pushOf({ new: refOf('bookmark', 'a', 'head') }), '200 a is neither branch nor tag.'],
  ['repo:push', pushOf({}), '200 The change names no ref.'],
  ['repo:push', pushOf(), '200'],
  [
    'repo:push',
    pushOf({ old, new: main }, { new: refOf('branch', 'feature', 'feature') }),
    '200 branch main at head branch feature at feature',
  ],
  ['repo:push', { repository }, '400 The payload cannot be understood: push is required.'],
  [
    'repo:push',
    { ...pushOf({ new: main }), repository: repositoryOf('mallory/app', '{2}') },
    "200 The delivery is about another repository than the pipeline's acme/app.",
  ],
  ['pullrequest:created', pulled(), feature],
  ['pullrequest:created', pulled({ draft: true }), feature],
  [
    'pullrequest:created',
    pulled(fork),
    '200 Pull request #7: it comes from a fork, and build_pull_request_forks is off.',
  ],
  ['pullrequest:created', pulled(fork), '200 pull request 7 of mallory:feature at feature', forks],
  [
    'pullrequest:created',
    pulled(gone),
    '200 Pull request #7: it comes from a fork that is gone, and Bitbucket keeps its commits nowhere else.',
    forks,
  ],
  ['pullrequest:updated', pulled(), '200 Pull request #7: the push to feature is built.'],
  ['pullrequest:updated', pulled(), feature, { build_branches: false }],
  ['pullrequest:approved', pulled({}, { approval: { user: owner } }), isOff('pull_request_review_submitted')],
  ['pullrequest:changes_request_created', pulled(), isOff('pull_request_review_submitted')],
  ['pullrequest:fulfilled', pulled({ state: 'MERGED' }), closed],
  ['pullrequest:rejected', pulled({ state: 'DECLINED' }), closed],
  ['pullrequest:comment_created', pulled({}, { comment }), isOff('issue_comment_created')],
  [
    'pullrequest:comment_created',
    pulled({}, { comment }),
    '200 Pull request #7: the comment is not by somebody whom the host says may push.',
    { build_issue_comment_created: true },
  ],
  ['diagnostics:ping', { test: true }, '200 A ping: the webhook works.'],
]

const notBuilt: Array<[event: string, payload: object]> = [
  ['pullrequest:unapproved', pulled()],
  ['pullrequest:changes_request_removed', pulled()],
  ['pullrequest:comment_updated', pulled({}, { comment })],
  ['pullrequest:comment_deleted', pulled({}, { comment })],
  ['pullrequest:comment_resolved', pulled({}, { comment })],
  ['pullrequest:comment_reopened', pulled({}, { comment })],
  ['repo:fork', { repository, fork: repositoryOf('mallory/app', '{2}') }],
  ['repo:updated', { repository, changes: { name: { old: 'app', new: 'application' } } }],
  ['repo:transfer', { repository, previous_owner: owner }],
  ['repo:deleted', { repository }],
  ['repo:commit_comment_created', { repository, comment, commit: target('head') }],
  ['repo:commit_status_created', { repository, commit_status: status }],
  ['repo:commit_status_updated', { repository, commit_status: status }],
  ['issue:created', { repository, issue }],
  ['issue:updated', { repository, issue, comment, changes: {} }],
  ['issue:comment_created', { repository, issue, comment }],
  ['project:updated', { project: { key: 'APP' } }],
]

describe('Bitbucket', () => {
  it.each([
    ...rows,
    ...notBuilt.map(([event, payload]): Row => [event, payload, `200 The event ${event} makes no builds.`]),
  ])('sends %s (%#)', async (event, payload, outcome, settings = {}) => {
    const at = { repository: 'https://bitbucket.org/acme/app.git', settings }
    const { status: answered, outcomes } = await outcomesOf(app, org, bitbucketEvent(event, payload), at)
    expect([answered, ...outcomes].join(' ')).toBe(outcome)
  })
})
