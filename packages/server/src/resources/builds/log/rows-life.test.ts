// How the rows of a log are made, kept and deleted.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import { aMember, aToken } from '../../../../test/builders.ts'
import {
  aRunningJob,
  compactLogs,
  endLongAgo,
  jobsOfOneWorld,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'
import { deleteUnclaimed } from '../../../blobs/unclaimed.ts'
import type { BlobStore } from '../../../blobs/store.ts'
import { checkpointLog } from './rows/checkpoints.ts'

const app = useOwnApp()
const aJob = jobsOfOneWorld(app)

const get = (scene: RunningScene, path: string) =>
  app.request('GET', `${scene.long}/log/${path}`, { token: scene.admin.token })

const rowsAt = async (scene: RunningScene, query: string): Promise<unknown[]> => {
  const { text } = await get(scene, `rows?${query}`)
  const { rows }: { rows: unknown[] } = JSON.parse(text)
  return rows
}

const objectsOf = (jobId: string) =>
  app.db
    .selectFrom('job_logs')
    .select(['blob_key', 'rows_blob_key'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow()

const checkpointsOf = async (jobId: string) => {
  const { rows } = await sql`select from job_log_checkpoints where job_id = ${jobId}`.execute(app.db)
  return rows.length
}

const unclaimedOf = async (jobId: string) => {
  const { rows } = await sql<{ key: string }>`
    select key from unclaimed_blobs where key like ${`%${jobId}%`}`.execute(app.db)
  return rows.map(({ key }) => key)
}

async function compact({ run }: RunningScene, exitStatus = 0): Promise<void> {
  await endLongAgo(app, run, exitStatus)
  await compactLogs(app.ctx)
}

/** Lets another worker continue at once. */
const endLease = (jobId: string) =>
  sql`update job_logs set compacting_until = now() - interval '1 second' where job_id = ${jobId}`.execute(
    app.db,
  )

async function failingRow(content: string, exitStatus = 1): Promise<unknown> {
  const scene = await aJob()
  await sendLog(app, scene.run, content)
  await scene.run.finish(exitStatus)
  const before = await get(scene, 'index')
  await app.db
    .updateTable('jobs')
    .set({ finished_at: new Date(Date.now() - 10 * 60_000).toISOString() })
    .where('id', '=', scene.run.id)
    .execute()
  await compactLogs(app.ctx)
  const after = await get(scene, 'index')
  expect(after.body.failing_row).toEqual(before.body.failing_row)
  return after.body.failing_row
}

describe('the failing row', () => {
  it.each([
    ['the one that says why, not one that counts', 'a\n--- Tests\nok\n2 Failed\nerror: x\n', 5],
    ['the first red one', '--- Tests\nok\n\x1b[31mexpected 3\x1b[0m\n\x1b[31mmore\x1b[0m\n', 3],
    ['the first bright red one', 'ok\n\x1b[91mno\x1b[0m\n', 2],
    ['not one of an earlier group', 'error: a\n--- Tests\nfine\nerror: b\n--- Clean up\n', 4],
    ['one of an earlier group if the last has none', 'x\n--- Tests\nerror: a\n~~~ Clean up\nremoved\n', 3],
    ['not the repeated command', '+++ Running\n$ sh t.sh --fail-fast\nError: 3 is not 4\n', 3],
    ['not a count of zero', '40 passed, 0 failed\nno errors\nAssertionError: 3 is not 4\n', 3],
    ['one of the group that is marked', '--- A\nx\npanic: y\n^^^ +++\nmore\n~~~ Clean up\nfailed too\n', 3],
    ['one of the last group that is marked', '--- A\nerror\n^^^ +++\n--- B\nfail\n^^^ +++\n--- C\nfail\n', 5],
    ['the header of an empty group', 'x\n--- A\n', 2],
    ['the last row without groups', 'a\nb\n', 2],
    ['none without output', '', null],
  ])('is %s', async (_, content, row) => {
    expect(await failingRow(content)).toBe(row)
  })

  it('is null when the job has passed', async () => {
    expect(await failingRow('error\n', 0)).toBeNull()
  })

  it('is in a group that is shown open', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, '--- A\nx\n^^^ +++\n--- B\n')
    const { body } = await get(scene, 'index')
    expect(body.groups).toMatchObject([
      { kind: '+++', name: 'A' },
      { kind: '---', name: 'B' },
    ])
  })
})

describe('a log of several segments', () => {
  /** Rows of many lengths, groups, and cursor movements across the places where segments end. */
  function longLog(bytes: number): Buffer {
    const lines: string[] = []
    let size = 0
    for (let number = 1; size < bytes; number++) {
      const line =
        number % 8000 === 0
          ? `--- Group ${number}\n`
          : number % 7 === 0
            ? `\x1b[3A\r\x1b[3${number % 8}mé ${number}\x1b[0m\x1b[3B\n`
            : `${number} ${'€'.repeat(number % 60)}\n`
      size += Buffer.byteLength(line)
      lines.push(line)
    }
    return Buffer.from(lines.join(''))
  }

  async function send(scene: RunningScene, bytes: Buffer): Promise<void> {
    const size = 3_000_001
    for (let offset = 0; offset < bytes.length; offset += size) {
      const text = bytes.subarray(offset, offset + size)
      const { status } = await sendChunk(app, scene.run, { sequence: offset / size + 1, offset, text })
      expect(status).toBe(200)
    }
  }

  it('is given checkpoints by a task when it has more than eight', async () => {
    const scene = await aJob()
    await send(scene, longLog(8_500_000))
    const { rows: tasks } = await sql`
      select from graphile_worker.jobs where key = ${`checkpoint_log:${scene.run.id}`}`.execute(app.db)
    expect(tasks).toHaveLength(1)
  })

  it('has the same rows and groups while it grows, with and without checkpoints, and when it is compacted', async () => {
    const scene = await aJob()
    await send(scene, longLog(3_500_000))
    const see = async () => {
      const index = await get(scene, 'index')
      const total = Number(index.body.rows)
      const middle = Math.floor(total / 2)
      return {
        total,
        groups: index.body.groups,
        first: await rowsAt(scene, 'from=1&limit=100'),
        middle: await rowsAt(scene, `from=${middle}&limit=2000`),
        tail: await rowsAt(scene, 'tail=2000'),
        found: (await get(scene, 'search?q=%20%E2%82%AC%24&regex=true')).body.total,
      }
    }
    const cold = await see()
    expect(await checkpointsOf(scene.run.id)).toBe(3)
    expect(cold.groups).toHaveLength(4)
    expect(cold.middle).toHaveLength(2000)
    expect(await see()).toEqual(cold)
    await app.db.deleteFrom('job_log_checkpoints').where('job_id', '=', scene.run.id).execute()
    await checkpointLog(app.ctx, { job_id: scene.run.id, organization_id: scene.org.id })
    expect(await checkpointsOf(scene.run.id)).toBe(3)
    expect(await see()).toEqual(cold)
    await compact(scene)
    expect(await checkpointsOf(scene.run.id)).toBe(0)
    const compacted = await see()
    const withoutDurations = (groups: unknown) =>
      (groups as Array<{ duration_ms: number | null }>).map((group) => ({ ...group, duration_ms: null }))
    expect({ ...compacted, groups: withoutDurations(compacted.groups) }).toEqual({
      ...cold,
      groups: withoutDurations(cold.groups),
    })
  })

  it('leaves no checkpoint when it is deleted', async () => {
    const scene = await aJob()
    await send(scene, longLog(2_500_000))
    await Promise.all([get(scene, 'index'), get(scene, 'rows?tail=10')])
    expect(await checkpointsOf(scene.run.id)).toBe(2)
    await app.request('DELETE', `${scene.long}/log`, { token: scene.admin.token })
    expect(await checkpointsOf(scene.run.id)).toBe(0)
    await checkpointLog(app.ctx, { job_id: scene.run.id, organization_id: scene.org.id })
    expect(await checkpointsOf(scene.run.id)).toBe(0)
  })
})

describe('the objects of a compacted log', () => {
  const stored = async (key: string | null) => (key === null ? null : app.ctx.blobs.head(key))

  it('are deleted with the log', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'secret\n')
    await compact(scene)
    const { blob_key: log, rows_blob_key: rows } = await objectsOf(scene.run.id)
    expect([await stored(log), await stored(rows)]).not.toContain(null)
    for (const path of ['index', 'rows', 'search?q=x', 'stream?as=rows'])
      expect([path, (await get(scene, path)).status]).toEqual([path, 200])
    await app.request('DELETE', `${scene.short}/log`, { token: scene.admin.token })
    expect([await stored(log), await stored(rows)]).toEqual([null, null])
    for (const path of ['index', 'rows', 'search?q=x', 'stream?as=rows'])
      expect([path, (await get(scene, path)).status]).toEqual([path, 404])
    expect(await unclaimedOf(scene.run.id)).toEqual([])
  })

  it('are deleted with the build', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'x\n')
    await compact(scene)
    const { blob_key: log, rows_blob_key: rows } = await objectsOf(scene.run.id)
    await app.db.deleteFrom('builds').where('id', '=', scene.build.id).execute()
    await deleteUnclaimed(app.db, app.ctx.blobs)
    expect([await stored(log), await stored(rows)]).toEqual([null, null])
  })

  it('are deleted when a server that knows no rows deletes the log', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'secret\n')
    await compact(scene)
    const { rows_blob_key: rows } = await objectsOf(scene.run.id)
    await sql`update job_logs set deleted_at = now(), blob_key = null where job_id = ${scene.run.id}`.execute(
      app.db,
    )
    expect((await objectsOf(scene.run.id)).rows_blob_key).toBeNull()
    await deleteUnclaimed(app.db, app.ctx.blobs)
    expect(await stored(rows)).toBeNull()
  })

  it.each([1, 2])(
    'are found again after the death of a worker that has stored %i of them',
    async (written) => {
      const scene = await aJob()
      await sendLog(app, scene.run, 'kept\n')
      await endLongAgo(app, scene.run)
      const keys: string[] = []
      const put: BlobStore['put'] = async (key, body, size) => {
        if (keys.length === written) throw new Error('The worker is dead.')
        await app.ctx.blobs.put(key, body, size)
        keys.push(key)
        if (keys.length === written && written === 2) throw new Error('The worker is dead.')
      }
      await compactLogs({ ...app.ctx, blobs: { ...app.ctx.blobs, put } })
      expect(keys).toHaveLength(written)
      expect(await unclaimedOf(scene.run.id)).toEqual(expect.arrayContaining(keys))
      expect(await rowsAt(scene, '')).toEqual([[null, 'kept']])
      await endLease(scene.run.id)
      await compactLogs(app.ctx)
      expect(await rowsAt(scene, '')).toEqual([[null, 'kept']])
      await sql`update unclaimed_blobs set delete_after = now() where key = any (${keys}::text[])`.execute(
        app.db,
      )
      await deleteUnclaimed(app.db, app.ctx.blobs)
      expect(await Promise.all(keys.map(stored))).toEqual(keys.map(() => null))
      expect(await rowsAt(scene, '')).toEqual([[null, 'kept']])
    },
  )

  it('are completed once by the first readers, if an older server has compacted the log', async () => {
    const scene = await aJob()
    await sendLog(app, scene.run, 'old\n')
    await compact(scene)
    await app.db
      .updateTable('job_logs')
      .set({ rows_blob_key: null, rows_layout: null })
      .where('job_id', '=', scene.run.id)
      .execute()
    const answers = await Promise.all(Array.from({ length: 5 }, () => rowsAt(scene, '')))
    expect(answers).toEqual(Array.from({ length: 5 }, () => [[null, 'old']]))
    // A reader that found no rows, but began after the others had ended, makes them too. It releases its object.
    await deleteUnclaimed(app.db, app.ctx.blobs)
    const { rows_blob_key: rows } = await objectsOf(scene.run.id)
    expect(await stored(rows)).not.toBeNull()
    expect(await unclaimedOf(scene.run.id)).toEqual([])
  })
})

