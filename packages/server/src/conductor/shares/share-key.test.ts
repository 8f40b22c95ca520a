import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld, type TestRun } from '../../../test/agent-client.ts'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { aMember, aPipeline, aTeam } from '../../../test/builders.ts'
import { commitOf, deliver, githubEvent, noCommit } from '../../../test/deliveries.ts'
import { aBuild, jobNamed, jobsOf, runJob } from '../../../test/runs.ts'
import { handlers } from '../../worker.ts'
import { fireDueSchedules } from '../../resources/pipelines/schedules/fire.ts'

const app = useOwnApp()

async function aFairWorld(fairBy: string): Promise<AgentWorld> {
  const world = await anAgentWorld(app)
  const body = { fair_by: fairBy }
  await request(world.admin.token, 'PATCH', world.queue.path, body)
  return world
}

const ofBuild = (build: { id: unknown }) => sql`j.build_id = ${String(build.id)}`
const ofPipeline = (pipeline: { id: string }) => sql`j.pipeline_id = ${pipeline.id}`

/** Of the jobs that wait. */
async function chargedOf(
  which: ReturnType<typeof sql>,
): Promise<Array<{ key: string | null; machine: boolean }>> {
  const { rows } = await sql<{ key: string | null; machine: boolean }>`
    select distinct j.share_key as key, j.is_machine as machine from jobs j
    where ${which} and j.kind = 'script' and j.finished_at is null`.execute(app.db)
  return rows
}

const oneJob = '[{command: a}]'

async function upload(run: TestRun, steps: readonly object[]): Promise<void> {
  const body = { uuid: randomUUID(), pipeline: { steps } }
  const { status, text } = await run.call('POST', `jobs/${run.id}/pipelines`, { body })
  if (status >= 300) throw new Error(text)
}

async function request(token: string, method: 'POST' | 'PUT' | 'PATCH', path: string, body: object = {}) {
  const answer = await app.request(method, path, { token, body })
  if (answer.status >= 300) throw new Error(answer.text)
  return { id: answer.body.id }
}

