import { describe, expect, it } from 'vitest'
import type { FoundToken } from './find-tokens.ts'
import { rememberTokens } from './token-memory.ts'

const found = (given: Partial<FoundToken> = {}): FoundToken => ({
  id: 'a token',
  description: '',
  scopes: [],
  organization_ids: null,
  allowed_ip_addresses: null,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: null,
  user: { id: 'a user', name: '', email: '', created_at: '' },
  organization: null,
  ...given,
})

function setUp(answer: () => FoundToken | null | Promise<FoundToken | null> = () => found()) {
  const clock = { now: Date.parse('2026-01-01T00:00:00Z'), monotonic: 0 }
  const asked: string[] = []
  const memory = rememberTokens(
    async (token) => {
      asked.push(token)
      return answer()
    },
    { now: () => clock.now, monotonicNow: () => clock.monotonic },
  )
  return { clock, asked, memory }
}

describe('remembered tokens', () => {
  it('are asked for every time while nobody vouches for the memory', async () => {
    const { asked, memory } = setUp()
    await memory.find('t', null)
    await memory.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are asked for once while somebody does, and again when that time is over', async () => {
    const { asked, memory, clock } = setUp()
    memory.trustUntil(100)
    await memory.find('t', null)
    await memory.find('t', null)
    expect(asked).toHaveLength(1)
    clock.monotonic = 100
    await memory.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are kept apart by organization', async () => {
    const { asked, memory } = setUp()
    memory.trustUntil(100)
    await memory.find('t', null)
    await memory.find('t', 'acme')
    expect(asked).toHaveLength(2)
  })

  it('are forgotten when told to, also those whose answer is still on its way', async () => {
    let answer: (token: FoundToken) => void = () => {}
    const { asked, memory } = setUp(() => new Promise((resolve) => (answer = resolve)))
    memory.trustUntil(100)
    const early = memory.find('t', null)
    memory.forget()
    memory.trustUntil(100)
    answer(found())
    await early
    void memory.find('t', null)
    expect(asked).toHaveLength(2)
  })

  it('are only those that exist, with the membership that was asked for', async () => {
    const answers = [null, found(), null]
    const { asked, memory } = setUp(() => answers.shift() ?? null)
    memory.trustUntil(100)
    await memory.find('t', 'acme')
    await memory.find('t', 'acme')
    await memory.find('t', 'acme')
    expect(asked).toHaveLength(3)
  })

  it('are asked for every time in the last minute of their life', async () => {
    const { asked, memory, clock } = setUp(() => found({ expires_at: '2026-01-01T01:00:00.000Z' }))
    memory.trustUntil(100)
    await memory.find('t', null)
    clock.now = Date.parse('2026-01-01T00:58:59Z')
    await memory.find('t', null)
    expect(asked).toHaveLength(1)
    clock.now = Date.parse('2026-01-01T00:59:01Z')
    await memory.find('t', null)
    await memory.find('t', null)
    expect(asked).toHaveLength(3)
  })

  it('are not more than fit in memory', async () => {
    const { asked, memory } = setUp()
    memory.trustUntil(100)
    await memory.find('first', null)
    for (let n = 0; n < 10_000; n++) await memory.find(`t${n}`, null)
    await memory.find('first', null)
    expect(asked).toHaveLength(10_002)
  })
})
