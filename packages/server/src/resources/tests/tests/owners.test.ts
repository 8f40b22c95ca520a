// Owners of tests, at a small host program that serves files as GitHub's and GitLab's APIs do.
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { startApp, type TestApp } from '../../../../test/app.ts'
import { aCluster, anAdmin, anOrganization, aPipeline, unique } from '../../../../test/builders.ts'
import { aGitHost, type TestGitHost } from '../../../../test/remote-hosts/git-host.ts'
import { aBuild } from '../../../../test/runs.ts'
import { handlers } from '../../../worker.ts'

let now = new Date()
let app: TestApp
let host: TestGitHost
beforeAll(async () => {
  app = await startApp({ now: () => now, env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })
  host = await aGitHost()
  // A suite is made by the clock of the database.
  now = new Date(Date.now() + 60_000)
})
afterAll(async () => {
  await host.close()
  await app.close()
})

/** By the path of the request. */
let files: Map<string, string>
let asked: string[]
let refusal: number | null
beforeEach(() => {
  files = new Map()
  asked = []
  refusal = null
  host.api = (path) => {
    asked.push(path)
    const text = files.get(path)
    if (refusal !== null) return { status: refusal }
    return text === undefined ? { status: 404 } : { text }
  }
})

const [first, second] = ['1'.repeat(40), '2'.repeat(40)] as const

const gitlabFile = (name: string, commit: string, path = 'CODEOWNERS') =>
  `/api/v4/projects/acme%2F${name}/repository/files/${encodeURIComponent(path)}/raw?ref=${commit}`

const githubFile = (name: string, commit: string, path: string) =>
  `/api/v3/repos/acme/${name}/contents/${path}?ref=${commit}`

async function aSuite(type: 'github' | 'gitlab' | 'gitea', { address }: TestGitHost = host) {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  await aCluster(app, org, admin)
  const ask = (method: string, path: string, body?: object) =>
    app.request(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) })
  const connection = { type, url: address, token: 'a-token-of-the-host' }
  expect((await ask('POST', `${org.path}/repository_connections`, connection)).status).toBe(201)
  const name = unique('owned')
  const repository = `${address}/acme/${name}.git`
  const pipeline = await aPipeline(app, org, 'steps: [{ command: one }]', { repository })
  const made = await ask('POST', `${org.path}/suites`, { name: 'Known', default_branch: 'main' })
  const tests = `${org.path}/suites/known/tests`
  return {
    name,
    async upload(commit: string, given: Record<string, string | null>, more: { branch?: string } = {}) {
      const build = await aBuild(app, org, pipeline, { commit, branch: 'main', ...more })
      const data = Object.entries(given).map(([test, file]) => ({
        scope: '',
        name: test,
        ...(file === null ? {} : { file_name: file }),
        location: `spec/by_location.rb:12`,
        result: 'failed',
        history: { start_at: 0, duration: 1 },
      }))
      const answer = await app.request('POST', '/v1/uploads', {
        headers: { authorization: `Token token="${String(made.body.api_token)}"` },
        body: { format: 'json', run_env: { key: build.id, branch: 'main' }, data },
      })
      expect(answer.status).toBe(202)
      now = new Date(now.getTime() + 120_000)
      return build
    },
    async owners(query = '') {
      const { list } = await ask('GET', `${tests}?${query}`)
      return Object.fromEntries(list.map((test) => [test.name, test.owner]))
    },
    ownersIn: async ({ id }: { id: string }, query = '') =>
      (await ask('GET', `/v2/analytics/organizations/${org.slug}/builds/${id}/tests?${query}`)).list.map(
        ({ owner }) => owner as unknown,
      ),
  }
}

const setOwners = () => handlers.set_test_owners(app.ctx, {})

