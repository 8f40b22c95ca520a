// Every page, dialog and menu in light and dark, wide and narrow: nothing serious for axe, nothing scrolls sideways, no complaint
// of the browser, no name of an emoji where a text is shown.
// `npm run screenshots -- FOLDER` also writes what it sees.
import { expect, it } from 'vitest'
import { aDataDirectory, startServer, type Server } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { dialogs, onPhones, open } from './dialogs.ts'
import { connectProgram } from './connect-program.ts'
import { findProblems, isWanted, looks, looksFor, write, type Look } from './look.ts'
import { createWorld, type World } from './world.ts'

/** Each with an address and the text that shows that it is complete. */
const pages = (world: World): Record<string, [path: string, text: string | RegExp]> => ({
  pipelines: ['/default', 'Web app'],
  'new-pipeline': ['/organizations/default/pipelines/new', 'Create and build'],
  pipeline: ['/default/web-app', 'Fix flaky retry'],
  'pipeline-general': ['/default/web-app/settings/general', 'It is part of every link'],
  'pipeline-steps': ['/default/web-app/settings/steps', 'Where the steps are'],
  'pipeline-repository': ['/default/on-github/settings/repository', 'Pull requests from forks'],
  'pipeline-builds': ['/default/web-app/settings/builds', 'Builds may be rebuilt'],
  'pipeline-schedules': ['/default/web-app/settings/schedules', 'Nightly'],
  'pipeline-triggers': ['/default/web-app/settings/triggers', 'Base image'],
  'pipeline-access': ['/default/web-app/settings/access', 'Mobile'],
  'pipeline-notifications': ['/default/web-app/settings/notifications', 'Deploys'],
  'pipeline-badges': ['/default/web-app/settings/badges', 'Address of the image'],
  'pipeline-retention': ['/default/web-app/settings/retention', 'Show what would be deleted'],
  'pipeline-caches': ['/default/web-app/settings/caches', 'No caches yet'],
  'pipeline-caches-used': ['/default/api/settings/caches', 'asked for a cache'],
  'pipeline-danger': ['/default/web-app/settings/danger', 'Delete…'],
  'pipeline-archived': ['/default/old-app/settings/general', 'is archived'],
  builds: ['/organizations/default/builds', 'Release 2.1'],
  'log-search': ['/organizations/default/log-search?q=exit&in=logs', /searched/],
  insights: ['/organizations/default/insights', 'Jobs that ended'],
  'insights-of-queues': ['/organizations/default/insights?group=queue&period=30d', 'Agents busy'],
  'insights-of-days': ['/organizations/default/insights?period=30d', 'Budgets of'],
  'insights-empty': ['/organizations/default/insights?pipeline=nothing', 'Clear filters'],
  'build-failed': [world.failed, 'AssertionError'],
  'build-graph': [`${world.failed}?view=graph`, 'Deploy'],
  'build-table': [`${world.failed}?view=table`, 'Deploy'],
  'build-waterfall': [`${world.failed}?view=waterfall`, 'Deploy'],
  'build-annotations': [`${world.failed}?tab=annotations`, 'Coverage'],
  'build-failures': [`${world.failed}?tab=failures`, 'exit 1'],
  'build-blocked': [world.blocked, 'Ship it?'],
  'build-waiting': [world.waiting, 'has no connected agent'],
  'build-archived': [world.archived, 'was archived'],
  'archived-builds': ['/default/long-ago/archived_builds', 'Build of long ago'],
  'build-long-names': [world.longName, 'A name that goes on'],
  suites: ['/organizations/default/analytics/suites', 'Unit tests'],
  suite: [world.suite, 'adds an item'],
  'suite-settings': [`${world.suite}/settings`, 'Default branch'],
  'suite-flaky': [`${world.suite}?list=flaky`, 'No test is flaky'],
  'suite-quarantined': [`${world.suite}?list=quarantined`, 'Waits for a port'],
  test: [world.test, 'expected 1, got 2'],
  agents: ['/organizations/default/agents', /Idle|Busy/],
  clusters: ['/organizations/default/clusters', 'Default cluster'],
  cluster: [world.cluster, 'nobody'],
  'cluster-tokens': [`${world.cluster}/tokens`, 'Local agents'],
  'cluster-secrets': [`${world.cluster}/secrets`, 'DEPLOY_TOKEN'],
  'cluster-maintainers': [`${world.cluster}/maintainers`, 'Ada with a name'],
  'cluster-images': [`${world.cluster}/agent_images`, 'This cluster is not hosted'],
  'cluster-settings': [`${world.cluster}/settings`, 'Default queue'],
  rules: ['/organizations/default/settings/rules', 'trigger builds of'],
  'hosted-cluster': [world.hostedCluster, 'big'],
  queue: [world.queue, /waiting/],
  agent: [world.agent, /Idle|Busy/],
  me: ['/-/me', 'Administrator'],
  tokens: ['/-/me/tokens', 'First token'],
  programs: ['/-/me/programs', 'An assistant'],
  sessions: ['/-/me/sessions', 'This browser'],
  template: [world.template, 'Unit tests'],
  general: ['/organizations/default/settings/general', 'It is part of every link'],
  members: ['/organizations/default/settings/members', 'Ada with a name'],
  'service-accounts': ['/organizations/default/settings/service-accounts', 'Release bot'],
  'token-issuers': ['/organizations/default/settings/token-issuers', 'tokens.example.com'],
  'connected-programs': ['/organizations/default/settings/programs', 'An assistant'],
  invitations: ['/organizations/default/settings/invitations', 'guest@example.com'],
  teams: ['/organizations/default/settings/teams', 'Mobile'],
  team: [world.team, 'Members of this team may'],
  sso: ['/organizations/default/settings/sso', 'Register this address'],
  'api-settings': ['/organizations/default/settings/api', 'Allowed networks'],
  'pipeline-defaults': ['/organizations/default/settings/pipelines', 'Timeout of steps'],
  retention: ['/organizations/default/settings/retention', 'Show what would be deleted'],
  templates: ['/organizations/default/settings/templates', 'Go service'],
  connections: ['/organizations/default/settings/connections', 'Gitea at git.example.com'],
  services: ['/organizations/default/settings/services', 'Enabled'],
  'new-service': ['/organizations/default/settings/services/new', 'OpenTelemetry Tracing'],
  'new-service-webhook': ['/organizations/default/settings/services/new?provider=webhook', 'Create service'],
  'new-service-tracing': [
    '/organizations/default/settings/services/new?provider=open_telemetry_tracing',
    'Create service',
  ],
  service: [world.service, 'Nothing was sent yet'],
  'service-stopped': [world.stoppedService, 'Enable again'],
  delivery: [world.delivery, 'Attempt 1'],
  'audit-log': ['/organizations/default/settings/audit-log', /^When$/],
  archive: ['/organizations/default/settings/archive', 'Long ago'],
  'first-run': ['/organizations/default/start', 'demo'],
  missing: ['/default/nothing-there', 'not yours to see'],
  'missing-page': ['/organizations/default/settings/nothing', 'not yours to see'],
})

