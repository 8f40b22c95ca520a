// A contributor with a fork, whose jobs upload steps that ask for commit statuses of others.
import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useOwnApp } from '../../../../test/app.ts'
import { anAgent, anAgentWorld } from '../../../../test/agent-client.ts'
import { anAdmin, anOrganization, aPipeline, type TestOrganization } from '../../../../test/builders.ts'
import { updateAll } from '../../../../test/commit-statuses.ts'
import { commitOf } from '../../../../test/deliveries.ts'
import { aBuild, applyEvent, runJob, startJob, statesOf, type TestBuild } from '../../../../test/runs.ts'
import { uploadSteps } from '../../../conductor/upload.ts'
import { newId } from '../../../lib/ids.ts'

const app = useOwnApp()
const fork = { commitOrigin: 'fork' as const, commit: commitOf('head') }

let org: TestOrganization
beforeAll(() => updateAll(app.ctx))
beforeEach(async () => {
  org = await anOrganization(app)
  await connect((await anAdmin(app, org)).token)
})

async function connect(token: string): Promise<void> {
  const url = 'https://git.example.com'
  const body = { type: 'github', url, api_url: url, token: 'x' }
  const made = await app.request('POST', `${org.path}/repository_connections`, { token, body })
  expect(made.status).toBe(201)
}

const pipelineWith = (steps: string, settings: object = {}) =>
  aPipeline(app, org, `steps: [${steps}]`, {
    repository: 'git@git.example.com:acme/app.git',
    provider_settings: JSON.stringify(settings),
  })

const upload = (build: TestBuild, jobId: string, value: object, replace = false) =>
  uploadSteps(app.ctx, build.organizationId, { uploadId: newId(), jobId, steps: { value }, replace })

const finish = (build: TestBuild, jobId: string) =>
  applyEvent(app, build, { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null })

/** Each context of the build with its state; the description of those that have another context than asked for. */
async function statusesOf({ id }: TestBuild): Promise<Record<string, string>> {
  await updateAll(app.ctx)
  const { rows } = await sql<{ context: string; state: string; description: string }>`
    select context, state, description from commit_statuses where build_id = ${id} order by context`.execute(
    app.db,
  )
  const asked = (description: string) => /Asked for as .*/.exec(description)?.[0]
  return Object.fromEntries(
    rows.map(({ context, state, description }) => [context, asked(description) ?? state]),
  )
}

const status = (context: string) => ({ github_commit_status: { context } })

/** A build whose job `up` has uploaded steps, and has ended; the steps have passed. */
async function uploaded(
  pipeline: { id: string },
  value: { steps: Array<{ command: string }> },
  given: object = fork,
) {
  const build = await aBuild(app, org, pipeline, given)
  const jobId = await startJob(app, build, 'up')
  const outcome = await upload(build, jobId, value)
  await finish(build, jobId)
  for (const { command } of value.steps) await runJob(app, build, command)
  return { build, outcome }
}

