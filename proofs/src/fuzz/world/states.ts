// The states that some operations need, such as a failed job to retry. Each makes new rows and returns their ids and secrets,
// which replace those of the world for one request.
import { randomBytes, randomUUID } from 'node:crypto'
import { inTransaction } from '@millrace/server/db/transaction.ts'
import { storeArchives, writeArchives } from '@millrace/server/resources/builds/archived_builds/archive.ts'
import { newVolumeId } from '@millrace/server/resources/clusters/cache_volumes/queries.ts'
import { noteDelivery } from '@millrace/server/webhooks/poll-queries.ts'
import { keepTriggerDelivery } from '@millrace/server/resources/pipelines/trigger-deliveries/queries.ts'
import { announce, announceParts, takeFile } from './files.ts'
import { makeRoom } from './makers.ts'
import { finishJob, jobsOf, newAgent, newBuild, newPipeline, runJob } from './runs.ts'
import { type Ids, type Json, type World } from './world.ts'

export interface Prepared {
  ids?: Ids
  secrets?: Record<string, string>
}

type State = (world: World) => Promise<Prepared>

const oneStep = 'steps: [{ command: turn, key: turn }]'

const idsOf = (build: Json, job: Json | undefined): Ids => ({
  build: String(build.number),
  build_uuid: String(build.id),
  job: String(job?.id),
  step: 'turn',
})

const scheduledJob: State = async (world) => {
  const build = await newBuild(world, world.id('pipeline'))
  return { ids: idsOf(build, jobsOf(build)[0]) }
}

const blockedJob: State = async (world) => {
  const build = await newBuild(world, world.id('target_pipeline'))
  const ids = idsOf(build, jobsOf(build)[0])
  return { ids: { ...ids, pipeline: world.id('target_pipeline') } }
}

const runningJob: State = async (world) => {
  const { ids = {} } = await scheduledJob(world)
  const run = await runJob(world, ids['job'] ?? '')
  return { ids: { ...ids, agent: run.agent }, secrets: { session: run.session, job: run.token } }
}

const acceptedJob: State = async (world) => {
  const { ids = {} } = await scheduledJob(world)
  const agent = await newAgent(world)
  const taken = await world.agent('PUT', `jobs/${ids['job']}/acquire`, agent.session)
  return { ids, secrets: { session: agent.session, job: String(taken.token) } }
}

/** Scheduled, and an agent without a job. */
const jobToAcquire: State = async (world) => {
  const { ids = {} } = await scheduledJob(world)
  const { session } = await newAgent(world)
  return { ids, secrets: { session } }
}

const offeredJob: State = async (world) => {
  await scheduledJob(world)
  const { session } = await newAgent(world)
  const offered = await world.agent('GET', 'ping', session)
  return { ids: { job: String(offered.job?.id) }, secrets: { session } }
}

const endedJob =
  (status: number): State =>
  async (world) => {
    const running = await runningJob(world)
    const [job, token] = [running.ids?.['job'] ?? '', running.secrets?.['job'] ?? '']
    await finishJob(world, job, token, status)
    return running
  }

const failedBuild: State = async (world) => {
  const made = await newPipeline(world, oneStep)
  const build = await newBuild(world, String(made.slug))
  const [job] = jobsOf(build)
  const run = await runJob(world, String(job?.id))
  await finishJob(world, String(job?.id), run.token, 1)
  return { ids: { ...idsOf(build, job), pipeline: String(made.slug) } }
}

/** Retention archives builds that are old; this one is archived at once. */
const archivedBuild: State = async (world) => {
  const failed = await failedBuild(world)
  const [organization, id] = [world.id('org_uuid'), failed.ids?.['build_uuid'] ?? '']
  const written = await writeArchives(world.store, organization, [id])
  await inTransaction(world.db, (trx) => storeArchives(trx, organization, written, []))
  return failed
}

const agent: State = async (world) => {
  const { agent: id, session } = await newAgent(world)
  return { ids: { agent: id }, secrets: { session } }
}

const pausedAgent: State = async (world) => {
  const made = await agent(world)
  await world.call('PUT', `/agents/${made.ids?.['agent']}/pause`, {})
  return made
}

