import { describe, expect, it } from 'vitest'
import { runConcurrently } from './run-concurrently.ts'

const never = new AbortController().signal

describe('a runConcurrently', () => {
  it('goes on until nothing is left, also when all that was going ends at once', async () => {
    const left = [1, 2, 3, 4, 5, 6, 7]
    const done: number[] = []
    await runConcurrently({
      most: 16,
      stopping: never,
      // As where only two of one owner may be under way.
      claim: async () => left.splice(0, 2),
      work: async (item) => void done.push(item),
      failed: () => {},
    })
    expect(done).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('has no more under way than it may', async () => {
    let [going, most, left] = [0, 0, 20]
    await runConcurrently({
      most: 3,
      stopping: never,
      claim: async (room) => Array.from({ length: Math.min(room, left) }, () => left--),
      work: async () => {
        going += 1
        most = Math.max(most, going)
        await new Promise(setImmediate)
        going -= 1
      },
      failed: () => {},
    })
    expect([most, left]).toEqual([3, 0])
  })

  it('claims nothing more when it is to stop, and ends what it has begun', async () => {
    const stopping = new AbortController()
    let [claims, ended] = [0, 0]
    await runConcurrently({
      most: 2,
      stopping: stopping.signal,
      claim: async () => {
        claims += 1
        stopping.abort()
        return [1, 2]
      },
      work: async () => {
        await new Promise(setImmediate)
        ended += 1
      },
      failed: () => {},
    })
    expect([claims, ended]).toEqual([1, 2])
  })

  it('says what failed, and does the rest', async () => {
    const left = [1, 2, 3]
    const errors: unknown[] = []
    await runConcurrently({
      most: 1,
      stopping: never,
      claim: async () => left.splice(0, 1),
      work: async (item) => {
        if (item === 2) throw new Error('two')
      },
      failed: (error) => void errors.push(error),
    })
    expect([left, errors]).toEqual([[], [new Error('two')]])
  })
})
