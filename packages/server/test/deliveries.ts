// Webhooks as the source hosts send them: their headers, and the parts of their payloads that readers depend on.
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { openWebhookToken } from '../src/resources/pipelines/pipelines/sealed.ts'
import type { TestApp, TestAnswer } from './app.ts'

export interface TestDelivery {
  headers: Record<string, string>
  body: object | string
}

export const hosts = [
  'github',
  'gitea',
  'forgejo',
  'gitlab',
  'bitbucket',
  'bitbucket_server',
  'azure_devops',
] as const
export type Host = (typeof hosts)[number]

/** The URL of the repository in a host's webhooks. */
export const domains: Readonly<Record<Host, string>> = {
  github: 'github.com',
  gitea: 'git.example.com',
  forgejo: 'forge.example.com',
  gitlab: 'gitlab.com',
  bitbucket: 'bitbucket.org',
  bitbucket_server: 'bitbucket.example.com',
  azure_devops: 'dev.azure.com',
}

/** The path of the repository `acme/app` in an address of https. */
export const pathAt = (host: Host): string =>
  host === 'bitbucket_server'
    ? 'scm/acme/app.git'
    : host === 'azure_devops'
      ? 'acme/work/_git/app'
      : 'acme/app.git'

/** A commit id derived from the name. */
export const commitOf = (name: string): string => createHash('sha1').update(name).digest('hex')

export const noCommit = '0'.repeat(40)

export async function deliver(
  app: TestApp,
  pipeline: { id: string },
  { headers, body }: TestDelivery,
  options: { secret?: string } = {},
): Promise<TestAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signed = options.secret === undefined ? {} : sign(headers, text, options.secret)
  return app.request('POST', await webhookPath(app, pipeline), {
    text,
    headers: {
      ...(typeof body === 'string' ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
      ...signed,
    },
  })
}

export async function webhookPath(app: TestApp, pipeline: { id: string }): Promise<string> {
  const row = await app.db
    .selectFrom('pipelines')
    .select(['webhook_token', 'webhook_token_sealed', 'webhook_token_key_id'])
    .where('id', '=', pipeline.id)
    .executeTakeFirstOrThrow()
  return `/deliver/${openWebhookToken(app.ctx.keys, row)}`
}

/** The signature of each host, chosen by the headers. */
export function sign(headers: Record<string, string>, text: string, secret: string): Record<string, string> {
  const hex = createHmac('sha256', secret).update(text).digest('hex')
  if ('X-Forgejo-Event' in headers) return { 'X-Forgejo-Signature': hex }
  if ('X-Gitea-Event' in headers) return { 'X-Gitea-Signature': hex, 'X-Hub-Signature-256': `sha256=${hex}` }
  if ('X-Gitlab-Event' in headers) return { 'X-Gitlab-Token': secret }
  if ('X-Gogs-Event' in headers) return { 'X-Gogs-Signature': hex }
  if (headers['User-Agent']?.startsWith('VSServices'))
    return { Authorization: `Basic ${Buffer.from(`millrace:${secret}`).toString('base64')}` }
  if ('X-Event-Key' in headers) return { 'X-Hub-Signature': `sha256=${hex}` }
  return { 'X-Hub-Signature-256': `sha256=${hex}` }
}

interface PushOptions {
  ref?: string
  commit?: string
  message?: string
  deleted?: boolean
  /** `owner/name`. */
  repository?: string
}

export function aPush(host: Host, options: PushOptions = {}): TestDelivery {
  return pushes[host]({ ...usualPush, ...options })
}

const usualPush = {
  ref: 'refs/heads/main',
  commit: commitOf('head'),
  message: 'Make it faster',
  deleted: false,
  repository: 'acme/app',
}

export interface PullOptions {
  action?: string
  number?: number
  title?: string
  branch?: string
  commit?: string
  base?: string
  fork?: boolean
  draft?: boolean
  labels?: readonly string[]
  state?: 'open' | 'closed'
  repository?: string
  /** Fields beside the pull request: a label, the changes. */
  more?: object
}

