import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import {
  compactLogs,
  endLongAgo,
  jobsOfOneWorld,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'

const app = useApp()
const aJob = jobsOfOneWorld(app)

const get = (scene: RunningScene, path: string) =>
  app.request('GET', `${scene.long}/log/${path}`, { token: scene.admin.token })

async function compact({ run }: RunningScene, exitStatus = 0): Promise<void> {
  await endLongAgo(app, run, exitStatus)
  await compactLogs(app.ctx)
  const stored = await objectsOf(run.id)
  expect(stored?.blob_key).not.toBeNull()
}

const objectsOf = (jobId: string) =>
  app.db
    .selectFrom('job_logs')
    .select(['blob_key', 'rows_blob_key'])
    .where('job_id', '=', jobId)
    .executeTakeFirst()

/** As if a server that knows no rows had compacted the log. */
async function forgetRows({ run }: RunningScene): Promise<void> {
  await app.db
    .updateTable('job_logs')
    .set({ rows_blob_key: null, rows_layout: null })
    .where('job_id', '=', run.id)
    .execute()
}

const lives = [
  { life: 'a running job', isFinal: false, prepare: async () => {} },
  { life: 'a compacted log', isFinal: true, prepare: compact },
  {
    life: 'a log that an older server has compacted',
    isFinal: true,
    prepare: async (scene: RunningScene) => {
      await compact(scene)
      await forgetRows(scene)
    },
  },
]

const t = (seconds: number) => `\x1b_bk;t=${1_700_000_000_000 + seconds * 1000}\x07`
const at = (seconds: number) => 1_700_000_000_000 + seconds * 1000

describe.each(lives)('GET …/log/rows of $life', ({ isFinal, prepare }) => {
  it('returns rows with times, styles and links, on both routes', async () => {
    const scene = await aJob()
    await sendLog(
      app,
      scene.run,
      [
        `${t(0)}plain <b> \u202e"€"\r\n`,
        `${t(1)}\x1b[1;31mred\x1b[0m then \x1b[38;5;196m\x1b[48;2;1;2;3mcolours\x1b[0m\r\n`,
        '\x1b]8;;https://example.com/a?b=c\x07link\x1b]8;;\x07 \x1b]8;;javascript:alert(1)\x07none\x1b]8;;\x07\r\n',
        '\r\n',
        `${t(4)}10%\r${t(5)}100%`,
      ].join(''),
    )
    await prepare(scene)
    for (const path of [scene.short, scene.long]) {
      const { status, body } = await app.request('GET', `${path}/log/rows`, { token: scene.admin.token })
      expect(status).toBe(200)
      expect(body).toEqual({
        from: 1,
        total: 5,
        is_final: isFinal,
        rows: [
          [at(0), 'plain <b> \u202e"€"'],
          [at(1), ['red', 'fg1 bold'], ' then ', ['colours', 'fg#ff0000 bg#010203']],
          [null, ['link', '', 'https://example.com/a?b=c'], ' none'],
          [null],
          [at(4), '100%'],
        ],
      })
    }
  })

  it('returns a part of the rows, or the last ones', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, Array.from({ length: 3000 }, (_, index) => `row ${index + 1}\n`).join(''))
    await prepare(scene)
    const rows = async (query: string) => {
      const { text } = await get(scene, `rows?${query}`)
      const {
        from,
        total,
        rows: found,
      }: { from: number; total: number; rows: unknown[][] } = JSON.parse(text)
      return [from, total, found.length, found[0]?.[1], found.at(-1)?.[1]]
    }
    expect(await rows('')).toEqual([1, 3000, 500, 'row 1', 'row 500'])
    expect(await rows('from=511&limit=3')).toEqual([511, 3000, 3, 'row 511', 'row 513'])
    expect(await rows('from=2999&limit=2000')).toEqual([2999, 3000, 2, 'row 2999', 'row 3000'])
    expect(await rows('from=3001')).toEqual([3001, 3000, 0, undefined, undefined])
    expect(await rows('tail=2')).toEqual([2999, 3000, 2, 'row 2999', 'row 3000'])
    expect(await rows('tail=2000')).toEqual([1001, 3000, 2000, 'row 1001', 'row 3000'])
  })

  it('has no rows for a log without output', async () => {
    const scene = await aJob()
    await prepare(scene).catch(() => {})
    const { body } = await get(scene, 'rows?tail=10')
    expect(body).toMatchObject({ from: 1, total: 0, rows: [] })
  })
})

