// Webhooks as source hosts send them: headers and payload.

interface Webhook {
  headers: Record<string, string>
  payload: unknown
}

const commit = 'a'.repeat(40)
const before = 'b'.repeat(40)
const author = { name: 'Ada Example', email: 'ada@example.com', username: 'ada' }

const repository = {
  id: 1,
  name: 'app',
  full_name: 'acme/app',
  private: true,
  owner: { login: 'acme', id: 5 },
  clone_url: 'https://git.example.com/acme/app.git',
  ssh_url: 'git@git.example.com:acme/app.git',
  default_branch: 'main',
}

const head = { id: commit, message: 'Make it faster', author, timestamp: '2026-01-02T03:04:05Z' }

const push = {
  ref: 'refs/heads/main',
  before,
  after: commit,
  created: false,
  deleted: false,
  commits: [head],
  head_commit: head,
  pusher: { name: 'ada' },
  sender: { login: 'ada' },
  repository,
}

const pull = {
  action: 'opened',
  number: 7,
  pull_request: {
    number: 7,
    title: 'Add a wheel',
    state: 'open',
    draft: false,
    merged: false,
    user: { login: 'ada' },
    labels: [{ name: 'fast' }],
    head: { ref: 'feature', sha: commit, repo: repository },
    base: { ref: 'main', sha: before, repo: repository },
  },
  sender: { login: 'ada' },
  repository,
}

const project = { id: 1, path_with_namespace: 'acme/app', git_http_url: repository.clone_url }
const own = {
  uuid: '{1}',
  full_name: 'acme/app',
  links: { html: { href: 'https://bitbucket.org/acme/app' } },
}

const serverRepository = {
  slug: 'app',
  id: 1,
  project: { key: 'ACME', id: 1 },
  links: { clone: [{ href: 'https://bitbucket.example.com/scm/acme/app.git', name: 'http' }] },
}
const azureRepository = {
  id: '1',
  name: 'app',
  project: { id: 'p', name: 'work' },
  remoteUrl: 'https://acme@dev.azure.com/acme/work/_git/app',
}
const azureEvent = (eventType: string, resource: object) => ({
  headers: {},
  payload: { notificationId: 3, publisherId: 'tfs', eventType, resource },
})

export const webhooks: readonly Webhook[] = [
  {
    headers: { 'x-event-key': 'repo:refs_changed' },
    payload: {
      eventKey: 'repo:refs_changed',
      actor: { name: 'ada' },
      repository: serverRepository,
      changes: [
        {
          ref: { id: 'refs/heads/main', displayId: 'main', type: 'BRANCH' },
          refId: 'refs/heads/main',
          fromHash: before,
          toHash: commit,
          type: 'UPDATE',
        },
      ],
    },
  },
  {
    headers: { 'x-event-key': 'pr:opened' },
    payload: {
      eventKey: 'pr:opened',
      actor: { name: 'ada' },
      pullRequest: {
        id: 7,
        title: 'Add a wheel',
        state: 'OPEN',
        open: true,
        fromRef: { id: 'refs/heads/feature', latestCommit: commit, repository: serverRepository },
        toRef: { id: 'refs/heads/main', latestCommit: before, repository: serverRepository },
        author: { user: { displayName: 'Ada', emailAddress: author.email } },
      },
    },
  },
  azureEvent('git.push', {
    refUpdates: [{ name: 'refs/heads/main', oldObjectId: before, newObjectId: commit }],
    commits: [{ commitId: commit, comment: 'm', author }],
    repository: azureRepository,
  }),
  azureEvent('git.pullrequest.created', {
    repository: azureRepository,
    pullRequestId: 7,
    status: 'active',
    createdBy: { displayName: 'Ada' },
    title: 'Add a wheel',
    sourceRefName: 'refs/heads/feature',
    targetRefName: 'refs/heads/main',
    lastMergeSourceCommit: { commitId: commit },
  }),
  { headers: { 'x-gogs-event': 'push' }, payload: push },
  { headers: { 'x-gogs-event': 'pull_request' }, payload: pull },
  { headers: { 'x-github-event': 'push' }, payload: push },
  { headers: { 'x-github-event': 'push' }, payload: { ...push, ref: 'refs/tags/v1' } },
  {
    headers: { 'x-github-event': 'push' },
    payload: { ...push, deleted: true, head_commit: null, commits: [] },
  },
  { headers: { 'x-github-event': 'pull_request' }, payload: pull },
  { headers: { 'x-github-event': 'ping' }, payload: { zen: 'Keep it simple.', hook_id: 1, repository } },
  { headers: { 'x-gitea-event': 'push', 'x-github-event': 'push' }, payload: push },
  { headers: { 'x-forgejo-event': 'pull_request', 'x-gitea-event': 'pull_request' }, payload: pull },
  {
    headers: { 'x-gitlab-event': 'Push Hook' },
    payload: {
      object_kind: 'push',
      ref: 'refs/heads/main',
      before,
      after: commit,
      checkout_sha: commit,
      project,
      commits: [{ id: commit, message: 'm', author }],
      total_commits_count: 1,
    },
  },
  {
    headers: { 'x-gitlab-event': 'Merge Request Hook' },
    payload: {
      object_kind: 'merge_request',
      user: { name: 'Ada', username: 'ada' },
      project,
      object_attributes: {
        iid: 7,
        title: 'Add a wheel',
        state: 'opened',
        action: 'open',
        source_branch: 'feature',
        target_branch: 'main',
        source_project_id: 1,
        target_project_id: 1,
        last_commit: { id: commit, message: 'm', author },
        source: project,
        target: project,
      },
      labels: [],
      changes: {},
    },
  },
  {
    headers: { 'x-event-key': 'repo:push' },
    payload: {
      actor: { display_name: 'Ada' },
      repository: own,
      push: {
        changes: [
          {
            old: null,
            created: true,
            new: { type: 'branch', name: 'main', target: { hash: commit, message: 'm' } },
          },
        ],
      },
    },
  },
]

/** The lines of a post-receive hook, which are no JSON. */
export const pushedLines = `${before} ${commit} refs/heads/main\n`