const pipeline: State = async (world) => {
  const made = await newPipeline(world, oneStep)
  return { ids: { pipeline: String(made.slug), pipeline_uuid: String(made.id) } }
}

const archivedPipeline: State = async (world) => {
  const made = await pipeline(world)
  await world.call('POST', `/pipelines/${made.ids?.['pipeline']}/archive`)
  return made
}

const cluster: State = async (world) => {
  const { id } = await world.call('POST', '/clusters', { name: world.unique() })
  return { ids: { cluster: String(id) } }
}

const member: State = async (world) => ({ ids: { user: (await world.person('member')).id } })

/** The annotation of a job is another than that of its build. */
const jobAnnotation: State = async (world) => ({ ids: { annotation: world.id('job_annotation') } })

const hosted: State = async (world) => ({ ids: { cluster: world.id('hosted_cluster') } })

const cacheVolume: State = async (world) => {
  const tag = `${world.id('pipeline_uuid')}/${world.unique()}`
  const at = new Date().toISOString()
  await world.db
    .insertInto('cache_volumes')
    .values({
      id: newVolumeId(),
      organization_id: world.id('org_uuid'),
      cluster_id: world.id('hosted_cluster'),
      tag,
      state: 'detached',
      detached_at: at,
    })
    .execute()
  return { ids: { cluster: world.id('hosted_cluster'), volume_tag: tag } }
}

const spareToken: State = async (world) => {
  const admin = await world.token({ email: world.secret('email') })
  return { secrets: { admin } }
}

const file: State = async (world) => ({ secrets: { file: await takeFile(world, world.id('artifact')) } })

const announced: State = async (world) => {
  const { id, ticket } = await announce(world)
  return { ids: { artifact: id }, secrets: { upload: ticket } }
}

const announcedParts: State = async (world) => {
  const { id, ticket } = await announceParts(world)
  return { ids: { artifact: id, part: '1' }, secrets: { part: ticket } }
}

/** A pipeline at a host that accepts webhooks. */
const connectedPipeline: State = async (world) => {
  const host = `${world.unique()}.example.com`
  await world.call('POST', '/repository_connections', {
    type: 'gitea',
    url: `https://${host}`,
    api_url: world.remote,
    token: 'a-token-of-the-host',
  })
  const made = await world.call('POST', '/pipelines', {
    name: world.unique(),
    repository: `git@${host}:acme/app.git`,
    cluster_id: world.id('cluster'),
    configuration: oneStep,
  })
  return { ids: { pipeline: String(made.slug) } }
}

/** A connection with a token that lists repositories. */
const connectedHost: State = async (world) => {
  const made = await world.call('POST', '/repository_connections', {
    type: 'gitea',
    url: `https://${world.unique()}.example.com`,
    api_url: world.remote,
    token: 'a-token-of-the-host',
  })
  return { ids: { connection: String(made.id) } }
}

/** A running job whose repository is at a host with a GitHub App. */
const jobOfApp: State = async (world) => {
  const host = `${world.unique()}.example.com`
  await world.call('POST', '/repository_connections', {
    type: 'github_enterprise_app',
    url: `https://${host}`,
    api_url: world.remote,
    app_id: '123456',
    installation_id: '7890',
    private_key: world.secret('private_key'),
  })
  const made = await world.call('POST', '/pipelines', {
    name: world.unique(),
    repository: `git@${host}:acme/app.git`,
    cluster_id: world.id('cluster'),
    configuration: oneStep,
    provider_settings: { github_workflow_access_tokens_enabled: true },
  })
  const build = await newBuild(world, String(made.slug), { commit: 'a'.repeat(40) })
  const [job] = jobsOf(build)
  const run = await runJob(world, String(job?.id))
  return {
    ids: { ...idsOf(build, job), repository: `https://${host}/acme/app.git` },
    secrets: { job: run.token },
  }
}

