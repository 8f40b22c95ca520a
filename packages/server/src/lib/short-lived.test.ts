import { describe, expect, it } from 'vitest'
import { shortLived } from './short-lived.ts'

const at = (minutes: number) => new Date(minutes * 60_000)

describe('shortLived', () => {
  const aMemory = (most = 10) => {
    let count = 0
    const memory = shortLived<number>({ marginMs: 10 * 60_000, most })
    const get = (key: string, minutes: number) =>
      memory.get(key, at(minutes), async () => ({ value: ++count, endsAt: at(minutes + 60) }))
    return { memory, get }
  }

  it('keeps a value until shortly before its end', async () => {
    const { get } = aMemory()
    expect([await get('a', 0), await get('a', 49), await get('a', 50), await get('a', 51)]).toEqual([
      1, 1, 2, 2,
    ])
  })

  it('has one made for all who ask at once, also when the one before has ended', async () => {
    const { get } = aMemory()
    expect(await Promise.all([get('a', 0), get('a', 0), get('b', 0)])).toEqual([1, 1, 2])
    expect(await Promise.all([get('a', 55), get('a', 55), get('a', 55)])).toEqual([3, 3, 3])
  })

  it('does not keep a failure, nor what was forgotten', async () => {
    const { memory, get } = aMemory()
    const failing = () => memory.get('a', at(0), () => Promise.reject(new Error('no')))
    await Promise.all([expect(failing()).rejects.toThrow('no'), expect(failing()).rejects.toThrow('no')])
    expect(await get('a', 0)).toBe(1)
    memory.forget('a')
    expect(await get('a', 0)).toBe(2)
  })

  it('forgets the oldest where there are too many', async () => {
    const { get } = aMemory(2)
    for (const key of ['a', 'b', 'c']) await get(key, 0)
    expect([await get('c', 0), await get('b', 0), await get('a', 0)]).toEqual([3, 2, 4])
  })
})
