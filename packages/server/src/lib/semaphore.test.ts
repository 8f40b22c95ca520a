import { expect, it } from 'vitest'
import { Semaphore } from './semaphore.ts'

it('runs at most the limit at once, and the others in order of arrival, also after failures', async () => {
  const semaphore = new Semaphore(2)
  const ends: Array<(isGood: boolean) => void> = []
  const begun: number[] = []
  const results = [0, 1, 2, 3, 4].map((name) =>
    semaphore.run(() => {
      begun.push(name)
      return new Promise<number>((resolve, reject) => {
        ends[name] = (isGood) => (isGood ? resolve(name) : reject(new Error(`${name} failed`)))
      })
    }),
  )
  const settled = Promise.allSettled(results)
  expect(begun).toEqual([0, 1])
  ends[1]?.(false)
  await expect(results[1]).rejects.toThrow('1 failed')
  expect(begun).toEqual([0, 1, 2])
  ends[2]?.(true)
  await results[2]
  ends[0]?.(true)
  await results[0]
  expect(begun).toEqual([0, 1, 2, 3, 4])
  ends[3]?.(true)
  ends[4]?.(true)
  expect((await settled).map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
    'fulfilled',
  ])
  await expect(
    Promise.all([semaphore.run(async () => 'a'), semaphore.run(async () => 'b')]),
  ).resolves.toEqual(['a', 'b'])
})

it('counts a heavy call as several, runs one beyond the limit alone, and keeps the order', async () => {
  const semaphore = new Semaphore(4)
  const ends: Array<() => void> = []
  const begun: number[] = []
  const weights = [1, 3, 2, 1, 100, 1]
  const results = weights.map((weight, name) =>
    semaphore.run(() => {
      begun.push(name)
      return new Promise<void>((resolve) => (ends[name] = resolve))
    }, weight),
  )
  const end = async (name: number) => {
    ends[name]?.()
    await results[name]
  }
  expect(begun).toEqual([0, 1])
  await end(0)
  expect(begun).toEqual([0, 1])
  await end(1)
  expect(begun).toEqual([0, 1, 2, 3])
  await end(3)
  await end(2)
  expect(begun).toEqual([0, 1, 2, 3, 4])
  await end(4)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5])
  await end(5)
})
