import { describe, expect, it } from 'vitest'
import type { FoundToken } from './find-tokens.ts'
import { cacheTokens } from './token-cache.ts'

const found = (given: Partial<FoundToken> = {}): FoundToken => ({
  id: 'a token',
  session: null,
  description: '',
  scopes: [],
  organization_ids: null,
  allowed_ip_addresses: null,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  is_machine: false,
  user: { id: 'a user', name: '', email: '', created_at: '' },
  organization: null,
  ...given,
})

function setUp(answer: () => FoundToken | null | Promise<FoundToken | null> = () => found()) {
  const clock = { now: Date.parse('2026-01-01T00:00:00Z'), monotonic: 0 }
  const asked: string[] = []
  const cache = cacheTokens(
    async (token) => {
      asked.push(token)
      return answer()
    },
    { now: () => clock.now, monotonicNow: () => clock.monotonic },
  )
  return { clock, asked, cache }
}

describe('a cache', () => {
  it('tells of every lookup', async () => {
    const { cache } = setUp()
    let lookups = 0
    cache.onLookup(() => lookups++)
    await cache.find('t', null)
    cache.trustUntil(100)
    await cache.find('t', null)
    await cache.find('t', null)
    expect(lookups).toBe(3)
  })
})

describe('cached tokens', () => {
  it('are queried every time while the cache is not trusted', async () => {
    const { asked, cache } = setUp()
    await cache.find('t', null)
    await cache.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are queried once while it is trusted, and again afterwards', async () => {
    const { asked, cache, clock } = setUp()
    cache.trustUntil(100)
    await cache.find('t', null)
    await cache.find('t', null)
    expect(asked).toHaveLength(1)
    clock.monotonic = 100
    await cache.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are cached per organization', async () => {
    const { asked, cache } = setUp()
    cache.trustUntil(100)
    await cache.find('t', null)
    await cache.find('t', 'acme')
    expect(asked).toHaveLength(2)
  })

  it('are gone when the cache is cleared, also those whose query is in flight', async () => {
    let answer: (token: FoundToken) => void = () => {}
    const { asked, cache } = setUp(() => new Promise((resolve) => (answer = resolve)))
    cache.trustUntil(100)
    const early = cache.find('t', null)
    cache.clear()
    cache.trustUntil(100)
    answer(found())
    await early
    void cache.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are only those that exist, with the requested membership', async () => {
    const answers = [null, found(), null]
    const { asked, cache } = setUp(() => answers.shift() ?? null)
    cache.trustUntil(100)
    await cache.find('t', 'acme')
    await cache.find('t', 'acme')
    await cache.find('t', 'acme')
    expect(asked).toHaveLength(3)
  })

  it('are queried every time in the minute before they expire', async () => {
    const { asked, cache, clock } = setUp(() => found({ expires_at: '2026-01-01T01:00:00.000Z' }))
    cache.trustUntil(100)
    await cache.find('t', null)
    clock.now = Date.parse('2026-01-01T00:58:59Z')
    await cache.find('t', null)
    expect(asked).toHaveLength(1)
    clock.now = Date.parse('2026-01-01T00:59:01Z')
    await cache.find('t', null)
    await cache.find('t', null)
    expect(asked).toHaveLength(3)
  })

  it('are limited in number', async () => {
    const { asked, cache } = setUp()
    cache.trustUntil(100)
    await cache.find('first', null)
    for (let n = 0; n < 10_000; n++) await cache.find(`t${n}`, null)
    await cache.find('first', null)
    expect(asked).toHaveLength(10_002)
  })
})
