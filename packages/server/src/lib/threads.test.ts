import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.ts'
import { ThreadLimitExceeded } from './thread.ts'
import { listQueues, runInThread, takePlace, withPlace, type WorkKind, type WorkOwner } from './threads.ts'

const module = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`)
const work = (code: string) => module(`export const work = ${code}`)
const owner: WorkOwner = { kind: 'page', organizationId: 'an organization', sender: 'a user', until: null }
const run = (code: string, input: unknown = null, cpuMs = 60_000) =>
  runInThread<(input: unknown) => unknown>(owner, work(code), 'work', input, cpuMs)

/** A task that runs until the test ends it, and one that returns its input. */
const waits = `(end) => { Atomics.wait(new Int32Array(end), 0, 0); return 'ended' }`
const echo = '(input) => input'
const anEnd = () => {
  const end = new SharedArrayBuffer(4)
  return {
    end,
    let() {
      Atomics.store(new Int32Array(end), 0, 1)
      Atomics.notify(new Int32Array(end), 0)
    },
  }
}

/** Occupies all threads of a kind, for another organization. */
function occupy(kind: WorkKind) {
  const ends = [anEnd(), anEnd()]
  const running = ends.map(({ end }) =>
    runInThread<(input: unknown) => unknown>(
      { kind, organizationId: 'a busy one', sender: 'somebody', until: null },
      work(waits),
      'work',
      end,
      60_000,
    ),
  )
  return async () => {
    for (const end of ends) end.let()
    await Promise.all(running)
  }
}

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
    const sleeps = '() => new Promise((done) => setTimeout(done, 1200, "awake"))'
    expect(await run(sleeps, null, 1000)).toBe('awake')
  })

  it('is terminated when it exceeds its memory', async () => {
    const greedy = '() => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)) }'
    await expect(run(greedy, null, 60_000)).rejects.toBeInstanceOf(ThreadLimitExceeded)
  })

  it('fails with the error that was thrown, and with the status of an ApiError', async () => {
    await expect(run('() => { throw new TypeError("why") }')).rejects.toThrow('why')
    const errors = new URL('../../dist/lib/errors.js', import.meta.url)
    const refusal: unknown = await runInThread<(input: null) => unknown>(
      owner,
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

describe('work of several organizations (abuse case R34)', () => {
  const send = (kind: WorkKind, organizationId: string, sender: string, done: string[]) =>
    runInThread<(input: unknown) => unknown>(
      { kind, organizationId, sender, until: null },
      work(echo),
      'work',
      `${organizationId}${sender}`,
      60_000,
    ).then((name) => done.push(String(name)))

  it('is taken in turns: one who comes later waits for one task of each other at most', async () => {
    const release = occupy('search')
    const done: string[] = []
    const many = Array.from({ length: 8 }, () => send('search', 'A', 'x', done))
    const others = [send('search', 'A', 'y', done), send('search', 'B', 'x', done)]
    await release()
    await Promise.all([...many, ...others])
    expect(done.slice(0, 3).toSorted()).toEqual(['Ax', 'Ay', 'Bx'])
    expect(done.indexOf('Bx')).toBe(1)
  })

  it('does not wait for work of another kind', async () => {
    const release = occupy('upload')
    const done: string[] = []
    const upload = send('upload', 'A', 'x', done)
    await Promise.all((['page', 'search', 'background'] as const).map((kind) => send(kind, 'B', kind, done)))
    expect(done.toSorted()).toEqual(['Bbackground', 'Bpage', 'Bsearch'])
    await release()
    await upload
  })

  it('is bounded for each sender, whose refusal says when to ask again', async () => {
    const taken: Array<{ leave: () => void }> = []
    const takeAll = () => {
      for (;;) taken.push(takePlace(owner))
    }
    expect(takeAll).toThrow(ApiError)
    const more = () => takePlace(owner)
    expect(more).toThrow(/^You have \d+ requests for logs or pages under way at once/)
    takePlace({ ...owner, sender: 'another' }).leave()
    for (const place of taken) place.leave()
    expect(await run('() => 1')).toBe(1)
  })
})

describe('work whose client has gone', () => {
  const dropped = () => listQueues().find(({ kind }) => kind === 'search')?.dropped ?? 0

  it('is not started', async () => {
    const release = occupy('search')
    const leaving = new AbortController()
    const before = dropped()
    const abandoned = runInThread<(input: unknown) => unknown>(
      { kind: 'search', organizationId: 'A', sender: 'x', until: leaving.signal },
      work(`() => { throw new Error('It was started.') }`),
      'work',
      null,
      60_000,
    ).catch((error: unknown) => error)
    leaving.abort()
    expect(await abandoned).toMatchObject({ status: 499 })
    expect(dropped()).toBe(before + 1)
    await release()
    expect(() => takePlace({ ...owner, until: leaving.signal })).toThrow(ApiError)
  })

  it('is terminated when it runs', async () => {
    const leaving = new AbortController()
    const endless = withPlace({ ...owner, kind: 'search', until: leaving.signal }, (place) => {
      const running = place.run<(input: unknown) => unknown>(work('() => { for (;;); }'), 'work', null, 1e9)
      leaving.abort()
      return running
    })
    await expect(endless).rejects.toMatchObject({ status: 499 })
  })
})