describe('a fork that overwrites the commit status of another', () => {
  it('publishes what its steps ask for below the context of its own pipeline', async () => {
    const other = await pipelineWith('{ command: x }')
    const own = await pipelineWith('{ command: up }')
    const base = `millrace/${own.slug}`
    const steps = [
      { command: 'a', notify: [status(`millrace/${other.slug}`), status('ci/required')] },
      {
        command: 'b',
        notify: [status(`${base}-2`), status(`${base}/lint`), { github_check: { name: 'CodeQL' } }],
      },
    ]
    const value = { notify: [status('license/cla')], steps }
    const { build, outcome } = await uploaded(own, value)
    const moved = (name: string) => `Asked for as “${name}”`
    expect(await statusesOf(build)).toEqual({
      [base]: 'success',
      [`${base}/millrace/${other.slug}`]: moved(`millrace/${other.slug}`),
      [`${base}/ci/required`]: moved('ci/required'),
      [`${base}/${base}-2`]: moved(`${base}-2`),
      [`${base}/lint`]: 'success',
      [`check: ${base}/CodeQL`]: moved('CodeQL'),
      [`${base}/license/cla`]: moved('license/cla'),
    })
    expect(outcome?.message).toMatch(/^Commit statuses of forks are published below/)
    expect(outcome?.message).toContain(`"${base}/ci/required" instead of "ci/required"`)
    expect(outcome?.message).not.toContain(`"${base}/lint"`)
  })

  it('does not do so when the repository trusts forks, or builds its own commit', async () => {
    const value = { steps: [{ command: 'a', notify: [status('ci/required')] }] }
    const trusting = await pipelineWith('{ command: up }', { trust_pull_request_forks: true })
    const own = await pipelineWith('{ command: up }')
    for (const [pipeline, given] of [
      [trusting, fork],
      [own, { commit: commitOf('own') }],
    ] as const) {
      const { build, outcome } = await uploaded(pipeline, value, given)
      expect(outcome?.message).toBeNull()
      expect(await statusesOf(build)).toMatchObject({ 'ci/required': 'success' })
    }
  })

  it('takes no status of the steps that its pipeline has itself, neither by name, label, check nor case', async () => {
    const pipeline = await pipelineWith(
      `{ command: up, label: Upload }, { command: scan, label: Scan, notify: [{ github_commit_status: { context: scan/done } }] }`,
      { publish_commit_status_per_step: true },
    )
    const base = `millrace/${pipeline.slug}`
    const names = [base, `${base}/Scan`, `${base}/scan`, `${base}/Scan (2)`, 'scan/done', `${base}/pr`]
    const steps = [
      { command: 'a', label: 'Scan', notify: names.map(status) },
      { command: 'b', label: 'Mine', notify: names.map((name) => ({ github_check: { name } })) },
    ]
    const build = await aBuild(app, org, pipeline, fork)
    const jobId = await startJob(app, build, 'up')
    expect(await upload(build, jobId, { steps })).toMatchObject({ state: 'applied' })
    await finish(build, jobId)
    for (const command of ['a', 'b']) await runJob(app, build, command)
    const before = await statusesOf(build)
    expect(before).toMatchObject({
      [base]: 'running',
      [`${base}/Upload`]: 'success',
      [`${base}/Scan`]: 'pending',
    })
    expect(before).not.toHaveProperty('scan/done')

    await runJob(app, build, 'scan', 1)
    const after = await statusesOf(build)
    expect(after).toMatchObject({ [base]: 'failure', [`${base}/Scan`]: 'failure', 'scan/done': 'failure' })
    const own = new Set(
      [base, `${base}/Upload`, `${base}/Scan`, 'scan/done'].map((name) => name.toLowerCase()),
    )
    const others = Object.keys(after).filter((name) => after[name] !== 'failure')
    for (const name of others.filter((one) => one !== `${base}/Upload`)) {
      const shown = name.replace(/^check: /, '').toLowerCase()
      expect([shown, shown.startsWith(`${base}/`), own.has(shown)]).toEqual([shown, true, false])
    }
    expect(others).toContain(`${base}/Scan (fork)`)
    expect(others).toContain(`check: ${base}/Scan (fork)`)
    expect(others).toContain(`${base}/Mine`)
  })

  it('does not report as another pipeline that its steps trigger, for a commit and with variables that it chooses', async () => {
    const other = await pipelineWith(
      '{ command: x, notify: [{ github_commit_status: { context: ci/other } }] }',
    )
    const chosen = commitOf('chosen')
    const trigger = { trigger: other.slug, build: { commit: chosen, env: { SKIP_TESTS: '1' } } }
    const statusesOfChild = async (steps: string, value: object | null) => {
      const parent = await aBuild(app, org, await pipelineWith(steps), fork)
      const jobId = await startJob(app, parent, 'up')
      if (value !== null) await upload(parent, jobId, value)
      await finish(parent, jobId)
      const { rows } = await sql<{ id: string; number: number }>`
        select id, number from builds where triggered_from ->> 'build_id' = ${parent.id}`.execute(app.db)
      const child = { ...parent, id: rows[0]?.id ?? '', number: rows[0]?.number ?? 0 }
      await runJob(app, child, 'x')
      return { child, statuses: await statusesOf(child) }
    }
    const apart = {
      [`millrace/${other.slug} (fork)`]: 'success',
      [`millrace/${other.slug} (fork)/ci/other`]: 'Asked for as “ci/other”',
    }
    const { child, statuses } = await statusesOfChild('{ command: up }', { steps: [trigger] })
    expect(statuses).toEqual(apart)
    const again = await aBuild(app, org, other, {
      commit: chosen,
      rebuiltFrom: { id: child.id, number: child.number },
    })
    await runJob(app, again, 'x')
    expect(await statusesOf(again)).toEqual(apart)

    // A step of the pipeline itself has triggered this one.
    const stored = `{ command: up }, { trigger: ${other.slug}, build: { commit: ${commitOf('stored')} } }`
    expect((await statusesOfChild(stored, null)).statuses).toEqual({
      [`millrace/${other.slug}`]: 'success',
      'ci/other': 'success',
    })
  })

  it('cannot remove those steps by a replacing upload', async () => {
    const pipeline = await pipelineWith('{ command: up }, { command: scan }')
    const build = await aBuild(app, org, pipeline, fork)
    const jobId = await startJob(app, build, 'up')
    expect(await upload(build, jobId, { steps: [{ command: 'a' }] }, true)).toMatchObject({
      state: 'rejected',
      message: 'Builds of forks may not replace steps that their pipeline has itself.',
    })
    expect(await statesOf(app, build)).toEqual({ up: 'running', scan: 'scheduled' })
    await runJob(app, build, 'scan')
    expect(await upload(build, jobId, { steps: [{ command: 'a' }] })).toMatchObject({ state: 'applied' })
    expect(await upload(build, jobId, { steps: [{ command: 'b' }] }, true)).toMatchObject({
      state: 'applied',
    })
    expect(await statesOf(app, build)).toEqual({ up: 'running', scan: 'passed', b: 'waiting' })
  })

  it('cannot rename those steps away', async () => {
    const world = await anAgentWorld(app)
    org = world.org
    await connect(world.admin.token)
    const steps = '{ command: up, label: Upload }, { command: scan, key: scan, label: Scan }'
    const pipeline = await pipelineWith(steps, { publish_commit_status_per_step: true })
    const build = await aBuild(app, org, pipeline, fork)
    const run = await (await anAgent(app, world.token)).begin()
    const body = { idempotency_uuid: newId(), attribute: 'label', value: 'Harmless' }
    expect(await run.call('PUT', 'steps/scan', { body })).toMatchObject({ status: 200 })
    expect(await upload(build, run.id, { steps: [{ command: 'a', label: 'Scan' }] })).toMatchObject({
      state: 'applied',
    })
    await run.finish()
    await runJob(app, build, 'a')
    await runJob(app, build, 'scan', 1)
    const base = `millrace/${pipeline.slug}`
    expect(await statusesOf(build)).toEqual({
      [base]: 'failure',
      [`${base}/Upload`]: 'success',
      [`${base}/Scan`]: 'failure',
      [`${base}/Scan (2)`]: 'success',
    })
  })
})
