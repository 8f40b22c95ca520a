// An organization with one row of every kind, for tests that walk all endpoints. Its ids are stored by the name of the
// URL placeholder. A placeholder without an id makes those tests fail.
import type { Route } from '../src/http/route.ts'
import { hashToken, newId } from '../src/lib/ids.ts'
import type { TestApp } from './app.ts'
import {
  aMember,
  anAdmin,
  anOrganization,
  aToken,
  tokenId,
  unique,
  withFeature,
  type TestOrganization,
  type TestUser,
} from './builders.ts'
import { sessionId } from './sessions.ts'

export interface World {
  org: TestOrganization
  admin: TestUser
  ids: Record<string, string>
}

export async function aWorld(app: TestApp): Promise<World> {
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const member = await aMember(app, org)
  await withFeature(app, org, 'custom_agent_images')
  const make = async (path: string, body: object, key = 'id'): Promise<string> => {
    const answer = await app.request('POST', `${org.path}${path}`, { token: admin.token, body })
    const made = answer.list[0] ?? answer.body
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.text}`)
    return String(made[key])
  }
  const cluster = await make('/clusters', { name: 'World' })
  const serviceAccount = await make('/service_accounts', { name: 'World' })
  const team = await make('/teams', { name: 'World' })
  await make(`/teams/${team}/members`, { user_id: member.id }, 'user_id')
  const pipeline = await make(
    '/pipelines',
    {
      name: unique('world'),
      repository: 'https://git.example.com/world.git',
      cluster_id: cluster,
      configuration: 'steps: [{command: turn}]',
    },
    'slug',
  )
  const { id: pipelineId } = await app.db
    .selectFrom('pipelines')
    .select('id')
    .where('slug', '=', pipeline)
    .executeTakeFirstOrThrow()
  const build = await make(`/pipelines/${pipeline}/builds`, { commit: 'HEAD', branch: 'main' }, 'number')
  const job = await app.db
    .selectFrom('jobs')
    .select(['id', 'build_id'])
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirstOrThrow()
  const upload = newId()
  await app.db
    .insertInto('step_uploads')
    .values({
      id: upload,
      organization_id: org.id,
      build_id: job.build_id,
      source_job_id: job.id,
      state: 'applied',
      definition_yaml: 'steps: []',
    })
    .execute()
  const target = await make(
    '/pipelines',
    { name: unique('moon'), repository: 'https://git.example.com/moon.git', configuration: 'steps: []' },
    'slug',
  )
  const agent = newId()
  await app.db
    .insertInto('agents')
    .values({
      id: agent,
      organization_id: org.id,
      cluster_id: cluster,
      name: 'World',
      session_hash: hashToken(agent),
    })
    .execute()
  const artifact = newId()
  await app.db
    .insertInto('artifacts')
    .values({
      id: artifact,
      organization_id: org.id,
      build_id: job.build_id,
      job_id: job.id,
      batch_id: newId(),
      batch_index: 0,
      path: 'world.txt',
      file_size: 0,
      sha1sum: '',
      mime_type: 'text/plain',
    })
    .execute()
  const cache = newId()
  await app.db
    .insertInto('step_caches')
    .values({
      id: cache,
      organization_id: org.id,
      pipeline_id: pipelineId,
      name: 'world',
      branch: 'main',
      platform: 'linux-x64',
      paths: ['node_modules'],
      paths_hash: Buffer.alloc(32),
      file_count: 1,
      size_bytes: 1,
      stored_bytes: 1,
      job_id: job.id,
      saved_at: new Date().toISOString(),
      used_at: new Date().toISOString(),
    })
    .execute()
  const suite = await make('/suites', { name: unique('world') }, 'slug')
  const { id: suiteId } = await app.db
    .selectFrom('test_suites')
    .select('id')
    .where('slug', '=', suite)
    .executeTakeFirstOrThrow()
  const at = new Date().toISOString()
  const testRun = newId()
  await app.db
    .insertInto('test_runs')
    .values({
      id: testRun,
      organization_id: org.id,
      suite_id: suiteId,
      key: 'world',
      created_at: at,
      updated_at: at,
    })
    .execute()
  await app.db
    .insertInto('test_results')
    .values({ run_id: testRun, id: newId(), scope: '', name: 'turns', result: 'failed', created_at: at })
    .execute()
  const test = newId()
  await app.db
    .insertInto('tests')
    .values({
      organization_id: org.id,
      suite_id: suiteId,
      id: test,
      scope: '',
      name: 'turns',
      first_seen_at: at,
      last_seen_at: at,
    })
    .execute()
  const commitStatus = newId()
  await app.db
    .insertInto('commit_statuses')
    .values({
      id: commitStatus,
      organization_id: org.id,
      pipeline_id: pipelineId,
      build_id: job.build_id,
      build_number: Number(build),
      commit: 'a'.repeat(40),
      context: 'world',
      state: 'success',
      description: '',
      changed_at: at,
    })
    .execute()
  const service = await make('/services', {
    provider: 'webhook',
    settings: { url: 'https://hooks.example.com/world' },
  })
  const events = await app.request('GET', `${org.path}/audit_events`, { token: admin.token })
  const ids = {
    access_token: await tokenId(app, await aToken(app, admin)),
    artifact,
    cache,
    commit_status: commitStatus,
    cluster,
    team,
    user: member.id,
    queue: await make(`/clusters/${cluster}/queues`, { key: 'world' }),
    token: await make(`/clusters/${cluster}/tokens`, { description: 'World' }),
    maintainer: await make(`/clusters/${cluster}/maintainers`, { user: member.id }),
    connection: await make('/repository_connections', {
      type: 'gitea',
      url: `https://${org.slug}.example.com`,
    }),
    secret: await make(`/clusters/${cluster}/secrets`, { key: 'WORLD', value: 'round' }),
    image: 'abc123def4567',
    invitation: await make('/invitations', { emails: ['guest@example.com'] }),
    event: String(events.list[0]?.uuid),
    pipeline,
    build,
    job: job.id,
    upload,
    agent,
    suite,
    test_run: testRun,
    test,
    pipeline_uuid: pipelineId,
    build_uuid: job.build_id,
    annotation: await make(`/pipelines/${pipeline}/builds/${build}/annotations`, { body: 'round' }),
    service,
    service_account: serviceAccount,
    token_issuer: await make('/token_issuers', {
      issuer: 'https://tokens.example.com',
      claims: { sub: ['world'] },
      service_account_id: serviceAccount,
      scopes: ['read_builds'],
    }),
    session: await sessionId(app, admin),
    delivery: await make(`/services/${service}/test`, {}),
    schedule: await make(`/pipelines/${pipeline}/schedules`, { cronline: '@daily' }),
    trigger: await make(`/pipelines/${pipeline}/triggers`, { name: 'World' }),
    template: await make('/pipeline-templates', { name: 'World', configuration: 'steps: []' }, 'uuid'),
    rule: await make(
      '/rules',
      {
        type: 'pipeline.trigger_build.pipeline',
        value: { source_pipeline: pipeline, target_pipeline: target },
      },
      'uuid',
    ),
    team_pipeline: await make(
      `/teams/${team}/pipelines`,
      { pipeline_id: pipelineId, access_level: 'read_only' },
      'pipeline_id',
    ),
    budget: await make('/budgets', { pipeline_id: pipelineId, amount: 200 }),
    team_suite: await make(
      `/teams/${team}/suites`,
      { suite_id: suiteId, access_level: ['read'] },
      'suite_id',
    ),
  }
  return { org, admin, ids }
}

/** The route's URL with the ids of this world; `swapped` replaces ids by placeholder. */
export function urlIn(world: World, route: Pick<Route, 'url'>, swapped: Record<string, string> = {}): string {
  return route.url.replace(/:(\w+)/g, (_, name: string) => {
    if (name === 'org') return world.org.slug
    const id = swapped[name] ?? world.ids[name]
    if (id === undefined)
      throw new Error(`test/world.ts has nothing for the placeholder :${name} of ${route.url}.`)
    return encodeURIComponent(id)
  })
}

/** A body that passes the schema check, so that only the id can be refused. */
export function exampleOf(schema: object | undefined): unknown {
  const [example]: unknown[] = (Reflect.get(schema ?? {}, 'examples') as unknown[] | undefined) ?? []
  return example ?? {}
}
