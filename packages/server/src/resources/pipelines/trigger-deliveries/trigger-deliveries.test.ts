import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { baseUrl, useApp } from '../../../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../../../test/builders.ts'

const app = useApp()

async function aTrigger(fields: object = {}) {
  const org = await anOrganization(app)
  const { token } = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps:\n  - command: make\n')
  const { body } = await app.request('POST', `${pipeline.path}/triggers`, {
    token,
    body: { name: 'Any', ...fields },
  })
  const path = `${pipeline.path}/triggers/${String(body.id)}/deliveries`
  const send = (text: string, headers: Record<string, string> = {}) =>
    app.request('POST', String(body.address).replace(baseUrl, ''), { text, headers })
  const get = (rest = '') => app.request('GET', `${path}${rest}`, { token })
  return { pipeline, trigger: body, path, send, get, token }
}

const sign = (secret: unknown, text: string) =>
  `sha256=${createHmac('sha256', String(secret)).update(text).digest('hex')}`

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}/deliveries', () => {
  it('lists what was received, newest first, with the answer', async () => {
    const { pipeline, path, send, get, trigger } = await aTrigger()
    await send('{}')
    await send('{}', { 'X-Millrace-Signature': sign(trigger.secret, '{}') })
    await send('no JSON', { 'X-Millrace-Signature': sign(trigger.secret, 'no JSON') })
    const { list } = await get()
    expect(list).toEqual([
      {
        id: expect.any(String),
        url: expect.stringContaining(`${path}/`),
        received_at: expect.any(String),
        status: 400,
        message: expect.stringContaining('not valid JSON'),
        build: null,
        body_bytes: 7,
      },
      expect.objectContaining({
        status: 200,
        message: 'Build #1 was made.',
        build: { id: expect.any(String), number: 1, url: `${baseUrl}${pipeline.path}/builds/1` },
      }),
      expect.objectContaining({
        status: 401,
        message:
          'The signature is missing or wrong: the trigger expects it in the header X-Millrace-Signature.',
        build: null,
      }),
    ])
  })

  it('keeps the last 50', async () => {
    const { send, get } = await aTrigger({ signature: 'none', condition: 'false' })
    const sending = Array.from({ length: 55 }, (_, index) => () => send(JSON.stringify({ index })))
    for (const each of sending.slice(0, 45)) await each()
    await Promise.all(sending.slice(45).map((each) => each()))
    const last = await send('{"index": "last"}')
    expect(last.status).toBe(200)
    const { list } = await get('?per_page=100')
    expect(list).toHaveLength(50)
    const newest = await get(`/${String(list[0]?.id)}`)
    expect(newest.body.body).toBe('{"index": "last"}')
  })

  it('does not log what has no address, and is gone with the trigger', async () => {
    const { send, trigger, path, token } = await aTrigger({ signature: 'none' })
    await send('{}')
    await app.request('DELETE', path.replace('/deliveries', ''), { token })
    const rows = await app.db
      .selectFrom('trigger_deliveries')
      .select('id')
      .where('trigger_id', '=', String(trigger.id))
      .execute()
    expect(rows).toEqual([])
    expect((await app.request('GET', path, { token })).status).toBe(404)
  })
})

describe('GET /v2/organizations/{org.slug}/pipelines/{slug}/triggers/{id}/deliveries/{id}', () => {
  it('shows headers and body without secrets', async () => {
    const secret = 'the secret of the sender'
    const { send, get } = await aTrigger({ signature: 'token', signature_header: 'X-Acme', secret })
    await send(JSON.stringify({ token: secret, other: 'shown' }), {
      'X-Acme': secret,
      'X-Copy': `Bearer ${secret}`,
      Authorization: 'Basic abc',
      Cookie: 'session=abc',
      'X-Api-Key': 'abc',
      'X-Event': 'push',
      'X-Acme-Delivery': 'one',
    })
    const [listed] = (await get()).list
    const { body } = await get(`/${String(listed?.id)}`)
    expect(body).toEqual({
      ...listed,
      headers: expect.objectContaining({
        'x-acme': '[redacted]',
        'x-copy': 'Bearer [redacted]',
        authorization: '[redacted]',
        cookie: '[redacted]',
        'x-api-key': '[redacted]',
        'x-event': 'push',
        'x-acme-delivery': 'one',
      }),
      body: '{"token":"[redacted]","other":"shown"}',
    })
  })

  it('shows the first 64 KiB of a long body', async () => {
    const { send, get } = await aTrigger({ signature: 'none', condition: 'false' })
    const text = JSON.stringify({ a: '😀'.repeat(100_000) })
    await send(text)
    const [listed] = (await get()).list
    const { body } = await get(`/${String(listed?.id)}`)
    expect([listed?.body_bytes, String(body.body).length <= 65_536]).toEqual([Buffer.byteLength(text), true])
    expect(text.startsWith(String(body.body).slice(0, 10_000))).toBe(true)
  })

  it('is 404 at another trigger', async () => {
    const [one, other] = [await aTrigger({ signature: 'none' }), await aTrigger({ signature: 'none' })]
    await one.send('{}')
    const [listed] = (await one.get()).list
    expect((await other.get(`/${String(listed?.id)}`)).status).toBe(404)
    expect((await one.get('/x')).status).toBe(404)
  })
})
