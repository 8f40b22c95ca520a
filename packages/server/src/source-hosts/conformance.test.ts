// Every source host passes this suite.
import { describe, expect, it } from 'vitest'
import {
  aGogsPush,
  aPullRequest,
  aPush,
  azureEvent,
  commitOf,
  gogsEvent,
  noCommit,
  sign,
  type Host as Known,
  type TestDelivery,
} from '../../test/deliveries.ts'
import type { HostEvent } from './events.ts'
import { TokenRefused, type SourceHost, type TokenTools } from './host.ts'
import { hosts, identify, type HostType } from './hosts.ts'
import { readHere } from '../webhooks/read.ts'
import type { StatusState } from './status.ts'

interface Sample {
  type: HostType
  /** The type that its deliveries are identified as. */
  sender: HostType
  push: TestDelivery
  tag: TestDelivery
  deletion: TestDelivery
  pull: ((options: { fork: boolean }) => TestDelivery) | null
  /** Null: every delivery of the host is a push. */
  unknown: TestDelivery | null
}

const sampleOf = (type: HostType, sender: HostType, known: Known, event: string): Sample => ({
  type,
  sender,
  push: aPush(known),
  tag: aPush(known, { ref: 'refs/tags/v1' }),
  deletion: aPush(known, { ref: 'refs/heads/old', deleted: true }),
  pull: ({ fork }) => aPullRequest(known, { fork }),
  unknown: { headers: { [event]: 'something_else' }, body: { repository: {} } },
})

const postReceive = (after: string, ref: string, before = commitOf('before')): TestDelivery => ({
  headers: {},
  body: `${before} ${after} ${ref}\n`,
})

const samples: readonly Sample[] = [
  sampleOf('github', 'github', 'github', 'X-GitHub-Event'),
  sampleOf('github_app', 'github', 'github', 'X-GitHub-Event'),
  sampleOf('github_enterprise_app', 'github', 'github', 'X-GitHub-Event'),
  sampleOf('gitea', 'gitea', 'gitea', 'X-Gitea-Event'),
  sampleOf('forgejo', 'gitea', 'forgejo', 'X-Forgejo-Event'),
  sampleOf('gitlab', 'gitlab', 'gitlab', 'X-Gitlab-Event'),
  sampleOf('bitbucket', 'bitbucket', 'bitbucket', 'X-Event-Key'),
  {
    ...sampleOf('bitbucket_server', 'bitbucket_server', 'bitbucket_server', 'X-Event-Key'),
    unknown: {
      headers: { 'X-Event-Key': 'something_else', 'X-Request-Id': '1' },
      body: { repository: { slug: 'app', project: { key: 'ACME' } } },
    },
  },
  {
    ...sampleOf('azure_devops', 'azure_devops', 'azure_devops', ''),
    unknown: azureEvent('something_else', {}),
  },
  {
    type: 'gogs',
    sender: 'gogs',
    push: aGogsPush(),
    tag: aGogsPush({ ref: 'refs/tags/v1' }),
    deletion: aGogsPush({ ref: 'refs/heads/old', deleted: true }),
    pull: null,
    unknown: gogsEvent('something_else', {}),
  },
  {
    type: 'git',
    sender: 'git',
    push: postReceive(commitOf('head'), 'refs/heads/main'),
    tag: postReceive(commitOf('head'), 'refs/tags/v1'),
    deletion: postReceive(noCommit, 'refs/heads/old', commitOf('head')),
    pull: null,
    unknown: null,
  },
]

const secret = 'the secret of the webhook'
const lowerCase = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function received({ headers, body }: TestDelivery) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const signed = (by: string) => lowerCase({ ...headers, ...sign(headers, text, by) })
  return { headers: lowerCase(headers), signed, body: Buffer.from(text) }
}

function read(delivery: TestDelivery): readonly HostEvent[] {
  const { headers, body } = received(delivery)
  return readHere({ sender: identify(headers, body), headers, bytes: body }).events
}

