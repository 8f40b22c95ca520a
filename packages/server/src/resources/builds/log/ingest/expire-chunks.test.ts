import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../../test/app.ts'
import { aRunningJob, compactLogs, endLongAgo, sendLog } from '../../../../../test/job-runs.ts'
import { listPartitions } from '../../../../db/partitions.ts'
import { handlers } from '../../../../worker.ts'

const app = useOwnApp()

const first = async () => (await listPartitions(app.db)).find(({ name }) => name === 'job_log_chunks_first')

const expireAfter = (end: Date | undefined, days: number) =>
  handlers.expire_log_chunks(
    { ...app.ctx, now: () => new Date((end?.getTime() ?? 0) + days * 24 * 60 * 60 * 1000) },
    {},
  )

const partitionsOf = async (jobId: string) => {
  const { rows } = await sql<{ partition: string }>`
    select tableoid::regclass::text as partition from job_log_chunks where job_id = ${jobId}`.execute(app.db)
  return rows.map(({ partition }) => partition)
}

describe('a partition of log chunks', () => {
  it('is dropped when it is old and empty; the log of a job that begins later is stored all the same', async () => {
    const { run } = await aRunningJob(app)
    const end = (await first())?.endsAt
    await sendLog(app, run, 'early')
    await expireAfter(end, 8)
    expect(await partitionsOf(run.id)).toEqual(['job_log_chunks_first'])
    await endLongAgo(app, run)
    await compactLogs(app.ctx)
    await expireAfter(end, 6)
    expect(await first()).toBeDefined()
    await expireAfter(end, 8)
    expect(await first()).toBeUndefined()

    const late = await aRunningJob(app)
    await sendLog(app, late.run, 'late')
    expect(await partitionsOf(late.run.id)).toEqual(['job_log_chunks_default'])
    const textOf = async () =>
      (
        await app.request('GET', `${late.long}/log`, {
          token: late.admin.token,
          headers: { Accept: 'text/plain' },
        })
      ).text
    expect(await textOf()).toBe('late')
    await endLongAgo(app, late.run)
    await compactLogs(app.ctx)
    expect(await partitionsOf(late.run.id)).toEqual([])
    expect(await textOf()).toBe('late')
  })
})
