import { describe, expect, it } from 'vitest'
import { useOwnApp } from '../../test/app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aPipeline,
  aTeam,
  inTeam,
  type TestOrganization,
  type TestUser,
} from '../../test/builders.ts'
import {
  aBuild,
  buildState,
  jobNamed,
  runJob,
  statesOf,
  applyEvent,
  type TestBuild,
} from '../../test/runs.ts'
import { advanceBuild } from './advance.ts'
import { sweep } from './sweep.ts'

const app = useOwnApp()

async function childOf(org: TestOrganization, pipeline: { id: string }): Promise<TestBuild | undefined> {
  const found = await app.db
    .selectFrom('builds')
    .select(['id', 'number'])
    .where('pipeline_id', '=', pipeline.id)
    .executeTakeFirst()
  return found && { ...found, organizationId: org.id }
}

async function aFamily() {
  const org = await anOrganization(app)
  const child = await aPipeline(app, org, '[{command: c}]')
  const parent = await aPipeline(app, org, `[{trigger: ${child.slug}}, wait, {command: b}]`)
  return { org, child, parent }
}

describe('a trigger step where there are teams', () => {
  async function aScene() {
    const family = await aFamily()
    const admin = await anAdmin(app, family.org)
    const member = await aMember(app, family.org)
    const team = await aTeam(app, family.org, admin)
    await app.db
      .updateTable('organizations')
      .set({ teams_enabled_at: new Date().toISOString() })
      .where('id', '=', family.org.id)
      .execute()
    await inTeam(app, team, admin, member)
    const open = async (pipeline: { id: string }, access_level: string) => {
      const body = { pipeline_id: pipeline.id, access_level }
      const { status, text } = await app.request('POST', `${team.path}/pipelines`, {
        token: admin.token,
        body,
      })
      if (status !== 201) throw new Error(text)
    }
    return { ...family, admin, member, open }
  }

  const seen = async (
    { org, parent, child, admin }: Awaited<ReturnType<typeof aScene>>,
    by: TestUser | null,
  ) => {
    const build = await aBuild(app, org, parent, { creatorId: by?.id ?? null })
    const { body } = await app.request('GET', `${parent.path}/builds/${build.number}`, { token: admin.token })
    const job = (body.jobs as unknown as Array<{ state: string; state_reason?: string }>)[0]
    return {
      state: job?.state,
      reason: job?.state_reason ?? null,
      made: (await childOf(org, child)) !== undefined,
    }
  }

  it('fails with a message when the creator of the build may not build the target', async () => {
    const scene = await aScene()
    await scene.open(scene.parent, 'build_and_read')
    await scene.open(scene.child, 'read_only')
    expect(await seen(scene, scene.member)).toEqual({
      state: 'failed',
      reason: `There is no pipeline "${scene.child.slug}" that the creator of this build may build`,
      made: false,
    })
  })

  it('succeeds when they may, and for administrators', async () => {
    const scene = await aScene()
    expect(await seen(scene, scene.admin)).toEqual({ state: 'running', reason: null, made: true })
    const other = await aScene()
    await other.open(other.child, 'build_and_read')
    expect(await seen(other, other.member)).toEqual({ state: 'running', reason: null, made: true })
  })

  it('fails when the creator of the build has left the organization', async () => {
    const scene = await aScene()
    await scene.open(scene.child, 'build_and_read')
    await app.db
      .deleteFrom('organization_members')
      .where('organization_id', '=', scene.org.id)
      .where('user_id', '=', scene.member.id)
      .execute()
    expect(await seen(scene, scene.member)).toMatchObject({ state: 'failed', made: false })
  })

  it('of a build without a creator goes by the teams of both pipelines', async () => {
    const scene = await aScene()
    await scene.open(scene.child, 'build_and_read')
    expect(await seen(scene, null)).toMatchObject({
      state: 'failed',
      reason: `There is no pipeline "${scene.child.slug}" that a team of this pipeline may build`,
    })
    await scene.open(scene.parent, 'build_and_read')
    expect(await seen(scene, null)).toMatchObject({ state: 'running' })
  })
})