export function aPullRequest(host: Host, options: PullOptions = {}): TestDelivery {
  return pulls[host]({
    action: 'opened',
    number: 7,
    title: 'Add a wheel',
    branch: 'feature',
    commit: commitOf('feature'),
    base: 'main',
    fork: false,
    draft: false,
    labels: [],
    state: 'open',
    repository: 'acme/app',
    more: {},
    ...options,
  })
}

export const githubEvent = (event: string, payload: object): TestDelivery => ({
  headers: {
    'User-Agent': 'GitHub-Hookshot/0000000',
    'X-GitHub-Event': event,
    'X-GitHub-Delivery': randomUUID(),
    'X-GitHub-Hook-ID': '1',
  },
  body: { repository: githubRepository('github.com', 'acme/app', 1), sender: { login: 'ada' }, ...payload },
})

export const giteaEvent = (event: string, payload: object): TestDelivery => {
  const delivery = randomUUID()
  return {
    headers: {
      'X-Gitea-Event': event,
      'X-Gitea-Event-Type': event,
      'X-Gitea-Delivery': delivery,
      'X-Gogs-Event': event,
      'X-Gogs-Delivery': delivery,
      'X-GitHub-Event': event,
      'X-GitHub-Delivery': delivery,
    },
    body: {
      repository: githubRepository('git.example.com', 'acme/app', 1),
      sender: { login: 'ada' },
      ...payload,
    },
  }
}

/** Gogs sends payloads like those of Gitea, without the commit of a pull request. */
export const gogsEvent = (event: string, payload: object): TestDelivery => ({
  headers: { 'User-Agent': 'GogsServer', 'X-Gogs-Event': event, 'X-Gogs-Delivery': randomUUID() },
  body: { repository: githubRepository('gogs.example.com', 'acme/app', 1), ...payload },
})

export const aGogsPush = (options: PushOptions = {}): TestDelivery =>
  gogsEvent('push', githubPush('gogs.example.com', { ...usualPush, ...options }))

/** Forgejo sends the headers of all whom it descends from, and its own. */
export const forgejoEvent = (event: string, payload: object): TestDelivery => {
  const { headers, body } = giteaEvent(event, payload)
  const own = {
    'X-Forgejo-Event': event,
    'X-Forgejo-Event-Type': event,
    'X-Forgejo-Delivery': headers['X-Gitea-Delivery'] ?? '',
  }
  return { headers: { ...headers, ...own }, body }
}

export const gitlabEvent = (event: string, payload: object): TestDelivery => ({
  headers: {
    'User-Agent': 'GitLab/17.0.0',
    'X-Gitlab-Event': event,
    'X-Gitlab-Event-UUID': randomUUID(),
    'X-Gitlab-Instance': 'https://gitlab.com',
  },
  body: payload,
})

export const bitbucketEvent = (event: string, payload: object): TestDelivery => ({
  headers: {
    'User-Agent': 'Bitbucket-Webhooks/2.0',
    'X-Event-Key': event,
    'X-Request-UUID': randomUUID(),
    'X-Hook-UUID': randomUUID(),
    'X-Attempt-Number': '1',
  },
  body: { actor: { display_name: 'Ada' }, ...payload },
})

export const serverEvent = (event: string, payload: object): TestDelivery => ({
  headers: {
    'User-Agent': 'Atlassian HttpClient 4.2.0 / Bitbucket-9.4.0 (9004000) / Default',
    'X-Event-Key': event,
    'X-Request-Id': randomUUID(),
  },
  body: {
    eventKey: event,
    date: '2026-01-02T03:04:05+0000',
    actor: { name: 'ada', displayName: 'Ada', emailAddress: 'ada@example.com', id: 5, type: 'NORMAL' },
    ...payload,
  },
})