const states: readonly StatusState[] = ['pending', 'running', 'success', 'failure', 'canceled', 'skipped']

const connection = {
  id: '0194f7d0-0000-7000-8000-000000000000',
  api_url: 'https://git.example.com/api',
  token_sealed: Buffer.from('a-token'),
  token_key_id: 'key',
  app_id: null,
  installation_id: null,
  private_key_sealed: null,
  private_key_id: null,
  private_key_hint: null,
}

const tools: TokenTools = {
  now: () => new Date('2026-01-01T00:00:00Z'),
  keys: { open: (sealed) => sealed.toString() },
  outbound: { send: () => Promise.reject(new TokenRefused('The host is not asked.')) },
  appTokens: { get: () => Promise.resolve('an-installation-token'), delete() {} },
}

/** Gogs has no statuses, and a webhook of Azure DevOps is several subscriptions. */
const missingOf: Partial<Record<HostType, number>> = { git: 4, gogs: 1, azure_devops: 1 }

/** As the pipeline's address has it. */
const pathOf = (type: HostType) => (type === 'azure_devops' ? 'acme/work/_git/app' : 'acme/app')
/** As addresses of the API have it. */
const inApi: Partial<Record<HostType, RegExp>> = {
  bitbucket_server: /^\/projects\/acme\/repos\/app\b/,
  azure_devops: /^\/acme\/work\/_apis\/git\/repositories\/app\b/,
}

describe('the suite', () => {
  it('has a sample of every host', () => {
    expect(samples.map(({ type }) => type).toSorted()).toEqual(Object.keys(hosts).toSorted())
  })
})

describe.each(samples)('$type', ({ type, sender, push, tag, deletion }) => {
  const host: SourceHost = hosts[type]
  const { status, token } = host

  it('identifies its deliveries', () => {
    const { headers, body } = received(push)
    expect(host.webhook.identify(headers, body)?.event).toMatch(/push|refs_changed/i)
    expect(identify(headers, body).host).toBe(sender)
  })

  it('accepts a signed delivery', () => {
    const { signed, body } = received(push)
    expect(host.webhook.isGenuine(signed(secret), body, secret)).toBe(true)
  })

  it('refuses a delivery that is not signed, or with another secret', () => {
    const { headers, signed, body } = received(push)
    expect(host.webhook.isGenuine(headers, body, secret)).toBe(false)
    expect(host.webhook.isGenuine(signed('another secret'), body, secret)).toBe(false)
  })

  it('reads a push to a branch and of a tag', () => {
    expect(read(push)).toMatchObject([
      { kind: 'pushed', ref: 'branch', name: 'main', commit: commitOf('head') },
    ])
    expect(read(tag)).toMatchObject([{ kind: 'pushed', ref: 'tag', name: 'v1', commit: commitOf('head') }])
  })

  it('reads the deletion of a branch', () => {
    const before = commitOf('head')
    expect(read(deletion)).toEqual([{ kind: 'deleted', ref: 'branch', name: 'old', before }])
  })

  it('answers 400 to a body that cannot be understood', () => {
    const body = typeof push.body === 'string' ? 'nothing' : {}
    expect(() => read({ headers: push.headers, body })).toThrow(expect.objectContaining({ status: 400 }))
  })

  it('has statuses, webhooks to create, tokens and lists of repositories, or none of them', () => {
    const missing = [status, token, host.hooks, host.repositories].filter((part) => part === null)
    expect(missing).toHaveLength(missingOf[type] ?? 0)
  })

  it('creates a webhook with its address and secret', () => {
    const hook = { repository: 'acme/app', url: 'https://ci.example.com/deliver/x', secret }
    const request = host.hooks?.createRequest(hook)
    if (request === undefined) return
    expect(decodeURIComponent(request.path)).toMatch(/acme(\/repos)?\/app\/(web)?hooks$/)
    expect(JSON.stringify(request.body)).toContain(hook.url)
    expect(JSON.stringify(request.body)).toContain(secret)
  })
})