describe('a child build that is opened again', () => {
  async function aFailure() {
    const family = await aFamily()
    const build = await aBuild(app, family.org, family.parent)
    const child = await childOf(family.org, family.child)
    if (child === undefined) throw new Error('There is no child.')
    await runJob(app, child, 'c', 1)
    expect(await statesOf(app, build)).toMatchObject({ [family.child.slug]: 'failed', b: 'waiting_failed' })
    return { slug: family.child.slug, build, child, jobId: await jobNamed(app, child, 'c') }
  }

  it('reopens its parent: the trigger job waits for it again, and later steps run when it passes', async () => {
    const { slug, build, child, jobId } = await aFailure()
    await applyEvent(app, child, { type: 'retry', jobId, parentCanceled: false })
    expect(await statesOf(app, build)).toEqual({ [slug]: 'running', waiter: 'waiting', b: 'waiting' })
    expect(await buildState(app, build)).toBe('running')
    await runJob(app, child, 'c')
    expect(await statesOf(app, build)).toEqual({ [slug]: 'passed', waiter: 'passed', b: 'scheduled' })
    await runJob(app, build, 'b')
    expect(await buildState(app, build)).toBe('passed')
  })

  it('fails it again when it fails again', async () => {
    const { slug, build, child, jobId } = await aFailure()
    await applyEvent(app, child, { type: 'retry', jobId, parentCanceled: false })
    await runJob(app, child, 'c', 1)
    expect(await statesOf(app, build)).toMatchObject({ [slug]: 'failed', b: 'waiting_failed' })
    expect(await buildState(app, build)).toBe('failed')
  })

  it('is found by the sweep when the process died before it reported', async () => {
    const { slug, build, child, jobId } = await aFailure()
    const event = { type: 'retry' as const, jobId, parentCanceled: false }
    await advanceBuild(app.ctx, child.organizationId, child.id, event)
    expect(await statesOf(app, build)).toMatchObject({ [slug]: 'failed' })
    await sweep({ ...app.ctx, now: () => new Date(Date.now() + 60_000) })
    expect(await statesOf(app, build)).toMatchObject({ [slug]: 'running', b: 'waiting' })
  })

  it('leaves a canceled parent alone', async () => {
    const { org, child, parent } = await aFamily()
    const build = await aBuild(app, org, parent)
    const made = await childOf(org, child)
    if (made === undefined) throw new Error('There is no child.')
    await applyEvent(app, build, { type: 'cancel_build', reason: null })
    await applyEvent(app, made, {
      type: 'retry',
      jobId: await jobNamed(app, made, 'c'),
      parentCanceled: false,
    })
    expect(await buildState(app, build)).toBe('canceled')
  })
})

describe('abuse case H1: a trigger step whose target cannot be built', () => {
  const outOfRange = '[{command: c, priority: 2147483648}]'

  it('fails with the reason when the saved configuration is refused', async () => {
    const { org, child, parent } = await aFamily()
    await app.db
      .updateTable('pipelines')
      .set({ configuration: outOfRange })
      .where('id', '=', child.id)
      .execute()
    const build = await aBuild(app, org, parent)
    expect(await reasonsOf(build)).toEqual([
      'Validation Failed: line 1, column 25, step 1 ("c"): `priority` cannot be the number 2147483648; ' +
        'expected a whole number from -2147483648 to 2147483647',
    ])
  })

  it('fails with the reason when the database refuses the child', async () => {
    const { org, child, parent } = await aFamily()
    await app.db
      .updateTable('pipelines')
      .set({ last_build_number: 2_147_483_647 })
      .where('id', '=', child.id)
      .execute()
    const build = await aBuild(app, org, parent)
    expect(await reasonsOf(build)).toEqual(['The build cannot be stored: integer out of range'])
    expect(await statesOf(app, build)).toMatchObject({ [child.slug]: 'failed' })
  })

  async function reasonsOf(build: TestBuild): Promise<Array<string | null>> {
    const jobs = await app.db
      .selectFrom('jobs')
      .select('reason')
      .where('build_id', '=', build.id)
      .where('kind', '=', 'trigger')
      .execute()
    return jobs.map(({ reason }) => reason)
  }
})