/** Service hooks have no headers of their own. */
export const azureEvent = (event: string, resource: object): TestDelivery => ({
  headers: { 'User-Agent': 'VSServices/19.225.34309.2' },
  body: {
    subscriptionId: randomUUID(),
    notificationId: 3,
    id: randomUUID(),
    eventType: event,
    publisherId: 'tfs',
    message: { text: 'Something happened' },
    resource,
    resourceVersion: '1.0',
    resourceContainers: {},
    createdDate: '2026-01-02T03:04:05.000Z',
  },
})

const githubRepository = (host: string, name: string, id: number) => ({
  id,
  name: name.split('/')[1],
  full_name: name,
  private: true,
  owner: { login: name.split('/')[0], id: 5 },
  clone_url: `https://${host}/${name}.git`,
  ssh_url: `git@${host}:${name}.git`,
  html_url: `https://${host}/${name}`,
  default_branch: 'main',
})

const author = { name: 'Ada Example', email: 'ada@example.com' }

function githubPush(host: string, { ref, commit, message, deleted, repository }: Required<PushOptions>) {
  const head = {
    id: commit,
    message,
    author: { ...author, username: 'ada' },
    timestamp: '2026-01-02T03:04:05Z',
  }
  return {
    ref,
    before: deleted ? commit : commitOf('before'),
    after: deleted ? noCommit : commit,
    created: false,
    deleted,
    forced: false,
    commits: deleted ? [] : [head],
    head_commit: deleted ? null : head,
    pusher: { name: 'ada', email: null },
    repository: githubRepository(host, repository, 1),
  }
}

