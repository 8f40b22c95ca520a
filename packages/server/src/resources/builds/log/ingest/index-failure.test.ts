import { sql } from 'kysely'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { anAgentWorld, type AgentWorld } from '../../../../../test/agent-client.ts'
import { eventually, useOwnApp, type Json } from '../../../../../test/app.ts'
import {
  aRunningJob,
  compactLogs,
  sendChunk,
  sendLog,
  type RunningScene,
} from '../../../../../test/job-runs.ts'
import { runTasks } from '../../../../tasks/run.ts'
import { handlers } from '../../../../worker.ts'
import { indexFailure } from './index-failure.ts'

const app = useOwnApp()

let world: AgentWorld
beforeAll(async () => {
  world = await anAgentWorld(app)
})

/** Nothing that looks for work by time: no cron and no compaction. */
async function runOnlyTasks(): Promise<void> {
  const tasks = await runTasks(app.database.pool, app.ctx.log, app.ctx, handlers, { cron: {} })
  onTestFinished(() => tasks.stop())
}

const index = ({ org, run }: RunningScene) =>
  indexFailure(app.ctx, { job_id: run.id, organization_id: org.id })

async function rowsWith(q: string): Promise<number[]> {
  const { status, body } = await app.request(
    'GET',
    `${world.org.path}/log-search?${new URLSearchParams({ q })}`,
    { token: world.admin.token },
  )
  expect(status).toBe(200)
  return (body.hits as unknown as Json[]).map(({ row }) => Number(row))
}

async function endedJob(text: string, exitStatus = 1): Promise<RunningScene> {
  const scene = await aRunningJob(app, undefined, world)
  await sendLog(app, scene.run, text)
  await scene.run.finish(exitStatus)
  return scene
}

const compactLater = async ({ run }: RunningScene) => {
  await sql`update jobs set finished_at = finished_at - interval '10 minutes' where id = ${run.id}`.execute(
    app.db,
  )
  await compactLogs(app.ctx)
}

describe('a job that fails', () => {
  it('is found by its end, before its log is compacted', async () => {
    await runOnlyTasks()
    const first = await endedJob('ok\r\nError: the numbat 17 has left\r\n')
    const scene = await endedJob('ok\r\nok\r\nError: the numbat 18 has left\r\n')
    await eventually('both are found', async () => (await rowsWith('numbat')).length === 2)
    expect(await rowsWith('numbat 18')).toEqual([3])
    const { body } = await app.request('GET', `${scene.buildPath}/failure_summary`, {
      token: world.admin.token,
    })
    expect((body.jobs as unknown as Json[])[0]?.cause).toMatchObject({ builds: 1 })
    const { rows } = await sql`select from job_log_chunks
      where job_id in (${first.run.id}, ${scene.run.id})`.execute(app.db)
    expect(rows).toHaveLength(2)
  })

  it('is found once, however often it is indexed and whenever it is compacted', async () => {
    const scene = await endedJob('Error: one potoroo\r\n')
    await Promise.all([index(scene), index(scene), index(scene)])
    await index(scene)
    expect(await rowsWith('potoroo')).toEqual([1])
    await compactLater(scene)
    await index(scene)
    expect(await rowsWith('potoroo')).toEqual([1])
  })

  it('is found by compaction when its task was lost', async () => {
    const scene = await endedJob('Error: a lost bettong\r\n')
    await compactLater(scene)
    expect(await rowsWith('bettong')).toEqual([1])
  })

  it('is found with all of its rows after compaction, also those that came late', async () => {
    const scene = await aRunningJob(app, undefined, world)
    const [early, late] = ['Error: early wallaroo\r\n', 'Error: late wallaroo\r\n']
    await sendChunk(app, scene.run, { sequence: 1, offset: 0, text: early })
    await scene.run.finish(1)
    await index(scene)
    expect(await rowsWith('wallaroo')).toEqual([1])
    await sendChunk(app, scene.run, { sequence: 2, offset: early.length, text: late })
    await compactLater(scene)
    expect(await rowsWith('wallaroo')).toEqual([1, 2])
  })

  it('is not found when its log was deleted first', async () => {
    const scene = await endedJob('Error: a deleted pademelon\r\n')
    await app.request('DELETE', `${scene.long}/log`, { token: world.admin.token })
    await index(scene)
    expect(await rowsWith('pademelon')).toEqual([])
  })

  it('is found by its last rows when its log is very long', async () => {
    const scene = await aRunningJob(app, undefined, world)
    const part = `${'x'.repeat(99)}\r\n`.repeat(40_000)
    let offset = 0
    for (let sequence = 1; sequence <= 10; sequence++) {
      const answer = await sendChunk(app, scene.run, { sequence, offset, text: part })
      expect(answer.status).toBe(200)
      offset += part.length
    }
    const last = 'Error: the last quenda\r\n'
    await sendChunk(app, scene.run, { sequence: 11, offset, text: last })
    await scene.run.finish(1)
    const task = { job_id: scene.run.id, organization_id: scene.org.id }
    await handlers.checkpoint_log(app.ctx, task)
    await index(scene)
    expect(await rowsWith('quenda')).toEqual([400_001])
  })
})

describe('a job that does not fail', () => {
  it('is not indexed, even if it was to be', async () => {
    const [passed, running] = [
      await endedJob('Error: no boodie\r\n', 0),
      await aRunningJob(app, undefined, world),
    ]
    await sendLog(app, running.run, 'Error: no boodie yet\r\n')
    for (const scene of [passed, running]) await index(scene)
    expect(await rowsWith('boodie')).toEqual([])
    await running.run.finish(0)
  })
})
