import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import { aCluster, anAdmin, anOrganization } from '../../test/builders.ts'
import { ok } from './answer.ts'
import { registerEndpoints } from './endpoint.ts'
import { restEndpoints } from './rest.ts'
import { route } from './route.ts'
import { buildServer } from './server.ts'

const app = useOwnApp()

const loggedFor = (requestId: string) =>
  app.logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter((line) => line['request_id'] === requestId)

describe('every answer', () => {
  it('has an id: the caller’s, or a new one when that is missing or odd', async () => {
    const idOf = async (headers: Record<string, string>) =>
      (await app.request('GET', '/v2/meta', { headers })).headers.get('x-request-id')
    expect(await idOf({ 'X-Request-Id': 'build-7:step.2' })).toBe('build-7:step.2')
    const made = await Promise.all([
      idOf({}),
      idOf({ 'X-Request-Id': 'a b' }),
      idOf({ 'X-Request-Id': 'x'.repeat(65) }),
    ])
    for (const id of made) expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(made).size).toBe(3)
  })

  it.each(['/v2/meta', '/v2/user', '/nothing', '/v2/%zz'])('may be read by any page: %s', async (path) => {
    const { headers } = await app.request('GET', path)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toContain('Link')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('to OPTIONS lists what browsers may send, without a token', async () => {
    for (const path of ['/v2/user', '/v2/organizations/x/clusters', '/nothing']) {
      const answer = await app.request('OPTIONS', path)
      expect([answer.status, answer.text]).toEqual([204, ''])
      expect(answer.headers.get('access-control-allow-methods')).toBe(
        'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      )
      expect(answer.headers.get('access-control-allow-headers')).toContain('Authorization')
    }
  })

  it('to HEAD is that to GET without its body', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    await aCluster(app, org, admin)
    await aCluster(app, org, admin)
    const path = `${org.path}/clusters?per_page=1`
    const [get, head] = [
      await app.request('GET', path, { token: admin.token }),
      await app.request('HEAD', path, { token: admin.token }),
    ]
    expect([head.status, head.text]).toEqual([200, ''])
    for (const name of ['link', 'content-type', 'content-length']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
    expect((await app.request('HEAD', path)).status).toBe(401)
  })

  it('to a method the path does not have is 405 and says which it has', async () => {
    const answer = await app.request('POST', '/v2/meta')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect(answer.body).toEqual({ message: 'POST is not allowed here; allowed are GET, HEAD, OPTIONS.' })
    const cluster = await app.request('POST', '/v2/organizations/x/clusters/y')
    expect(cluster.headers.get('allow')?.split(', ').sort()).toEqual(
      ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'PUT'].sort(),
    )
    expect((await app.request('PUT', '/v2/meta/?a=b')).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    const head = await app.request('HEAD', '/v2/organizations/x/clusters/y/queues/z/resume_dispatch')
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  it.each(['/nothing', '/v2', '/v2/nothing', '/v3/nothing', '/v2/organizations/x/nothing?secret=1'])(
    'to an unknown path is 404 in JSON: %s',
    async (path) => {
      const answer = await app.request('GET', path)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.body).toEqual({ message: `There is nothing at GET ${path.split('?')[0]}` })
    },
  )

  it.each([
    ['/v2/%zz', 400],
    [`/v2/organizations/${'x'.repeat(600)}`, 414],
    ['/v2/organizations/a%2Fb/clusters/%00', 401],
  ])('to the odd path %s is an error in JSON', async (path, status) => {
    const answer = await app.request('GET', path)
    expect(answer.status).toBe(status)
    expect(Object.keys(answer.body)).toEqual(['message'])
  })

  it('is the same with a trailing slash', async () => {
    const { token } = await anAdmin(app, await anOrganization(app))
    const [plain, slash] = [
      await app.request('GET', '/v2/user', { token }),
      await app.request('GET', '/v2/user/', { token }),
    ]
    expect(slash.status).toBe(200)
    expect(slash.body).toEqual(plain.body)
  })
})

describe('the log', () => {
  it('has one line for a request, by its id', async () => {
    const org = await anOrganization(app)
    const admin = await anAdmin(app, org)
    const headers = { 'X-Request-Id': 'logged-once' }
    await app.request('GET', `${org.path}?note=hidden`, { token: admin.token, headers })
    expect(loggedFor('logged-once')).toMatchObject([
      {
        method: 'GET',
        path: org.path,
        status: 200,
        ip: '127.0.0.1',
        user_id: admin.id,
        organization: org.slug,
        msg: 'Answered a request.',
      },
    ])
    expect(app.logLines.join('')).not.toContain('hidden')
  })

  it('never has a token, wherever the caller put it, or a body', async () => {
    const org = await anOrganization(app)
    const { token } = await anAdmin(app, org)
    const secret = 'a-secret-in-a-body'
    await app.request('GET', `/v2/user?access_token=${token}`)
    await app.request('GET', '/v2/user', { token })
    await app.request('GET', '/v2/user', {
      headers: { Authorization: `Basic ${token}`, Cookie: `t=${token}` },
    })
    await app.request('POST', `${org.path}/clusters`, { token, body: { name: secret } })
    await app.request('POST', `${org.path}/clusters`, { token, body: { name: [secret] } })
    await app.request('POST', `${org.path}/clusters`, { token, text: secret })
    const log = app.logLines.join('')
    expect(log).not.toContain(token)
    expect(log).not.toContain(secret)
  })
})

describe('a failure', () => {
  const failing = (url: string, error: unknown) =>
    route({
      method: 'GET',
      url,
      summary: 'Fail',
      scope: 'none',
      permission: 'anonymous',
      answers: { 200: Type.Object({}) },
      async handler() {
        if (error !== undefined) throw error
        return ok({})
      },
    })

  const ask = async (error: unknown, requestId: string) => {
    const server = await buildServer(app.ctx, app.database)
    await registerEndpoints(server, restEndpoints(app.ctx, [failing('/fails', error)]))
    const answer = await server.inject({ url: '/fails', headers: { 'x-request-id': requestId } })
    await server.close()
    return answer
  }

  it('by a bug is 500 with the request’s id and no detail, and is logged in full', async () => {
    const answer = await ask(new Error('the cause, with a password'), 'our-bug')
    expect(answer.statusCode).toBe(500)
    expect(answer.json()).toEqual({
      message: "Something went wrong on our side. The request id our-bug finds it in the server's log.",
    })
    expect(loggedFor('our-bug')).toContainEqual(
      expect.objectContaining({
        level: 50,
        err: expect.objectContaining({ message: 'the cause, with a password' }),
      }),
    )
  })

  it('of the database is 503 and safe to repeat', async () => {
    const answer = await ask(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'database-away')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ message: 'The database does not answer. Asking again is safe.' })
  })
})

describe('health checks and metrics', () => {
  it('need no token', async () => {
    expect((await app.request('GET', '/healthz')).body).toEqual({ status: 'ok' })
    expect((await app.request('GET', '/readyz')).body).toEqual({ status: 'ready' })
    const metrics = await app.request('GET', '/metrics')
    expect(metrics.text).toContain(
      'millrace_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"}',
    )
    expect(metrics.text).toContain(
      'millrace_http_request_duration_seconds_bucket{le="0.002",method="GET",route="/healthz",status="200"}',
    )
    expect(metrics.text).toContain('millrace_database_connections{pool="requests",state="open"}')
    expect(metrics.text).toContain('\nmillrace_agents_waiting 0\n')
    expect(metrics.text).toMatch(/^nodejs_eventloop_lag_mean_seconds \d+\.\d+$/m)
  })
})

describe('the address of a client', () => {
  it('is known until the request ends, also when the client has gone', async () => {
    const server = await buildServer(app.ctx, app.database)
    onTestFinished(() => server.close())
    const events = new EventEmitter()
    const [arrived, seen] = [once(events, 'arrived'), once(events, 'seen')]
    const handler = async (request: FastifyRequest) => {
      const closed = once(request.raw.socket, 'close')
      events.emit('arrived')
      await closed
      events.emit('seen', request.ip)
    }
    server.route({ method: 'GET', url: '/address', handler })
    const socket = connect(
      Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port),
      '127.0.0.1',
    )
    socket.write('GET /address HTTP/1.1\r\nHost: millrace.test\r\n\r\n')
    await arrived
    socket.destroy()
    expect(await seen).toEqual(['127.0.0.1'])
  })
})

describe('what is not a request', () => {
  it.each([
    ['no HTTP', 'hello\r\n\r\n', 400, 'The request is not valid HTTP.'],
    [
      'headers that are too long',
      `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`,
      431,
      'The URL and the headers of a request may have 16 KiB in all.',
    ],
  ])(
    'is answered, and the client told that the connection closes: %s',
    async (_what, bytes, status, message) => {
      const { hostname, port } = new URL(app.address)
      const socket = connect(Number(port), hostname)
      socket.write(bytes)
      const answer = await text(socket)
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} .*\r\nConnection: close\r\n`))
      expect(answer.split('\r\n\r\n')[1]).toBe(JSON.stringify({ message }))
    },
  )
})
