import { generateKeyPairSync } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { aReceiver } from '../../test/remote-hosts/receiver.ts'
import { issuerKeys } from './issuer-keys.ts'
import { outboundClient } from '../lib/outbound.ts'

const closings: Array<() => Promise<void>> = []
afterAll(async () => {
  await Promise.all(closings.map((close) => close()))
})

const aJwk = (kid: string) => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid,
})

async function aSite() {
  const receiver = await aReceiver()
  const outbound = outboundClient({ allow: '127.0.0.0/8' })
  closings.push(
    () => receiver.close(),
    () => outbound.close(),
  )
  const issuer = new URL(receiver.url).origin
  const site = { keys: [aJwk('one')], isUp: true, asked: 0 }
  receiver.answering = (response, { path }) => {
    const isMetadata = path === '/.well-known/openid-configuration'
    if (!isMetadata) site.asked++
    const body = isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : { keys: site.keys }
    response.writeHead(site.isUp ? 200 : 500).end(JSON.stringify(body))
  }
  return { issuer, site, cache: issuerKeys(outbound.send, issuer) }
}

const at = (second: number) => new Date(second * 1000)
const kids = ({ keys }: { keys: ReadonlyArray<Record<string, string>> }) => keys.map(({ kid }) => kid)

describe('issuerKeys', () => {
  it('keeps keys for ten minutes', async () => {
    const { issuer, site, cache } = await aSite()
    await cache.get(issuer, at(0))
    await cache.get(issuer, at(599))
    expect(site.asked).toBe(1)
    await cache.get(issuer, at(600))
    expect(site.asked).toBe(2)
  })

  it('asks again for a key that it lacks, at most twice a minute', async () => {
    const { issuer, site, cache } = await aSite()
    await cache.get(issuer, at(0))
    site.keys.push(aJwk('two'))
    expect(kids(await cache.getNewer(issuer, at(29)))).toEqual(['one'])
    const answers = await Promise.all([1, 2, 3].map(() => cache.getNewer(issuer, at(30))))
    expect(answers.map(kids)).toEqual([
      ['one', 'two'],
      ['one', 'two'],
      ['one', 'two'],
    ])
    expect(site.asked).toBe(2)
    expect(kids(await cache.get(issuer, at(31)))).toEqual(['one', 'two'])
  })

  it('asks an issuer that failed again after half a minute', async () => {
    const { issuer, site, cache } = await aSite()
    site.isUp = false
    await expect(cache.get(issuer, at(0))).rejects.toThrow('500')
    site.isUp = true
    await expect(cache.get(issuer, at(29))).rejects.toThrow('500')
    expect(kids(await cache.get(issuer, at(30)))).toEqual(['one'])
  })

  it('keeps the keys that it has when newer ones cannot be had', async () => {
    const { issuer, site, cache } = await aSite()
    await cache.get(issuer, at(0))
    site.isUp = false
    await expect(cache.getNewer(issuer, at(60))).rejects.toThrow('500')
    expect(kids(await cache.get(issuer, at(61)))).toEqual(['one'])
    expect(kids(await cache.getNewer(issuer, at(89)))).toEqual(['one'])
    await expect(cache.get(issuer, at(600))).rejects.toThrow('500')
  })

  it('drops what keys have beside what verifies', async () => {
    const { issuer, site, cache } = await aSite()
    Object.assign(site, {
      keys: [
        { ...aJwk('one'), d: 'secret', x5c: ['long'] },
        { kty: 'oct', k: 'x' },
      ],
    })
    const { keys } = await cache.get(issuer, at(0))
    expect(keys.map((key) => Object.keys(key).toSorted())).toEqual([['crv', 'kid', 'kty', 'x', 'y']])
  })
})
