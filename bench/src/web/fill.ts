// Fills a database with what the web is measured on: a thousand pipelines with builds, and a build of 4,000 jobs.
import pg from 'pg'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import type { BenchServer } from '../harness/bench-server.ts'
import { contextOn } from '../harness/context.ts'
import { aBuildRequest, seedPipeline } from '../harness/seed.ts'

export const pipelineCount = 1000
export const jobCount = 4000
const buildsEach = 30
const layers = 10
const stepsInLayer = 50

/** Statements without triggers and checks, as in a database that was filled long ago. */
async function inBulk(databaseUrl: string, run: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('set synchronous_commit = off; set session_replication_role = replica')
    await run(client)
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
}

export const fillPipelines = ({ databaseUrl, seeded: { orgId, clusterId, userId } }: BenchServer) =>
  inBulk(databaseUrl, (client) =>
    client.query(
      `with made as (
        insert into pipelines (id, organization_id, cluster_id, slug, name, repository, configuration, webhook_token, badge_token,
          created_by, last_build_number)
        select gen_random_uuid(), $1, $2, 'service-' || n, 'Service ' || n, 'https://git.example.com/bench.git',
          'steps: [{command: "true"}]', gen_random_uuid(), gen_random_uuid(), $3, $5
        from generate_series(1, $4::int) n
        returning id
      )
      insert into builds (id, organization_id, pipeline_id, number, state, shown_state, message, commit, branch, source, creator_id,
        created_at, scheduled_at, started_at, finished_at)
      select gen_random_uuid(), $1, id, n, state, state, 'Change ' || n, 'commit-' || n, 'main', 'api', $3, at, at, at,
        at + make_interval(secs => 60 + n * 3)
      from made, generate_series(1, $5::int) n,
        lateral (select now() - make_interval(hours => ($5 - n) * 24) as at, case when n % 7 = 0 then 'failed' else 'passed' end as state) so`,
      [orgId, clusterId, userId, pipelineCount, buildsEach],
    ),
  )

/** Layers of steps that wait for two of the layer before, each step with parallel jobs, as builds of monorepos are. */
function largeConfiguration(): string {
  const steps = Array.from({ length: layers * stepsInLayer }, (_, index) => {
    const [layer, place] = [Math.floor(index / stepsInLayer), index % stepsInLayer]
    const after = [place, (place + 1) % stepsInLayer].map((each) => `s${layer - 1}-${each}`)
    const waits = layer === 0 ? '' : `, depends_on: [${after.join(', ')}]`
    return `  - {label: "Package ${index}", key: s${layer}-${place}, command: "make ${index}", parallelism: ${jobCount / layers / stepsInLayer}${waits}}`
  })
  return `steps:\n${steps.join('\n')}`
}

/** A finished build, one job in forty failed. Returns the path of its page. */
export async function fillLargeBuild({ database, databaseUrl, seeded }: BenchServer): Promise<string> {
  const pipelineId = await seedPipeline(database.db, seeded, 'large', largeConfiguration())
  const created = await createBuild(
    contextOn(database),
    seeded.orgId,
    aBuildRequest(pipelineId, { creatorId: seeded.userId, message: 'Large' }),
  )
  if (!created.ok) throw new Error(created.message)
  await inBulk(databaseUrl, async (client) => {
    await client.query(
      `update jobs j set state = case when n % 40 = 0 then 'failed' else 'passed' end, exit_status = case when n % 40 = 0 then 1 else 0 end,
        runnable_at = at, started_at = at + make_interval(secs => n % 13), finished_at = at + make_interval(secs => 20 + n % 97)
      from (
        select id, n, now() - interval '1 hour' + make_interval(secs => n / 400 * 100) as at
        from (select id, row_number() over (order by position) as n from jobs where build_id = $1) numbered
      ) so
      where j.id = so.id`,
      [created.buildId],
    )
    await client.query(
      `update builds set state = 'failed', shown_state = 'failed', started_at = now() - interval '1 hour', finished_at = now() where id = $1`,
      [created.buildId],
    )
  })
  return `/${seeded.slug}/large/builds/1`
}