describe.each(lives)('GET …/log/index of $life', ({ isFinal, prepare }) => {
  it('returns the groups with their rows, times and durations', async () => {
    const scene = await aJob()
    const content = `${t(0)}first\n${t(1)}--- Set \x1b[31mup\x1b[0m\n${t(2)}x\n${t(5)}+++ :rocket: Tests\n${t(6)}y\n${t(9)}~~~ Quiet\nz`
    await sendLog(app, scene.run, content)
    await prepare(scene)
    const { body } = await get(scene, 'index')
    // The last group lasts until the end of the job.
    expect(Number(body.groups[2]?.duration_ms) > 0).toBe(isFinal)
    expect(body).toEqual({
      rows: 7,
      size: Buffer.byteLength(content),
      is_final: isFinal,
      groups: [
        { kind: '---', name: 'Set up', row: 2, time: at(1), duration_ms: 4000 },
        { kind: '+++', name: ':rocket: Tests', row: 4, time: at(5), duration_ms: 4000 },
        { kind: '~~~', name: 'Quiet', row: 6, time: at(9), duration_ms: body.groups[2]?.duration_ms },
      ],
      failing_row: null,
      excerpt: null,
      first_time: at(0),
    })
  })
})

describe.each(lives)('GET …/log/search of $life', ({ prepare }) => {
  const content = [
    'one \x1b[31mErr\x1b[0mor: 😀 error\n',
    '10%\rERROR\n',
    'nothing\n',
    'a.c abc aXc\n',
    ...Array.from({ length: 300 }, () => 'filler\n'),
    'last error',
  ].join('')

  it('finds text and regular expressions across runs, with and without case, on both routes', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, content)
    await prepare(scene)
    const search = async (query: Record<string, string>) => {
      const answers = [scene.short, scene.long].map((path) =>
        app.request('GET', `${path}/log/search?${new URLSearchParams(query).toString()}`, {
          token: scene.admin.token,
        }),
      )
      const [short, long] = await Promise.all(answers)
      expect(long?.body).toEqual(short?.body)
      return short?.body
    }
    expect(await search({ q: 'error' })).toEqual({
      total: 4,
      is_complete: true,
      searched_rows: 305,
      matches: [
        [1, 4, 9],
        [1, 14, 19],
        [2, 0, 5],
        [305, 5, 10],
      ],
    })
    expect((await search({ q: 'error', case: 'true' })).matches).toEqual([
      [1, 14, 19],
      [305, 5, 10],
    ])
    expect((await search({ q: 'a.c' })).matches).toEqual([[4, 0, 3]])
    expect((await search({ q: 'a.c', regex: 'true' })).matches).toEqual([
      [4, 0, 3],
      [4, 4, 7],
      [4, 8, 11],
    ])
    expect((await search({ q: '^e\\w+$|😀', regex: 'true' })).matches).toEqual([
      [1, 11, 13],
      [2, 0, 5],
    ])
    expect((await search({ q: 'a*', regex: 'true', case: 'true' })).total).toBe(4)
    expect((await search({ q: 'filler' })).total).toBe(300)
  })
})

describe('GET …/log/search', () => {
  it('counts all matches and returns the first 10,000', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'xxxxx\n'.repeat(4000))
    const { body } = await get(scene, 'search?q=x')
    expect([body.total, body.is_complete, body.matches.length]).toEqual([20_000, true, 10_000])
    expect(body.matches[9999]).toEqual([2000, 4, 5])
  })

  it.each([
    '',
    'q=',
    'q=(&regex=true',
    'q=(?<!a)b&regex=true',
    'q=((a{999}){999}){999}&regex=true',
    `q=${'x'.repeat(1001)}`,
  ])('refuses ?%s with 400', async (query) => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'x\n')
    const answer = await get(scene, `search?${query}`)
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['message']])
  })
})