/** The page asks for something that is not there: that of a build for its graph, which an archived one has not. */
const isWithout = (name: string): boolean => name.startsWith('missing') || name === 'build-archived'

withBrowser.describe('every page', () => {
  it.each(looksFor(['light', 'dark', 'narrow']))('is right in the look %s', async (look) => {
    const { server, world } = await start()
    expect(await lookAtPages(server, world, look)).toEqual([])
  })

  it.each(looksFor(['light', 'dark-narrow']))('has dialogs that are right in the look %s', async (look) => {
    const { server, world } = await start()
    expect(await lookAtDialogs(server, world, look)).toEqual([])
  })
})

async function start(): Promise<{ server: Server; world: World }> {
  // Without an engine hosted clusters can be made, and their jobs wait.
  const settings = { MILLRACE_DATA_DIR: aDataDirectory(), MILLRACE_HOSTED: 'docker:///nowhere/engine.sock' }
  const server = await startServer(settings)
  const world = await createWorld(server, settings)
  const tab = await visit()
  await signIn(tab, server, '/default')
  await connectProgram(tab.page, server, 'An assistant')
  return { server, world }
}

async function lookAtPages(server: Server, world: World, look: Look): Promise<string[]> {
  const problems: string[] = []
  const tab = await visit(looks[look])
  await signIn(tab, server, '/default')
  for (const [name, [path, text]] of Object.entries(pages(world))) {
    if (!isWanted(name)) continue
    await tab.page.goto(server.url + path)
    await tab.page.locator('main').getByText(text).first().waitFor()
    // Several parts of a page may load at once.
    await expect.poll(() => tab.page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
    await write(tab.page, `${name}-${look}`)
    const found = [
      ...(await findProblems(tab.page)),
      ...((await tab.page.locator('h1').count()) === 1 ? [] : ['has no heading']),
      ...tab.complaints.splice(0).filter((complaint) => !isWithout(name) || !complaint.includes('404')),
    ]
    problems.push(...found.map((problem) => `${name}: ${problem}`))
  }
  return problems
}

async function lookAtDialogs(server: Server, world: World, look: Look): Promise<string[]> {
  const problems: string[] = []
  const tab = await visit(looks[look])
  await signIn(tab, server, '/default')
  const openings = look.endsWith('narrow') ? onPhones(world) : dialogs(world)
  for (const [name, { path, clicks }] of Object.entries(openings)) {
    if (!isWanted(`dialog-${name}`)) continue
    await tab.page.goto(server.url + path)
    await open(tab.page, clicks)
    await write(tab.page, `dialog-${name}-${look}`)
    const found = [...(await findProblems(tab.page)), ...tab.complaints.splice(0)]
    problems.push(...found.map((problem) => `dialog ${name}: ${problem}`))
  }
  return problems
}
