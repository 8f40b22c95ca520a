import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'
import { defineConfig, type Plugin } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { v8Options } from './testbed/src/v8-options.ts'

/**
 * What is tested is what is built and shipped: for the sources of a package a test gets what the compiler made of them,
 * which Node loads by itself, in half the time and without the detours of a module runner.
 */
const asBuilt: Plugin = {
  name: 'as-built',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (!/^[.@]/.test(source)) return null
    const found = await this.resolve(source, importer, { ...options, skipSelf: true })
    const [, place, file] = /^(.*\/packages\/\w+)\/src\/(.*)(?<!\.test)\.ts$/.exec(found?.id ?? '') ?? []
    return place === undefined ? found : `${place}/dist/${file}.js`
  },
}

/**
 * Workers compile at once, and begin with a heap as large as it will be, instead of marking all of it again and again
 * while it grows. Threads have this from this process.
 */
const execArgv = ['--always-sparkplug', '--initial-old-space-size=300', ...v8Options]
execArgv.forEach((option) => setFlagsFromString(option))

const built = { external: [/\/packages\/\w+\/dist\//] }
const build = 'testbed/src/build.ts'

/**
 * What mostly waits for processes goes first, with the small projects beside it; then the server's tests: those that take
 * longer than they are large, then the others, the largest first, so what is left at the end is short. A project's files
 * stay together, since a worker whose next file is of another project ends, and what it has loaded and learned with it.
 * Those with a container engine start apart from each other.
 */
const order = [
  'e2e/hosted',
  'e2e/soak',
  'e2e/agent-conformance',
  'e2e/notifications',
  'e2e/stop',
  'project engine',
  'project cli',
  'project e2e',
  'hosted/conformance',
  'embedded/separate-process',
  'http/bad-input',
  'embedded/server',
  'hosted/docker',
  'notifications/delivery',
  'conductor/races',
  'agent-api/pings',
  'project server',
]

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = order.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return place === -1 ? order.indexOf(`project ${project.name}`) : place
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

/** More than there are processors, because nobody needs one all the time; a database has connections for ten. */
const maxWorkers = Math.min(availableParallelism() + 3, 10)

export default defineConfig({
  test: {
    globalSetup: ['testbed/src/setup.ts'],
    maxWorkers,
    sequence: { sequencer: InOrder },
    projects: [
      {
        plugins: [asBuilt],
        test: {
          name: 'engine',
          include: ['packages/engine/**/*.test.ts'],
          globalSetup: [build],
          execArgv,
          server: { deps: built },
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        plugins: [asBuilt],
        test: {
          name: 'server',
          include: ['packages/server/**/*.test.ts'],
          globalSetup: [build, 'packages/server/test/database.ts'],
          server: { deps: built },
          isolate: false,
          pool: 'threads',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins: [asBuilt],
        test: {
          name: 'cli',
          include: ['packages/{cli,agent}/**/*.test.ts'],
          globalSetup: [build],
          execArgv,
          server: { deps: built },
          isolate: false,
          unstubEnvs: true,
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: [build, 'e2e/installation.ts'],
          isolate: false,
          pool: 'forks',
          execArgv,
          // The cases of agent-conformance.test.ts mostly wait, so many of them at once.
          maxConcurrency: 16,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
