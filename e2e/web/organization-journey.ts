// Somebody makes an organization work, from an empty installation to its audit log, in the pages alone.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { Page } from 'playwright-core'
import {
  aDataDirectory,
  aDirectory,
  aSharedDirectory,
  eventually,
  spawnMillrace,
  startServer,
} from '../millrace.ts'
import { visit } from './browser.ts'
import type { Hands } from './hands.ts'

/** Returns what the console has complained of. */
export async function organizationJourney(handsOf: (page: Page) => Hands): Promise<string[]> {
  const server = await startServer({
    MILLRACE_DATA_DIR: aDataDirectory(),
    MILLRACE_AGENTS: '0',
    // Where the receiver listens.
    MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
  })
  const receiver = await aReceiver()
  const repository = aRepository()
  const tab = await visit({ height: 1000 })
  const { page } = tab
  const hands = handsOf(page)
  const main = page.getByRole('main')
  const said = (text: string) => page.getByRole('status').getByText(text).first().waitFor()
  const heading = (name: string) => main.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  const row = (table: string, name: string) =>
    main.getByRole('table', { name: table }).getByRole('row', { name })
  const top = page.getByRole('navigation', { name: 'Pages of the organization' })
  const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' })
  const settings = page.getByRole('navigation', { name: 'Settings of' })
  const contents = page.getByRole('navigation', { name: 'Contents of' })
  // The link that the first start has printed.
  const printed = JSON.parse(server.output().stdout) as { first: { sign_in_code: string } }
  await page.goto(`${server.url}/sign-in?code=${printed.first.sign_in_code}`)
  await hands.press('Sign in')
  await hands.fill('New password', 'correct horse 7')
  await hands.press('Set password')
  await main.getByRole('heading', { level: 1 }).waitFor()

  // Teams, and the people of the first.
  await hands.press('Settings', top)
  await hands.press('Teams', settings)
  await heading('Teams')
  for (const name of ['Releases', 'Mobile']) {
    await hands.press('New team')
    await hands.fill('Name', name)
    await hands.press('Create team')
    await heading(name)
    await hands.press('Teams', crumbs)
    await heading('Teams')
  }
  await hands.press('Turn teams on…')
  await hands.press('Turn teams on')
  await said('Teams are on.')
  await hands.press('Invitations', settings)
  await heading('Invitations')
  const ada = await invite('ada@example.com', ['Mobile', 'Releases'])
  const lin = await invite('lin@example.com', ['Mobile'])
  async function invite(email: string, teams: readonly string[]): Promise<string> {
    await hands.press('Invite people', main)
    await hands.fill('Email addresses', email)
    for (const team of teams) await hands.check(team)
    await hands.press('Invite')
    const link = await page.getByRole('dialog').locator('pre').innerText()
    await hands.press('Done')
    await row('Invitations', email).waitFor()
    return link
  }
  const builder = await acceptAs(ada, 'Ada', handsOf)
  const reader = await acceptAs(lin, 'Lin', handsOf)

  // A cluster with a queue, and an agent that comes while the page of the queue is open.
  await hands.press('Agents', top)
  await hands.press('Clusters and queues')
  await hands.press('New cluster')
  await hands.fill('Name', 'Machines')
  await hands.fill('Default queue', 'linux')
  await hands.press('Create cluster')
  await heading('Machines')
  await hands.press('linux', main)
  await heading('linux')
  await hands.press('Start an agent')
  await hands.press('Make the command')
  const command = await page
    .getByRole('dialog')
    .locator('pre')
    .filter({ hasText: 'agent start' })
    .last()
    .innerText()
  startAgent(command)
  await hands.press('Done')
  await main.getByRole('table', { name: 'Agents' }).getByText('Idle').waitFor()

  await hands.press('Machines', crumbs)
  await hands.press('Secrets', contents)
  await heading('Secrets')
  await hands.press('New secret')
  await hands.fill('Key', 'DEPLOY_TOKEN')
  await hands.fill('Value', 'correct horse')
  await hands.press('Create secret')
  await said('The secret DEPLOY_TOKEN is stored.')

  // A pipeline, whose first build the agent runs.
  await hands.press('Pipelines', top)
  await hands.press('New pipeline')
  await hands.fill('Name', 'App')
  await hands.fill('Repository', repository)
  await hands.choose('Cluster', 'Machines')
  await hands.press('Create and build')
  await page.waitForURL(`${server.url}/default/app/builds/1`)
  await main.locator('header').first().getByText('Passed', { exact: true }).waitFor()
  for (const [team, access] of [
    ['Mobile', 'Read'],
    ['Releases', 'Build and read'],
  ] as const) {
    await hands.press('Settings', top)
    await hands.press('Teams', settings)
    await hands.press(team, main)
    await heading(team)
    await hands.press('Add pipelines…')
    await hands.press('Add App')
    await page.getByRole('dialog').getByText('Added').waitFor()
    await hands.press('Done')
    await hands.choose('What members may do with App', access)
  }
  for (const [person, isOffered] of [
    [builder, true],
    [reader, false],
  ] as const) {
    await eventually('the team gives what it should', async () => {
      await person.goto(`${server.url}/default/app`)
      await person.getByRole('heading', { level: 1 }).waitFor()
      await person
        .getByRole('list', { name: 'Builds' })
        .or(person.getByText('is not there'))
        .first()
        .waitFor()
      const offers = await person.getByRole('button', { name: 'New build' }).count()
      return (await person.getByRole('list', { name: 'Builds' }).count()) > 0 && offers > 0 === isOffered
    })
  }

  await hands.press('Pipelines', top)
  await hands.press(/^App$/, main)
  await heading('App')
  await hands.press('Settings', main)
  await hands.press('Schedules', settings)
  await heading('Schedules')
  await hands.press('New schedule')
  await hands.fill('Name', 'Nightly')
  await hands.press('Create schedule')
  await main.getByText('Nightly').first().waitFor()

  // A service whose receiver is gone: what was sent and answered is seen, it is repaired, and the delivery goes again.
  await hands.press('Settings', top)
  await hands.press('Notification services', settings)
  await hands.press('New service')
  await hands.press(/^Webhook$/, main)
  await hands.fill('Name', 'Deploys')
  await hands.fill('Address', `${receiver}/gone`)
  await hands.press('Create service')
  await heading('Deploys')
  await row('Deliveries', 'ping').getByText('Given up').waitFor()
  await hands.press('ping', main)
  const first = main.getByRole('region', { name: 'Attempt 1', exact: true })
  await first.getByText('The receiver answered 410: it is gone.').waitFor()
  await hands.press('Deploys', crumbs)
  await hands.fill('Address', `${receiver}/builds`)
  await hands.press('Save')
  await said('Saved.')
  await row('Deliveries', 'ping').getByText('Delivered').waitFor()
  await hands.choose('State of the deliveries', 'Given up')
  await hands.press('ping', main)
  await heading('Delivery of ping')
  await hands.press('Redeliver')
  await main.getByRole('region', { name: 'Attempt 2', exact: true }).getByText('It arrived.').waitFor()

  await hands.press('Retention', settings)
  await heading('Retention')
  await hands.fill('Builds, in days', '30')
  await hands.press('Show what would be deleted')
  await main.getByText('Nothing would be deleted now.').waitFor()
  await hands.press('Save')
  await page.getByRole('group', { name: 'Changes' }).waitFor({ state: 'detached' })

  await hands.press('Audit log', settings)
  await heading('Audit log')
  for (const [what, onWhat] of acts) {
    await hands.fill('Find a name', onWhat)
    await page.waitForURL((address) => address.searchParams.get('q') === onWhat)
    await row('Audit events', what).filter({ hasText: onWhat }).first().waitFor()
  }
  await hands.press('Show Secret created', main)
  await page.getByRole('dialog').getByText('DEPLOY_TOKEN').first().waitFor()
  expect(await page.getByRole('dialog').innerText()).not.toContain('correct horse')
  return tab.complaints
}

