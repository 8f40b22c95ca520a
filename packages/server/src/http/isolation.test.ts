// Tenant isolation: this test walks every registered route, so a new endpoint without isolation fails here.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aToken, tokenId } from '../../test/builders.ts'
import { aWorld, exampleOf, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'
import { revokeAccessToken } from '../resources/people/access-token/revoke.ts'

const app = useApp()

let ours: World
let theirs: World
let expired: string
let revoked: string
beforeAll(async () => {
  ours = await aWorld(app)
  theirs = await aWorld(app)
  expired = await aToken(app, ours.admin, { expiresAt: '2020-01-01T00:00:00Z' })
  revoked = await aToken(app, ours.admin)
  await revokeAccessToken(app.db, { kind: 'operator', command: 'test' }, await tokenId(app, revoked))
})

const endpoints = Object.values(slices)
  .flat()
  .filter(({ permission }) => permission !== 'anonymous')
  .flatMap((route) => route.methods.map((method) => ({ endpoint: `${method} ${route.url}`, method, route })))

const placeholders = endpoints.flatMap(({ endpoint, method, route }) =>
  [...route.url.matchAll(/:(\w+)/g)]
    .flatMap(([, name]) => (name === undefined || name === 'org' ? [] : [name]))
    .map((name) => ({ endpoint, method, route, name })),
)

// Both organizations have a build with number 1 and no image, so these ids belong to the other one only.
const named: Record<string, string> = { image: 'zzz999zzz9999', build: '999' }

describe('every endpoint', () => {
  it.each(endpoints)(
    '$endpoint answers 401 to an expired and to a revoked token',
    async ({ method, route }) => {
      for (const token of [expired, revoked]) {
        expect((await app.request(method, urlIn(ours, route), { token })).status).toBe(401)
      }
    },
  )

  it.each(endpoints.filter(({ route }) => route.url.includes(':org')))(
    '$endpoint answers 404 to an administrator of another organization',
    async ({ method, route }) => {
      const answer = await app.request(method, urlIn(ours, route), { token: theirs.admin.token })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No organization found' }])
    },
  )

  it.each(placeholders)(
    "$endpoint answers 404 to another organization's :$name",
    async ({ method, route, name }) => {
      const swapped = { [name]: named[name] ?? theirs.ids[name] ?? '' }
      const url = urlIn(ours, route, swapped)
      const body = route.body === undefined ? {} : { body: exampleOf(route.documentedBody) }
      const answer = await app.request(method, url, { token: ours.admin.token, ...body })
      expect([answer.status, Object.keys(answer.body)]).toEqual([404, ['message']])
    },
  )
})
