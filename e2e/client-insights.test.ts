// `millrace insights` and `millrace budget list`, with ends of jobs that the server counts.
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { aUser, json, refusalOf } from './logged-in.ts'
import { databaseUrl, eventually, millrace, theServer, type Json } from './millrace.ts'

/** A queue, and a pipeline whose steps have run. */
async function anOrganizationWithJobs(slug: string) {
  const user = await aUser(slug)
  const cluster = await user.post('clusters', { name: 'Own' })
  const queue = await user.post(`clusters/${String(cluster['id'])}/queues`, { key: 'default' })
  const web = await user.post('pipelines', {
    name: 'Web',
    repository: 'https://git.example.com/web.git',
    cluster_id: cluster['id'],
    configuration: 'steps: []',
  })
  const database = new pg.Client({ connectionString: databaseUrl(theServer()) })
  await database.connect()
  onTestFinished(() => database.end())
  /** So many jobs of a step that ended so many days ago, at one a minute. */
  const ended = (step: string, { jobs = 1, daysAgo = 0, hasFailed = false, seconds = 60 }) =>
    database.query(
      `insert into job_ends (organization_id, job_id, build_id, pipeline_id, queue_id, step, ended_at, has_failed, is_retry, wait_ms, run_ms, price_micros)
       select o.id, gen_random_uuid(), gen_random_uuid(), $2, $3, $4, now() - make_interval(days => $5), $6, false, 10000, $7, 1000000
       from organizations o, generate_series(1, $8) where o.slug = $1`,
      [slug, web['id'], queue['id'], step, daysAgo, hasFailed, seconds * 1000, jobs],
    )
  const show = (...args: string[]) => millrace(['insights', ...args], user.settings)
  return { ...user, web, ended, show }
}

const counted = (settings: Record<string, string>, args: readonly string[], jobs: number) =>
  eventually('the jobs are counted', async () => {
    const answer = await json(['insights', ...args], settings)
    return (answer['total'] as Json | undefined)?.['jobs'] === (jobs as unknown) && answer
  })

describe('millrace insights', () => {
  it('shows queues, pipelines and steps as a table, as CSV, and as the API has them', async () => {
    const { settings, ended, show } = await anOrganizationWithJobs('insider')
    expect(await show('--period', '1h')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No job of insider that you may see ended in the last 1h. Choose a longer one: --period 30d.\n',
    })
    expect(refusalOf(await show('--pipeline', 'wob'))).toBe(
      'No pipeline found.\nThe pipelines of insider: web.\n',
    )
    await ended('unit\u001b[2J', { jobs: 2, seconds: 90 })
    await ended('lint', { hasFailed: true })
    const answer = await counted(settings, ['--group-by', 'step', '--period', '1h'], 3)
    expect(answer).toMatchObject({
      group_by: 'step',
      period: '1h',
      currency: 'USD',
      groups: [
        { jobs: 2, cost: 3 },
        { name: 'lint', failures: 1, pipeline: { slug: 'web' } },
      ],
    })

    const steps = await show('--group-by', 'step', '-p', 'web', '--sort', 'failures')
    expect(steps).toMatchObject({ code: 0, stderr: '' })
    const [head, ...rows] = steps.stdout.trimEnd().split('\n')
    expect(head).toMatch(/^STEP +PIPELINE +JOBS +FAILED +RETRIES +WAIT P50 .* RUN P95 +TIME +COST USD$/)
    expect(rows).toEqual([
      expect.stringMatching(/^lint +web +1 +1 +0 +\d+ s +\d+ s .* 1 min +1\.00$/),
      expect.stringMatching(/^unit␛\[2J +web +2 +0 +0 .* 3 min +3\.00$/),
      expect.stringMatching(/^All jobs +- +3 +1 +0 .* 4 min +4\.00$/),
    ])
    expect((await show('--group-by', 'queue')).stdout).toMatch(
      /^QUEUE .* WAITING +RUNNING +BUSY AGENTS +UTILIZATION .*\ndefault .* 4\.00\nAll jobs /,
    )
    expect((await show('--group-by', 'team')).stdout).toMatch(/\nWithout a team +3 /)
    expect(await show('--group-by', 'step', '--limit', '1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('unit␛'),
      stderr: 'The first 1: --limit shows up to 100, and --csv all.\n',
    })

    const csv = await show('--group-by', 'pipeline', '--csv')
    expect(csv).toMatchObject({ code: 0, stderr: '' })
    expect(csv.stdout).toMatch(/^id,name,pipeline,jobs,.*\r\n[0-9a-f-]{36},Web,web,3,1,0,240,4,USD,.*\r\n$/)
    expect(await show('--csv', '--json')).toMatchObject({ code: 2, stdout: '' })
    expect(await show('--limit', '101')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--csv prints all'),
    })
  })

  it('lists steps that got slower', async () => {
    const { settings, ended, show } = await anOrganizationWithJobs('slower')
    expect(await show('--slower')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'No step of slower took longer than usual in the last 7 days.\n',
    })
    for (const daysAgo of [8, 10, 12, 14, 16]) await ended('unit', { jobs: 10, daysAgo })
    await ended('unit', { jobs: 10, seconds: 90 })
    await counted(settings, ['--period', '30d'], 60)
    expect(await json(['insights', '--slower'], settings)).toMatchObject([
      { name: 'unit', pipeline: { slug: 'web' }, jobs: 10 },
    ])
    expect((await show('--slower')).stdout).toMatch(
      /^STEP +PIPELINE +NOW +USUALLY +SLOWER BY +JOBS\nunit +web +1 min \d+ s .* \d\d % +10\n$/,
    )
    expect(await show('--slower', '--period', '7d')).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('millrace budget list', () => {
  it('lists what pipelines may cost, and what is spent', async () => {
    const { settings, web, post, ended } = await anOrganizationWithJobs('thrifty')
    const list = () => millrace(['budget', 'list'], settings)
    expect(await list()).toMatchObject({
      stdout: '',
      stderr: 'thrifty has no budgets that you can see.\n',
    })
    await post('budgets', { pipeline_id: web['id'], amount: 5 })
    await ended('unit', { jobs: 4 })
    await eventually('the jobs are counted', async () => {
      const [budget] = Object.values(await json(['budget', 'list'], settings))
      return budget?.['spent'] === (4 as unknown)
    })
    expect((await list()).stdout).toMatch(
      /^OF +NAME +MONTH +SPENT +BUDGET +USED\npipeline +web +\d{4}-\d\d +4\.00 +5\.00 +USD +80 %\n$/,
    )
  })
})
