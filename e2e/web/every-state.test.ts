// States of pages that their address does not say: what each role sees, the palette, a server that is away, groups of steps, a long
// log. Nothing serious for axe, and nothing scrolls sideways. `npm run screenshots -- FOLDER` also writes what it sees.
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { aDataDirectory, millrace, startServer, type Server, type Settings } from '../millrace.ts'
import { signIn, visit, withBrowser } from './browser.ts'
import { findProblems, isWanted, looks, looksFor, write } from './look.ts'
import { build, reach } from './world.ts'

const org = '/v2/organizations/default'

const grouped = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: "Install"
    key: install
    command: "true"
  - group: ":package: Frontend"
    key: frontend
    depends_on: install
    steps:
      - label: "Types"
        command: "true"
      - label: "Unit %n of %t"
        command: test "$$BUILDKITE_PARALLEL_JOB" != 1
        parallelism: 3
  - group: ":package: Backend"
    key: backend
    depends_on: install
    steps:
      - label: "Vet"
        command: "true"
      - label: "Integration"
        command: "true"
  - label: "Deploy"
    depends_on: [frontend, backend]
    command: "true"
`

const long = `env: { BUILDKITE_SKIP_CHECKOUT: "true" }
steps:
  - label: "Many rows"
    command: |
      echo "--- Install"
      for i in $$(seq 1 2000); do echo "installing package $$i"; done
      echo "+++ Tests"
      for i in $$(seq 1 6000); do echo "ok $$i a test with a name"; done
