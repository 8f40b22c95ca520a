// Every event of GitLab's documentation, with the fields that it has there, through the endpoint of a pipeline.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { anOrganization, type TestOrganization } from '../../test/builders.ts'
import { commitOf, gitlabEvent, noCommit } from '../../test/deliveries.ts'
import { outcomesOf } from '../../test/payloads.ts'

const app = useApp()
let org: TestOrganization
beforeAll(async () => {
  org = await anOrganization(app)
})

const user = { id: 1, name: 'Ada Example', username: 'ada', avatar_url: null, email: '[REDACTED]' }
const project = {
  id: 15,
  name: 'App',
  description: '',
  web_url: 'https://gitlab.com/acme/app',
  avatar_url: null,
  git_ssh_url: 'git@gitlab.com:acme/app.git',
  git_http_url: 'https://gitlab.com/acme/app.git',
  namespace: 'Acme',
  visibility_level: 0,
  path_with_namespace: 'acme/app',
  default_branch: 'main',
  ci_config_path: '',
  homepage: 'https://gitlab.com/acme/app',
  url: 'git@gitlab.com:acme/app.git',
  ssh_url: 'git@gitlab.com:acme/app.git',
  http_url: 'https://gitlab.com/acme/app.git',
}
const forked = {
  ...project,
  id: 16,
  path_with_namespace: 'mallory/app',
  git_ssh_url: 'git@gitlab.com:mallory/app.git',
  git_http_url: 'https://gitlab.com/mallory/app.git',
}
const author = { name: 'Ada Example', email: 'ada@example.com' }
const commit = (name: string) => ({
  id: commitOf(name),
  message: 'Make it faster\n',
  title: 'Make it faster',
  timestamp: '2026-01-02T03:04:05+00:00',
  url: `https://gitlab.com/acme/app/-/commit/${commitOf(name)}`,
  author,
  added: [],
  modified: ['a'],
  removed: [],
})

const push = {
  object_kind: 'push',
  event_name: 'push',
  before: commitOf('before'),
  after: commitOf('head'),
  ref: 'refs/heads/main',
  ref_protected: true,
  checkout_sha: commitOf('head'),
  user_id: 4,
  user_name: 'Ada Example',
  user_username: 'ada',
  user_email: null,
  user_avatar: null,
  project_id: 15,
  project,
  commits: [commit('between'), commit('head')],
  total_commits_count: 2,
  push_options: {},
  repository: { name: 'App', url: project.url, description: '', homepage: project.web_url },
}
const tag = {
  ...push,
  object_kind: 'tag_push',
  event_name: 'tag_push',
  before: noCommit,
  after: commitOf('the object of the tag'),
  ref: 'refs/tags/v1',
  message: 'Version 1',
  commits: [],
  total_commits_count: 0,
}

const attributes = {
  id: 99,
  iid: 7,
  target_branch: 'main',
  source_branch: 'feature',
  source_project_id: 15,
  target_project_id: 15,
  author_id: 51,
  assignee_ids: [6],
  reviewer_ids: [6],
  title: 'Add a wheel',
  created_at: '2026-01-02 03:04:05 UTC',
  state: 'opened',
  blocking_discussions_resolved: true,
  work_in_progress: false,
  draft: false,
  first_contribution: true,
  merge_status: 'unchecked',
  detailed_merge_status: 'not_open',
  description: '',
  labels: [],
  url: 'https://gitlab.com/acme/app/-/merge_requests/7',
  source: project,
  target: project,
  last_commit: commit('feature'),
}
const merge = (action: string | undefined, given: object = {}, changes: object = {}) => ({
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user,
  project,
  repository: push.repository,
  object_attributes: { ...attributes, action, ...given },
  labels: [],
  changes,
  assignees: [user],
  reviewers: [user],
})

const note = (type: string, fields: object, given: object = {}) => ({
  object_kind: 'note',
  event_type: 'note',
  user,
  project_id: 15,
  project,
  repository: push.repository,
  object_attributes: {
    id: 1244,
    note: '/bk',
    noteable_type: type,
    author_id: 1,
    project_id: 15,
    commit_id: null,
    system: false,
    action: 'create',
    url: 'https://gitlab.com/acme/app/-/merge_requests/7#note_1244',
    ...given,
  },
  ...fields,
})
const about = (object_kind: string, fields: object = {}) => ({ object_kind, project, user, ...fields })