// GitLab and Azure DevOps send the secret itself and sign nothing.
describe.each(samples.filter(({ type }) => type !== 'gitlab' && type !== 'azure_devops'))(
  'signatures of $type',
  (sample) => {
    const { type, push, deletion } = sample
    const host: SourceHost = hosts[type]

    it('refuses a signature of another body', () => {
      const { signed } = received(push)
      expect(host.webhook.isGenuine(signed(secret), received(deletion).body, secret)).toBe(false)
    })
  },
)

const withPulls = samples.flatMap(({ type, pull }) => (pull === null ? [] : [{ type, pull }]))

describe.each(withPulls)('pull requests of $type', ({ type, pull }) => {
  const host: SourceHost = hosts[type]

  it('reads a pull request, and distinguishes forks', () => {
    for (const fork of [false, true]) {
      const opened = { kind: 'pull_request', reason: 'opened', number: '7' }
      const expected = { ...opened, pull: { branch: 'feature', base: 'main', isOpen: true, isFork: fork } }
      expect(read(pull({ fork }))).toMatchObject([expected])
    }
  })

  it('says where the commit of a pull request is', () => {
    const off = { build_pull_request_merge: false, build_pull_request_merge_commits: false }
    const [event] = read(pull({ fork: false }))
    if (event?.kind !== 'pull_request' || event.pull === null) throw new Error('It is no pull request.')
    const { commit } = event.pull
    expect(host.webhook.findPullRequest('7', event.pull, off)).toEqual({ commit, env: {} })
  })
})

const withEvents = samples.flatMap(({ type, unknown }) => (unknown === null ? [] : [{ type, unknown }]))

describe.each(withEvents)('events of $type', ({ unknown }) => {
  it('ignores an event that it does not know', () => {
    expect(read(unknown)).toEqual([{ kind: 'ignored', reason: 'The event something_else makes no builds.' }])
  })
})

const withApi = samples.flatMap(({ type }) => {
  const { status, token, repositories }: SourceHost = hosts[type]
  const isMissing = status === null || token === null || repositories === null
  return isMissing ? [] : [{ type, status, token, repositories }]
})

/** Bitbucket Data Center counts repositories, and the list of Azure DevOps has no pages. */
const pages: Partial<Record<HostType, string[]>> = { bitbucket_server: ['680', '17'], azure_devops: [] }

