// Attacks that worked on other systems, tried on the REST API and the pages. docs/abuse-cases.md has the numbers.
import { writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aBrowser } from '../../test/browser.ts'
import { aMember, anAdmin, anOrganization, aPipeline, aTeam, inTeam } from '../../test/builders.ts'
import { aReceiver } from '../../test/remote-hosts/receiver.ts'
import { aBuild, jobNamed } from '../../test/runs.ts'
import { aSession } from '../../test/sessions.ts'
import { aWorld, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'
import { newId } from '../lib/ids.ts'

// The receiver of case 15 listens on this machine and is reachable.
const app = useApp({ env: { MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8' } })

let world: World
/** May not be read without a token. */
let secrets: string[]
beforeAll(async () => {
  world = await aWorld(app)
  secrets = [world.ids['pipeline'], world.ids['cluster'], world.ids['user']].map(String)
})

const routes = Object.values(slices).flat()
const isStream = (url: string) => url.endsWith('/stream')
const open = routes.filter(({ permission }) => permission === 'anonymous')
const guarded = routes.filter(({ permission }) => permission !== 'anonymous')
const readable = guarded.filter(({ methods }) => methods.includes('GET'))

async function aTeamOfApprovers() {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  return { org, admin, approver: await aMember(app, org), member: await aMember(app, org) }
}

describe('abuse case 1: path tricks on prefixes that need no token', () => {
  const prefixes = [
    '/docs',
    '/sign-in',
    '/healthz',
    '/v2/meta',
    '/badges/x.svg',
    '/emojis/tada.svg',
    '/deliver/x',
    `/avatars/${newId()}`,
    `/v2/artifacts/${newId()}/file`,
  ]
  const ups = ['..', '..;', '%2e%2e', '.%2e', '%2e%2e;', '%252e%252e', '..%2f', '..%5c', '..%c0%af']

  it.each(prefixes)('%s leads nowhere else', async (prefix) => {
    const depth = prefix.split('/').length - 1
    for (const up of ups) {
      for (const target of [`${world.org.path}/pipelines`, `${world.org.path}/clusters`, '/v2/user']) {
        const path = `${prefix}${`/${up}`.repeat(depth)}${target}`
        const answer = await app.request('GET', path)
        expect([path, answer.status >= 400]).toEqual([path, true])
        expect(secrets.filter((secret) => answer.text.includes(secret))).toEqual([])
      }
    }
  })
})

describe('abuse case 2: a suffix, another view or a header that skips the token', () => {
  const suffixes = [
    '.json',
    '.txt',
    '.html',
    '.svg',
    ';.jsp',
    ';a=b',
    '%00.svg',
    '/..;/sign-in',
    '/',
    '?jsp=/docs;.jsp',
  ]
  const headers = {
    'X-Original-URL': '/docs',
    'X-Rewrite-URL': '/docs',
    'X-HTTP-Method-Override': 'GET',
    'X-Forwarded-For': '127.0.0.1',
    'X-Forwarded-User': 'admin@localhost',
    'X-Remote-User': 'admin@localhost',
    Cookie: 'millrace_session=x',
  }

  it.each(readable.map(({ url }) => url))('GET %s', async (url) => {
    const path = urlIn(world, { url })
    for (const way of [...suffixes.map((suffix) => path + suffix), path.toUpperCase(), `/${path}`]) {
      const { status } = await app.request('GET', way)
      expect([way, [400, 401, 404].includes(status) ? 'refused' : status]).toEqual([way, 'refused'])
    }
    expect((await app.request('GET', path, { headers })).status).toBe(401)
  })
})

describe('abuse case 3: a token minted by somebody without one', () => {
  const tables = ['api_access_tokens', 'cluster_tokens', 'web_sessions', 'users'] as const
  const countRows = () =>
    Promise.all(
      tables.map((table) =>
        app.db
          .selectFrom(table)
          .select((query) => query.fn.countAll().as('count'))
          .executeTakeFirstOrThrow(),
      ),
    )

  it('is not possible: these are the routes that need no token, and none creates one', async () => {
    const names = open.flatMap(({ methods, url }) => methods.map((method) => `${method} ${url}`))
    expect(names.toSorted()).toEqual([
      'GET /',
      'GET /avatars/:user',
      'GET /badges/:badge.json',
      'GET /badges/:badge.svg',
      'GET /emojis/:emoji.svg',
      'GET /v2/artifacts/:artifact/file',
      'GET /v2/meta',
      'POST /deliver/:webhook',
      'POST /deliver/trigger/:address',
    ])
    const before = await countRows()
    for (const { url } of open) {
      const path = url.replace(/:\w+/g, newId())
      for (const method of ['POST', 'PUT', 'PATCH']) {
        for (const tail of ['', '/RPC2', '/tokens/RPC2', '/..;/v2/user/tokens']) {
          await app.request(method, path + tail, { body: { name: 'x', role: 'admin' } })
        }
      }
    }
    expect(await countRows()).toEqual(before)
  })

  it.each(guarded.flatMap(({ methods, url }) => methods.map((method) => [method, url] as const)))(
    '%s %s answers 401 without a token and with an invalid one',
    async (method, url) => {
      const path = urlIn(world, { url })
      expect((await app.request(method, path)).status).toBe(401)
      for (const token of ['null', '*', 'mrt_', `mrt_${'0'.repeat(40)}`]) {
        expect((await app.request(method, path, { token })).status).toBe(401)
      }
    },
  )
})

describe('abuse case 4: a file read through a query parameter', () => {
  const usual = ['file', 'path', 'filename', 'folderName', 'pluginName', 'template', 'url', 'page', 'next']
  let canary: string
  beforeAll(async () => {
    canary = join(app.ctx.config.dataDir, 'canary')
    await writeFile(canary, 'the canary sings')
  })

  const asked = routes.filter(({ methods, url }) => methods.includes('GET') && !isStream(url))
  it.each(asked.map((route) => [route.url, route] as const))('GET %s', async (url, route) => {
    const names = new Set([...usual, ...Object.keys(route.query)])
    const path = urlIn(world, { url: url.replace(/:(badge|emoji)\b/, 'x') })
    for (const value of [canary, `file://${canary}`, `../../../../../../..${canary}`, `@${canary}`]) {
      const query = [...names].map((name) => `${name}=${encodeURIComponent(value)}`).join('&')
      const { text, status } = await app.request('GET', `${path}?${query}`, { token: world.admin.token })
      expect(text).not.toContain('the canary sings')
      // Images are 503 where this installation has no driver.
      expect([status, status < 500 || status === 503]).toEqual([status, true])
    }
  })
})

describe('abuse case 7: a stream opened by another site', () => {
  it('needs a token, which no browser adds by itself; a session cookie is not enough', async () => {
    const { token } = world.admin
    const headers = {
      ...(await aSession(app, world.admin)),
      Origin: 'https://evil.example',
      Accept: 'text/event-stream',
    }
    const streams = routes.filter(({ url }) => isStream(url))
    expect(streams).not.toEqual([])
    for (const { url } of streams) {
      const path = urlIn(world, { url })
      const answer = await app.request('GET', path, { headers })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
      expect((await app.request('GET', `${path}?access_token=${token}&token=${token}`)).status).toBe(401)
    }
  })

  it('is no WebSocket anywhere', async () => {
    for (const path of ['/', '/v2/user', '/v3/ping', '/sign-in']) expect(await upgrade(path)).not.toBe(101)
  })

  const upgrade = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        Connection: 'Upgrade',
        Upgrade: 'websocket',
        'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version': '13',
        Origin: 'https://evil.example',
      }
      const sent = httpRequest(app.address + path, { headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      sent.on('upgrade', (answer) => resolve(answer.statusCode))
      sent.on('error', reject)
      sent.end()
    })
})

describe('abuse case 11: scripts in names and messages', () => {
  it('are sent as JSON that no browser renders as a page, and escaped in pages', async () => {
    const org = await anOrganization(app, { name: '<img src=x onerror=alert(1)>' })
    const admin = await anAdmin(app, org, { name: '"><script>alert(1)</script>' })
    const pipeline = await aPipeline(app, org, 'steps: [{ label: "<script>alert(1)</script>", command: a }]')
    const build = await app.request('POST', `${pipeline.path}/builds`, {
      token: admin.token,
      body: { commit: 'HEAD', branch: 'main', message: '<script>alert(1)</script>' },
    })
    expect(build.status).toBe(201)
    expect(build.headers.get('content-type')).toMatch(/^application\/json/)
    expect(build.headers.get('x-content-type-options')).toBe('nosniff')
    const browser = aBrowser(app)
    await browser.signIn(admin.token)
    const page = await browser.get('/sign-in')
    expect(page.text).toContain('&#60;script&#62;alert(1)')
    expect(page.text).toContain('&#60;img src=x')
    expect(page.text.replace(/<script>\s*\(\(\) => \{/, '')).not.toMatch(/<script|<img/)
  })
})

describe('abuse case 13: finding out who has an account', () => {
  it('is not possible by signing in: every failure has the same answer', async () => {
    const known = await aMember(app, world.org)
    const answers: Array<{ status: number; text: string }> = []
    for (const form of [
      { token: `mrt_${'a'.repeat(40)}`, email: known.email },
      { token: `mrt_${'b'.repeat(40)}`, email: 'nobody@example.com' },
      { token: known.email },
      { token: 'nobody@example.com' },
    ]) {
      const browser = aBrowser(app)
      await browser.get('/sign-in')
      const { status, text } = await browser.submit('/sign-in', form)
      answers.push({ status, text: text.replace(/value="\w{20,}"/g, '') })
    }
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422])
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('is not possible by passwords: the answer differs only in the address that was sent', async () => {
    const known = await aMember(app, world.org)
    const texts: string[] = []
    for (const email of [known.email, 'nobody@example.com']) {
      const { status, text } = await aBrowser(app).signInWithPassword(email, 'a guess')
      expect(status).toBe(422)
      texts.push(text.replace(/value="\w{20,}"/g, '').replaceAll(email, ''))
    }
    expect(texts[0]).toBe(texts[1])
  })

  it('is not possible by avatars: there is one for every id', async () => {
    for (const id of [world.admin.id, newId()]) {
      expect((await app.request('GET', `/avatars/${id}`)).status).toBe(200)
    }
  })
})

describe('abuse case 15: a pipeline that is read makes the server fetch', () => {
  it('fetches nothing, whatever the pipeline names, and reads no pipeline without a token', async () => {
    const receiver = await aReceiver()
    const { org, admin } = world
    const { url } = receiver
    const configurations = [
      `include: "${url}/a.yml"\nsteps: [{ command: a }]`,
      `steps: [{ command: a, plugins: ["${url}/plugin#v1"] }]`,
      `steps: [{ command: a, image: "${url.replace('http://', '')}/image" }]`,
      `steps: [{ trigger: "${url}" }]`,
      `{"$ref": "${url}/a.json", "steps": []}`,
      `%TAG ! ${url}/\n---\nsteps: [{ command: a }]`,
      `<!DOCTYPE x [<!ENTITY e SYSTEM "${url}">]><steps>&e;</steps>`,
    ]
    for (const [index, configuration] of configurations.entries()) {
      const body = {
        name: `Reads ${index}`,
        repository: `${url}/a.git`,
        cluster_id: world.ids['cluster'],
        configuration,
      }
      await app.request('POST', `${org.path}/pipelines`, { token: admin.token, body })
      expect((await app.request('POST', `${org.path}/pipelines`, { body })).status).toBe(401)
    }
    expect(receiver.received).toEqual([])
    await receiver.close()
  })
})

describe('abuse case 18: an approval by somebody who only says who they are', () => {
  it('counts the team of the caller, not the author or the unblocker that a request names', async () => {
    const { org, admin, approver, member } = await aTeamOfApprovers()
    const team = await aTeam(app, org, admin)
    await inTeam(app, team, admin, approver)
    const pipeline = await aPipeline(app, org, `steps: [{ block: Go, allowed_teams: ["${team.slug}"] }]`)
    const author = { name: approver.name, email: approver.email }
    const build = await aBuild(app, org, pipeline, { author })
    const path = `${org.path}/jobs/${await jobNamed(app, build, 'Go')}/unblock`
    const unblock = (token: string, body: object = {}) => app.request('PUT', path, { token, body })
    expect((await unblock(member.token)).status).toBe(403)
    expect((await unblock(member.token, { unblocker: approver.id })).status).toBe(403)
    expect((await unblock(admin.token, { unblocker: approver.id })).status).toBe(403)
    expect((await unblock(approver.token)).body.unblocked_by.id).toBe(approver.id)
  })
})

describe('abuse case 19: a build that runs as somebody else', () => {
  it('has the caller as its creator, also when the caller names an author or rebuilds the build of another user', async () => {
    const { org, admin, member } = await aTeamOfApprovers()
    const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
    const ask = (token: string, method: string, path: string, body?: object) =>
      app.request(method, `${pipeline.path}/builds${path}`, { token, body })
    const minimal = { commit: 'HEAD', branch: 'main' }
    const named = await ask(member.token, 'POST', '', {
      ...minimal,
      author: { name: admin.name, email: admin.email },
      creator: admin.id,
      created_by: admin.id,
      creator_id: admin.id,
    })
    expect(named.body.creator.id).toBe(member.id)
    const first = await ask(admin.token, 'POST', '', minimal)
    const again = await ask(member.token, 'PUT', `/${first.body.number}/rebuild`)
    expect([first.body.creator.id, again.body.creator.id]).toEqual([admin.id, member.id])
  })
})
