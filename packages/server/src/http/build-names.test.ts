// Every route that takes the number of a build also takes its UUID. This test walks all registered routes.
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aWorld, exampleOf, urlIn, type World } from '../../test/world.ts'
import { slices } from '../app.ts'

const app = useApp()

let ours: World
let ourBuild: string
let theirBuild: string
beforeAll(async () => {
  ours = await aWorld(app)
  ourBuild = await buildOf(ours)
  theirBuild = await buildOf(await aWorld(app))
})

async function buildOf({ org }: World): Promise<string> {
  const { id } = await app.db
    .selectFrom('builds')
    .select('id')
    .where('organization_id', '=', org.id)
    .executeTakeFirstOrThrow()
  return id
}

const endpoints = Object.values(slices)
  .flat()
  .filter(({ url }) => /:build(\/|$)/.test(url))
  .flatMap((route) => route.methods.map((method) => ({ endpoint: `${method} ${route.url}`, method, route })))

describe('every endpoint of a build', () => {
  it.each(endpoints.filter(({ method }) => method === 'GET'))(
    '$endpoint answers the same by UUID and by number',
    async ({ route }) => {
      const byNumber = await get(urlIn(ours, route))
      for (const build of [ourBuild, ourBuild.toUpperCase()]) {
        const { status, text } = await get(urlIn(ours, route, { build }))
        // The links of a list contain the requested URL.
        const sameLinks = text.replaceAll(`/builds/${build}/`, `/builds/${ours.ids['build']}/`)
        expect([status, withoutCursor(sameLinks)]).toEqual([byNumber.status, withoutCursor(byNumber.text)])
      }
    },
  )

  /** The cursor of live updates moves with every transaction of the database, also with those of other tests. */
  function withoutCursor(text: string): string {
    return text.replace(/"cursor":"[^"]*"/, '"cursor":""')
  }

  /** A stream lasts as long as the job, so the test reads only its beginning. */
  async function get(url: string): Promise<{ status: number; text: string }> {
    const { token } = ours.admin
    if (!url.endsWith('/stream')) return app.request('GET', url, { token })
    const answer = await fetch(app.address + url, { headers: { authorization: `Bearer ${token}` } })
    await answer.body?.cancel()
    return { status: answer.status, text: '' }
  }

  it.each(endpoints)("$endpoint answers 404 to another organization's UUID", async ({ method, route }) => {
    const url = urlIn(ours, route, { build: theirBuild })
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: exampleOf(route.body) }
    const answer = await app.request(method, url, { token: ours.admin.token, ...body })
    expect([answer.status, Object.keys(answer.body)]).toEqual([404, ['message']])
  })

  it.each(endpoints.filter(({ method }) => method !== 'GET'))(
    '$endpoint finds the build by its UUID',
    async ({ method, route }) => {
      const body = method === 'DELETE' ? {} : { body: exampleOf(route.body) }
      const url = urlIn(ours, route, { build: ourBuild })
      const answer = await app.request(method, url, { token: ours.admin.token, ...body })
      // One endpoint may delete what the next one needs, but not the build.
      expect(answer.body.message ?? '').not.toMatch(/^No (build|pipeline) found$/)
      expect(answer.status).toBeLessThan(500)
    },
  )
})
