import type { FastifyRequest } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useApp, type Json } from '../../test/app.ts'
import {
  aCluster,
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  type TestOrganization,
} from '../../test/builders.ts'
import { clusterRoutes } from '../resources/clusters/clusters/routes.ts'
import { authorizeToken } from './access.ts'
import { callRoute } from './call-route.ts'
import { registerEndpoints, type Endpoint } from './endpoint.ts'
import type { Route } from './route.ts'
import { buildServer } from './server.ts'
import { holdRequest } from './limits/requests.ts'

const app = useApp()

const rule = { url: '/calls', scope: 'none', permission: 'token', feature: null, params: {} } as const

const routeFor = (method: string, end: string): Route => {
  const found = clusterRoutes.find(({ methods, url }) => methods[0] === method && url.endsWith(end))
  if (found === undefined) throw new Error(`There is no route ${method} …${end}.`)
  return found
}

/** A server with one endpoint, which calls a route with what the body says. */
async function startCalls() {
  const endpoint: Endpoint = {
    methods: ['POST'],
    url: '/calls',
    body: 'json',
    async admit(request: FastifyRequest) {
      const access = await authorizeToken(app.ctx, rule, request)
      request.access = access
      holdRequest(request, access)
    },
    async handle(request, reply) {
      const { method, end, ...call } = request.body as { method: string; end: string }
      const { status, body } = await callRoute(app.ctx, request, routeFor(method, end), call)
      return reply.code(status).send(body)
    },
  }
  const server = await buildServer(app.ctx, app.database)
  onTestFinished(() => server.close())
  await registerEndpoints(server, [endpoint])
  const url = await server.listen({ port: 0, host: '127.0.0.1' })
  return async (headers: Record<string, string>, payload: object) => {
    const response = await fetch(`${url}/calls`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(payload),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
  }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const listIn = ({ slug }: TestOrganization) => ({ method: 'GET', end: '/clusters', params: { org: slug } })

describe('calling a route', () => {
  it('answers as the route does', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const cluster = await aCluster(app, org, admin)
    const call = await startCalls()
    const listed = await call(bearer(admin.token), listIn(org))
    expect(listed.body).toEqual(
      (await app.request('GET', `${org.path}/clusters`, { token: admin.token })).list,
    )
    const made = await call(bearer(admin.token), {
      method: 'POST',
      end: '/clusters',
      params: { org: org.slug },
      body: { name: 'Made by a call' },
    })
    expect([made.status, made.body.name]).toEqual([201, 'Made by a call'])
    const shown = await call(bearer(admin.token), {
      method: 'GET',
      end: '/clusters/:cluster',
      params: { org: org.slug, cluster: cluster.id },
    })
    expect(shown.body.name).toBe(cluster.name)
  })

  it('refuses what the route refuses, in its words', async () => {
    const [org, other] = [await anOrganization(app), await anOrganization(app)]
    const [admin, member] = [await anAdmin(app, org), await aMember(app, org)]
    const call = await startCalls()
    const words = async (token: string, payload: object) => {
      const answer = await call(bearer(token), payload)
      return [answer.status, answer.body.message]
    }
    expect(await words(admin.token, listIn(other))).toEqual([404, 'No organization found'])
    const narrow = await aToken(app, admin, { scopes: ['read_user'], organizations: [org] })
    expect(await words(narrow, listIn(org))).toEqual([
      403,
      "Your access token doesn't have the read_clusters scope",
    ])
    const create = { method: 'POST', end: '/clusters', params: { org: org.slug } }
    expect((await words(member.token, { ...create, body: { name: 'Mine' } }))[0]).toBe(403)
    expect((await words(admin.token, { ...create, body: { name: 7 } }))[0]).toBe(422)
    const missing = { org: org.slug, cluster: 'nothing' }
    expect(await words(admin.token, { method: 'GET', end: '/clusters/:cluster', params: missing })).toEqual([
      404,
      'No cluster found',
    ])
  })

  it('takes no cookie and no unknown token', async () => {
    const org = await anOrganization(app)
    const call = await startCalls()
    for (const headers of [{}, { cookie: 'session=abc' }, bearer('mrt_unknown')]) {
      expect((await call(headers, listIn(org))).status).toBe(401)
    }
  })

  it('counts each call as a request', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const call = await startCalls()
    const left = async () =>
      Number((await call(bearer(admin.token), listIn(org))).headers.get('ratelimit-remaining'))
    const first = await left()
    expect(await left()).toBe(first - 1)
  })
})