describe('the owner of a test', () => {
  it('is by CODEOWNERS of the commit, of which each host has its own rules', async () => {
    const text = '* @all\nspec/ @acme/spec ada@example.com\n[Forms] @forms\nspec/a.rb\n'
    for (const [type, fileOf, owners] of [
      ['gitlab', gitlabFile, '@acme/spec ada@example.com @forms'],
      ['github', (name: string, commit: string) => githubFile(name, commit, 'CODEOWNERS'), null],
    ] as const) {
      const suite = await aSuite(type)
      files.set(fileOf(suite.name, first), text)
      const build = await suite.upload(first, { a: './spec/a.rb', b: 'lib/b.rb', c: null })
      await setOwners()
      expect([type, await suite.owners()]).toEqual([
        type,
        { a: owners, b: '@all', c: '@acme/spec ada@example.com' },
      ])
      expect(await suite.ownersIn(build)).toEqual([owners, '@all', '@acme/spec ada@example.com'])
    }
  })

  it('is read once for a commit, and follows the newest of the default branch', async () => {
    const suite = await aSuite('github')
    files.set(githubFile(suite.name, first, '.github/CODEOWNERS'), '* @first\n')
    await suite.upload(first, { a: 'a.js' })
    await setOwners()
    await suite.upload(first, { b: 'b.js' })
    await setOwners()
    expect(asked).toEqual([githubFile(suite.name, first, '.github/CODEOWNERS')])
    expect(await suite.owners()).toEqual({ a: '@first', b: '@first' })

    files.set(githubFile(suite.name, second, '.github/CODEOWNERS'), '* @second\n')
    await suite.upload(second, { a: 'a.js' }, { branch: 'feature' })
    await setOwners()
    expect(await suite.owners()).toEqual({ a: '@first', b: '@first' })
    await suite.upload(second, { a: 'a.js' })
    await setOwners()
    expect((await suite.owners())['a']).toBe('@second')

    await suite.upload('3'.repeat(40), { a: 'a.js' })
    await setOwners()
    expect((await suite.owners())['a']).toBe(null)
  })

  it('is looked for again after the host has refused', async () => {
    const suite = await aSuite('gitlab')
    files.set(gitlabFile(suite.name, first), '* @all\n')
    await suite.upload(first, { a: 'a.js' })
    refusal = 503
    await setOwners()
    expect(await suite.owners()).toEqual({ a: null })
    refusal = null
    now = new Date(now.getTime() + 3_600_000)
    await setOwners()
    expect(await suite.owners()).toEqual({ a: '@all' })
  })

  it('does not wait for a host that never answers, of which a run asks only for some seconds', async () => {
    const slow = await aGitHost()
    onTestFinished(() => slow.close())
    let [askedSlow, askedBefore] = [0, -1]
    slow.api = () => {
      askedSlow++
      return null
    }
    // Suites are looked at in this order.
    for (let n = 0; n < 3; n++) await (await aSuite('gitlab', slow)).upload(first, { a: 'a.js' })
    const suite = await aSuite('gitlab')
    await suite.upload(first, { a: 'a.js' })
    host.api = () => {
      askedBefore = askedSlow
      return { text: '* @all\n' }
    }
    await setOwners()
    expect(await suite.owners()).toEqual({ a: '@all' })
    expect(askedBefore).toBeLessThan(2)
    // Each waits for ten seconds.
    expect(askedSlow).toBe(2)
  })

  it('is not known where the host has other rules', async () => {
    const suite = await aSuite('gitea')
    await suite.upload(first, { a: 'a.js' })
    await setOwners()
    expect([asked, await suite.owners()]).toEqual([[], { a: null }])
  })

  it('filters the tests of a suite', async () => {
    const suite = await aSuite('gitlab')
    files.set(gitlabFile(suite.name, first), '/a.js @ada @acme/web\n/b.js @bob\n')
    const build = await suite.upload(first, { a: 'a.js', b: 'b.js', c: 'c.js' })
    await setOwners()
    const names = async (owners: string) => Object.keys(await suite.owners(`owners=${owners}`)).toSorted()
    expect(await names('@acme/web')).toEqual(['a'])
    expect(await names('@bob,%20@ada')).toEqual(['a', 'b'])
    expect(await names('@acme')).toEqual([])
    expect(await suite.ownersIn(build, 'owners=@bob')).toEqual(['@bob'])
  })
})
