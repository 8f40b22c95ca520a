// What a program gets that has all cookies of an administrator's browser: a job that listens on another port of the host gets them
// when that person follows a link. It may ask for every registered endpoint, with headers and forms of its own.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp, type TestAnswer } from '../../test/app.ts'
import { aBrowser, type Browser } from '../../test/browser.ts'
import { aWorld, exampleOf, type World } from '../../test/world.ts'
import { slices } from '../app.ts'

const app = useApp()

let world: World
let browser: Browser
/** Whatever only the person may see. */
let secrets: string[]
beforeAll(async () => {
  world = await aWorld(app)
  browser = aBrowser(app)
  await browser.signIn(world.admin.token)
  const { name, email, id, token } = world.admin
  secrets = [name, email, id, token, world.org.id, String(browser.storage.pageSecret)]
})

const bodies = new Map<string, unknown>(
  Object.values(slices)
    .flat()
    .flatMap((route) =>
      route.methods.map(
        (method) =>
          [
            `${method} ${route.url}`,
            route.documentedBody === undefined ? {} : exampleOf(route.documentedBody),
          ] as const,
      ),
    ),
)

const cookie = () => browser.headers().Cookie
const sessionValue = () => browser.cookies.get('millrace_session') ?? ''

/** The headers that a thief may choose, and the query. */
const guesses = (): ReadonlyArray<Record<string, string> & { query: string }> => [
  { query: '' },
  {
    query: 'page_ticket=none',
    'X-Millrace-Page': '1',
    Origin: app.ctx.config.url,
    'Sec-Fetch-Site': 'same-origin',
  },
  {
    query: `page_ticket=${Math.ceil(Date.now() / 1000) + 30}.${'A'.repeat(22)}`,
    'X-Millrace-Page': sessionValue(),
    Authorization: 'Basic YTpi',
  },
]

const pathOf = (url: string) =>
  url.replace(/:(\w+)/g, (_, name: string) => (name === 'org' ? world.org.slug : (world.ids[name] ?? 'x')))

/** The code of a form that is asked for with these cookies. */
const codeOf = async (Cookie: string) => {
  const { text } = await app.request('GET', '/sign-in?page_ticket=none', { headers: { Cookie } })
  return /name="form_code" value="(\w+)"/.exec(text)?.[1] ?? ''
}

const countTokens = async () =>
  (await app.db.selectFrom('api_access_tokens').select('id').where('user_id', '=', world.admin.id).execute())
    .length

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

const isEmptyPage = ({ text }: TestAnswer) => text.includes('data-does="prove"')

const toldBy = ({ text, headers }: TestAnswer, secret: string) =>
  `${text} ${[...headers].join(' ')}`.includes(secret)

async function ask(endpoint: string, query: string, headers: Record<string, string>, form: string) {
  const [method = '', url = ''] = endpoint.split(' ')
  const path = query === '' ? pathOf(url) : `${pathOf(url)}?${query}`
  const accept = { accept: 'text/html,*/*' }
  if (method === 'GET' || method === 'HEAD')
    return app.request(method, path, { headers: { ...accept, ...headers } })
  const isForm = !bodies.has(endpoint) && !url.startsWith('/v')
  return isForm
    ? app.request(method, path, { headers: { ...accept, ...headers, ...formType }, text: form })
    : app.request(method, path, { headers: { ...accept, ...headers }, body: bodies.get(endpoint) ?? {} })
}

