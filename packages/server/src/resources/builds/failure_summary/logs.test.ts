// The rows of logs in a summary: of logs in chunks, in the blob store, deleted, and hostile ones.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../../../test/app.ts'
import { aToken } from '../../../../test/builders.ts'
import {
  compactLogs,
  endLongAgo,
  jobsOfOneWorld,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'
import { checkpointLog } from '../log/rows/checkpoints.ts'
import type { Summary, SummarizedLog } from './schema.ts'

const app = useApp()
const aJob = jobsOfOneWorld(app)

async function summaryOf(scene: RunningScene, query = '', token = scene.admin.token): Promise<Summary> {
  const answer = await app.request('GET', `${scene.buildPath}/failure_summary${query}`, { token })
  expect(answer.status).toBe(200)
  return answer.body as unknown as Summary
}

async function logOf(scene: RunningScene): Promise<SummarizedLog> {
  const [job] = (await summaryOf(scene)).jobs
  if (job === undefined) throw new Error('The summary has no job.')
  return job.log
}

const texts = ({ rows }: SummarizedLog) => rows.map(({ text }) => text)

const failingLog = [
  '~~~ Preparing',
  'ok',
  '--- Tests',
  ...Array.from({ length: 300 }, (_, n) => `test ${n} passed`),
  '\u001b[31mAssertionError: expected 3 to be 4\u001b[0m',
  ...Array.from({ length: 300 }, (_, n) => `  at frame ${n}`),
  'The command exited with status 1',
  '^^^ +++',
  '~~~ Clean up',
  'removed',
  '',
].join('\n')

const failingRow = 304

describe('the log of a failed job', () => {
  it.each(['in chunks', 'in the blob store'])(
    'shows the failing row, what is around it, and the end of its group, %s',
    async (where) => {
      const scene = await aJob()
      await sendLog(app, scene.run, failingLog)
      await endLongAgo(app, scene.run, 1)
      if (where === 'in the blob store') await compactLogs(app.ctx)
      const summary = await summaryOf(scene)
      const [job] = summary.jobs
      expect(job?.log).toMatchObject({
        status: 'shown',
        group: 'Tests',
        failing_row: failingRow,
        total_rows: 608,
      })
      expect(job?.log.web_url).toBe(`${job?.web_url}/L${failingRow}`)
      const rows = job?.log.rows ?? []
      expect(rows).toContainEqual({ row: failingRow, text: 'AssertionError: expected 3 to be 4' })
      expect(rows[0]).toEqual({ row: failingRow - 9, text: 'test 291 passed' })
      expect(rows.at(-1)).toEqual({ row: 605, text: 'The command exited with status 1' })
      expect(rows.length).toBeLessThanOrEqual(50)
      expect(summary.truncated).toMatchObject({ rows: 603 - 50, jobs: 0 })
      const { body } = await app.request('GET', `${scene.long}/log/rows?from=${failingRow}&limit=1`, {
        token: scene.admin.token,
      })
      expect(JSON.stringify(body.rows)).toContain('AssertionError')
    },
  )

  it('has the styles of the rows if they are asked for', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'ok\n\u001b[1;31mError:\u001b[0m no\n')
    await scene.run.finish(1)
    const [styled] = (await summaryOf(scene, '?styles=true')).jobs
    expect(styled?.log.rows[1]).toEqual({ row: 2, text: 'Error: no', runs: [['Error:', 'fg1 bold'], ' no'] })
    expect((await logOf(scene)).rows[1]).toEqual({ row: 2, text: 'Error: no' })
  })

  it('shows the end of a log without groups, and a short log whole', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'one\ntwo\n\nthree\n\n')
    await scene.run.finish(1)
    const log = await logOf(scene)
    expect(log.rows).toEqual([
      { row: 1, text: 'one' },
      { row: 2, text: 'two' },
      { row: 3, text: '' },
      { row: 4, text: 'three' },
    ])
    expect(log).toMatchObject({ group: null, failing_row: 4, total_rows: 5 })
  })

  it('says that nothing was written, and that the log was deleted', async () => {
    const empty = await aJob()
    await empty.run.finish(1)
    expect(await logOf(empty)).toMatchObject({ status: 'empty', rows: [] })
    const deleted = await aJob()
    await sendLog(app, deleted.run, 'gone\n')
    await deleted.run.finish(1)
    await app.request('DELETE', `${deleted.long}/log`, { token: deleted.admin.token })
    expect(await logOf(deleted)).toMatchObject({ status: 'deleted', rows: [], web_url: null })
  })

  it('says that the token may not read logs, and shows everything else', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'secret\n')
    await scene.run.finish(1)
    const token = await aToken(app, scene.admin, { scopes: ['read_builds'] })
    const summary = await summaryOf(scene, '', token)
    expect(summary.jobs).toMatchObject([{ exit_status: 1, log: { status: 'not_permitted', rows: [] } }])
    expect(JSON.stringify(summary)).not.toContain('secret')
  })

  it('says that a log could not be read while its object is not in the store', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'lost\n')
    await endLongAgo(app, scene.run, 1)
    await compactLogs(app.ctx)
    await sql`update job_logs set rows_blob_key = 'nowhere' where job_id = ${scene.run.id}`.execute(app.db)
    expect(await logOf(scene)).toMatchObject({ status: 'unavailable', rows: [] })
  })

  it('reads only the end of a long log that still grows, and its numbers from a checkpoint', async () => {
    const scene = await aJob()
    const line = `${'y'.repeat(99)}\n`
    const piece = line.repeat(1000)
    for (let sequence = 1; sequence <= 12; sequence++)
      await sendChunk(app, scene.run, { sequence, offset: (sequence - 1) * piece.length, text: piece })
    await sendChunk(app, scene.run, { sequence: 13, offset: 12 * piece.length, text: 'Error: broken\n' })
    await scene.run.finish(1)
    const unnumbered = await logOf(scene)
    expect(unnumbered).toMatchObject({ status: 'shown', failing_row: null, total_rows: null })
    expect(unnumbered.rows.at(-1)).toEqual({ row: null, text: 'Error: broken' })
    expect(unnumbered.web_url).toBe((await summaryOf(scene)).jobs[0]?.web_url)
    await checkpointLog(app.ctx, { job_id: scene.run.id, organization_id: scene.org.id })
    expect((await logOf(scene)).rows.at(-1)).toEqual({ row: 12_001, text: 'Error: broken' })
    expect(await logOf(scene)).toMatchObject({ failing_row: 12_001, total_rows: 12_001 })
  })

  it('reads a log that an older server has compacted without rows', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, failingLog)
    await endLongAgo(app, scene.run, 1)
    await compactLogs(app.ctx)
    await sql`update job_logs set rows_blob_key = null, rows_layout = null where job_id = ${scene.run.id}`.execute(
      app.db,
    )
    expect(await logOf(scene)).toMatchObject({ status: 'shown', group: 'Tests', failing_row: failingRow })
  })

  it('shows a running job that has said it will fail, with what it wrote so far', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, '+++ Tests\n1 failed\n')
    await sql`update jobs set promised_hard = true, promised_exit_status = 1 where id = ${scene.run.id}`.execute(
      app.db,
    )
    const summary = await summaryOf(scene)
    expect(summary.jobs).toMatchObject([{ state: 'running', reason: 'has reported that it will fail' }])
    expect(texts(await logOf(scene))).toEqual(['1 failed'])
  })
})