/** A running job whose repository the server relays. A host has one connection. */
const relayedJob: State = async (world) => {
  const [path, { hostname }] = ['/repository_connections', new URL(world.remote)]
  const known = (await world.call('GET', `${path}?per_page=100`)) as unknown as Array<{
    id: string
    repository_host: string
  }>
  const old = known.find(({ repository_host: host }) => host === hostname)
  const connection = { url: world.remote, token: 'a-token-of-the-host', checkout_enabled: true }
  if (old === undefined) await world.call('POST', path, { type: 'gitea', ...connection })
  else await world.call('PATCH', `${path}/${old.id}`, connection)
  const made = await world.call('POST', '/pipelines', {
    name: world.unique(),
    repository: `${world.remote}/acme/app.git`,
    cluster_id: world.id('cluster'),
    configuration: oneStep,
  })
  const build = await newBuild(world, String(made.slug))
  const [job] = jobsOf(build)
  const run = await runJob(world, String(job?.id))
  return { ids: idsOf(build, job), secrets: { job: run.token } }
}

const buildDelivery: State = async (world) => {
  const made = await newPipeline(world, `notify: [{ webhook: "${world.remote}/hook" }]\n${oneStep}`)
  const build = await newBuild(world, String(made.slug))
  const ids = { ...idsOf(build, jobsOf(build)[0]), pipeline: String(made.slug) }
  const path = `/pipelines/${made.slug}/builds/${build.number}`
  await world.call('PUT', `${path}/cancel`, {})
  const deliveries = `${path}/deliveries`
  // The relay publishes the event a moment later.
  for (let i = 0; i < 600; i++) {
    const [found] = (await world.call('GET', deliveries)) as unknown as Json[]
    if (found !== undefined) return { ids: { ...ids, delivery: String(found.id) } }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return { ids }
}

const githubPipeline: State = async (world) => {
  const made = await world.call('POST', '/pipelines', {
    name: world.unique(),
    repository: 'git@github.com:acme/app.git',
    cluster_id: world.id('cluster'),
    configuration: oneStep,
  })
  return { ids: { pipeline: String(made.slug) } }
}

const keyedPipeline: State = async (world) => {
  const { ids } = await githubPipeline(world)
  await world.call('POST', `/pipelines/${String(ids?.['pipeline'])}/deploy_key`, {})
  return { ids: ids ?? {} }
}

/** A trigger that takes any object and has received one. */
const usedTrigger: State = async (world) => {
  const pipeline = String((await newPipeline(world, oneStep)).slug)
  const path = `/pipelines/${pipeline}/triggers`
  const { id, address } = await world.call('POST', path, { name: world.unique(), signature: 'none' })
  const code = String(address).split('/').at(-1) ?? ''
  const trigger = await world.db
    .selectFrom('pipeline_triggers')
    .select(['id', 'organization_id'])
    .where('id', '=', String(id))
    .executeTakeFirstOrThrow()
  await keepTriggerDelivery(world.db, trigger, {
    at: new Date().toISOString(),
    headers: {},
    body: '{}',
    body_bytes: 2,
    status: 200,
    message: 'Received.',
    build: null,
  })
  const [delivery] = (await world.call('GET', `${path}/${id}/deliveries`)) as unknown as Json[]
  const ids = { pipeline, trigger: String(id), address: code }
  return { ids: { ...ids, ...(delivery === undefined ? {} : { delivery: String(delivery.id) }) } }
}

/** A pipeline whose webhook has worked. */
const heardPipeline: State = async (world) => {
  const { ids = {} } = await githubPipeline(world)
  const pipeline = await world.db
    .selectFrom('pipelines')
    .select(['id', 'organization_id', 'repository'])
    .where('slug', '=', ids['pipeline'] ?? '')
    .executeTakeFirstOrThrow()
  await inTransaction(world.db, (trx) => noteDelivery(trx, pipeline, new Date().toISOString()))
  return { ids }
}

const pausedQueue: State = async (world) => {
  await world.call('POST', `/clusters/${world.id('cluster')}/queues/${world.id('queue')}/pause_dispatch`, {})
  return {}
}

const serviceToken: State = async (world) => {
  const account = world.id('service_account')
  const { id } = await world.call('POST', `/service_accounts/${account}/tokens`, {
    description: world.unique(),
    scopes: ['read_builds'],
    expires_in_days: 1,
  })
  return { ids: { access_token: String(id) } }
}

const connectedProgram: State = async (world) => ({
  ids: { access_token: await world.program(world.secret('email')) },
})

const eventLog: State = async (world) => {
  const { id } = await world.call('POST', '/services', { provider: 'event_log_api', settings: {} })
  return { ids: { service: String(id) } }
}

const agentAnnotation: State = async (world) => {
  const context = world.unique()
  await world.agent('POST', `jobs/${world.id('job')}/annotations`, world.secret('job'), {
    body: 'x',
    context,
  })
  return { ids: { context } }
}

/** Only a session changes the password. */
const passwordSession: State = async (world) => {
  const { value, pageSecret } = await world.session(world.id('admin'))
  return { secrets: { only_cookie: value, page_secret: pageSecret } }
}

/** Only a session of an operator sees the installation. */
const operatorSession: State = async (world) => {
  await world.db.updateTable('users').set({ is_operator: true }).where('id', '=', world.id('admin')).execute()
  return passwordSession(world)
}

const storedCache: State = async (world) => {
  const { upload_id } = await world.agent('PUT', 'cache_registries/~/store', world.secret('job'), cacheEntry)
  return { ids: { cache_upload: String(upload_id) } }
}

const committedCache: State = async (world) => {
  const { ids = {} } = await storedCache(world)
  await world.agent('PUT', 'cache_registries/~/commit', world.secret('job'), {
    upload_id: ids['cache_upload'],
  })
  return {}
}

export const cacheEntry = {
  target_paths: ['node_modules'],
  cache_key: [{ value: 'linux', mandatory: true }],
  blobs: [{ digest: { algorithm: 'sha256', value: 'c'.repeat(64) }, file_size: 12, compression: 'zip' }],
  platform: 'linux/amd64',
}

export const stepCacheBlob = { digest: 'c'.repeat(64), size: 12 }

/** A running job whose step has a cache, of a pipeline that has the blob. */
const cachingJob: State = async (world) => {
  const made = await newPipeline(world, 'steps: [{ command: turn, key: turn, cache: node_modules }]')
  const build = await newBuild(world, String(made.slug))
  const [job] = jobsOf(build)
  const run = await runJob(world, String(job?.id))
  await world.db
    .insertInto('step_cache_blobs')
    .values({
      id: randomUUID(),
      organization_id: world.id('org_uuid'),
      pipeline_id: String(made.id),
      digest: Buffer.from(stepCacheBlob.digest, 'hex'),
      size_bytes: stepCacheBlob.size,
      stored_bytes: stepCacheBlob.size,
      blob_key: `caches/${randomUUID()}`,
    })
    .execute()
  return { ids: idsOf(build, job), secrets: { job: run.token } }
}

const pipelineWithWebhook: State = async (world) => {
  const made = await connectedPipeline(world)
  await world.call('POST', `/pipelines/${made.ids?.['pipeline']}/webhook`)
  return made
}

const suite: State = async (world) => {
  const { id } = await world.call('POST', '/suites', { name: world.unique() })
  return { ids: { suite_uuid: String(id) } }
}

const banner: State = async (world) => {
  await world.call('PUT', '/banners', { message: world.unique() })
  return {}
}

const savedCache: State = async (world) => {
  const id = randomUUID()
  const at = new Date().toISOString()
  await world.db
    .insertInto('step_caches')
    .values({
      id,
      organization_id: world.id('org_uuid'),
      pipeline_id: world.id('pipeline_uuid'),
      name: world.unique(),
      branch: 'main',
      platform: 'linux-x64',
      paths: ['node_modules'],
      paths_hash: randomBytes(32),
      file_count: 1,
      size_bytes: 12,
      stored_bytes: 12,
      job_id: world.id('job'),
      saved_at: at,
      used_at: at,
    })
    .execute()
  return { ids: { cache: id } }
}

const reservedJob: State = async (world) => {
  const { ids = {} } = await scheduledJob(world)
  const path = `stacks/${world.id('stack')}/scheduled-jobs/batch-reserve`
  await world.agent('PUT', path, world.secret('registration'), { job_uuids: [ids['job']] })
  return { ids }
}

const knownSecret: State = async (world) => {
  const key = `K${randomBytes(6).toString('hex')}`
  await world.call('POST', `/clusters/${world.id('cluster')}/secrets`, { key, value: 'told to jobs' })
  return { ids: { secret_key: key } }
}

const signInForm: State = async (world) => {
  const page = await world.visit('GET', '/sign-in', '')
  return { secrets: { cookies: cookiesOf(page.headers['set-cookie']), form_code: codeIn(page.text) } }
}

const cookiesOf = (lines: string | string[] | undefined) =>
  [lines ?? []].flat().map((line) => line.split(';')[0] ?? '').join('; ') // prettier-ignore

const codeIn = (text: string) => /name="form_code" value="(\w+)"/.exec(text)?.[1] ?? ''

const fromPage = (secret: string) => ({ headers: { 'x-millrace-page': secret } })

/** The form is bound to the cookie of the session. */
const ownForm: State = async (world) => {
  const { value, pageSecret } = await world.session(world.id('admin'))
  const cookies = `millrace_session=${value}`
  const page = await world.visit('GET', '/sign-in', cookies, fromPage(pageSecret))
  return { secrets: { cookies, page_secret: pageSecret, form_code: codeIn(page.text) } }
}

const linkedSession: State = async (world) => {
  const { value, pageSecret } = await world.session((await world.person('admin')).id, 'link')
  const cookies = `millrace_session=${value}`
  const page = await world.visit('GET', '/-/password', cookies, fromPage(pageSecret))
  return { secrets: { cookies, page_secret: pageSecret, form_code: codeIn(page.text) } }
}

const sso: State = async (world) => {
  await world.call('PUT', '/sso', {
    issuer: world.remote,
    client_id: 'fuzz',
    client_secret: 'a secret of the provider',
    email_domains: ['example.com'],
    provision: true,
    enabled: true,
  })
  return {}
}

/** A browser that comes from the page with the link to the provider. */
const ssoLink: State = async (world) => {
  await sso(world)
  const page = await world.visit('GET', `/-/sso/${world.id('org')}`, '')
  const code = /start\?code=(\w+)/.exec(page.text)?.[1] ?? ''
  return { secrets: { cookies: cookiesOf(page.headers['set-cookie']), sso_code: code } }
}

/** A browser that comes back from the provider. */
const ssoReturn: State = async (world) => {
  const { secrets = {} } = await ssoLink(world)
  const start = `/-/sso/${world.id('org')}/start?code=${secrets['sso_code']}`
  const { headers } = await world.visit('GET', start, secrets['cookies'] ?? '')
  const { searchParams } = new URL(String(headers['location']))
  const said = { email: `${world.unique()}@example.com`, nonce: searchParams.get('nonce') }
  const code = Buffer.from(JSON.stringify(said)).toString('base64url')
  return { secrets: { ...secrets, oauth_code: code, oauth_state: searchParams.get('state') ?? '' } }
}

const oauthReturn: State = async (world) => {
  const { secrets = {} } = await ownForm(world)
  const body = new URLSearchParams({
    form_code: secrets['form_code'] ?? '',
    page_secret: secrets['page_secret'] ?? '',
    choice: '#builds',
  }).toString()
  const path = `/organizations/${world.id('org')}/services/connect/chat_workspace`
  const { headers } = await world.visit('POST', path, secrets['cookies'] ?? '', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(body),
  })
  const state = new URL(String(headers['location'])).searchParams.get('state') ?? ''
  return { secrets: { ...secrets, oauth_code: randomUUID(), oauth_state: state } }
}