describe('a member cannot leave their share', () => {
  it('by another name', async () => {
    const world = await aFairWorld('creator')
    const pipeline = await aPipeline(app, world.org, oneJob)
    const member = await aMember(app, world.org)
    const before = await aBuild(app, world.org, pipeline, { creatorId: member.id })
    await app.db
      .updateTable('users')
      .set({ name: 'Somebody Else', email: `x${member.email}` })
      .where('id', '=', member.id)
      .execute()
    await app.db
      .updateTable('pipelines')
      .set({ name: 'other', slug: `x${pipeline.slug}` })
      .where('id', '=', pipeline.id)
      .execute()
    const after = await aBuild(app, world.org, pipeline, { creatorId: member.id })
    const expected = [{ key: `u:${member.id}`, machine: false }]
    expect([await chargedOf(ofBuild(before)), await chargedOf(ofBuild(after))]).toEqual([expected, expected])
  })

  it('by env, or by the author of a commit', async () => {
    const world = await aFairWorld('creator')
    const pipeline = await aPipeline(app, world.org, oneJob)
    const [member, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    const build = await request(member.token, 'POST', `${pipeline.path}/builds`, {
      commit: 'HEAD',
      branch: 'main',
      author: { name: other.name, email: other.email },
      env: { BUILDKITE_BUILD_CREATOR: other.name, BUILDKITE_BUILD_CREATOR_EMAIL: other.email },
    })
    expect(await chargedOf(ofBuild(build))).toEqual([{ key: `u:${member.id}`, machine: false }])
    const pushed = await aBuild(app, world.org, pipeline, {
      source: 'webhook',
      author: { name: other.name, email: other.email },
    })
    expect(await chargedOf(ofBuild(pushed))).toEqual([{ key: `p:${pipeline.id}`, machine: false }])
  })

  it('by a rebuild of the build of somebody else', async () => {
    const world = await aFairWorld('creator')
    const pipeline = await aPipeline(app, world.org, oneJob)
    const [member, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    const build = await aBuild(app, world.org, pipeline, { creatorId: other.id })
    const rebuilt = await request(member.token, 'PUT', `${pipeline.path}/builds/${build.number}/rebuild`)
    expect(await chargedOf(ofBuild(rebuilt))).toEqual([{ key: `u:${member.id}`, machine: false }])
    expect(await chargedOf(ofBuild(build))).toEqual([{ key: `u:${other.id}`, machine: false }])
  })

  it('by a retry of the job of somebody else, which also stays theirs when it is retried by itself', async () => {
    const world = await aFairWorld('creator')
    const pipeline = await aPipeline(
      app,
      world.org,
      '[{command: a, retry: {automatic: [{exit_status: 5, limit: 2}]}}]',
    )
    const [member, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    const build = await aBuild(app, world.org, pipeline, { creatorId: other.id })
    await runJob(app, build, 'a', 1)
    const [job] = await jobsOf(app, build)
    await request(member.token, 'PUT', `${pipeline.path}/builds/${build.number}/jobs/${job?.id}/retry`)
    const expected = [{ key: `u:${member.id}`, machine: false }]
    expect(await chargedOf(ofBuild(build))).toEqual(expected)
    await runJob(app, build, 'a', 5)
    expect(await chargedOf(ofBuild(build))).toEqual(expected)
  })

  it('by an upload of the job of somebody else, which is charged to who has retried it', async () => {
    const world = await aFairWorld('creator')
    const child = await aPipeline(app, world.org, oneJob)
    const pipeline = await aPipeline(app, world.org, oneJob)
    const [member, other] = [await aMember(app, world.org), await aMember(app, world.org)]
    const build = await aBuild(app, world.org, pipeline, { creatorId: other.id })
    const agent = await anAgent(app, world.token)
    const own = await agent.begin()
    await upload(own, [{ command: 'b' }])
    const ofOwn = { key: `u:${other.id}`, machine: false }
    expect(await chargedOf(sql`j.id = ${await jobNamed(app, build, 'b')}`)).toEqual([ofOwn])
    await own.finish(1)
    await request(member.token, 'PUT', `${pipeline.path}/builds/${build.number}/jobs/${own.id}/retry`)
    const retried = await agent.begin()
    await upload(retried, [
      { command: 'c', retry: { automatic: [{ exit_status: 5, limit: 2 }] } },
      { trigger: child.slug },
    ])
    await retried.finish()
    const expected = [{ key: `u:${member.id}`, machine: false }]
    expect(await chargedOf(sql`j.id = ${await jobNamed(app, build, 'c')}`)).toEqual(expected)
    await eventually('the child', async () => (await chargedOf(ofPipeline(child))).length > 0)
    expect(await chargedOf(ofPipeline(child))).toEqual(expected)
    await runJob(app, build, 'c', 5)
    expect(await chargedOf(sql`j.id = ${await jobNamed(app, build, 'c')}`)).toEqual(expected)
  })

  it.each(['creator', 'pipeline', 'team'])(
    'by a trigger step, in a queue that is fair by %s',
    async (fairBy) => {
      const world = await aFairWorld(fairBy)
      const child = await aPipeline(app, world.org, oneJob)
      const parent = await aPipeline(app, world.org, `[{trigger: ${child.slug}}, {command: b}]`)
      for (const pipeline of [child, parent]) {
        const team = await aTeam(app, world.org, world.admin)
        await request(world.admin.token, 'POST', `${team.path}/pipelines`, {
          pipeline_id: pipeline.id,
          access_level: 'manage_build_and_read',
        })
      }
      const build = await aBuild(app, world.org, parent, { creatorId: world.admin.id })
      const charged = await chargedOf(ofBuild(build))
      expect(charged).toHaveLength(1)
      expect(charged).not.toEqual([{ key: 't:', machine: false }])
      expect(await chargedOf(ofPipeline(child))).toEqual(charged)
    },
  )

  it('by a schedule, which is charged to its owner and counts as a machine', async () => {
    const world = await aFairWorld('creator')
    const pipeline = await aPipeline(app, world.org, oneJob)
    const member = await aMember(app, world.org)
    const { id } = await request(member.token, 'POST', `${pipeline.path}/schedules`, {
      cronline: '0 3 * * *',
      branch: 'main',
      label: 'Nightly',
    })
    await app.db
      .updateTable('pipeline_schedules')
      .set({ next_build_at: '2030-01-01T03:00:00Z' })
      .where('id', '=', String(id))
      .execute()
    await fireDueSchedules({ ...app.ctx, now: () => new Date('2030-01-01T03:00:07Z') })
    expect(await chargedOf(ofPipeline(pipeline))).toEqual([{ key: `u:${member.id}`, machine: true }])
  })

  it('by more pipelines, in a queue that is fair by team', async () => {
    const world = await aFairWorld('team')
    const pipelines = [await aPipeline(app, world.org, oneJob), await aPipeline(app, world.org, oneJob)]
    for (const pipeline of pipelines) {
      await aBuild(app, world.org, pipeline)
      expect(await chargedOf(ofPipeline(pipeline))).toEqual([{ key: 't:', machine: false }])
    }
  })
})

it('builds and retries by a token of a machine count as machines, and so do those of tokens that it creates', async () => {
  const world = await aFairWorld('creator')
  const member = await aMember(app, world.org)
  const pipeline = await aPipeline(app, world.org, oneJob)
  const aMachineToken = async (by: string, body: object) => {
    const wish = {
      description: 'Bot',
      scopes: ['read_user', 'write_user', 'write_builds', 'read_builds'],
      ...body,
    }
    const { status, body: made } = await app.request('POST', '/v2/user/access-tokens', {
      token: by,
      body: wish,
    })
    expect([status, made.is_machine]).toEqual([201, true])
    return String(made.token)
  }
  const marked = await aMachineToken(member.token, { is_machine: true })
  const inherited = await aMachineToken(marked, { is_machine: false })
  const expected = [{ key: `u:${member.id}`, machine: true }]
  const body = { commit: 'HEAD', branch: 'main' }
  for (const token of [marked, inherited])
    expect(await chargedOf(ofBuild(await request(token, 'POST', `${pipeline.path}/builds`, body)))).toEqual(
      expected,
    )
  const build = await aBuild(app, world.org, pipeline, { creatorId: member.id })
  expect(await chargedOf(ofBuild(build))).toEqual([{ key: `u:${member.id}`, machine: false }])
  await runJob(app, build, 'a', 1)
  const [job] = await jobsOf(app, build)
  await request(marked, 'PUT', `${pipeline.path}/builds/${build.number}/jobs/${job?.id}/retry`)
  expect(await chargedOf(ofBuild(build))).toEqual(expected)
})

it('builds of events that the host says a bot caused count as machines, whatever the commit says', async () => {
  const world = await aFairWorld('creator')
  const given = { repository: 'git@github.com:acme/app.git' }
  const bySender = async (sender: object | undefined, author: string) => {
    const pipeline = await aPipeline(app, world.org, oneJob, given)
    const commit = commitOf(pipeline.id)
    const head = {
      id: commit,
      message: 'm',
      author: { name: author, email: `${author}@users.noreply.github.com` },
    }
    const payload = {
      ref: 'refs/heads/main',
      before: noCommit,
      after: commit,
      deleted: false,
      head_commit: head,
      commits: [head],
      repository: {
        clone_url: 'https://github.com/acme/app.git',
        ssh_url: given.repository,
        default_branch: 'main',
      },
      ...(sender === undefined ? {} : { sender }),
    }
    expect((await deliver(app, pipeline, githubEvent('push', payload))).status).toBe(200)
    return (await chargedOf(ofPipeline(pipeline))).map(({ machine }) => machine)
  }
  expect(await bySender({ login: 'dependabot[bot]', type: 'Bot' }, 'ada')).toEqual([true])
  expect(await bySender({ login: 'renovate[bot]' }, 'ada')).toEqual([true])
  expect(await bySender({ login: 'ada', type: 'User' }, 'dependabot[bot]')).toEqual([false])
  expect(await bySender(undefined, 'renovate[bot]')).toEqual([false])
})

it('a change of what a queue is fair by gives all waiting jobs their shares, also of a long queue', async () => {
  const world = await anAgentWorld(app)
  const member = await aMember(app, world.org)
  const pipeline = await aPipeline(app, world.org, '[{command: a, parallelism: 1000}]')
  for (let made = 0; made < 3; made++) await aBuild(app, world.org, pipeline, { creatorId: member.id })
  await request(world.admin.token, 'PATCH', world.queue.path, { fair_by: 'creator' })
  const byCreator = { key: `u:${member.id}`, machine: false }
  expect(await chargedOf(ofPipeline(pipeline))).toContainEqual({ key: null, machine: false })
  const payload = { queue_id: world.queue.id, organization_id: world.org.id }
  await handlers.assign_shares(app.ctx, payload)
  expect(await chargedOf(ofPipeline(pipeline))).toEqual([byCreator])
  const { rows } = await sql<{ key: string }>`
    select key from graphile_worker.jobs where key in (${`assign_shares:${world.queue.id} rest`}, ${`assign_shares:${world.queue.id}`})`.execute(
    app.db,
  )
  expect(rows).toHaveLength(2)
})

it('builds of service accounts and what they trigger count as machines', async () => {
  const world = await aFairWorld('creator')
  const robot = await aMember(app, world.org, { role: 'admin' })
  await app.db.updateTable('users').set({ is_service_account: true }).where('id', '=', robot.id).execute()
  const child = await aPipeline(app, world.org, oneJob)
  const parent = await aPipeline(app, world.org, `[{trigger: ${child.slug}}, {command: b}]`)
  const build = await aBuild(app, world.org, parent, { creatorId: robot.id })
  const expected = [{ key: `u:${robot.id}`, machine: true }]
  expect(await chargedOf(ofBuild(build))).toEqual(expected)
  expect(await chargedOf(ofPipeline(child))).toEqual(expected)
})