describe('GET …/log/{index,rows,search,stream?as=rows}', () => {
  const paths = ['index', 'rows', 'search?q=x', 'stream?as=rows']

  it('refuses without read_build_logs, without membership and for jobs of others', async () => {
    const scene = await aRunningJob(app)
    await sendLog(app, scene.run, 'x\n')
    const other = await aRunningJob(app)
    const weak = await aToken(app, scene.admin, { scopes: ['read_builds', 'write_build_logs'] })
    const stranger = await aMember(app, other.org)
    const status = async (path: string, token?: string) =>
      (await app.request('GET', path, token === undefined ? {} : { token })).status
    for (const path of paths) {
      for (const form of [scene.short, scene.long]) {
        expect([path, await status(`${form}/log/${path}`, weak)]).toEqual([path, 403])
        expect([path, await status(`${form}/log/${path}`, stranger.token)]).toEqual([path, 404])
        expect([path, await status(`${form}/log/${path}`)]).toEqual([path, 401])
      }
      const theirs = `${scene.org.path}/jobs/${other.run.id}/log/${path}`
      expect([path, await status(theirs, scene.admin.token)]).toEqual([path, 404])
      const wrongBuild = `${scene.pipeline.path}/builds/99/jobs/${scene.run.id}/log/${path}`
      expect([path, await status(wrongBuild, scene.admin.token)]).toEqual([path, 404])
    }
  })

  it('keeps the log of each attempt of a job', async () => {
    const scene = await aRunningJob(app)
    await sendLog(app, scene.run, 'first attempt\n')
    await compact(scene, 1)
    const retried = await app.request('PUT', `${scene.long}/retry`, { token: scene.admin.token })
    expect(retried.status).toBe(200)
    const path = `${scene.org.path}/jobs/${String(retried.body.id)}/log/rows`
    const rows = async (url: string) =>
      (await app.request('GET', url, { token: scene.admin.token })).body.rows
    expect(await rows(path)).toEqual([])
    expect(await rows(`${scene.short}/log/rows`)).toEqual([[null, 'first attempt']])
  })
})
