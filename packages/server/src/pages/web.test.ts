import { beforeAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aWorld, type World } from '../../test/world.ts'

const app = useApp()

const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

let world: World
beforeAll(async () => {
  world = await aWorld(app)
})

describe('GET of the address of a page, by a browser', () => {
  it('is the shell at every web_url of the API', async () => {
    const { org, admin, ids } = world
    const urls = [
      '',
      `/clusters/${ids['cluster']}`,
      `/clusters/${ids['cluster']}/queues/${ids['queue']}`,
      `/agents/${ids['agent']}`,
      `/pipelines/${ids['pipeline']}`,
      `/pipelines/${ids['pipeline']}/builds/${ids['build']}`,
      `/pipeline-templates/${ids['template']}`,
    ].map((path) => `${org.path}${path}`)
    for (const url of urls) {
      const { body } = await app.request('GET', url, { token: admin.token })
      const page = await app.request('GET', String(body.web_url).slice(baseUrl.length), asBrowser)
      expect([url, page.status, page.headers.get('content-type')]).toEqual([
        url,
        200,
        'text/html; charset=utf-8',
      ])
      expect(page.text).toContain('<div id="root">')
    }
  })

  it('allows only scripts and styles of this server, and nothing inline', async () => {
    const { headers, text } = await app.request('GET', '/acme/demo', asBrowser)
    const policy = headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("require-trusted-types-for 'script'; trusted-types millrace")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/)
  })

  it.each(['/organizations/acme/settings', '/organizations/acme/settings/general'])(
    'is the shell at a page of the settings: %s',
    async (path) => {
      expect((await app.request('GET', path, asBrowser)).status).toBe(200)
    },
  )

  it.each([
    '/nothing/at/all/here',
    '/organizations/acme/nothing',
    '/organizations',
    '/a/b/builds/x?secret=1',
    '/%3Cb%3E/<script>/x/y',
  ])('is the shell with 404 where there is no page: %s', async (path) => {
    const answer = await app.request('GET', path, asBrowser)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(answer.text).not.toMatch(/secret|<b>|<script>/)
  })

  it.each(['/v2/nothing', '/v3/nothing', '/deliver/a/b', '/v2/user/nothing', '/docs/nothing'])(
    'stays JSON below a path of programs: %s',
    async (path) => {
      const answer = await app.request('GET', path, asBrowser)
      expect([answer.status, answer.body]).toEqual([404, { message: `There is nothing at GET ${path}` }])
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    },
  )

  it('stays JSON for programs', async () => {
    const answer = await app.request('GET', '/acme/demo')
    expect([answer.status, answer.body]).toEqual([404, { message: 'There is nothing at GET /acme/demo' }])
  })

  it('leads from / to the start of the web interface', async () => {
    const { status, headers } = await app.request('GET', '/', asBrowser)
    expect([status, headers.get('location')]).toEqual([302, '/-/start'])
  })
})

describe('GET /favicon.ico', () => {
  it('is the icon that every page links to', async () => {
    for (const path of ['/sign-in', '/acme/demo', '/docs']) {
      expect((await app.request('GET', path, asBrowser)).text).toContain('href="/favicon.ico"')
    }
    const icon = await app.request('GET', '/favicon.ico')
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(icon.text).toMatch(/^<svg /)
  })
})

describe('GET /assets/{name}', () => {
  const scriptOf = async () => {
    const { text } = await app.request('GET', '/-/start', asBrowser)
    return /src="(\/assets\/index-[^"]+\.js)"/.exec(text)?.[1] ?? ''
  }

  it('is sent compressed as the browser accepts, and may be kept for ever', async () => {
    const path = await scriptOf()
    for (const [accepted, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, identity', null],
    ] as const) {
      const { status, headers } = await app.request('GET', path, {
        headers: { 'accept-encoding': accepted },
      })
      expect([accepted, status, headers.get('content-encoding')]).toEqual([accepted, 200, encoding])
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    }
  })

  it.each([
    '/assets/nothing.js',
    '/assets/..%2findex.html',
    '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
    '/assets/.sources',
  ])('is 404 for a name that the build did not make: %s', async (path) => {
    expect((await app.request('GET', path)).status).toBe(404)
  })
})
