import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld } from '../../../../test/agent-client.ts'
import { useApp, type Json } from '../../../../test/app.ts'
import { aMember } from '../../../../test/builders.ts'
import {
  aRunningJob,
  compactLogs,
  endLongAgo,
  sendLog,
  type RunningScene,
} from '../../../../test/job-runs.ts'

const app = useApp()

async function fail({ run }: Pick<RunningScene, 'run'>, text: string): Promise<void> {
  await sendLog(app, run, text)
  await endLongAgo(app, run, 1)
  await compactLogs(app.ctx)
}

const refused = (port: number) => `Error: connect ECONNREFUSED 127.0.0.1:${port}\r\n`

const causesOf = async (scene: RunningScene, token = scene.admin.token) => {
  const { status, body } = await app.request('GET', `${scene.buildPath}/failure_summary`, { token })
  expect(status).toBe(200)
  return (body.jobs as unknown as Json[]).map(({ cause }) => cause)
}

describe('the cause of a failed job', () => {
  it('says in how many other builds the same has happened', async () => {
    const world = await anAgentWorld(app)
    const scenes: RunningScene[] = []
    for (const port of [5432, 5433, 31_999]) {
      const scene = await aRunningJob(app, undefined, world)
      scenes.push(scene)
      await fail(scene, refused(port))
    }
    const other = await aRunningJob(app, undefined, world)
    await fail(other, 'Error: no space left on device\r\n')
    const cause = {
      text: 'Error: connect ECONNREFUSED <n>:<n>',
      jobs: 1,
      builds: 2,
      since: expect.any(String) as string,
    }
    for (const scene of scenes) expect(await causesOf(scene)).toEqual([expect.objectContaining(cause)])
    expect(await causesOf(other)).toEqual([expect.objectContaining({ jobs: 1, builds: 0, since: null })])
  })

  it('does not count builds of pipelines that the caller may not read', async () => {
    const world = await anAgentWorld(app)
    const [shown, hidden] = [
      await aRunningJob(app, undefined, world),
      await aRunningJob(app, undefined, world),
    ]
    for (const scene of [shown, hidden]) await fail(scene, refused(1))
    for (const [scene, visibility] of [
      [shown, 'public'],
      [hidden, 'private'],
    ] as const)
      await app.db.updateTable('pipelines').set({ visibility }).where('id', '=', scene.pipeline.id).execute()
    const member = await aMember(app, world.org)
    await app.request('POST', `${world.org.path}/teams/enable`, { token: world.admin.token })
    expect(await causesOf(shown, member.token)).toEqual([expect.objectContaining({ builds: 0, since: null })])
    expect(await causesOf(shown)).toEqual([expect.objectContaining({ builds: 1 })])
  })

  it('is one of many jobs, and each cause is shown before any is shown twice', async () => {
    const names = ['a', 'b', 'c', 'd']
    const steps = names.map((name) => `{key: ${name}, command: make}`).join(', ')
    const first = await aRunningJob(app, `{steps: [${steps}]}`)
    const runs = [first.run]
    for (const _ of names.slice(1)) runs.push(await (await anAgent(app, first.token)).begin())
    const texts = [refused(1), refused(2), refused(3), 'Error: no space left on device\r\n']
    for (const [index, run] of runs.entries()) await fail({ run }, texts[index] ?? '')
    const { body } = await app.request('GET', `${first.buildPath}/failure_summary?max_jobs=2`, {
      token: first.admin.token,
    })
    expect(
      (body.jobs as unknown as { cause: { jobs: number } }[])
        .map(({ cause }) => cause.jobs)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 3])
  })
})
