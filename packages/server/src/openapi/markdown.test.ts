import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { slices } from '../app.ts'

const app = useApp()

const get = (path: string, accept = '*/*') => app.request('GET', path, { headers: { accept } })

describe('GET /docs.md', () => {
  it('lists every operation of the API once, and needs no token', async () => {
    const answer = await get('/docs.md')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    const listed = answer.text.split('\n').filter((line) => line.startsWith('- `'))
    const operations = Object.values(slices)
      .flat()
      .flatMap(({ methods, url }) =>
        methods.map((method) => `- \`${method} ${url.replace(/:(\w+)/g, '{$1}')}\``),
      )
    for (const operation of operations)
      expect([operation, listed.filter((line) => line.startsWith(`${operation}:`)).length]).toEqual([
        operation,
        1,
      ])
  })

  it('is what /docs answers to clients that ask for Markdown, and to no browser', async () => {
    const markdown = await get('/docs', 'text/markdown')
    expect(markdown.text).toBe((await get('/docs.md')).text)
    expect(markdown.headers.get('vary')).toContain('Accept')
    const page = await get('/docs', 'text/html,application/xhtml+xml,*/*;q=0.8')
    expect(page.headers.get('content-type')).toContain('text/html')
  })
})

describe('GET /docs/{group}.md', () => {
  it.each(Object.keys(slices))('describes the operations of %s', async (group) => {
    const answer = await get(`/docs/${group}.md`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
    for (const { url, methods } of slices[group] ?? [])
      for (const method of methods)
        expect(answer.text).toContain(`## ${method} ${url.replace(/:(\w+)/g, '{$1}')}\n`)
    expect(answer.text).not.toContain('undefined')
    expect(answer.text).not.toContain('[object Object]')
  })

  it('shows parameters, fields of the body, an example and errors', async () => {
    const { text } = await get('/docs/builds.md')
    const [, part = ''] = text.split('## POST /v2/organizations/{org}/pipelines/{pipeline}/builds\n')
    const [create = ''] = part.split('\n## ')
    expect(create).toContain('Scope: `write_builds`')
    expect(create).toMatch(/- `pipeline` \(path, string\): \S/)
    expect(create).toMatch(/- `commit` \(string.*\)/)
    expect(create).toContain('Answer 201')
    expect(create).toMatch(/Errors: .*422 \(/)
  })

  it('answers 404 for other names', async () => {
    expect((await get('/docs/nothing.md')).status).toBe(404)
    expect((await get('/docs/..%2f..%2fpackage.md')).status).toBe(404)
  })
})

describe('GET /.well-known/api-catalog', () => {
  it('lists the API and where it is described, for any origin, also with HEAD', async () => {
    const answer = await get('/.well-known/api-catalog')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    ])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    const { linkset } = JSON.parse(answer.text) as {
      linkset: Array<Record<string, Array<{ href: string; type?: string }>>>
    }
    expect(linkset).toMatchObject([{ anchor: `${baseUrl}/v2` }])
    const links = linkset.flatMap(({ 'service-desc': specs = [], 'service-doc': docs = [], status = [] }) => [
      ...specs,
      ...docs,
      ...status,
    ])
    expect(links).toHaveLength(4)
    for (const { href, type } of links) {
      const linked = await get(href.slice(baseUrl.length))
      expect([href, linked.status]).toEqual([href, 200])
      expect(linked.headers.get('content-type')).toContain(type ?? '')
    }
    const head = await app.request('HEAD', '/.well-known/api-catalog')
    expect([head.status, head.headers.get('link')]).toEqual([
      200,
      `<${baseUrl}/.well-known/api-catalog>; rel="api-catalog"`,
    ])
  })
})

describe('GET /llms.txt', () => {
  it('is an index whose links lead to text', async () => {
    const answer = await get('/llms.txt')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    expect(answer.text.startsWith('# Millrace\n')).toBe(true)
    const links = [...answer.text.matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(Object.keys(slices).length)
    for (const link of links)
      expect([link, (await get(link.slice(baseUrl.length))).status]).toEqual([link, 200])
  })
})
