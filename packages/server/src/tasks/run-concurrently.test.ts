import { describe, expect, it } from 'vitest'
import { runConcurrently } from './run-concurrently.ts'

const never = new AbortController().signal

describe('runConcurrently', () => {
  it('continues until nothing is left, also when all running work ends at once', async () => {
    const left = [1, 2, 3, 4, 5, 6, 7]
    const done: number[] = []
    await runConcurrently({
      most: 16,
      stopping: never,
      // At most two of one owner may run.
      claim: async () => left.splice(0, 2),
      work: async (item) => void done.push(item),
      failed: () => {},
    })
    expect(done).toEqual([1, 2, 3, 4, 5, 6, 7])
  })

  it('runs no more than `most` at once', async () => {
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

  it('claims nothing after a stop, and finishes what it has begun', async () => {
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

  it('reports failures and continues', async () => {
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
