// What a page offers a person equals what the API allows them, for every role.
import { join } from 'node:path'
import type { Page, Request } from 'playwright-core'
import { expect, it } from 'vitest'
import { aDirectory, eventually, millrace, spawnMillrace, theServer } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { anOrganization, aPerson as aMember } from './new-organization.ts'

const roles = ['admin', 'maintainer', 'builder', 'reader', 'elsewhere', 'stranger'] as const
type Role = (typeof roles)[number]

interface Place {
  slug: string
  api: string
  tokens: Record<Role, string>
  /** The page of an agent, which has failed the job below. */
  agentPage: string
  cluster: string
  queue: string
  team: string
  /** Rows of the lists that the pages show, by what they are. */
  ids: Readonly<
    Record<
      | 'secret'
      | 'token'
      | 'service'
      | 'delivery'
      | 'schedule'
      | 'trigger'
      | 'invitation'
      | 'reader'
      | 'budget'
      | 'agent'
      | 'gone'
      | 'block'
      | 'guarded'
      | 'waiting'
      | 'failed'
      | 'shown',
      string
    >
  >
}

/** A button, link or field, and the request that it is for. The request is refused or changes nothing that matters here. */
interface Offer {
  page: string
  name: string
  /** Where the page is another one for each role. */
  key?: string
  request: readonly [method: string, path: string, body: object]
}

/** A second one is refused, because the name is taken. */
const thePipeline = {
  name: 'Shown',
  repository: 'https://git.example.com/a.git',
  configuration: `steps:
  - command: a
  - block: Ship it
    depends_on: ~
    fields: [{ text: Reason, key: reason, required: true }]`,
}