describe.each(withApi)('the API of $type', ({ type, status, token, repositories }) => {
  it('lists repositories by pages, and takes nothing else for a list', () => {
    const expected = pages[type] ?? ['41', '17']
    const page = expected.length === 0 ? 1 : 41
    const path = repositories.listPath({ page, perPage: 17, search: null, workspace: 'acme' })
    expect([...new URL(path, 'https://x').searchParams.values()]).toEqual(expect.arrayContaining(expected))
    expect(decodeURIComponent(repositories.findPath(pathOf(type)))).toMatch(inApi[type] ?? /acme\/app$/)
    for (const body of [null, 'x', {}, [1], [{}], { data: [1] }, { values: 1 }, { repositories: [{}] }]) {
      expect([repositories.readList(body), repositories.readOne(body)]).toEqual([null, null])
    }
  })

  it.each(states)('reports the state %s', (state) => {
    const reported = {
      context: 'millrace/app',
      state,
      description: 'Build #1',
      repository: pathOf(type),
      commit: commitOf('head'),
      url: 'https://ci.example.com/acme/app/builds/1',
      externalId: 'millrace:1:2',
    }
    const request = status.requestFor(reported)
    expect(decodeURIComponent(request.path)).toMatch(inApi[type] ?? /acme\/app/)
    expect(request.path).toContain(commitOf('head'))
    const { state: shown, context, ...body } = request.body as Record<string, unknown>
    expect([...Object.values(body), Reflect.get(Object(context), 'name') ?? context]).toEqual(
      expect.arrayContaining([reported.context, reported.description, reported.url]),
    )
    const words = {
      pending: /^(pending|INPROGRESS)$/,
      running: /^(pending|running|INPROGRESS)$/,
      success: /^succe(ss|ssful|eded)$/i,
      failure: /^fail(ure|ed)$/i,
      canceled: /^(error|canceled|CANCELLED|STOPPED)$/,
      skipped: /^(failure|error|canceled|CANCELLED|STOPPED)$/,
    }
    expect(shown).toMatch(words[state])
  })

  it('says why a status was refused, and nothing when it was accepted', () => {
    const refusalIn = (answered: number) =>
      status.refusalIn('millrace/app', {
        status: answered,
        headers: {},
        body: Buffer.from('no'),
        isCut: false,
      })
    expect(refusalIn(201)).toBeNull()
    expect(refusalIn(401)).toBe('The host answered 401 (is the token valid?): no')
    expect(refusalIn(500)).toBe('The host answered 500: no')
  })

  it('sends its token in a header, and to git with a user name', async () => {
    const isApp = token.credential === 'app'
    const key = { sealed: Buffer.from('key'), keyId: 'key' }
    const own = isApp
      ? {
          ...connection,
          token_sealed: null,
          app_id: '1',
          installation_id: '2',
          private_key_sealed: key.sealed,
          private_key_id: key.keyId,
          private_key_hint: 'SHA256:x',
        }
      : connection
    const found = await token.find(tools, own, 'acme/app', { contents: 'read' })
    expect(found).toBe(isApp ? 'an-installation-token' : 'a-token')
    const sent = type === 'azure_devops' ? Buffer.from(':a-token').toString('base64') : 'a-token'
    expect(Object.values(token.apiHeaders('a-token')).join(' ')).toContain(sent)
    expect(token.gitUsername).toMatch(/^[\w-]+$/)
    const none = { ...connection, token_sealed: null, token_key_id: null }
    expect(await token.find(tools, none, 'acme/app', {})).toBeNull()
  })
})

describe('the statuses of pull requests of Azure DevOps', () => {
  const ofPulls = hosts.azure_devops.status?.ofPulls
  const place = { repository: 'acme/work/_git/app', pullRequest: '7' }
  const below = '/acme/work/_apis/git/repositories/app/pullRequests/7'

  it('are of the push that brought the commit, so that they do not count for later ones', () => {
    expect(ofPulls?.iterationsRequest(place)).toEqual({
      method: 'GET',
      path: `${below}/iterations?api-version=7.0`,
    })
    const push = (id: number, name: string) => ({ id, sourceRefCommit: { commitId: commitOf(name) } })
    const list = { value: [push(1, 'first'), push(2, 'second'), push(3, 'first'), { id: 4 }] }
    const found = ['first', 'second', 'third'].map((name) => ofPulls?.findIteration(list, commitOf(name)))
    expect(found).toEqual([3, 2, null])
    for (const body of [null, [], {}, { value: [{}] }])
      expect(ofPulls?.findIteration(body, commitOf('first'))).toBeNull()
  })

  it.each(states)('report the state %s as those of the commit', (state) => {
    const reported = {
      context: 'check: millrace/app',
      state,
      description: 'Build #1',
      repository: place.repository,
      commit: commitOf('head'),
      url: 'https://ci.example.com/acme/app/builds/1',
      externalId: null,
    }
    const request = ofPulls?.requestFor(reported, place, 3)
    expect(request?.path).toBe(`${below}/statuses?api-version=7.0`)
    expect(request?.body).toEqual({
      ...hosts.azure_devops.status?.requestFor(reported).body,
      iterationId: 3,
    })
  })
})

describe.each(['gitea', 'forgejo'] as const)('the test of a webhook of %s', (type) => {
  it('is a push that moves nothing, and builds nothing', () => {
    const commit = '1'.repeat(40)
    const json = () => ({ ref: 'refs/heads/main', before: commit, after: commit })
    expect(hosts[type].webhook.read({ event: 'push', text: '', json }).events).toEqual([
      { kind: 'ignored', reason: 'A push that moves nothing, as in a test: the webhook works.' },
    ])
  })
})
