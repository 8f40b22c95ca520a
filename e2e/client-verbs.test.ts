// The client commands about pipelines, agents, queues, secrets, tokens and users.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { aLoggedInUser, aUser, json, refusalOf } from './logged-in.ts'
import { aDirectory, millrace, program, theServer, type Json } from './millrace.ts'
import { aBrowserProgram } from './terminal.ts'

function git(folder: string, ...args: string[]): string {
  const { stdout, status, stderr } = spawnSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stdout.trim()
}

describe('millrace pipeline', () => {
  it('creates, updates and opens pipelines, and finds the one of the git repository', async () => {
    const { settings, url, post } = await aUser('piper')
    await post('clusters', { name: 'Own' })
    const steps = 'steps:\n  - command: make\n'
    const remote = ['--repository', 'git@git.example.com:Acme/Web.git']
    const made = await json(['pipeline', 'create', 'Web', '-f', '-', ...remote], settings, steps)
    expect(made).toMatchObject({ slug: 'web', configuration: steps })

    const folder = aDirectory()
    git(folder, 'init', '--quiet', '--initial-branch=main')
    const here = (...args: string[]) => millrace(args, settings, { folder })
    expect(refusalOf(await here('pipeline', 'open'))).toContain('has no remote: name the pipeline with')
    git(folder, 'remote', 'add', 'fork', 'https://git.example.com/ada/web')
    git(folder, 'remote', 'add', 'origin', 'ssh://git@git.example.com:2222/acme/web/')
    expect(await here('pipeline', 'open')).toMatchObject({ code: 0, stdout: `${url}/piper/web\n` })
    writeFileSync(join(folder, 'new.yml'), 'steps:\n  - command: make all\n')
    const updated = await here('pipeline', 'update', '-f', 'new.yml', '--description', 'Shop', '--json')
    expect(JSON.parse(updated.stdout)).toMatchObject({
      slug: 'web',
      description: 'Shop',
      configuration: 'steps:\n  - command: make all\n',
    })

    // Created from the repository, its builds upload their steps.
    const second = await here('pipeline', 'create', 'Web nightly', '--json')
    expect(JSON.parse(second.stdout)).toMatchObject({
      slug: 'web-nightly',
      repository: 'ssh://git@git.example.com:2222/acme/web/',
      configuration: expect.stringContaining('buildkite-agent pipeline upload'),
    })
    expect(refusalOf(await here('pipeline', 'open'))).toBe(
      'Several pipelines build this repository: web, web-nightly. Name the one you mean.\n',
    )
    git(folder, 'remote', 'remove', 'origin')
    expect(refusalOf(await here('pipeline', 'open'))).toContain(
      'No pipeline of piper builds git.example.com/ada/web: name one',
    )
    expect(refusalOf(await millrace(['pipeline', 'open'], settings, { folder: aDirectory() }))).toContain(
      'in no git repository',
    )
    expect(refusalOf(await here('pipeline', 'open', 'wob'))).toBe(
      'No pipeline found.\nThe pipelines of piper: web, web-nightly.\n',
    )
    expect(refusalOf(await here('pipeline', 'update', 'web'))).toContain('Nothing is to be changed')
    const wrong = await millrace(['pipeline', 'update', 'web', '-f', '-'], settings, {
      input: 'steps: [{comand: x}]',
    })
    expect(refusalOf(wrong)).toContain('did you mean `command`?')
  })

  it('opens the page with the program of BROWSER', async () => {
    const { settings, url, post } = await aUser('opener')
    await post('clusters', { name: 'Own' })
    await json(['pipeline', 'create', 'Web', '--repository', 'https://git.example.com/web.git'], settings)
    const browser = aBrowserProgram(aDirectory())
    const opened = await millrace(['pipeline', 'open', 'web'], { ...settings, BROWSER: browser.path })
    expect(opened.stdout).toBe(`${url}/opener/web\n`)
    expect(await browser.opened()).toBe(`${url}/opener/web`)
  })
})

