import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApp, useApp } from '../../../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  unique,
  type TestOrganization,
  type TestUser,
} from '../../../../test/builders.ts'
import { aGitHub, anAppKey } from '../../../../test/remote-hosts/github-host.ts'
import { aReceiver, type Answering, type Receiver } from '../../../../test/remote-hosts/receiver.ts'

const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let org: TestOrganization
let admin: TestUser
let host: Receiver
beforeAll(async () => {
  org = await anOrganization(app)
  admin = await anAdmin(app, org)
  host = await aReceiver()
})
afterAll(() => host.close())

async function connect(type: string, given: object = {}): Promise<string> {
  const connection = {
    type,
    url: `https://${unique('git')}.example.com`,
    api_url: host.url.replace('/hook', ''),
    token: 'the-token-of-the-host',
    ...given,
  }
  const path = `${org.path}/repository_connections`
  const made = await app.request('POST', path, { token: admin.token, body: connection })
  if (made.status !== 201) throw new Error(made.text)
  host.received.length = 0
  return `${path}/${String(made.body.id)}/repositories`
}

const get = (path: string, token = admin.token) => app.request('GET', path, { token })

const answerWith =
  (status: number, body: unknown, headers = {}): Answering =>
  (response) =>
    response.writeHead(status, headers).end(JSON.stringify(body))

const web = 'https://git.example.com/acme/app'
const plain = { full_name: 'acme/app', html_url: web, clone_url: `${web}.git`, default_branch: 'main' }
const project = {
  path_with_namespace: 'acme/app',
  web_url: web,
  http_url_to_repo: `${web}.git`,
  default_branch: 'main',
}
const atBitbucket = {
  full_name: 'acme/app',
  links: {
    html: { href: web },
    clone: [
      { name: 'ssh', href: 'git@git.example.com:acme/app.git' },
      { name: 'https', href: `${web}.git` },
    ],
  },
  mainbranch: { name: 'main' },
}
const atServer = {
  slug: 'app',
  project: { key: 'ACME' },
  links: {
    clone: [
      { name: 'ssh', href: 'ssh://git@git.example.com:7999/acme/app.git' },
      { name: 'http', href: 'https://git.example.com/scm/acme/app.git' },
    ],
    self: [{ href: 'https://git.example.com/projects/ACME/repos/app/browse' }],
  },
}
const shownAtServer = {
  full_name: 'ACME/app',
  html_url: 'https://git.example.com/projects/ACME/repos/app',
  clone_url: 'https://git.example.com/scm/acme/app.git',
  default_branch: null,
}
const next = { Link: '<https://git.example.com/next>; rel="next", <https://git.example.com/x>; rel="last"' }

