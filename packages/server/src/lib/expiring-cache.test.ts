import { describe, expect, it } from 'vitest'
import { expiringCache } from './expiring-cache.ts'

const at = (minutes: number) => new Date(minutes * 60_000)

describe('expiringCache', () => {
  const aMemory = (most = 10) => {
    let count = 0
    const cache = expiringCache<number>({ marginMs: 10 * 60_000, most })
    const get = (key: string, minutes: number) =>
      cache.get(key, at(minutes), async () => ({ value: ++count, endsAt: at(minutes + 60) }))
    return { cache, get }
  }

  it('keeps a value until shortly before it expires', async () => {
    const { get } = aMemory()
    expect([await get('a', 0), await get('a', 49), await get('a', 50), await get('a', 51)]).toEqual([
      1, 1, 2, 2,
    ])
  })

  it('makes one value for all concurrent callers, also after an earlier one has expired', async () => {
    const { get } = aMemory()
    expect(await Promise.all([get('a', 0), get('a', 0), get('b', 0)])).toEqual([1, 1, 2])
    expect(await Promise.all([get('a', 55), get('a', 55), get('a', 55)])).toEqual([3, 3, 3])
  })

  it('keeps neither failures nor deleted values', async () => {
    const { cache, get } = aMemory()
    const failing = () => cache.get('a', at(0), () => Promise.reject(new Error('no')))
    await Promise.all([expect(failing()).rejects.toThrow('no'), expect(failing()).rejects.toThrow('no')])
    expect(await get('a', 0)).toBe(1)
    cache.delete('a')
    expect(await get('a', 0)).toBe(2)
  })

  it('drops the oldest value when there are too many', async () => {
    const { get } = aMemory(2)
    for (const key of ['a', 'b', 'c']) await get(key, 0)
    expect([await get('c', 0), await get('b', 0), await get('a', 0)]).toEqual([3, 2, 4])
  })
})