describe('the cookies of a person without the secret of the page', () => {
  it('get nothing at any endpoint that a stranger would not get', async () => {
    const endpoints = app.endpoints.filter((endpoint) => !endpoint.startsWith('OPTIONS'))
    for (const one of ['GET /v2/user', 'POST /sign-out', 'GET /-/oauth/authorize', 'POST /-/page-tickets'])
      expect(endpoints).toContain(one)
    const fields = {
      page_secret: sessionValue(),
      everywhere: 'yes',
      choice: 'allow',
      password: 'a password of the thief',
      name: 'Thief',
    }
    const form = new URLSearchParams({ ...fields, form_code: await codeOf(cookie()) }).toString()
    const stranger = aBrowser(app)
    await stranger.get('/sign-in')
    const known = { Cookie: stranger.headers().Cookie }
    const ownForm = new URLSearchParams({ ...fields, form_code: await codeOf(known.Cookie) }).toString()
    const tokensBefore = await countTokens()
    for (const endpoint of endpoints) {
      const expected = await ask(endpoint, '', known, ownForm)
      for (const { query, ...guess } of guesses()) {
        const answer = await ask(
          endpoint,
          endpoint.startsWith('GET') ? query : '',
          { Cookie: cookie(), ...guess },
          form,
        )
        const asked = [endpoint, query, JSON.stringify(guess)]
        const told = secrets.filter((secret) => toldBy(answer, secret) && !toldBy(expected, secret))
        expect([...asked, told]).toEqual([...asked, []])
        // HEAD has the status of the page whose script looks for the secret, and no content.
        const isNothing = endpoint.startsWith('HEAD') ? answer.text === '' : isEmptyPage(answer)
        const isSame = answer.status === expected.status || endpoint === 'POST /sign-out'
        expect([
          ...asked,
          isSame || (answer.status === 200 && isNothing) ? 'as a stranger' : answer.status,
        ]).toEqual([...asked, 'as a stranger'])
      }
    }
    const mine = await app.request('GET', '/v2/user', { headers: browser.headers() })
    expect([mine.status, mine.body.id]).toEqual([200, world.admin.id])
    expect(await countTokens()).toBe(tokensBefore)
  })

  it('sign nobody out, and make no session longer', async () => {
    const before = await app.db
      .selectFrom('web_sessions')
      .select(['id', 'expires_at', 'last_used_at'])
      .where('user_id', '=', world.admin.id)
      .orderBy('id')
      .execute()
    for (const everywhere of ['no', 'yes']) {
      const form = new URLSearchParams({ form_code: await codeOf(cookie()), everywhere }).toString()
      const headers = { Cookie: cookie(), ...formType }
      const answer = await app.request('POST', '/sign-out', { headers, text: form })
      expect([answer.status, answer.text.includes('data-secret=""')]).toEqual([200, true])
    }
    const after = await app.db
      .selectFrom('web_sessions')
      .select(['id', 'expires_at', 'last_used_at'])
      .where('user_id', '=', world.admin.id)
      .orderBy('id')
      .execute()
    expect(after).toEqual(before)
  })

  it('do not end the session of the person when the thief signs in with them', async () => {
    const thief = aBrowser(app)
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value)
    const stranger = await aWorld(app)
    await thief.signIn(stranger.admin.token)
    expect((await app.request('GET', '/v2/user', { headers: browser.headers() })).status).toBe(200)
    const mixed = { ...browser.headers(), 'X-Millrace-Page': String(thief.storage.pageSecret) }
    expect((await app.request('GET', '/v2/user', { headers: mixed })).status).toBe(401)
  })
})

describe('a session of an earlier release, which has no secret', () => {
  it('counts with no header, and its person signs in again', async () => {
    const old = aBrowser(app)
    await old.signIn(world.admin.token)
    await sql`update web_sessions set page_secret_hash = null where token_hash = sha256(${old.cookies.get('millrace_session')}::bytea)`.execute(
      app.db,
    )
    for (const secret of ['1', '', String(old.storage.pageSecret)]) {
      const headers = { ...old.headers(), 'X-Millrace-Page': secret }
      expect((await app.request('GET', '/v2/user', { headers })).status).toBe(401)
    }
    const shown = await old.get('/-/password?next=%2Fa')
    expect([shown.status, shown.location]).toEqual([303, '/sign-in'])
    const page = await old.get('/sign-in?next=%2Fa')
    expect(page.text).toContain('has lost its key')
    expect((await old.submit('/sign-in', { token: world.admin.token })).location).toBe('/a')
    expect((await app.request('GET', '/v2/user', { headers: old.headers() })).status).toBe(200)
  })
})

describe('the sources', () => {
  const folder = join(import.meta.dirname, '..')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.[jt]s$/.test(file) && !/\.test\.|\.d\.ts$/.test(file),
  )
  const naming = (pattern: RegExp) =>
    files
      .filter((file) => pattern.test(readFileSync(join(folder, file), 'utf8')))
      .map((file) => file.replace(/\.[jt]s$/, ''))
      .sort()

  it('read the cookie of a session in one place, and find a session by its cookie in one', () => {
    expect(naming(/readCookie\([^)]*['"]session['"]/)).toEqual(['http/session-cookie'])
    expect(naming(/\bsessionFinder\b/)).toEqual(['auth/find-tokens', 'context'])
    expect(naming(/ctx\.sessions\.find\b/)).toEqual(['http/session-cookie'])
    expect(naming(/\bpageSecret\b/)).toEqual(['auth/sessions', 'pages/start-session'])
  })
})
