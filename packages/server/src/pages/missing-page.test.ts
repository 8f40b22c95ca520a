import { beforeAll, describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { aWorld, type World } from '../../test/world.ts'

const app = useApp()

const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }

let world: World
beforeAll(async () => {
  world = await aWorld(app)
})

describe('GET of an address without a page, by a browser', () => {
  it.each(['/nothing', '/nothing/at/all/here', '/organizations', '/a/b/builds/x?secret=1'])(
    'is an HTML page with a way to the start: %s',
    async (path) => {
      const answer = await app.request('GET', path, asBrowser)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
      expect(answer.text).toContain('<a href="/">Go to the start</a>')
      expect(answer.text).not.toContain('secret')
    },
  )

  it('shows what is in the address as text', async () => {
    const { text } = await app.request('GET', '/%3Cb%3E/<script>/x/y', asBrowser)
    expect(text).toContain('There is nothing at /%3Cb%3E/&#60;script&#62;/x/y')
  })

  it('says of every web_url of the API what it is the address of, and where the API has it', async () => {
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
      expect(page.text).toContain(`<code>GET ${url}</code>`)
      expect(page.text).toContain('This is the address of ')
    }
    const image = `/organizations/${org.slug}/clusters/${ids['cluster']}/agent_images/${ids['image']}`
    const page = await app.request('GET', image, asBrowser)
    expect(page.text).toContain(`${org.path}/clusters/${ids['cluster']}/agent-images/${ids['image']}</code>`)
  })

  it.each(['/v2/nothing', '/v3/nothing', '/deliver/a/b', '/v2/user/nothing', '/docs/nothing'])(
    'stays JSON below a path of programs: %s',
    async (path) => {
      const answer = await app.request('GET', path, asBrowser)
      expect([answer.status, answer.body]).toEqual([404, { message: `There is nothing at GET ${path}` }])
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    },
  )

  it('has the icon that every page links to', async () => {
    const page = await app.request('GET', '/sign-in', asBrowser)
    expect(page.text).toContain('<link rel="icon" href="/favicon.ico" type="image/svg+xml" />')
    expect((await app.request('GET', '/docs')).text).toContain('href="/favicon.ico"')
    const icon = await app.request('GET', '/favicon.ico')
    expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(icon.text).toMatch(/^<svg /)
  })
})