const offers = ({ slug, api, agentPage, cluster, queue, team, ids }: Place, role: Role): Offer[] => {
  const pipeline = `${api}/pipelines/shown`
  const clusterApi = `${api}/clusters/${cluster}`
  const clusterPage = `/organizations/${slug}/clusters/${cluster}`
  const settings = `/organizations/${slug}/settings`
  const pipelineSettings = `/${slug}/shown/settings`
  const service = `${api}/services/${ids.service}`
  const servicePage = `${settings}/services/${ids.service}`
  const suite = `${api}/suites/unit`
  const suitePage = `/organizations/${slug}/analytics/suites/unit`
  return [
    {
      page: `/${slug}`,
      name: 'New pipeline',
      request: ['POST', `${api}/pipelines`, { ...thePipeline, cluster_id: cluster }],
    },
    {
      page: `/${slug}/shown`,
      name: 'New build',
      request: ['POST', `${pipeline}/builds`, { commit: 'HEAD', branch: 'main' }],
    },
    {
      page: `/${slug}/shown`,
      name: 'Favourite Shown',
      request: ['PUT', `/v2/user/favorites/${ids.shown}`, {}],
    },
    { page: `${pipelineSettings}/badges`, name: 'Corners', request: ['GET', pipeline, {}] },
    { page: `/${slug}/shown`, name: 'Settings', request: ['PATCH', pipeline, {}] },
    {
      page: `/${slug}/shown/builds/1`,
      name: 'Rebuild',
      request: ['PUT', `${pipeline}/builds/1/rebuild`, {}],
    },
    {
      page: `/${slug}/shown/builds/1`,
      name: 'Unblock…',
      request: ['PUT', `${pipeline}/builds/1/jobs/${ids.block}/unblock`, {}],
    },
    {
      page: `/${slug}/guarded/builds/1#${ids.guarded}`,
      name: 'Unblock…',
      request: ['PUT', `${api}/jobs/${ids.guarded}/unblock`, {}],
    },
    {
      page: `/${slug}/guarded/builds/1#${ids.guarded}`,
      name: 'Open the gate',
      request: ['PUT', `${api}/jobs/${ids.guarded}/unblock`, {}],
    },
    {
      page: `/${slug}/shown/builds/1`,
      name: 'Cancel',
      request: ['PUT', `${api}/pipelines/broken/builds/1/cancel`, {}],
    },
    {
      page: `/${slug}/broken/builds/1#${ids.failed}`,
      name: 'Retry',
      request: ['PUT', `${pipeline}/builds/1/jobs/${ids.waiting}/retry`, {}],
    },
    {
      page: `/organizations/${slug}/agents`,
      name: 'Start an agent',
      request: ['POST', `${clusterApi}/tokens`, { description: 'Tried' }],
    },
    { page: agentPage, name: 'Stop…', request: ['PUT', `${api}/agents/${ids.gone}/stop`, {}] },
    { page: agentPage, name: 'Pause…', request: ['PUT', `${api}/agents/${ids.agent}/resume`, {}] },
    {
      page: `${clusterPage}/queues/${queue}`,
      name: 'Pause dispatch…',
      request: ['POST', `${clusterApi}/queues/${queue}/resume_dispatch`, {}],
    },
    {
      page: `${clusterPage}/queues/${queue}`,
      name: 'Start an agent',
      request: ['POST', `${clusterApi}/tokens`, { description: 'Tried' }],
    },
    { page: clusterPage, name: 'New queue…', request: ['POST', `${clusterApi}/queues`, { key: 'default' }] },
    { page: `${settings}/members`, name: 'Invite people', request: ['POST', `${api}/invitations`, {}] },
    { page: `${settings}/teams`, name: 'New team', request: ['POST', `${api}/teams`, {}] },
    {
      page: `${settings}/teams/${team}`,
      name: 'Add members…',
      request: ['PATCH', `${api}/teams/${team}`, {}],
    },
    {
      page: `${settings}/audit-log`,
      name: 'Download as CSV',
      request: ['GET', `${api}/audit_events`, {}],
    },
    { page: `${settings}/general`, name: 'Name', request: ['PATCH', api, {}] },
    { page: `${settings}/sso`, name: 'Client id', request: ['PUT', `${api}/sso`, {}] },
    { page: `${settings}/api`, name: 'Allowed networks', request: ['PATCH', `${api}/api-settings`, {}] },
    {
      page: `${settings}/pipelines`,
      name: 'Turn on',
      request: ['PATCH', `${api}/pipeline-settings`, {}],
    },
    {
      page: `${settings}/archive`,
      name: 'Unarchive Old',
      request: ['POST', `${pipeline}/unarchive`, {}],
    },
    { page: `${pipelineSettings}/general`, name: 'Name', request: ['PATCH', pipeline, {}] },
    {
      page: `${pipelineSettings}/steps`,
      name: 'Where the steps are',
      request: ['PATCH', pipeline, {}],
    },
    { page: `${pipelineSettings}/repository`, name: 'Repository', request: ['PATCH', pipeline, {}] },
    { page: `${pipelineSettings}/builds`, name: 'Branches', request: ['PATCH', pipeline, {}] },
    {
      page: `${pipelineSettings}/access`,
      name: 'Remove maintainer',
      request: ['PATCH', `${api}/teams/${team}/pipelines/${ids.shown}`, {}],
    },
    {
      page: `${pipelineSettings}/danger`,
      name: 'Archive',
      request: ['POST', `${pipeline}/unarchive`, {}],
    },
    {
      page: `/${slug}/${doomed(role)}/settings/danger`,
      name: 'Delete…',
      key: 'delete a pipeline',
      request: ['DELETE', `${api}/pipelines/${doomed(role)}`, {}],
    },
    {
      page: `${pipelineSettings}/schedules`,
      name: 'New schedule',
      request: ['POST', `${pipeline}/schedules`, {}],
    },
    {
      page: `${pipelineSettings}/schedules`,
      name: 'Run now: Nightly',
      request: ['POST', `${pipeline}/builds`, { commit: 'HEAD', branch: 'main' }],
    },
    {
      page: `${pipelineSettings}/schedules`,
      name: 'More about Nightly',
      request: ['PATCH', `${pipeline}/schedules/${ids.schedule}`, {}],
    },
    {
      page: `${pipelineSettings}/triggers`,
      name: 'New trigger',
      request: ['POST', `${pipeline}/triggers`, {}],
    },
    {
      page: `${pipelineSettings}/triggers`,
      name: 'Try Base image',
      request: ['POST', `${pipeline}/triggers/${ids.trigger}/dry_run`, { payload: {} }],
    },
    {
      page: `${pipelineSettings}/triggers`,
      name: 'Deliveries of Base image',
      request: ['GET', `${pipeline}/triggers/${ids.trigger}/deliveries`, {}],
    },
    {
      page: `${pipelineSettings}/retention`,
      name: 'Show what would be deleted',
      request: ['GET', `${pipeline}/retention/preview`, {}],
    },
    {
      page: `${settings}/retention`,
      name: 'Show what would be deleted',
      request: ['GET', `${api}/retention/preview`, {}],
    },
    { page: `${settings}/services`, name: 'New service', request: ['POST', `${api}/services`, {}] },
    { page: servicePage, name: 'Send test', request: ['POST', `${service}/test`, {}] },
    { page: servicePage, name: 'Disable', request: ['PUT', `${service}/enable`, {}] },
    {
      page: `${servicePage}/deliveries/${ids.delivery}`,
      name: 'Redeliver',
      request: ['POST', `${service}/deliveries/${ids.delivery}/redeliver`, {}],
    },
    {
      page: `${settings}/connections`,
      name: 'New connection',
      request: ['POST', `${api}/repository_connections`, {}],
    },
    { page: '/-/me/tokens', name: 'New token', request: ['POST', '/v2/user/access-tokens', {}] },
    {
      page: `/organizations/${slug}/clusters`,
      name: 'New cluster',
      request: ['POST', `${api}/clusters`, {}],
    },
    { page: `${clusterPage}/settings`, name: 'Delete…', request: ['DELETE', clusterApi, {}] },
    {
      page: `${clusterPage}/queues/${queue}`,
      name: 'More about this queue',
      request: ['PATCH', `${clusterApi}/queues/${queue}`, {}],
    },
    {
      page: `${clusterPage}/tokens`,
      name: 'New token',
      request: ['POST', `${clusterApi}/tokens`, { description: 'Tried' }],
    },
    {
      page: `${clusterPage}/tokens`,
      name: 'Edit Rack',
      request: ['PATCH', `${clusterApi}/tokens/${ids.token}`, {}],
    },
    { page: `${clusterPage}/secrets`, name: 'New secret', request: ['POST', `${clusterApi}/secrets`, {}] },
    {
      page: `${clusterPage}/secrets`,
      name: 'More about DEPLOY_TOKEN',
      request: ['PATCH', `${clusterApi}/secrets/${ids.secret}`, {}],
    },
    {
      page: `${clusterPage}/maintainers`,
      name: 'Add people…',
      request: ['POST', `${clusterApi}/maintainers`, {}],
    },
    {
      page: `${settings}/teams/${team}`,
      name: 'Add pipelines…',
      request: ['POST', `${api}/teams/${team}/pipelines`, {}],
    },
    {
      page: `${settings}/members`,
      name: 'Remove reader',
      request: ['PATCH', `${api}/members/${ids.reader}`, {}],
    },
    {
      page: `${settings}/invitations`,
      name: 'Send again',
      request: ['POST', `${api}/invitations/${ids.invitation}/resend`, {}],
    },
    {
      page: `${settings}/service-accounts`,
      name: 'New service account',
      request: ['POST', `${api}/service_accounts`, {}],
    },
    {
      page: `${settings}/token-issuers`,
      name: 'New trusted issuer',
      request: ['POST', `${api}/token_issuers`, {}],
    },
    {
      page: `/organizations/${slug}/analytics/suites`,
      name: 'New suite',
      request: ['POST', `${api}/suites`, { name: 'Unit' }],
    },
    { page: suitePage, name: 'Settings', key: 'settings of a suite', request: ['PATCH', suite, {}] },
    { page: `${suitePage}/settings`, name: 'New token…', request: ['POST', `${suite}/rotate_token`, {}] },
    {
      page: `${suitePage}/settings`,
      name: 'Show the token',
      request: ['GET', `${suite}?show_api_token=true`, {}],
    },
    { page: `${suitePage}/settings`, name: 'Delete…', request: ['PATCH', suite, {}] },
    {
      page: `/organizations/${slug}/insights`,
      name: 'New budget',
      request: ['POST', `${api}/budgets`, {}],
    },
    {
      page: `/organizations/${slug}/insights`,
      name: 'More about the budget of Shown',
      request: ['PATCH', `${api}/budgets/${ids.budget}`, {}],
    },
    { page: `${settings}/rules`, name: 'New rule', request: ['POST', `${api}/rules`, {}] },
    {
      page: `${settings}/templates`,
      name: 'New template',
      request: ['POST', `${api}/pipeline-templates`, {}],
    },
  ]
}

