import { connect } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually, useApp } from '../../test/app.ts'
import { anAdmin, anOrganization, type TestOrganization } from '../../test/builders.ts'

const app = useApp()

describe('a request body', () => {
  let org: TestOrganization
  let token = ''
  beforeAll(async () => {
    org = await anOrganization(app)
    token = (await anAdmin(app, org)).token
  })
  const json = { 'Content-Type': 'application/json' }
  const post = (text: string, headers: Record<string, string> = json) =>
    app.request('POST', `${org.path}/clusters`, { token, text, headers })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/vnd.millrace+json',
  ])('is read as %s', async (type) => {
    expect((await post('{"name":"A"}', { 'Content-Type': type })).status).toBe(201)
  })

  it('is read as JSON without a Content-Type', async () => {
    const response = await fetch(`${app.address}${org.path}/clusters`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: new TextEncoder().encode('{"name":"A"}'),
    })
    expect(response.status).toBe(201)
  })

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'is refused with 415 as %s',
    async (type) => {
      const answer = await post('name=A', { 'Content-Type': type })
      expect(answer.status).toBe(415)
      expect(answer.body.message).toMatch(/^Send the body as JSON, with Content-Type: application\/json/)
    },
  )

  it.each([
    '{',
    '{"name":"A"',
    "{'name':'A'}",
    '{"name":}',
    'name=A',
    '{"name":NaN}',
    '\u{FEFF}{"name":"A"}',
  ])('is refused with 400 when it is not JSON: %s', async (text) => {
    const answer = await post(text)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toMatch(/^The request body is not valid JSON: /)
  })

  it.each(['[]', '"name"', '1', 'null', 'true'])(
    'is refused with 400 when it is no object: %s',
    async (text) => {
      const answer = await post(text)
      expect(answer.status).toBe(400)
      expect(answer.body.message).toBe('The request body must be a JSON object.')
    },
  )

  it('that is empty counts as an empty object', async () => {
    for (const headers of [json, {}, { 'Content-Type': 'text/plain' }]) {
      const answer = await app.request('POST', `${org.path}/clusters`, { token, headers })
      expect(answer.status).toBe(422)
      expect(answer.body.message).toBe('Validation failed: name is required')
    }
  })

  it('of more than 1 MiB is refused with 413', async () => {
    const filler = (bytes: number) => JSON.stringify({ name: 'A', filler: 'x'.repeat(bytes) })
    expect((await post(filler(1024 * 1024 - 100))).status).toBe(201)
    const answer = await post(filler(1024 * 1024))
    expect(answer.status).toBe(413)
    expect(answer.body).toEqual({ message: 'The request body is too large.' })
  })

  it.each([
    ['/clusters', 'application/json', 2 * 1024 * 1024],
    ['/sign-in', 'application/x-www-form-urlencoded', 64 * 1024],
  ])(
    'that is too large for %s is answered while it is sent, and the connection stays',
    async (end, type, size) => {
      const path = end === '/clusters' ? `${org.path}${end}` : end
      const { hostname, port } = new URL(app.address)
      const socket = connect(Number(port), hostname)
      onTestFinished(() => void socket.destroy())
      let received = ''
      socket.on('data', (bytes) => (received += bytes.toString()))
      const answers = () => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      const head = ['Host: millrace.test', `Authorization: Bearer ${token}`, `Content-Type: ${type}`]
      socket.write([`POST ${path} HTTP/1.1`, ...head, `Content-Length: ${size}`, '', 'x'].join('\r\n'))
      await eventually('the body is refused', async () => answers().length === 1)
      socket.write('x'.repeat(size - 1))
      socket.write(['GET /v2/user HTTP/1.1', ...head, '', ''].join('\r\n'))
      await eventually('the next request is answered', async () => answers().length === 2)
      expect(answers()).toEqual(['413', '200'])
    },
  )

  it('with a Content-Type that cannot be read is refused with 415, which says what to send', async () => {
    for (const type of ['a/b/c', ';']) {
      const answer = await app.request('POST', `${org.path}/clusters`, {
        token,
        text: '{"name":"A"}',
        headers: { 'Content-Type': type },
      })
      expect([answer.status, answer.body.message]).toEqual([
        415,
        'The Content-Type cannot be read. Send one such as Content-Type: application/json.',
      ])
    }
  })

  it('may be nested 64 levels deep and no deeper', async () => {
    const nested = (levels: number) => `{"name":"A","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect((await post(nested(64))).status).toBe(201)
    const answer = await post(nested(65))
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe('The request body is nested more than 64 levels deep.')
    expect((await post(`{"name":${JSON.stringify('[{'.repeat(100))}}`)).status).toBe(201)
    expect((await post('['.repeat(500_000))).status).toBe(400)
  })

  it.each([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"name":"\\ud800"}', 'name'],
    ['{"name":"a","maintainers":[{"user":"\\uDFFF"}]}', 'maintainers[0].user'],
    ['{"name":"a","x\\u0000":1}', 'a key'],
  ])('is refused with 400 when it cannot be stored: %s', async (text, where) => {
    const answer = await post(text)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toBe(
      `${where} contains characters that cannot be stored (NUL or half a surrogate pair).`,
    )
  })

  it('may have whole surrogate pairs and backslashes', async () => {
    const answer = await post('{"name":"\\ud83d\\udee0 \\\\u0000"}')
    expect(answer.body.name).toBe('🛠 \\u0000')
  })

  it('is not read before the caller is authorized', async () => {
    const answer = await app.request('POST', `${org.path}/clusters`, { text: '{', headers: json })
    expect(answer.status).toBe(401)
  })

  it('cannot reach an object’s prototype', async () => {
    const answer = await post('{"name":"A","__proto__":{"hosted":true},"constructor":{"hosted":true}}')
    expect(answer.status).toBe(201)
    expect(Reflect.get({}, 'hosted')).toBeUndefined()
  })
})
