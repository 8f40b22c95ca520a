// Spec: a build is named by its number, not by its UUID. This test walks all registered routes below `builds`, whatever their
// placeholder is called, so a new route that takes a UUID fails here.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aWorld, exampleOf, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'

const app = useApp()

let ours: World
let build: string
beforeAll(async () => {
  ours = await aWorld(app)
  const { id } = await app.db
    .selectFrom('builds')
    .select('id')
    .where('organization_id', '=', ours.org.id)
    .executeTakeFirstOrThrow()
  build = id
})

/** Not in the contract: clients of test suites know the UUID of the build only. */
const byUuid = '/v2/analytics/organizations/:org/builds/:build_uuid/tests'

const endpoints = Object.values(slices)
  .flat()
  .filter(({ url }) => url !== byUuid)
  .flatMap((route) => {
    const [, name] = /builds\/:(\w+)/.exec(route.url) ?? []
    if (name === undefined) return []
    return route.methods.map((method) => ({ endpoint: `${method} ${route.url}`, method, route, name }))
  })

describe('every endpoint of a build', () => {
  it.each(endpoints)('$endpoint answers 404 to the UUID of the build', async ({ method, route, name }) => {
    const body = route.body === undefined ? {} : { body: exampleOf(route.documentedBody) }
    for (const uuid of [build, build.toUpperCase()]) {
      const url = urlIn(ours, route, { [name]: uuid })
      const answer = await app.request(method, url, { token: ours.admin.token, ...body })
      expect([answer.status, answer.body]).toEqual([404, { message: 'No build found' }])
    }
  })

  // The world has no archived build.
  it.each(endpoints.filter(({ route }) => !route.url.includes('/archived_builds/')))(
    '$endpoint finds the build by its number',
    async ({ method, route }) => {
      const body = route.body === undefined ? {} : { body: exampleOf(route.documentedBody) }
      const answer = await call(method, urlIn(ours, route), body)
      // One endpoint may delete what the next one needs, but not the build.
      expect(answer.message).not.toBe('No build found')
      expect(answer.status).toBeLessThan(500)
    },
  )

  /** A stream lasts as long as the job, so only its beginning is read. */
  async function call(
    method: string,
    url: string,
    body: { body?: unknown },
  ): Promise<{ status: number; message: unknown }> {
    const { token } = ours.admin
    if (!url.endsWith('/stream')) {
      const { status, body: answer } = await app.request(method, url, { token, ...body })
      return { status, message: answer.message }
    }
    const answer = await fetch(app.address + url, { headers: { authorization: `Bearer ${token}` } })
    await answer.body?.cancel()
    return { status: answer.status, message: undefined }
  }
})
