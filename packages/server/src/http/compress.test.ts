import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { aWorld } from '../../test/world.ts'

const app = useApp()
const path = '/v2/openapi.json'
let whole = ''
beforeAll(async () => {
  whole = (await app.request('GET', path)).text
})

const get = async (encoding: string | null, method: 'GET' | 'HEAD' = 'GET', at = path) => {
  const answer = await request(app.address + at, {
    method,
    headers: encoding === null ? {} : { 'accept-encoding': encoding },
  })
  return { headers: answer.headers, bytes: Buffer.from(await answer.body.arrayBuffer()) }
}

describe('a JSON response of more than 8 kB', () => {
  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip, deflate, br', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['deflate, gzip ; q = 0.5', 'gzip'],
    [`x${' '.repeat(12_000)}y, gzip`, 'gzip'],
    ['GZIP', 'gzip'],
  ])('is compressed for a client that accepts %s', async (accepted, expected) => {
    const { headers, bytes } = await get(accepted)
    expect([headers['content-encoding'], headers['vary']]).toEqual([expected, 'Accept-Encoding'])
    expect(headers['content-length']).toBe(String(bytes.length))
    expect(bytes.length).toBeLessThan(whole.length / 3)
    const text = expected === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)
    expect(text.toString()).toBe(whole)
  })

  it.each([null, 'identity', 'deflate', 'gzip;q=0'])(
    'is sent as it is to one that accepts %s',
    async (accepted) => {
      const { headers, bytes } = await get(accepted)
      expect([headers['content-encoding'], headers['vary']]).toEqual([undefined, 'Accept-Encoding'])
      expect(bytes.toString()).toBe(whole)
    },
  )

  it('has the same length for HEAD', async () => {
    const [got, headed] = [await get('br'), await get('br', 'HEAD')]
    expect(headed.bytes.length).toBe(0)
    expect(headed.headers['content-length']).toBe(got.headers['content-length'])
  })
})

describe('JSON in chunks', () => {
  it('is compressed', async () => {
    const world = await aWorld(app)
    const at = `${world.org.path}/jobs/${world.ids['job']}/log`
    const ask = (encoding: string) =>
      request(app.address + at, {
        headers: { authorization: `Bearer ${world.admin.token}`, 'accept-encoding': encoding },
      })
    const plain = await (await ask('identity')).body.text()
    for (const [encoding, read] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, body } = await ask(encoding)
      expect([headers['content-encoding'], headers['content-length']]).toEqual([encoding, undefined])
      expect(read(Buffer.from(await body.arrayBuffer())).toString()).toBe(plain)
    }
  })
})

describe('a smaller response', () => {
  it('is sent as it is', async () => {
    const { headers } = await get('gzip, br', 'GET', '/healthz')
    expect(headers['content-encoding']).toBeUndefined()
  })
})