const hostile: Record<string, string> = {
  escapes: '\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m \u009b31m \u0000 \u0007 done',
  'directions and invisible text': `safe\u202Etxt.exe ${String.fromCodePoint(0xe0049, 0xe0067)} done`,
  'a bar of carriage returns': `${Array.from({ length: 2000 }, (_, n) => `${n} %\r`).join('')}100 %\ndone`,
  'one endless line': `${'z'.repeat(300_000)}\ndone`,
  'ten thousand groups': `${Array.from({ length: 12_000 }, (_, n) => `--- ${'g'.repeat(500)} ${n}\n`).join('')}done`,
  'a style for each letter': `${Array.from({ length: 20_000 }, (_, n) => `\u001b[${31 + (n % 6)}mx`).join('')}\ndone`,
  'unfinished escapes': `${'\u001b['.repeat(20_000)}\ndone`,
  'bytes that are no text': Buffer.from([0xff, 0xfe, 0x80, 0x0a, ...Buffer.from('done')]).toString('latin1'),
}

describe('a hostile log', () => {
  it.each(Object.entries(hostile))('of %s is shown as bounded plain text', async (_name, content) => {
    const scene = await aJob()
    await sendLog(app, scene.run, `--- Start\n${content}\n`)
    await endLongAgo(app, scene.run, 1)
    for (const isCompacted of [false, true]) {
      if (isCompacted) await compactLogs(app.ctx)
      const log = await logOf(scene)
      expect(log.status).toBe('shown')
      expect(log.rows.at(-1)?.text).toMatch(/done$/)
      for (const { text } of log.rows) {
        expect(text.length).toBeLessThanOrEqual(500)
        expect(text).not.toMatch(
          /[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e0fff}]/u,
        )
      }
    }
  })
})

describe('the size of the answer', () => {
  it('never exceeds max_bytes, and shows fewer rows before fewer jobs', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, `${'"\\'.repeat(240)}é\n`.repeat(60))
    await scene.run.finish(1)
    const whole = await summaryOf(scene)
    expect(whole.jobs[0]?.log.rows).toHaveLength(50)
    const read = async (bytes: number) => {
      const answer = await app.request('GET', `${scene.buildPath}/failure_summary?max_bytes=${bytes}`, {
        token: scene.admin.token,
      })
      expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(bytes)
      return answer.body as unknown as Summary
    }
    const small = await read(24 * 1024)
    expect(small.jobs).toHaveLength(1)
    const shown = small.jobs[0]?.log.rows.length ?? 0
    expect(shown).toBeGreaterThan(10)
    expect(shown).toBeLessThan(50)
    expect(small.truncated?.rows).toBe(60 - shown)
    expect((await read(8 * 1024)).counts.hard_failures).toBe(1)
  })
})