/** A pipeline that the role may try to delete. */
const doomed = (role: Role) => `doomed-by-${role}`

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await millrace([...args, '--json'], theServer().settings)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** Returns the token of a new person in the organization. */
async function aPerson(slug: string, name: Role): Promise<string> {
  const email = `${name}@${slug}.example`
  const role = name === 'admin' ? 'admin' : 'member'
  await run('user', 'create', '--email', email, '--name', name, '--org', slug, '--role', role)
  const created = await run('token', 'create', '--user', email, '--scope', 'all')
  return (JSON.parse(created) as { token: string }).token
}

/** An organization with teams: the builder's team may build, the reader's may read, and one team has no pipeline. */
async function aPlace(): Promise<Place> {
  const server = theServer()
  const slug = `roles-${process.pid}`
  const api = `/v2/organizations/${slug}`
  await run('org', 'create', slug, '--name', 'Roles')
  await run('org', 'create', `${slug}-other`, '--name', 'Others')
  const admin = await aPerson(slug, 'admin')
  const tokens = { admin } as Record<Role, string>
  for (const name of ['maintainer', 'builder', 'reader', 'elsewhere'] as const)
    tokens[name] = await aPerson(slug, name)
  tokens.stranger = await aPerson(`${slug}-other`, 'stranger')
  const make = async (path: string, body: object, field = 'id') => {
    const made = await server.post(`${api}${path}`, body, admin)
    if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`)
    return String(made.body[field])
  }
  await server.post(`${api}/teams/enable`, {}, admin)
  const cluster = await make('/clusters', { name: 'Machines' })
  const queue = await make(`/clusters/${cluster}/queues`, { key: 'default' })
  const pipelines: string[] = []
  for (const name of ['Shown', 'Old', ...roles.map(doomed)])
    pipelines.push(await make('/pipelines', { ...thePipeline, name, cluster_id: cluster }))
  await make('/pipelines/old/archive', {})
  const template = { name: 'Go service', configuration: 'steps: []', available: true }
  await make('/pipeline-templates', template, 'uuid')
  pipelines.push(await make('/pipelines', { ...failing, cluster_id: cluster }))
  const build = { commit: 'HEAD', branch: 'main' }
  await make('/pipelines/shown/builds', build)
  pipelines.push(await make('/pipelines', { ...guarded, cluster_id: cluster }))
  await make('/pipelines/guarded/builds', build)
  const { body: gate } = await server.get(`${api}/pipelines/guarded/builds/1`, admin)
  const jobs = Object.values((await server.get(`${api}/pipelines/shown/builds/1`, admin)).body['jobs'] ?? {})
  const jobOf = (type: string) => String(jobs.find((job) => String(job['type']) === type)?.['id'])
  await make(`/clusters/${cluster}/queues`, { key: 'real' })
  await make('/pipelines/broken/builds', build)
  startAgent(await make(`/clusters/${cluster}/tokens`, { description: 'Real' }, 'token'))
  const failed = await eventually('the agent has failed the job', async () => {
    const { body } = await server.get(`${api}/pipelines/broken/builds/1`, admin)
    return String(body['state']) === 'failed' && body['jobs']?.['0']
  })
  const people = Object.values((await server.get(`${api}/members?per_page=100`, admin)).body)
  const idOf = (name: Role) => String(people.find((person) => String(person['name']) === name)?.['id'])
  await make(`/clusters/${cluster}/maintainers`, { user: idOf('maintainer') })
  const access = [
    ['maintainer', 'manage_build_and_read'],
    ['builder', 'build_and_read'],
    ['reader', 'read_only'],
    ['elsewhere', null],
  ] as const
  let team = ''
  for (const [name, access_level] of access) {
    const id = await make('/teams', { name })
    const role = name === 'maintainer' ? 'maintainer' : 'member'
    await make(`/teams/${id}/members`, { user_id: idOf(name), role })
    if (access_level !== null)
      for (const pipeline_id of pipelines) await make(`/teams/${id}/pipelines`, { pipeline_id, access_level })
    if (name === 'maintainer') team = id
  }
  const suite_id = await make('/suites', { name: 'Unit' })
  await make(`/teams/${team}/suites`, { suite_id, access_level: ['read', 'edit'] })
  const service = await make('/services', {
    provider: 'webhook',
    settings: { url: 'https://hooks.example.com/builds' },
  })
  const invited = await server.post(`${api}/invitations`, { emails: ['guest@example.com'] }, admin)
  const ids = {
    shown: pipelines[0] ?? '',
    block: jobOf('manual'),
    guarded: String(gate['jobs']?.['0']?.['id']),
    waiting: jobOf('script'),
    failed: String(failed['id']),
    agent: String(failed['agent']?.['id']),
    gone: await aGoneAgent(await make(`/clusters/${cluster}/tokens`, { description: 'Gone' }, 'token')),
    reader: idOf('reader'),
    service,
    delivery: await make(`/services/${service}/test`, {}),
    secret: await make(`/clusters/${cluster}/secrets`, { key: 'DEPLOY_TOKEN', value: 'correct horse' }),
    token: await make(`/clusters/${cluster}/tokens`, { description: 'Rack' }),
    schedule: await make('/pipelines/shown/schedules', { label: 'Nightly', cronline: '0 3 * * * UTC' }),
    trigger: await make('/pipelines/shown/triggers', { name: 'Base image' }),
    budget: await make('/budgets', { pipeline_id: pipelines[0], amount: 5 }),
    invitation: String(invited.body['0']?.['id']),
  }
  const agentPage = new URL(String(failed['agent']?.['web_url'])).pathname
  return { slug, api, tokens, agentPage, cluster, queue, team, ids }
}

/** Members of this team may only read, but unblock. */
const guarded = {
  name: 'Guarded',
  repository: 'https://git.example.com/a.git',
  configuration: `steps:
  - block: Gate
    submit: Open the gate
    allowed_teams: [reader]
    fields: [{ text: Reason, key: reason, required: true }]`,
}

const failing = {
  name: 'Broken',
  repository: 'https://git.example.com/a.git',
  configuration: `agents: { queue: real }
env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps: [{ command: "exit 1" }]`,
}

function startAgent(token: string): void {
  const folder = aDirectory()
  const endpoint = `${theServer().url}/v3`
  const where = ['--endpoint', endpoint, '--queue', 'real', '--build-path', join(folder, 'builds')]
  spawnMillrace(['agent', 'start', '--token', token, ...where], { HOME: folder })
}

/** Nobody can stop it any more. Returns its id. */
async function aGoneAgent(clusterToken: string): Promise<string> {
  const ask = async (path: string, token: string, body: object) => {
    const answer = await fetch(`${theServer().url}/v3/${path}`, {
      method: 'POST',
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as { id: string; access_token: string }
  }
  const registered = await ask('register', clusterToken, { name: 'gone', meta_data: ['queue=real'] })
  await ask('disconnect', registered.access_token, {})
  return registered.id
}

/** Events come as long as the page is open. */
const isStream = (request: Request) => new URL(request.url()).pathname.endsWith('/events')

/** Waits until the page has asked for all that it shows. */
async function settle(page: Page, path: string): Promise<void> {
  const open = new Set<Request>()
  const isAnswered = (request: Request) => open.delete(request)
  const isAsked = (request: Request) => {
    if (!isStream(request)) open.add(request)
  }
  page.on('request', isAsked).on('requestfinished', isAnswered).on('requestfailed', isAnswered)
  await page.goto(path)
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await expect.poll(() => open.size).toBe(0)
  await expect.poll(() => page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  page.off('request', isAsked).off('requestfinished', isAnswered).off('requestfailed', isAnswered)
}

async function isAllowed(token: string, [method, path, body]: Offer['request']): Promise<boolean> {
  const { status } = await fetch(theServer().url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  return ![403, 404].includes(status)
}

withBrowser.describe('roles', () => {
  it('are offered on every page what the API allows them, and nothing else', async () => {
    const { url } = theServer()
    const place = await aPlace()
    const [offered, allowed]: Array<Record<string, Role[]>> = [{}, {}]
    for (const role of roles) {
      const token = place.tokens[role]
      const tab = await visit()
      await signIn(tab, { url, token }, '/-/me')
      let shown = ''
      for (const { page, name, request, key = `${page}: ${name}` } of offers(place, role)) {
        if (page !== shown) await settle(tab.page, url + page)
        shown = page
        const main = tab.page.getByRole('main')
        const control = main
          .getByRole('button', { name })
          .or(main.getByRole('link', { name }))
          .or(main.getByRole('textbox', { name, exact: true }))
          .or(main.getByRole('combobox', { name, exact: true }))
        if ((await control.filter({ visible: true }).count()) > 0) (offered[key] ??= []).push(role)
        if (await isAllowed(token, request)) (allowed[key] ??= []).push(role)
      }
    }
    expect(offered).toEqual(allowed)
    expect(Object.keys(allowed)).toHaveLength(offers(place, 'admin').length)
  })

  it('read who may unblock, where the step names teams', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    await server.post(`${api}/teams/enable`, {}, admin)
    await server.post(`${api}/teams`, { name: 'Release managers' }, admin)
    const { body: cluster } = await server.post(`${api}/clusters`, { name: 'Machines' }, admin)
    await server.post(`${api}/clusters/${String(cluster['id'])}/queues`, { key: 'default' }, admin)
    const configuration = 'steps: [{ block: Ship it, allowed_teams: [release-managers] }]'
    const pipeline = { ...thePipeline, configuration, cluster_id: cluster['id'] }
    expect((await server.post(`${api}/pipelines`, pipeline, admin)).status).toBe(201)
    const build = await server.post(
      `${api}/pipelines/shown/builds`,
      { commit: 'HEAD', branch: 'main' },
      admin,
    )
    const tab = await visit()
    await signIn(tab, { url, token: admin }, '/-/me')
    await settle(tab.page, `${url}/${slug}/shown/builds/1#${String(build.body['jobs']?.['0']?.['id'])}`)
    await tab.page.getByText('Only members of Release managers may unblock this.').waitFor()
    expect(tab.complaints).toEqual([])
  })

  it('are offered the first steps that they may take', async () => {
    const { server, slug, admin, api, url } = await anOrganization()
    const member = await aMember(slug, 'member', 'Ada')
    await server.post(`${api}/teams/enable`, {}, admin)
    await server.post(`${api}/clusters`, { name: 'Machines' }, admin)
    const offeredTo = async (token: string) => {
      const tab = await visit()
      await signIn(tab, { url, token }, '/-/me')
      await settle(tab.page, `${url}/organizations/${slug}/start`)
      const main = tab.page.getByRole('main')
      const steps = main.getByRole('listitem')
      expect(tab.complaints).toEqual([])
      return steps.getByRole('button').or(steps.getByRole('link')).allInnerTexts()
    }
    expect(await offeredTo(admin)).toEqual(['Start an agent', 'New pipeline'])
    expect(await offeredTo(member)).toEqual([])
    const created = await server.post(`${api}/pipelines`, thePipeline, member)
    expect(created.status).toBe(403)
  })
})