/** What the audit log says of each act, and on what it was done. */
const acts = [
  ['Organization teams enabled', 'Default'],
  ['Team created', 'Mobile'],
  ['Team created', 'Releases'],
  ['Team pipeline created', 'App'],
  ['Team pipeline updated', 'App'],
  ['Organization invitation created', 'ada@example.com'],
  ['Organization invitation created', 'lin@example.com'],
  ['Organization invitation accepted', 'ada@example.com'],
  ['Organization invitation accepted', 'lin@example.com'],
  ['Cluster created', 'Machines'],
  ['Cluster queue created', 'linux'],
  ['Cluster token created', 'Agent token of'],
  ['Pipeline created', 'App'],
  ['Pipeline schedule created', 'Nightly'],
  ['Notification service created', 'Deploys'],
  ['Notification service updated', 'Deploys'],
  ['Notification delivery redelivered', 'Deploys'],
  ['Organization retention updated', 'Default'],
  ['Secret created', 'DEPLOY_TOKEN'],
] as const

/** Accepts an invitation in a window of their own. */
async function acceptAs(link: string, name: string, handsOf: (page: Page) => Hands): Promise<Page> {
  const { page } = await visit()
  const hands = handsOf(page)
  await page.goto(link)
  await hands.fill('Your name', name)
  await hands.fill('Password', 'battery staple 9')
  await hands.press('Create account and join')
  await page.waitForURL((address) => !address.pathname.startsWith('/-/invitations'))
  return page
}

/** Runs what the page says, with this clone instead of the package that it names. */
function startAgent(command: string): void {
  const [args = ''] = /agent start .*/.exec(command) ?? []
  const build = ['--build-path', join(aDirectory(), 'builds')]
  spawnMillrace([...args.split(/\s+/), ...build], { HOME: aDirectory() })
}

function aRepository(): string {
  const folder = join(aSharedDirectory(), 'app')
  mkdirSync(join(folder, '.buildkite'), { recursive: true })
  writeFileSync(
    join(folder, '.buildkite', 'pipeline.yml'),
    'steps: [{ label: Tests, command: test -f README }]\n',
  )
  writeFileSync(join(folder, 'README'), 'An app.\n')
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: folder })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message', 'The first commit')
  return `file://${folder}`
}

/** Answers 410 below `/gone`, so that a delivery is given up at once. */
async function aReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(request.url?.startsWith('/gone') === true ? 410 : 200).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