const pushes: Record<Host, (options: Required<PushOptions>) => TestDelivery> = {
  github: (options) => githubEvent('push', githubPush('github.com', options)),
  gitea: (options) => giteaEvent('push', githubPush(domains.gitea, options)),
  forgejo: (options) => forgejoEvent('push', githubPush(domains.forgejo, options)),
  gitlab: ({ ref, commit, message, deleted, repository }) =>
    gitlabEvent(ref.startsWith('refs/tags/') ? 'Tag Push Hook' : 'Push Hook', {
      object_kind: ref.startsWith('refs/tags/') ? 'tag_push' : 'push',
      ref,
      before: deleted ? commit : commitOf('before'),
      after: deleted ? noCommit : commit,
      checkout_sha: deleted ? null : commit,
      user_name: 'Ada Example',
      user_email: 'ada@example.com',
      project: gitlabProject(repository, 1),
      commits: deleted ? [] : [{ id: commit, message, author }],
      total_commits_count: deleted ? 0 : 1,
    }),
  bitbucket: ({ ref, commit, message, deleted, repository }) => {
    const isTag = ref.startsWith('refs/tags/')
    const named = { type: isTag ? 'tag' : 'branch', name: ref.replace(/^refs\/(heads|tags)\//, '') }
    const target = { hash: commit, message, author: { raw: `${author.name} <${author.email}>` } }
    return bitbucketEvent('repo:push', {
      repository: bitbucketRepository(repository, '{1}'),
      push: {
        changes: [
          deleted
            ? { old: { ...named, target }, new: null, closed: true }
            : { old: null, new: { ...named, target }, created: true },
        ],
      },
    })
  },
  bitbucket_server: ({ ref, commit, message, deleted, repository }) => {
    const type = ref.startsWith('refs/tags/') ? 'TAG' : 'BRANCH'
    const person = { name: author.name, emailAddress: author.email }
    return serverEvent('repo:refs_changed', {
      repository: serverRepository(repository, 1),
      changes: [
        {
          ref: { id: ref, displayId: nameIn(ref), type },
          refId: ref,
          fromHash: deleted ? commit : commitOf('before'),
          toHash: deleted ? noCommit : commit,
          type: deleted ? 'DELETE' : 'UPDATE',
        },
      ],
      commits: deleted ? [] : [{ id: commit, displayId: commit.slice(0, 11), author: person, message }],
    })
  },
  azure_devops: ({ ref, commit, message, deleted, repository }) =>
    azureEvent('git.push', {
      commits: deleted ? [] : [{ commitId: commit, author, committer: author, comment: message }],
      refUpdates: [
        {
          name: ref,
          oldObjectId: deleted ? commit : commitOf('before'),
          newObjectId: deleted ? noCommit : commit,
        },
      ],
      repository: azureRepository(repository, '1'),
      pushedBy: { displayName: 'Ada' },
      pushId: 14,
    }),
}

const nameIn = (ref: string) => ref.replace(/^refs\/(heads|tags)\//, '')

export const serverRepository = (name: string, id: number) => {
  const [key = '', slug = ''] = name.split('/')
  return {
    slug,
    id,
    name: slug,
    scmId: 'git',
    state: 'AVAILABLE',
    project: { key: key.toUpperCase(), id: 1, name: key, type: 'NORMAL' },
    public: false,
    links: {
      clone: [
        { href: `ssh://git@bitbucket.example.com:7999/${name}.git`, name: 'ssh' },
        { href: `https://bitbucket.example.com/scm/${name}.git`, name: 'http' },
      ],
      self: [{ href: `https://bitbucket.example.com/projects/${key.toUpperCase()}/repos/${slug}/browse` }],
    },
  }
}

/** `acme/app` is app of the project `work` of the organization acme. */
export const azureRepository = (name: string, id: string) => {
  const [organization = '', repository = ''] = name.split('/')
  const address = `https://dev.azure.com/${organization}/work/_git/${repository}`
  return {
    id,
    name: repository,
    project: { id: 'p', name: organization === 'acme' ? 'work' : organization, state: 'wellFormed' },
    defaultBranch: 'refs/heads/main',
    remoteUrl: address.replace('https://', `https://${organization}@`),
    sshUrl: `git@ssh.dev.azure.com:v3/${organization}/work/${repository}`,
    webUrl: address,
  }
}

const gitlabProject = (name: string, id: number) => ({
  id,
  path_with_namespace: name,
  git_http_url: `https://gitlab.com/${name}.git`,
  git_ssh_url: `git@gitlab.com:${name}.git`,
  default_branch: 'main',
})

const bitbucketRepository = (name: string, uuid: string) => ({
  uuid,
  full_name: name,
  links: { html: { href: `https://bitbucket.org/${name}` } },
})

function githubPull(host: string, options: Required<PullOptions>) {
  const { number, title, branch, commit, base, fork, draft, labels, state, repository } = options
  const own = githubRepository(host, repository, 1)
  return {
    action: options.action,
    number,
    pull_request: {
      number,
      title,
      state,
      draft,
      merged: false,
      user: { login: 'ada' },
      labels: labels.map((name) => ({ name, color: 'ededed' })),
      head: { ref: branch, sha: commit, repo: fork ? githubRepository(host, 'mallory/app', 2) : own },
      base: { ref: base, sha: commitOf(base), repo: own },
    },
    repository: own,
    ...options.more,
  }
}

const giteaWords = (options: Required<PullOptions>) => ({
  ...options,
  action: options.action === 'synchronize' ? 'synchronized' : options.action,
})

const gitlabActions: Record<string, string> = { opened: 'open', closed: 'close', reopened: 'reopen' }

const pulls: Record<Host, (options: Required<PullOptions>) => TestDelivery> = {
  github: (options) => githubEvent('pull_request', githubPull('github.com', options)),
  gitea: (options) => giteaEvent('pull_request', githubPull(domains.gitea, giteaWords(options))),
  forgejo: (options) => forgejoEvent('pull_request', githubPull(domains.forgejo, giteaWords(options))),
  gitlab: (options) => {
    const { action, number, title, branch, commit, base, fork, draft, labels, state, repository } = options
    return gitlabEvent('Merge Request Hook', {
      object_kind: 'merge_request',
      user: { name: 'Ada', username: 'ada' },
      project: gitlabProject(repository, 1),
      object_attributes: {
        iid: number,
        title,
        state: state === 'open' ? 'opened' : 'closed',
        action: gitlabActions[action] ?? 'update',
        ...(action === 'synchronize' ? { oldrev: commitOf('before') } : {}),
        source_branch: branch,
        target_branch: base,
        source_project_id: fork ? 2 : 1,
        target_project_id: 1,
        draft,
        work_in_progress: draft,
        last_commit: { id: commit, message: title, author },
        source: gitlabProject(fork ? 'mallory/app' : repository, fork ? 2 : 1),
        target: gitlabProject(repository, 1),
      },
      labels: labels.map((title) => ({ id: 1, title })),
      changes: {},
      ...options.more,
    })
  },
  bitbucket: (options) => {
    const { action, number, title, branch, commit, base, fork, draft, state, repository } = options
    const own = bitbucketRepository(repository, '{1}')
    const events: Record<string, string> = { opened: 'created', closed: 'rejected' }
    return bitbucketEvent(`pullrequest:${events[action] ?? 'updated'}`, {
      repository: own,
      pullrequest: {
        id: number,
        title,
        state: state === 'open' ? 'OPEN' : 'DECLINED',
        draft,
        author: { display_name: 'Ada Example' },
        source: {
          branch: { name: branch },
          commit: { hash: commit.slice(0, 12) },
          repository: fork ? bitbucketRepository('mallory/app', '{2}') : own,
        },
        destination: {
          branch: { name: base },
          commit: { hash: commitOf(base).slice(0, 12) },
          repository: own,
        },
      },
      ...options.more,
    })
  },
  bitbucket_server: (options) => {
    const { action, number, title, branch, commit, base, fork, draft, state, repository } = options
    const own = serverRepository(repository, 1)
    const events: Record<string, string> = { opened: 'opened', closed: 'declined', edited: 'modified' }
    return serverEvent(`pr:${events[action] ?? 'from_ref_updated'}`, {
      pullRequest: {
        id: number,
        version: 1,
        title,
        state: state === 'open' ? 'OPEN' : 'DECLINED',
        open: state === 'open',
        closed: state !== 'open',
        draft,
        fromRef: {
          id: `refs/heads/${branch}`,
          displayId: branch,
          latestCommit: commit,
          repository: fork ? serverRepository('mallory/app', 2) : own,
        },
        toRef: { id: `refs/heads/${base}`, displayId: base, latestCommit: commitOf(base), repository: own },
        author: { user: { name: 'ada', displayName: 'Ada Example', emailAddress: 'ada@example.com' } },
        reviewers: [],
        participants: [],
      },
      ...options.more,
    })
  },
  azure_devops: (options) => {
    const { action, number, title, branch, commit, base, fork, draft, labels, state, repository } = options
    return azureEvent(`git.pullrequest.${action === 'opened' ? 'created' : 'updated'}`, {
      repository: azureRepository(repository, '1'),
      pullRequestId: number,
      status: state === 'open' ? 'active' : 'abandoned',
      createdBy: { displayName: 'Ada Example', uniqueName: 'ada@example.com' },
      title,
      sourceRefName: `refs/heads/${branch}`,
      targetRefName: `refs/heads/${base}`,
      mergeStatus: 'succeeded',
      isDraft: draft,
      labels: labels.map((name) => ({ id: name, name, active: true })),
      lastMergeSourceCommit: { commitId: commit },
      lastMergeTargetCommit: { commitId: commitOf(base) },
      ...(fork
        ? { forkSource: { name: `refs/heads/${branch}`, repository: azureRepository('mallory/app', '2') } }
        : {}),
      ...options.more,
    })
  },
}