describe('millrace agent', () => {
  it('lists, pauses, resumes and stops agents by name or id', async () => {
    const { settings, url, post } = await aUser('agents')
    const cluster = await post('clusters', { name: 'Own' })
    await post(`clusters/${String(cluster['id'])}/queues`, { key: 'default' })
    const { token } = await post(`clusters/${String(cluster['id'])}/tokens`, { description: 'Test' })
    const connect = async (name: string): Promise<void> => {
      const call = (path: string, as: string, body: object) =>
        fetch(`${url}/v3/${path}`, {
          method: 'POST',
          headers: { Authorization: `Token ${as}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      const registered = await call('register', String(token), { name, meta_data: ['queue=default'] })
      const { access_token } = (await registered.json()) as Json
      expect((await call('connect', String(access_token), {})).status).toBe(200)
    }
    for (const name of ['one', 'two', 'twin', 'twin']) await connect(name)
    const listed = await json(['agent', 'list', '--queue', 'default'], settings)
    expect(listed).toMatchObject([{ name: 'one' }, { name: 'two' }, { name: 'twin' }, { name: 'twin' }])
    expect(await json(['agent', 'list', '--queue', 'other'], settings)).toEqual([])
    const ids = (listed as unknown as Array<{ id: string }>).map(({ id }) => id)

    const pause = ['agent', 'pause', 'one', ids[1] ?? '', '--note', 'Repair']
    expect(await json(pause, settings)).toMatchObject([
      { name: 'one', paused: true, paused_note: 'Repair' },
      { name: 'two', paused: true },
    ])
    expect((await millrace(['agent', 'list'], settings)).stdout).toMatch(/\none +‖ paused +default /)
    expect(await json(['agent', 'resume', 'one'], settings)).toMatchObject([{ paused: false }])
    expect(await json(['agent', 'stop', 'one'], settings)).toMatchObject([{ connection_state: 'stopping' }])
    expect(refusalOf(await millrace(['agent', 'stop', 'twin', 'two'], settings))).toContain(
      `Several agents are called twin: name one by its id, ${ids[2]} or ${ids[3]}.`,
    )
    expect(refusalOf(await millrace(['agent', 'stop', 'none'], settings))).toContain(
      'There is no connected agent none, but one, two, twin, twin.',
    )
    expect(await json(['agent', 'list', '--name', 'two'], settings)).toMatchObject([
      { connection_state: 'connected' },
    ])
  })
})

describe('millrace queue', () => {
  it('lists queues of all clusters, and pauses and resumes one', async () => {
    const { settings, post } = await aUser('queues')
    const one = await post('clusters', { name: 'One' })
    const two = await post('clusters', { name: 'Two' })
    for (const { id } of [one, two]) await post(`clusters/${String(id)}/queues`, { key: 'default' })
    await post(`clusters/${String(two['id'])}/queues`, { key: 'mac' })
    const paused = await json(['queue', 'pause', 'mac', '--note', 'New\u001b[2J machines'], settings)
    expect(paused).toMatchObject({ key: 'mac', dispatch_paused: true })
    const { stdout } = await millrace(['queue', 'list'], settings)
    expect(stdout).toMatch(/\nmac +Two +‖ paused +New␛\[2J machines/)
    expect(stdout).toMatch(/\ndefault +One +✓ on/)
    expect(await json(['queue', 'list', '--cluster', 'two'], settings)).toMatchObject([
      { key: 'default', cluster: { name: 'Two' } },
      { key: 'mac', dispatch_paused: true },
    ])
    expect(await json(['queue', 'resume', 'mac'], settings)).toMatchObject({ dispatch_paused: false })
    expect(refusalOf(await millrace(['queue', 'pause', 'default'], settings))).toBe(
      'The clusters One, Two have a queue default each: choose one with --cluster.\n',
    )
    expect(await json(['queue', 'pause', 'default', '--cluster', 'One'], settings)).toMatchObject({
      dispatch_paused: true,
    })
    expect(refusalOf(await millrace(['queue', 'resume', 'gpu'], settings))).toBe(
      'There is no queue gpu, but default, mac.\n',
    )
    expect(refusalOf(await millrace(['secret', 'list'], settings))).toContain(
      'There are several clusters: One (',
    )
  })
})

describe('millrace secret', () => {
  it('takes values from standard input only, and never prints them', async () => {
    const { settings, post } = await aUser('secrets')
    await post('clusters', { name: 'Own' })
    const set = ['secret', 'set', 'DEPLOY_KEY']
    const created = await json([...set, '--description', 'Staging'], settings, 'first\n')
    expect(created).toMatchObject({ key: 'DEPLOY_KEY', description: 'Staging' })
    const replaced = await millrace(set, settings, { input: 'second line\nthird' })
    expect(replaced.stdout).toBe('Replaced the secret DEPLOY_KEY in the cluster Own.\n')
    const listed = await json(['secret', 'list'], settings)
    expect(listed).toMatchObject([{ key: 'DEPLOY_KEY', description: 'Staging' }])
    expect(JSON.stringify([created, listed])).not.toMatch(/first|second/)
    expect(refusalOf(await millrace(set, settings, { input: '\n' }))).toContain('The value is empty')
    expect(await json(['secret', 'delete', 'DEPLOY_KEY'], settings)).toMatchObject({ key: 'DEPLOY_KEY' })
    expect(await json(['secret', 'list'], settings)).toEqual([])
  })
})

describe('millrace token list, user list', () => {
  it('lists your tokens without their values, and the members of the organization', async () => {
    const { settings, token } = await aLoggedInUser('people')
    const listed = await json(['token', 'list'], settings)
    expect(listed).toMatchObject([{ current: true, expires_at: null }])
    expect(JSON.stringify(listed)).not.toContain(token)
    expect(await json(['user', 'list'], settings)).toMatchObject([
      { name: 'Ada', email: 'people@example.com', role: 'admin' },
    ])
    const { stdout } = await millrace(['token', 'list'], settings)
    expect(stdout).toMatch(/\n\* {2}[0-9a-f-]{36} .* scopes +all +\S.* +never\n$/)
  })
})

describe('millrace completion', () => {
  const inShell = (shell: string) => {
    const isMissing = spawnSync(shell, ['--version']).error !== undefined
    return needing('programs', isMissing ? `${shell} is not installed` : null)
  }

  inShell('bash').it('completes in bash', async () => {
    const { settings, post } = await aUser('completer')
    const { id } = await post('clusters', { name: 'Own' })
    for (const name of ['Web', 'Worker', 'App']) {
      const repository = 'https://git.example.com/x.git'
      await post('pipelines', { name, repository, cluster_id: id, configuration: 'steps: []' })
    }
    const file = join(aDirectory(), 'millrace.bash')
    writeFileSync(file, (await millrace(['completion', 'bash'], settings)).stdout)
    const complete = (...words: string[]): string[] => {
      const script = `
        millrace() { ${JSON.stringify(process.execPath)} ${JSON.stringify(program)} "$@"; }
        . ${JSON.stringify(file)}
        COMP_WORDS=(millrace "$@"); COMP_CWORD=$#; _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`
      const env = { PATH: process.env['PATH'], ...settings }
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'bash', ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env,
        encoding: 'utf8',
      })
      expect(stderr).toBe('')
      return stdout.split('\n').filter((word) => word !== '')
    }
    expect(complete('pip')).toEqual(['pipeline'])
    expect(complete('')).toEqual(expect.arrayContaining(['login', 'up', 'run']))
    expect(complete('')).not.toContain('complete-values')
    expect(complete('secret', '')).toEqual(['set', 'list', 'delete'])
    expect(complete('agent', 'list', '--st')).toEqual(['--state'])
    expect(complete('agent', 'list', '--state', 'lo')).toEqual(['lost'])
    expect(complete('pipeline', 'open', 'w')).toEqual(['web', 'worker'])
    expect(complete('pipeline', 'open', '--org', 'acme', '--js')).toEqual(['--json'])
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  })

  it('offers nothing of a server that a shell would act on, and is silent about errors', async () => {
    const slugs = ['good', '$(touch bad)', '`id`', "a'b", '-rf', 'x\u001b[2J']
    const server = createServer((_request, response) =>
      response
        .setHeader('Content-Type', 'application/json')
        .end(JSON.stringify(slugs.map((slug) => ({ slug, name: slug })))),
    )
    server.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const settings = { XDG_CONFIG_HOME: aDirectory(), MILLRACE_TOKEN: 'x', MILLRACE_ORG: 'acme' }
    const values = (address: string) =>
      millrace(['complete-values', 'pipelines'], { ...settings, MILLRACE_URL: address })
    expect(await values(url)).toMatchObject({ code: 0, stdout: 'good\n', stderr: '' })
    expect(await values(theServer().url)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each(['zsh', 'fish'])('prints a script for %s with every command', async (shell) => {
    const { stdout } = await millrace(['completion', shell], {})
    expect(stdout).toMatch(
      /'millrace secret set'[^]*complete-values|complete-values[^]*'millrace secret set'/,
    )
  })

  for (const shell of ['zsh', 'fish']) {
    inShell(shell).it(`prints a script that ${shell} can read`, async () => {
      const { stdout } = await millrace(['completion', shell], {})
      const script = join(aDirectory(), 'script')
      writeFileSync(script, stdout)
      expect(spawnSync(shell, ['-n', script], { encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      })
    })
  }
})
