import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.ts'
import { runInThread, ThreadLimitExceeded } from './threads.ts'

const module = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const run = (code: string, input: unknown = null, cpuMs = 60_000) =>
  runInThread<(input: unknown) => unknown>(module(`export const work = ${code}`), 'work', input, cpuMs)

describe('work in a thread (abuse case R22)', () => {
  it('returns a copy of its result', async () => {
    expect(await run('({ a }) => ({ b: [a + 1] })', { a: 1 })).toEqual({ b: [2] })
  })

  it('is terminated when it exceeds its processor time, and the next task runs', async () => {
    const endless = run('() => { for (;;); }', null, 300)
    const [outcome, other] = await Promise.allSettled([endless, run('() => 1')])
    expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(ThreadLimitExceeded)
    expect(other).toEqual({ status: 'fulfilled', value: 1 })
    expect(await run('() => 2')).toBe(2)
  })

  it('may take longer by the clock than its processor time', async () => {
    const waits = '() => new Promise((done) => setTimeout(done, 1200, "awake"))'
    expect(await run(waits, null, 1000)).toBe('awake')
  })

  it('is terminated when it exceeds its memory', async () => {
    const greedy = '() => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) }'
    await expect(run(greedy, null, 60_000)).rejects.toBeInstanceOf(ThreadLimitExceeded)
  })

  it('fails with the error that was thrown, and with the status of an ApiError', async () => {
    await expect(run('() => { throw new TypeError("why") }')).rejects.toThrow('why')
    const errors = new URL('../../dist/lib/errors.js', import.meta.url)
    const refusal: unknown = await runInThread<(input: null) => unknown>(
      module(`import { refused } from ${JSON.stringify(errors.href)}
        export const work = () => { throw refused('not so') }`),
      'work',
      null,
      60_000,
    ).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ApiError)
    expect(refusal).toMatchObject({ status: 422, message: 'not so' })
  })
})
