import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../../test/app.ts'
import { aRunningJob, compactLogs } from '../../../../../test/job-runs.ts'
import type { BlobStore } from '../../../../blobs/store.ts'
import { logCompactor } from './compact.ts'

const app = useOwnApp()

beforeEach(async () => {
  await sql`delete from job_log_chunks`.execute(app.db)
})

/** A build whose jobs ended some minutes ago, each with a log of one chunk. */
async function endedJobs(count: number): Promise<string[]> {
  const { build } = await aRunningJob(app, `{steps: [{command: make, parallelism: ${count}}]}`)
  return writeLogs(build.id, 10)
}

async function writeLogs(buildId: string, minutesAgo: number): Promise<string[]> {
  await sql`update jobs set finished_at = now() - make_interval(mins => ${minutesAgo}) where build_id = ${buildId}`.execute(
    app.db,
  )
  const { rows } = await sql<{ job_id: string }>`
    insert into job_log_chunks (job_id, sequence, byte_offset, size, data)
    select id, 1, 0, 6, ${gzipSync('hello\n')} from jobs where build_id = ${buildId} returning job_id`.execute(
    app.db,
  )
  return rows.map(({ job_id }) => job_id)
}

const leftLogs = async () => {
  const { rows } = await sql<{ job_id: string }>`select job_id from job_log_chunks`.execute(app.db)
  return rows.map(({ job_id }) => job_id)
}

const run = (compact: ReturnType<typeof logCompactor>, blobs: BlobStore = app.ctx.blobs) =>
  compact({ ...app.ctx, blobs }, new AbortController().signal)

describe('a worker', () => {
  it('compacts all logs of ended jobs at once, several at a time', async () => {
    const jobs = await endedJobs(70)
    let [running, most] = [0, 0]
    let release = () => {}
    const isShared = new Promise<void>((resolve) => (release = resolve))
    // The first waits for a second.
    const put: BlobStore['put'] = async (...args) => {
      most = Math.max(most, ++running)
      if (running === 2) release()
      await isShared
      await app.ctx.blobs.put(...args)
      running--
    }
    await compactLogs({ ...app.ctx, blobs: { ...app.ctx.blobs, put } })
    expect(await leftLogs()).toEqual([])
    const { rows } = await sql`
      select from job_logs where job_id = any (${jobs}::uuid[]) and finished_at is not null and size = 6
        and blob_key is not null and rows_blob_key is not null and compacting_until is null`.execute(app.db)
    expect(rows).toHaveLength(70)
    expect(most).toBeLessThanOrEqual(8)
  })

  it('shares them with other workers', async () => {
    const jobs = await endedJobs(70)
    const keys: string[] = []
    const put: BlobStore['put'] = async (key, ...rest) => {
      keys.push(key)
      await app.ctx.blobs.put(key, ...rest)
    }
    const blobs = { ...app.ctx.blobs, put }
    await Promise.all(Array.from({ length: 3 }, () => compactLogs({ ...app.ctx, blobs })))
    expect(await leftLogs()).toEqual([])
    expect(keys).toHaveLength(2 * jobs.length)
  })

  it('finds the logs of jobs that end later by the time of their end', async () => {
    const compact = logCompactor()
    const { build } = await aRunningJob(app, '{steps: [{command: make, parallelism: 3}]}')
    let now = app.ctx.now()
    const runAt = (minutes: number) => {
      now = new Date(app.ctx.now().getTime() + minutes * 60_000)
      return compact({ ...app.ctx, now: () => now }, new AbortController().signal)
    }
    await runAt(0)
    const jobs = await writeLogs(build.id, 0)
    await runAt(1)
    expect((await leftLogs()).toSorted()).toEqual(jobs.toSorted())
    await runAt(3)
    expect(await leftLogs()).toEqual([])
  })

  it('gives up for now when the store fails, and loses no log', async () => {
    const jobs = await endedJobs(70)
    let tries = 0
    const put = async () => {
      tries++
      throw new Error('The store is down.')
    }
    const compact = logCompactor()
    await run(compact, { ...app.ctx.blobs, put })
    expect(tries).toBe(32)
    expect(await leftLogs()).toHaveLength(70)
    await run(compact)
    expect(await leftLogs()).toHaveLength(32)
    await sql`update job_logs set compacting_until = now() - interval '1 second' where job_id = any (${jobs}::uuid[])`.execute(
      app.db,
    )
    await compactLogs(app.ctx)
    expect(await leftLogs()).toEqual([])
  })

  it('that stops leaves the logs it has not begun to others', async () => {
    await endedJobs(32)
    const stopping = new AbortController()
    const put: BlobStore['put'] = async (...args) => {
      stopping.abort()
      await app.ctx.blobs.put(...args)
    }
    await logCompactor()({ ...app.ctx, blobs: { ...app.ctx.blobs, put } }, stopping.signal)
    const left = await leftLogs()
    expect(left).toHaveLength(24)
    await compactLogs(app.ctx)
    expect(await leftLogs()).toEqual([])
  })
})
