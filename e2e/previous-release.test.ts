// Versions n and n+1 share a schema: the previous release's server runs on the newest schema.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { anEmptyDatabase } from './databases.ts'
import { linkModules } from './linked-modules.ts'
import { aDirectory, eventually, launch, millrace, startServer, type Settings } from './millrace.ts'
import { findPreviousRelease } from './releases.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const org = '/v2/organizations/default'

const commit = findPreviousRelease(root)

const git = (...args: string[]) =>
  spawnSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 1024 ** 3 })
const lacks =
  git('cat-file', '-e', `${commit}^{commit}`).status === 0
    ? null
    : `the history of this clone lacks ${commit}, the previous release`

needing('history', lacks).it('the server of the previous release builds on the newest schema', async () => {
  const tree = aDirectory()
  await takeTree(tree)
  const old = (args: readonly string[], settings: Settings) =>
    launch(process.execPath, [join(tree, 'packages/cli/bin/millrace.js'), ...args], settings)
  const settings = {
    DATABASE_URL: await anEmptyDatabase('previous_release'),
    MILLRACE_SECRET_KEY: 'a key of 32+ characters that all replicas share',
    MILLRACE_DATA_DIR: aDirectory(),
    MILLRACE_DRAIN_SECONDS: '0',
  }
  const server = await startServer(settings, 'up', old)
  try {
    const migrated = await millrace(['migrate'], settings)
    expect(migrated).toMatchObject({ code: 0 })
    const pipeline = await server.post(`${org}/pipelines`, {
      name: 'Old and new',
      repository: 'https://git.example.com/old.git',
      configuration: `steps: [{command: "echo one", checkout: {skip: true}, key: one},
          {command: "echo two", checkout: {skip: true}, depends_on: one, concurrency: 1, concurrency_group: g},
          {trigger: demo}]`,
    })
    expect(pipeline.status).toBe(201)
    const builds = `${org}/pipelines/${String(pipeline.body['slug'])}/builds`
    const build = await server.post(builds, { commit: 'HEAD', branch: 'main' })
    expect(build.status).toBe(201)
    const path = `${builds}/${String(build.body['number'])}`
    const ended = await eventually('the build ends', async () => {
      const { body } = await server.get(path)
      return String(body['finished_at']) !== 'null' && body
    })
    expect(String(ended['state'])).toBe('passed')
    // The newest server runs beside it.
    const newest = await startServer(settings, 'serve')
    expect((await newest.get(path, server.token)).status).toBe(200)
    expect(server.output().stderr).not.toContain('does not exist')
  } finally {
    server.signal('SIGKILL')
    await server.ended
  }
})

const run = promisify(execFile)

/** As the start of a clone installs, and without questions to the registry about what npm's cache has. */
const npmOptions = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']

/** Compiles the program of that commit, with the packages installed here if those are the same. */
async function takeTree(tree: string): Promise<void> {
  const archive = execFileSync('git', ['-C', root, 'archive', commit], { maxBuffer: 1024 ** 3 })
  execFileSync('tar', ['-x', '-C', tree], { input: archive })
  if (librariesOf(tree) === librariesOf(root)) linkModules(tree)
  else await run('npm', ['ci', ...npmOptions], { cwd: tree })
  const compile = "import { compile } from './tools/compile.mjs'; await compile()"
  await run(process.execPath, ['--input-type=module', '--eval', compile], { cwd: tree })
}

/** The locked libraries, without the versions of our own packages. */
function librariesOf(tree: string): string {
  const lock = JSON.parse(readFileSync(join(tree, 'package-lock.json'), 'utf8')) as { packages: object }
  return JSON.stringify(Object.entries(lock.packages).filter(([path]) => path.includes('node_modules/')))
}