`

type Role = 'administrator' | 'builder' | 'reader' | 'other-team' | 'nobody'

interface State {
  role?: Role
  path: string
  /** What is done before it is looked at. */
  act?: (page: Page) => Promise<unknown>
  /** Shows that it is complete. */
  text: string | RegExp
  /** Complaints of the browser that belong to it. */
  expected?: RegExp
}

const press = (page: Page, name: string | RegExp) =>
  page.getByRole('main').getByRole('button', { name }).filter({ visible: true }).first().click()

async function openPalette(page: Page, text = ''): Promise<void> {
  await page.keyboard.press('Control+K')
  await page.getByRole('combobox').fill(text)
}

const states = (places: Record<'grouped' | 'long', string>): Record<string, State> => ({
  palette: { path: places.grouped, act: (page) => openPalette(page), text: 'Agents' },
  'palette-found': { path: '/default', act: (page) => openPalette(page, 'grouped'), text: 'Grouped' },
  'palette-nothing': {
    path: '/default',
    act: (page) => openPalette(page, 'qqqqqq'),
    text: /\bno\b|nothing/i,
  },
  'groups-summary': { path: places.grouped, text: 'The command exited with status 1' },
  'groups-open': { path: `${places.grouped}?view=graph`, text: 'Integration' },
  'groups-folded': {
    path: `${places.grouped}?view=graph`,
    async act(page) {
      await press(page, /Frontend/)
      await press(page, /Backend/)
    },
    text: 'Deploy',
  },
  'groups-table': { path: `${places.grouped}?view=table`, text: 'Integration' },
  'log-long': { path: places.long, text: 'ok 6000' },
  'log-searched': {
    path: places.long,
    async act(page) {
      await page.keyboard.press('Control+F')
      await page.getByLabel('Find in the log').fill('package 1[0-9]+')
      await page.getByRole('button', { name: 'Regular expression' }).click()
    },
    text: 'installing package 10',
  },
  offline: {
    path: places.grouped,
    act: (page) => page.context().setOffline(true),
    text: 'The server cannot be reached',
    expected: /ERR_INTERNET_DISCONNECTED|ERR_NETWORK/,
  },
  ...roleStates(places.grouped),
})

function roleStates(buildPath: string): Record<string, State> {
  const mayRead = new Set<Role>(['administrator', 'builder', 'reader'])
  const pages = { pipelines: '/default', pipeline: '/default/grouped', build: buildPath }
  const shown = { pipelines: 'Grouped', pipeline: 'Grouped builds', build: 'Grouped builds' }
  return Object.fromEntries(
    (['administrator', 'builder', 'reader', 'other-team', 'nobody'] as const).flatMap((role) =>
      (['pipelines', 'pipeline', 'build'] as const).map((name): [string, State] => [
        `role-${role}-${name}`,
        {
          role,
          path: pages[name],
          text: mayRead.has(role) ? shown[name] : /not yours to see|No pipeline/,
          expected: /404/,
        },
      ]),
    ),
  )
}

async function firstJob(server: Server): Promise<string> {
  const { body } = await server.get(`${org}/pipelines/long/builds/1`)
  return String(body['jobs']?.['0']?.['id'])
}

async function run(settings: Settings, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await millrace([...args, '--json'], settings)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** People of each role. The pipeline is of the teams of the builder and the reader. */
async function createRoles(server: Server, settings: Settings): Promise<Record<Role, string>> {
  await run(settings, 'org', 'create', 'elsewhere', '--name', 'Elsewhere')
  await server.post(`${org}/teams/enable`, {})
  const pipelines = Object.values((await server.get(`${org}/pipelines?per_page=100`)).body)
  const tokens: Record<Role, string> = {
    administrator: server.token,
    builder: '',
    reader: '',
    'other-team': '',
    nobody: '',
  }
  const access = { builder: 'build_and_read', reader: 'read_only', 'other-team': null, nobody: null } as const
  for (const role of ['builder', 'reader', 'other-team', 'nobody'] as const) {
    const email = `${role}@example.com`
    const slug = role === 'nobody' ? 'elsewhere' : 'default'
    await run(settings, 'user', 'create', '--email', email, '--name', role, '--org', slug, '--role', 'member')
    const made = await run(settings, 'token', 'create', '--user', email, '--scope', 'all')
    tokens[role] = (JSON.parse(made) as { token: string }).token
    if (role === 'nobody') continue
    const team = String((await server.post(`${org}/teams`, { name: role })).body['id'])
    const { body: user } = await server.get('/v2/user', tokens[role])
    await server.post(`${org}/teams/${team}/members`, { user_id: user['id'] })
    if (access[role] === null) continue
    for (const { id } of pipelines)
      await server.post(`${org}/teams/${team}/pipelines`, { pipeline_id: id, access_level: access[role] })
  }
  return tokens
}

withBrowser.describe('every state', () => {
  it.each(looksFor(['light', 'dark-narrow']))('is right in the look %s', async (look) => {
    const settings = { MILLRACE_DATA_DIR: aDataDirectory() }
    const server = await startServer(settings)
    const places = {
      grouped: await build(server, 'Grouped', grouped, 'Grouped builds'),
      long: await build(server, 'Long', long, 'A long log'),
    }
    await reach(server, places.grouped, 'failed')
    await reach(server, places.long, 'passed')
    const paths = {
      grouped: `/default/grouped/builds/${places.grouped.number}`,
      long: `/default/long/builds/${places.long.number}#${await firstJob(server)}`,
    }
    const tokens = await createRoles(server, settings)
    const problems: string[] = []
    for (const [name, state] of Object.entries(states(paths))) {
      if (!isWanted(name)) continue
      const { role = 'administrator', path, act, text, expected } = state
      const tab = await visit(looks[look])
      await signIn(tab, { url: server.url, token: tokens[role] }, '/-/me')
      await tab.page.goto(server.url + path)
      await tab.page.getByRole('main').waitFor()
      await expect.poll(() => tab.page.getByRole('status', { name: 'Loading' }).count()).toBe(0)
      await expect.poll(() => tab.page.getByText('Loading…', { exact: true }).count()).toBe(0)
      await act?.(tab.page)
      await tab.page.getByText(text).filter({ visible: true }).first().waitFor()
      await write(tab.page, `${name}-${look}`)
      const complaints = tab.complaints.filter((each) => expected?.test(each) !== true)
      problems.push(
        ...[...(await findProblems(tab.page)), ...complaints].map((each) => `${name}, ${look}: ${each}`),
      )
      await tab.context.close()
    }
    expect(problems).toEqual([])
  })
})