const fork = { source_project_id: 16, source: forked }
const feature = '200 pull request 7 of feature at feature'
const notBuilt = (event: string) => `200 The event ${event} makes no builds.`
const isOff = (setting: string) => `200 Pull request #7: build_pull_request_${setting} is off.`
const other = '200 Pull request #7: what changed makes no builds.'
const noComment = '200 Pull request #7: build_issue_comment_created is off.'
const untrusted = '200 Pull request #7: the comment is not by somebody whom the host says may push.'

type Row = [what: string, event: string, payload: object, outcome: string, settings?: object]

const rows: Row[] = [
  ['a push', 'Push Hook', push, '200 branch main at head'],
  ['a new branch', 'Push Hook', { ...push, before: noCommit, commits: [] }, '200 branch main at head'],
  [
    'a deleted branch',
    'Push Hook',
    { ...push, after: noCommit, checkout_sha: null, commits: [] },
    '200 The branch main was deleted, and cancel_deleted_branch_builds is off.',
  ],
  ['a tag', 'Tag Push Hook', tag, '200 The tag v1 is not built: build_tags is off.'],
  ['a tag', 'Tag Push Hook', tag, '200 tag v1 at head', { build_tags: true }],
  [
    'a deleted tag',
    'Tag Push Hook',
    { ...tag, before: tag.after, after: noCommit, checkout_sha: null },
    '200 The tag v1 was deleted; nothing is built.',
  ],
  ['open', 'Merge Request Hook', merge('open'), feature],
  ['open of a draft', 'Merge Request Hook', merge('open', { draft: true, work_in_progress: true }), feature],
  [
    'open from a fork',
    'Merge Request Hook',
    merge('open', fork),
    '200 Pull request #7: it comes from a fork, and build_pull_request_forks is off.',
  ],
  [
    'open from a fork',
    'Merge Request Hook',
    merge('open', fork),
    '200 pull request 7 of mallory:feature at feature',
    { build_pull_request_forks: true },
  ],
  ['reopen', 'Merge Request Hook', merge('reopen'), isOff('reopened')],
  ['close', 'Merge Request Hook', merge('close', { state: 'closed' }), '200 Pull request #7 was closed.'],
  ['merge', 'Merge Request Hook', merge('merge', { state: 'merged' }), '200 Pull request #7 was closed.'],
  [
    'update with a push',
    'Merge Request Hook',
    merge('update', { oldrev: commitOf('before') }),
    '200 Pull request #7: the push to feature is built.',
  ],
  [
    'update of the labels',
    'Merge Request Hook',
    merge('update', {}, { labels: { previous: [], current: [{ id: 1, title: 'a' }] } }),
    isOff('labels_changed'),
  ],
  [
    'update to ready',
    'Merge Request Hook',
    merge('update', {}, { draft: { previous: true, current: false } }),
    isOff('ready_for_review'),
  ],
  [
    'update to draft',
    'Merge Request Hook',
    merge('update', {}, { draft: { previous: false, current: true } }),
    isOff('converted_to_draft'),
  ],
  [
    'update of the target branch',
    'Merge Request Hook',
    merge('update', {}, { target_branch: { previous: 'old', current: 'main' } }),
    isOff('base_branch_changed'),
  ],
  [
    'update of the reviewers',
    'Merge Request Hook',
    merge('update', {}, { reviewers: { previous: [], current: [user] } }),
    isOff('review_requested'),
  ],
  [
    'update of the title',
    'Merge Request Hook',
    merge('update', {}, { title: { previous: 'Old', current: 'New' } }),
    isOff('edited'),
  ],
  ['approval', 'Merge Request Hook', merge('approval'), isOff('review_submitted')],
  ['approved', 'Merge Request Hook', merge('approved'), isOff('review_submitted')],
  ['unapproval', 'Merge Request Hook', merge('unapproval'), other],
  ['unapproved', 'Merge Request Hook', merge('unapproved'), other],
  ['a merge request without action', 'Merge Request Hook', merge(undefined), other],
  ['a comment', 'Note Hook', note('MergeRequest', { merge_request: attributes }), noComment],
  [
    'a comment',
    'Note Hook',
    note('MergeRequest', { merge_request: attributes }),
    untrusted,
    { build_issue_comment_created: true },
  ],
  [
    'an edited comment',
    'Note Hook',
    note('MergeRequest', { merge_request: attributes }, { action: 'update' }),
    other,
  ],
  [
    'a comment on a commit',
    'Note Hook',
    note('Commit', { commit: commit('head') }),
    '200 The comment is not on a merge request.',
  ],
  [
    'on an issue',
    'Note Hook',
    note('Issue', { issue: { iid: 2 } }),
    '200 The comment is not on a merge request.',
  ],
  [
    'on a snippet',
    'Note Hook',
    note('Snippet', { snippet: {} }),
    '200 The comment is not on a merge request.',
  ],
  [
    'an issue',
    'Issue Hook',
    about('issue', { object_attributes: { iid: 2, action: 'open' } }),
    notBuilt('Issue Hook'),
  ],
  ['a confidential issue', 'Confidential Issue Hook', about('issue'), notBuilt('Confidential Issue Hook')],
  ['a confidential comment', 'Confidential Note Hook', note('Issue', {}), notBuilt('Confidential Note Hook')],
  ['a page', 'Wiki Page Hook', about('wiki_page', { wiki: {} }), notBuilt('Wiki Page Hook')],
  [
    'a pipeline',
    'Pipeline Hook',
    about('pipeline', {
      object_attributes: { id: 31, ref: 'main', sha: commitOf('head'), status: 'success' },
    }),
    notBuilt('Pipeline Hook'),
  ],
  [
    'a job',
    'Job Hook',
    about('build', { ref: 'main', sha: commitOf('head'), build_id: 1 }),
    notBuilt('Job Hook'),
  ],
  [
    'a deployment',
    'Deployment Hook',
    about('deployment', { status: 'success' }),
    notBuilt('Deployment Hook'),
  ],
  ['a flag', 'Feature Flag Hook', about('feature_flag'), notBuilt('Feature Flag Hook')],
  ['a release', 'Release Hook', about('release', { tag: 'v1', action: 'create' }), notBuilt('Release Hook')],
  ['a milestone', 'Milestone Hook', about('milestone', { action: 'create' }), notBuilt('Milestone Hook')],
  ['an emoji', 'Emoji Hook', about('emoji', { event_type: 'award' }), notBuilt('Emoji Hook')],
  ['a token', 'Resource Access Token Hook', about('access_token'), notBuilt('Resource Access Token Hook')],
  ['a vulnerability', 'Vulnerability Hook', about('vulnerability'), notBuilt('Vulnerability Hook')],
  ['a member', 'Member Hook', { event_name: 'user_add_to_group', group_id: 1 }, notBuilt('Member Hook')],
  ['a subgroup', 'Subgroup Hook', { event_name: 'subgroup_create' }, notBuilt('Subgroup Hook')],
  ['a project', 'Project Hook', { event_name: 'project_create' }, notBuilt('Project Hook')],
  ['an event of the installation', 'System Hook', { event_name: 'key_create' }, notBuilt('System Hook')],
  [
    'a push of another repository',
    'Push Hook',
    { ...push, project: forked },
    "200 The delivery is about another repository than the pipeline's acme/app.",
  ],
  [
    'a push without commit',
    'Push Hook',
    { ...push, after: undefined },
    '400 The payload cannot be understood: after is required.',
  ],
]

describe('GitLab', () => {
  it.each(rows)('sends %s (%s)', async (_, event, payload, outcome, settings = {}) => {
    const repository = 'https://gitlab.com/acme/app.git'
    const { status, outcomes } = await outcomesOf(app, org, gitlabEvent(event, payload), {
      repository,
      settings,
    })
    expect([status, ...outcomes].join(' ')).toBe(outcome)
  })
})