const url = '/v2/organizations/{org.slug}/repository_connections/{id}/repositories'
describe(`GET ${url}`, () => {
  it.each([
    ['github', '', [plain], '/user/repos?per_page=2&page=3&sort=full_name'],
    [
      'gitea',
      '&search=pp',
      { ok: true, data: [plain] },
      '/repos/search?q=pp&sort=alpha&order=asc&limit=2&page=3',
    ],
    ['forgejo', '', { ok: true, data: [plain] }, '/repos/search?sort=alpha&order=asc&limit=2&page=3'],
    [
      'gitlab',
      '&search=pp',
      [project],
      '/projects?membership=true&simple=true&order_by=path&sort=asc&search=pp&per_page=2&page=3',
    ],
    [
      'bitbucket',
      '&search=p"p&workspace=acme',
      { values: [atBitbucket], next: 'https://api.bitbucket.org/next' },
      '/repositories/acme?q=full_name+%7E+%22p%5C%22p%22&sort=full_name&pagelen=2&page=3',
    ],
    [
      'bitbucket_server',
      '&search=pp&workspace=ACME',
      { values: [atServer], isLastPage: false, nextPageStart: 6 },
      '/repos?name=pp&projectkey=ACME&start=4&limit=2',
    ],
  ])('lists a page as %s answers it, with its token', async (type, query, body, path) => {
    const repositories = await connect(type)
    host.answering = answerWith(200, body, type.startsWith('bitbucket') ? {} : next)
    const answer = await get(`${repositories}?per_page=2&page=3${query}`)
    expect([answer.status, answer.list]).toEqual([200, [type === 'bitbucket_server' ? shownAtServer : plain]])
    expect(answer.headers.get('link')).toMatch(/page=4[^,]*>; rel="next"/)
    expect(host.received.map((one) => [one.method, one.path])).toEqual([['GET', path]])
    expect(JSON.stringify(host.received[0]?.headers)).toContain('the-token-of-the-host')
    host.answering = answerWith(200, type.startsWith('bitbucket') ? { values: [], isLastPage: true } : body)
    expect((await get(repositories + '?workspace=acme')).headers.get('link')).toBeNull()
  })

  it.each([
    ['github', plain, '/repos/ACME/app'],
    ['gitea', plain, '/repos/ACME/app'],
    ['gitlab', project, '/projects/ACME%2Fapp'],
    ['bitbucket', atBitbucket, '/repositories/ACME/app'],
  ])('finds one at %s by its full name in any case', async (type, body, path) => {
    const repositories = await connect(type)
    host.answering = answerWith(200, body)
    expect((await get(`${repositories}?repository=ACME/app`)).list).toEqual([plain])
    expect(host.received.map((one) => one.path)).toEqual([path])
    // Hosts follow a rename; what they answer then was not asked for.
    expect((await get(`${repositories}?repository=acme/older`)).list).toEqual([])
    host.answering = answerWith(404, { message: 'Not Found' })
    expect((await get(`${repositories}?repository=acme/gone`)).list).toEqual([])
  })

  it('asks the host for nothing that cannot be a name', async () => {
    const repositories = await connect('gitea')
    for (const name of ['app', '../user', 'acme/..', 'acme/a%20b', 'acme/a?x', '%ED%A0%80/a']) {
      expect((await get(`${repositories}?repository=${encodeURIComponent(name)}`)).list).toEqual([])
    }
    expect(host.received).toEqual([])
  })

  it('lists what the installation of a GitHub App includes, with a token that reads only names', async () => {
    const github = await aGitHub()
    try {
      const key = anAppKey()
      github.keys = [key.publicKey]
      const repositories = await connect('github_enterprise_app', {
        api_url: github.url,
        token: null,
        app_id: github.appId,
        installation_id: github.installation,
        private_key: key.pem,
      })
      const answer = await get(repositories)
      expect(answer.list?.map((one) => one.full_name)).toEqual(['acme/app', 'acme/other'])
      expect((await get(`${repositories}?repository=acme/other`)).list).toHaveLength(1)
      expect(github.minted.map(({ permissions }) => permissions)).toEqual([{ metadata: 'read' }])
      github.revoke()
      expect((await get(repositories)).status).toBe(422)
      // The token that was refused is not used again.
      expect((await get(repositories)).status).toBe(200)
      github.revoke()
      await get(repositories)
      github.isSuspended = true
      expect(await get(repositories)).toMatchObject({
        status: 422,
        body: { message: expect.stringMatching(/is installation 7890 suspended/) },
      })
    } finally {
      await github.close()
    }
  })

  it.each([
    [401, {}, 422, /answered 401 \(is the token valid\?\)/],
    [403, {}, 422, /answered 403 \(may the token list repositories\?\)/],
    [403, { 'X-RateLimit-Remaining': '0' }, 503, /answered 403/],
    [429, {}, 503, /answered 429/],
    [502, {}, 503, /answered 502/],
    [200, {}, 503, /something that is not a list/],
  ])('answers for a host that answers %s with %s: %s', async (status, headers, expected, message) => {
    const repositories = await connect('gitea')
    host.answering = answerWith(status, { data: [{ ...plain, html_url: 'javascript:alert(1)' }] }, headers)
    const answer = await get(repositories)
    expect([answer.status, answer.body.message]).toEqual([expected, expect.stringMatching(message)])
    expect(answer.headers.has('retry-after')).toBe(expected === 503)
  })

  it('reads no answer that is longer than it must be', async () => {
    const repositories = await connect('gitea')
    const long = { ...plain, description: 'x'.repeat(5 * 1024 * 1024) }
    host.answering = answerWith(200, { data: [long] })
    expect(await get(repositories)).toMatchObject({ status: 503 })
  })

  it.each([
    ['git', { token: null }, '', 'A Git server has no list of its repositories.'],
    ['gitea', { token: null }, '', 'The connection has no token.'],
    ['bitbucket', {}, '', 'workspace is required: Bitbucket lists the repositories of one workspace.'],
    [
      'github',
      {},
      '?search=a',
      'GitHub cannot search the repositories of a connection; give one as repository=owner/name.',
    ],
  ])('answers 422 where there is no list: %s %o %s', async (type, given, query, message) => {
    const repositories = await connect(type, given)
    expect(await get(repositories + query)).toMatchObject({ status: 422, body: { message } })
    expect(host.received).toEqual([])
  })

  it('does not reach an address inside the network, unless the operator allows it', async () => {
    const repositories = await connect('gitea')
    const strict = await startApp({}, app.database)
    try {
      expect(await strict.request('GET', repositories, { token: admin.token })).toMatchObject({
        status: 422,
        body: { message: expect.stringMatching(/MILLRACE_OUTBOUND_ALLOW/) },
      })
    } finally {
      await strict.close()
    }
    expect(host.received).toEqual([])
  })

  it('answers 403 to members, and 404 to administrators of another organization', async () => {
    const repositories = await connect('gitea')
    expect((await get(repositories, (await aMember(app, org)).token)).status).toBe(403)
    const theirs = await anOrganization(app)
    const other = await anAdmin(app, theirs)
    expect((await get(repositories.replace(org.path, theirs.path), other.token)).status).toBe(404)
    expect(host.received).toEqual([])
  })
})
