import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../test/app.ts'
import { slices } from '../app.ts'

const app = useApp()

const routes = Object.values(slices).flat()

describe('GET /v2/openapi.json', () => {
  it('is also where generic tools look for it', async () => {
    const [own, generic] = await Promise.all(
      ['/v2/openapi.json', '/openapi.json'].map((path) => app.request('GET', path)),
    )
    expect(generic?.status).toBe(200)
    expect(generic?.text).toBe(own?.text)
  })

  it('describes every endpoint, each under a name of its own', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    expect(body.openapi).toBe('3.1.0')
    expect(body.servers).toEqual([{ url: baseUrl }])
    const operations = Object.values(body.paths).flatMap((path) => Object.values(path))
    expect(operations).toHaveLength(routes.flatMap(({ methods }) => methods).length)
    const ids = operations.map(({ operationId }) => String(operationId))
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(body.paths['/v2/organizations/{org}/audit_events'].get).toMatchObject({
      operationId: 'get_organizations_org_audit_events',
      tags: ['audit_events'],
      'x-required-scope': 'read_audit_events',
      'x-required-permission': 'admin',
    })
  })

  it('refers only to schemas it has, of which none is in itself: /docs puts them in place', async () => {
    const { body, text } = await app.request('GET', '/v2/openapi.json')
    const namesIn = (json: string) =>
      [...json.matchAll(/"\$ref":"#\/components\/schemas\/([^"/]+)"/g)].map(([, name]) => name)
    expect(namesIn(text).length).toBeGreaterThan(0)
    expect(namesIn(text)).toHaveLength(text.split('"$ref"').length - 1)
    const open = (name: string, above: readonly string[]): void => {
      expect(above).not.toContain(name)
      expect(body.components.schemas).toHaveProperty([name])
      for (const inner of namesIn(JSON.stringify(body.components.schemas[name])))
        open(inner, [...above, name])
    }
    for (const name of new Set(namesIn(text))) open(name, [])
  })

  it('gives two different shapes two different names', () => {
    const shapes = new Map<string, Set<string>>()
    const collect = (schema: unknown): void => {
      if (typeof schema !== 'object' || schema === null) return
      const title: unknown = Reflect.get(schema, 'title')
      if (typeof title === 'string') {
        shapes.set(title, (shapes.get(title) ?? new Set()).add(JSON.stringify(schema)))
      }
      Object.values(schema).forEach(collect)
    }
    for (const { body, answers } of routes) collect([body, ...Object.values(answers)])
    expect([...shapes].filter(([, different]) => different.size > 1).map(([title]) => title)).toEqual([])
  })

  it('declares what may be answered before an endpoint looks at the request', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const statuses = (path: string, method: string) => Object.keys(body.paths[path][method].responses)
    const clusters = '/v2/organizations/{org}/clusters'
    expect(statuses(clusters, 'get')).toEqual(['200', '400', '401', '403', '404', '429'])
    expect(statuses(clusters, 'post')).toEqual([
      '201',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '422',
      '429',
    ])
    expect(statuses(`${clusters}/{cluster}`, 'patch')).not.toContain('409')
  })

  it('says of pictures that they are pictures', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const answer = body.paths['/avatars/{user}'].get.responses['200']
    expect(answer.content).toHaveProperty('image/svg+xml')
  })
})