const invitationCode: State = async (world) => {
  await makeRoom(world)
  const email = `${world.unique()}@example.com`
  const [made] = (await world.call('POST', '/invitations', { emails: [email] })) as unknown as Json[]
  const code = String(made?.accept_url).split('/').at(-1) ?? ''
  const page = await world.visit('GET', `/-/invitations/${code}`, '')
  const cookies = cookiesOf(page.headers['set-cookie'])
  return { ids: { code }, secrets: { cookies, form_code: codeIn(page.text) } }
}

const build = '/v2/organizations/{org}/pipelines/{pipeline}/builds/{build}'
const job = (end: string) => [`/v2/organizations/{org}/jobs/{job}${end}`, `${build}/jobs/{job}${end}`]

const at = (method: string, paths: string | readonly string[], state: State): Array<[string, State]> =>
  [paths].flat().map((path) => [`${method} ${path}`, state])

const inOrg = '/v2/organizations/{org}'

/** By the id of the operation. */
export const states: ReadonlyMap<string, State> = new Map([
  ...at('PUT', job('/retry'), endedJob(1)),
  ...at('PUT', job('/reprioritize'), scheduledJob),
  ...at('PUT', job('/unblock'), blockedJob),
  ...at('PUT', job('/cancel'), scheduledJob),
  ...at('DELETE', job('/log'), endedJob(0)),
  ...at('DELETE', job('/annotations/{annotation}'), jobAnnotation),
  ...at('PUT', `${build}/cancel`, scheduledJob),
  ...at('PUT', `${build}/retry_failed_jobs`, failedBuild),
  ...at('PUT', `${build}/rebuild`, failedBuild),
  ...at('GET', `${build}/deliveries/{delivery}`, buildDelivery),
  ...at('POST', `${build}/deliveries/{delivery}/redeliver`, buildDelivery),
  ...['PUT', 'PATCH'].flatMap((method) => [
    ...at(method, [`${inOrg}/agents/{agent}/stop`, `${inOrg}/agents/{agent}/pause`], agent),
    ...at(method, `${inOrg}/agents/{agent}/resume`, pausedAgent),
    ...at(method, `${inOrg}/pipelines/{pipeline}`, pipeline),
    ...at(method, `${inOrg}/clusters/{cluster}`, cluster),
  ]),
  ...at('DELETE', `${inOrg}/pipelines/{pipeline}`, pipeline),
  ...at('POST', `${inOrg}/pipelines/{pipeline}/archive`, pipeline),
  ...at('POST', `${inOrg}/pipelines/{pipeline}/unarchive`, archivedPipeline),
  ...at('POST', `${inOrg}/pipelines/{pipeline}/webhook`, connectedPipeline),
  ...at('GET', `${inOrg}/repository_connections/{connection}/repositories`, connectedHost),
  ...at('DELETE', `${inOrg}/pipelines/{pipeline}/webhook`, pipelineWithWebhook),
  ...['repository_health/test', 'webhook/rotate'].flatMap((verb) =>
    at('POST', `${inOrg}/pipelines/{pipeline}/${verb}`, pipelineWithWebhook),
  ),
  ...at('POST', '/deliver/trigger/{address}', usedTrigger),
  ...at('GET', `${inOrg}/pipelines/{pipeline}/triggers/{trigger}/deliveries/{delivery}`, usedTrigger),
  ...at('DELETE', `${inOrg}/banners`, banner),
  ...at('DELETE', `${inOrg}/clusters/{cluster}`, cluster),
  ...at('POST', `${inOrg}/clusters/{cluster}/maintainers`, member),
  ...at('POST', `${inOrg}/teams/{team}/members`, member),
  ...at('POST', `${inOrg}/teams/{team}/pipelines`, pipeline),
  ...at('POST', `${inOrg}/teams/{team}/suites`, suite),
  ...at('GET', `${inOrg}/clusters/{cluster}/agent-images`, hosted),
  ...at('POST', `${inOrg}/clusters/{cluster}/agent-images`, hosted),
  ...at('GET', `${inOrg}/clusters/{cluster}/agent-images/{image}`, hosted),
  ...at('GET', `${inOrg}/clusters/{cluster}/agent-images/{image}/log`, hosted),
  ...at('DELETE', `${inOrg}/clusters/{cluster}/agent-images/{image}`, hosted),
  ...at('GET', `${inOrg}/clusters/{cluster}/cache_volumes`, cacheVolume),
  ...at('DELETE', `${inOrg}/clusters/{cluster}/cache_volumes`, cacheVolume),
  ...['GET', 'DELETE'].flatMap((method) => at(method, `${inOrg}/pipelines/{pipeline}/caches`, savedCache)),
  ...at('DELETE', `${inOrg}/pipelines/{pipeline}/caches/{cache}`, savedCache),
  ...at('POST', `${inOrg}/clusters/{cluster}/queues/{queue}/resume_dispatch`, pausedQueue),
  ...['GET', 'PUT', 'DELETE'].flatMap((method) =>
    at(method, `${inOrg}/pipelines/{pipeline}/github-webhooks`, githubPipeline),
  ),
  ...at('POST', `${inOrg}/pipelines/{pipeline}/deploy_key`, githubPipeline),
  ...['GET', 'DELETE'].flatMap((method) =>
    at(method, `${inOrg}/pipelines/{pipeline}/deploy_key`, keyedPipeline),
  ),
  ...at('POST', `${inOrg}/pipelines/{pipeline}/repository_health/reconcile`, heardPipeline),
  ...at('GET', `${inOrg}/services/{service}/events`, eventLog),
  ...at('DELETE', `${inOrg}/service_accounts/{service_account}/tokens/{access_token}`, serviceToken),
  ...at('DELETE', `${inOrg}/connected_programs/{access_token}`, connectedProgram),
  ...at('PUT', '/v2/user/password', passwordSession),
  ...at('GET', '/v2/installation', operatorSession),
  ...at('DELETE', '/v3/jobs/{job}/annotations/{context}', agentAnnotation),
  ...at('GET', `${inOrg}/pipelines/{pipeline}/archived_builds/{build}`, archivedBuild),
  ...at('GET', '/v2/artifacts/{artifact}/file', file),
  ...at('DELETE', '/v2/access-token', spareToken),
  ...at('GET', `${inOrg}/sso`, sso),
  ...at('DELETE', `${inOrg}/sso`, sso),

  ...at('POST', ['/v3/disconnect', '/v3/stop', '/v3/pause', '/v3/connect', '/v3/heartbeat'], agent),
  ...at('POST', '/v3/resume', pausedAgent),
  ...at('GET', '/v3/ping', agent),
  ...at('POST', '/agentedge.v1.AgentEdgeService/StreamPings', agent),
  ...at('PUT', '/v3/jobs/{job}/accept', offeredJob),
  ...at('PUT', '/v3/jobs/{job}/acquire', jobToAcquire),
  ...at('PUT', '/v3/jobs/{job}/start', acceptedJob),
  ...at('PUT', ['/v3/jobs/{job}/finish', '/v3/jobs/{job}/promise_failure'], runningJob),
  ...at('POST', ['/v3/steps/{step}/cancel', '/v3/builds/{build}/cancel'], runningJob),
  ...at(
    'POST',
    ['restore', 'uploads', 'damage'].map((verb) => `/v3/jobs/{job}/cache/${verb}`),
    cachingJob,
  ),
  ...at('PUT', '/v3/jobs/{job}/cache', cachingJob),
  ...at('PUT', '/v3/cache_registries/{registry}/commit', storedCache),
  ...at(
    'POST',
    ['/v3/cache_registries/{registry}/peek', '/v3/cache_registries/{registry}/retrieve'],
    committedCache,
  ),
  ...at('POST', '/v3/cache_registries/{registry}/expire', committedCache),
  ...at('PUT', '/v3/stacks/{stack}/scheduled-jobs/batch-reserve', scheduledJob),
  ...at('POST', '/v3/stacks/{stack}/jobs/{job}/finish', reservedJob),
  ...at('GET', '/v3/stacks/{stack}/jobs/{job}', reservedJob),
  ...at('GET', '/v3/jobs/{job}/secrets', knownSecret),
  ...at(
    'POST',
    ['/v3/jobs/{job}/repository_access_token', '/v3/jobs/{job}/github_code_access_token'],
    jobOfApp,
  ),
  ...at('POST', '/v3/jobs/{job}/github_workflow_access_token', jobOfApp),
  ...at('POST', '/v3/jobs/{job}/repository.git/git-upload-pack', relayedJob),
  ...at('PUT', '/v3/jobs/{job}/artifacts', announced),
  ...at('POST', '/v3/uploads', announced),
  ...at('PUT', '/v3/uploads/{artifact}/parts/{part}', announcedParts),

  ...at('POST', '/sign-in', signInForm),
  ...at('POST', ['/sign-out', '/organizations/{org}/services/connect/{provider}'], ownForm),
  ...at('GET', ['/-/password', '/organizations/{org}/services/connect'], linkedSession),
  ...at('POST', '/-/password', linkedSession),
  ...at('GET', '/-/sso/{org}', sso),
  ...at('GET', '/-/sso/{org}/start', ssoLink),
  ...at('GET', '/-/sso/{org}/callback', ssoReturn),
  ...at('GET', '/oauth/{provider}/callback', oauthReturn),
  ...at('GET', '/-/invitations/{code}', invitationCode),
  ...at('POST', '/-/invitations/{code}', invitationCode),
])
