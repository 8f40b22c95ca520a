import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { baseUrl, checkOf, useApp, type Json } from '../../test/app.ts'
import { anAdmin, anOrganization } from '../../test/builders.ts'
import { slices } from '../app.ts'
import { commonFields } from './field-descriptions.ts'

const app = useApp()

const routes = Object.values(slices).flat()

describe('GET /v2/analytics/openapi.yaml', () => {
  it('is the part of the document for the tests, as YAML', async () => {
    const whole = (await app.request('GET', '/v2/openapi.json')).body
    const answer = await app.request('GET', '/v2/analytics/openapi.yaml')
    expect(answer.headers.get('content-type')).toBe('application/yaml')
    const part = parseYaml(answer.text) as Json
    expect(Object.keys(part.paths)).toEqual(
      Object.keys(whole.paths).filter((path) => path.startsWith('/v2/analytics/')),
    )
    for (const [path, operations] of Object.entries(part.paths)) expect(operations).toEqual(whole.paths[path])
    expect(part.components.schemas['Test']).toEqual(whole.components.schemas['Test'])
    expect(part.components.schemas).not.toHaveProperty('Cluster')
    for (const [, kind = '', name = ''] of answer.text.matchAll(/#\/components\/(\w+)\/([\w-]+)/g)) {
      expect(part.components[kind]).toHaveProperty(name)
    }
  })
})

describe('GET /v2/openapi.json', () => {
  it('is also at /openapi.json, where generic tools look for it', async () => {
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
    // And the one of test collectors.
    expect(operations).toHaveLength(routes.flatMap(({ methods }) => methods).length + 1)
    const ids = operations.map(({ operationId }) => String(operationId))
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(body.paths['/v2/organizations/{org}/audit_events'].get).toMatchObject({
      operationId: 'get_organizations_org_audit_events',
      tags: ['audit_events'],
      'x-required-scope': 'read_audit_events',
      'x-required-permission': 'admin',
    })
  })

  it('has only references to its own components, and no cycles, because /docs resolves them', async () => {
    const { body, text } = await app.request('GET', '/v2/openapi.json')
    const namesIn = (json: string) =>
      [...json.matchAll(/"\$ref":"#\/components\/(\w+\/[^"/]+)"/g)].map(([, name = '']) => name)
    expect(namesIn(text).length).toBeGreaterThan(0)
    expect(namesIn(text)).toHaveLength(text.split('"$ref"').length - 1)
    const open = (name: string, above: readonly string[]): void => {
      expect(above).not.toContain(name)
      const [kind = '', own = ''] = name.split('/')
      expect(body.components[kind]).toHaveProperty([own])
      for (const inner of namesIn(JSON.stringify(body.components[kind]?.[own]))) open(inner, [...above, name])
    }
    for (const name of new Set(namesIn(text))) open(name, [])
  })

  it('describes every tag, operation, parameter and field in words', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const missing: string[] = []
    const need = (text: unknown, what: string) => {
      if (typeof text !== 'string' || !/^[^a-z].*[.!?)`*]$/s.test(text))
        missing.push(`${what}: ${String(text)}`)
    }
    const declared = Object.values(body.tags).map(({ name, description }) => {
      need(description, `tag ${String(name)}`)
      return name
    })
    for (const { id, operation } of operationsOf(body)) {
      for (const tag of Object.values(operation.tags)) expect(declared).toContain(tag)
      need(operation.description, id)
      expect(String(operation.summary)).not.toBe('')
      for (const { name, description } of Object.values(operation.parameters)) {
        need(description, `${id} ${String(name)}`)
      }
    }
    walkFields(body, (field, path) => need(field.description, path))
    expect(missing).toEqual([])
  })

  it('has no descriptions of fields that do not exist', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const names = new Set<string | undefined>()
    walkFields(body, (_field, path) => names.add(path.split('.').at(-1)))
    expect(Object.keys(commonFields).filter((name) => !names.has(name))).toEqual([])
  })

  it('has unique names of models, which do not clash with names that generators make', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const names = Object.keys(body.components.schemas)
    const capitalized = (name: string) =>
      name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
    const derived: string[] = []
    walkFields(body, (_field, path) => derived.push(path.split('.').map(capitalized).join('')))
    expect(names.filter((name) => derived.includes(name))).toEqual([])
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
  })

  it('names the headers of every answer', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    for (const { id, operation } of operationsOf(body)) {
      for (const [status, given] of Object.entries(operation.responses)) {
        const response = resolve(body, given)
        const names = Object.keys(response.headers ?? {})
        const wanted = [
          'X-Request-Id',
          ...(status === '401' && operation.security === undefined ? ['WWW-Authenticate'] : []),
          ...(status === '429' || status === '503' ? ['Retry-After'] : []),
          ...(status === '302' ? ['Location'] : []),
          ...(operation.security !== undefined || status === '401' ? [] : ['RateLimit-User-Remaining']),
        ]
        expect([id, status, names]).toEqual([id, status, expect.arrayContaining(wanted)])
      }
    }
    const list = resolve(body, body.paths['/v2/organizations/{org}/clusters'].get.responses['200'])
    expect(Object.keys(list.headers)).toEqual(expect.arrayContaining(['Link', 'RateLimit-Remaining']))
  })

  it('declares the errors that are answered before the handler runs', async () => {
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
    // Nothing is expected in the body, but one that is sent is read.
    expect(statuses(`${clusters}/{cluster}`, 'delete')).toEqual(expect.arrayContaining(['413', '415']))
  })

  it('has a recorded answer as the example of every JSON answer, which fits the current schema', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const missing: string[] = []
    for (const route of routes) {
      const path = route.url.replace(/:(\w+)/g, '{$1}')
      for (const [status, schema] of Object.entries(route.answers)) {
        for (const method of route.methods) {
          const { responses } = body.paths[path]?.[method.toLowerCase()] ?? {}
          const content = responses?.[status]?.content?.['application/json']
          if (schema === null || content === undefined) continue
          const [wrong] =
            content.example === undefined ? ['no example'] : checkOf(schema).Errors(content.example)
          if (wrong !== undefined) missing.push(`${method} ${route.url} ${status}: ${JSON.stringify(wrong)}`)
        }
      }
    }
    // Run `npm run examples`, or with the path of the tests that call it.
    expect(missing).toEqual([])
  })

  it('has only examples of existing endpoints, without real ids and times', async () => {
    const text = await readFile(new URL('../../examples.json', import.meta.url), 'utf8')
    const names = new Set(
      routes.flatMap(({ methods, url, answers }) =>
        methods.flatMap((method) => Object.keys(answers).map((status) => `${method} ${url} ${status}`)),
      ),
    )
    expect(Object.keys(JSON.parse(text) as object).filter((name) => !names.has(name))).toEqual([])
    const uuids = text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []
    expect(uuids.filter((uuid) => !uuid.startsWith('00000000-0000-4000-8000-'))).toEqual([])
  })

  it('has the endpoint of test collectors', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const { requestBody, responses } = body.paths['/v1/uploads'].post
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const suite = await app.request('POST', `${org.path}/suites`, {
      token: admin.token,
      body: { name: 'unit' },
    })
    const example = requestBody.content['application/json']?.example
    const answer = await app.request('POST', '/v1/uploads', {
      headers: { authorization: `Token token="${String(suite.body.api_token)}"` },
      body: example,
    })
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({ queued: 1, skipped: 0 })
    const { schema } = responses['202'].content['application/json'] ?? {}
    expect(Object.keys(answer.body).sort()).toEqual(Object.keys(schema.properties).sort())
  })

  it('gives images their media type', async () => {
    const { body } = await app.request('GET', '/v2/openapi.json')
    const answer = body.paths['/avatars/{user}'].get.responses['200']
    expect(answer.content).toHaveProperty('image/svg+xml')
  })
})

const operationsOf = (document: Json) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ id: `${method} ${path}`, operation })),
  )

/** The target of a reference. */
function resolve(document: Json, part: Json): Json {
  if (typeof part.$ref !== 'string') return part
  const [, ...keys] = String(part.$ref).split('/')
  return keys.reduce((at, key) => at[key] ?? {}, document)
}

/** Every field of every component and of inline schemas, by its path. */
function walkFields(document: Json, visit: (field: Json, path: string) => void): void {
  const walk = (schema: Json | undefined, path: string): void => {
    for (const [name, field] of Object.entries(schema?.properties ?? {})) {
      visit(field, `${path}.${name}`)
      walk(field, `${path}.${name}`)
    }
    if (schema?.items !== undefined) walk(schema.items, path)
    if (typeof schema?.additionalProperties === 'object') walk(schema.additionalProperties, path)
    for (const branch of Object.values(schema?.anyOf ?? {})) walk(branch, path)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) walk(schema, name)
  for (const { operation } of operationsOf(document)) {
    for (const response of Object.values(operation.responses)) {
      for (const { schema } of Object.values(resolve(document, response).content ?? {})) walk(schema, '')
    }
  }
}
