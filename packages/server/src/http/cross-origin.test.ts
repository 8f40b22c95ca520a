// Which endpoints answer pages of any origin, by what registers them. A new endpoint answers none unless it says so.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aWorld, type World } from '../../test/world.ts'

const app = useApp()

let world: World
beforeAll(async () => {
  world = await aWorld(app)
})

const reasons: ReadonlyArray<readonly [pattern: RegExp, reason: string]> = [
  [/^\/v2\//, 'The REST API takes bearer tokens, which no browser adds by itself, and files have tickets.'],
  [/^\/v1\/graphql$/, 'So does GraphQL.'],
  [
    /^\/(badges|avatars|emojis|deliver)\//,
    'Routes of the REST API: images that are public, and webhooks with signatures.',
  ],
  [/^\/$/, 'The root of the API.'],
  [/^\/(openapi\.json|docs\.md|llms\.txt|docs\/[\w-]+\.md)$/, 'The description of the API is public.'],
  [
    /^\/(\.well-known\/|-\/oauth\/(register|token|device_authorization|revoke)$)/,
    'Programs in browsers register and exchange codes.',
  ],
  [/^\/oauth\/(token|device_authorization|revoke)$/, 'The same, for programs that know these paths.'],
]

const pathOf = (url: string) =>
  url.replace(/:(\w+)/g, (_, name: string) => (name === 'org' ? world.org.slug : (world.ids[name] ?? 'x')))

describe('pages of another origin', () => {
  it('read the answers of the API and of what is public, and nothing else', async () => {
    const opened = []
    for (const endpoint of app.endpoints) {
      const [method = '', url = ''] = endpoint.split(' ')
      if (method !== 'GET' && method !== 'POST') continue
      const { headers } = await app.request(method, pathOf(url), {
        headers: { Origin: 'https://evil.example' },
      })
      const isOpen = headers.get('access-control-allow-origin') !== null
      const hasReason = reasons.some(([pattern]) => pattern.test(url))
      if (isOpen) opened.push(url)
      expect([endpoint, isOpen && !hasReason]).toEqual([endpoint, false])
      expect([endpoint, headers.get('access-control-allow-credentials')]).toEqual([endpoint, null])
    }
    expect(opened).toContain('/v2/user')
    for (const own of ['/metrics', '/healthz', '/readyz', '/sign-in', '/mcp', '/-/page-tickets'])
      expect(opened).not.toContain(own)
  })
})
