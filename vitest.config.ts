import { availableParallelism } from 'node:os'
import { defineConfig, type Plugin } from 'vitest/config'

/**
 * Tests import the sources of packages. What runs is their compiled form in `dist/`, which threads and child processes run
 * too. `npm test -- --changed` needs the imports between the sources instead.
 */
const compiledOrSource: Plugin = {
  name: 'compiled-or-source',
  enforce: 'pre',
  async resolveId(source, importer, options) {
    if (!/^[.@]/.test(source)) return null
    const found = await this.resolve(source, importer, { ...options, skipSelf: true })
    const path = found?.id ?? ''
    const wanted = process.env['MILLRACE_TEST_SOURCES']
      ? path.replace(/^(.*\/packages\/\w+)\/dist\/(.*)\.js$/, '$1/src/$2.ts')
      : path.replace(/^(.*\/packages\/\w+)\/src\/(.*)(?<!\.test)\.ts$/, '$1/dist/$2.js')
    return wanted === path ? found : wanted
  },
}

const built = { external: [/\/packages\/\w+\/dist\//] }

/** The limits of time end tests that hang. A slow and busy machine does not reach them. */
const limits = (seconds: number) => ({
  testTimeout: seconds * 1000,
  hookTimeout: seconds * 1000,
  expect: { poll: { timeout: (seconds * 1000) / 3 } },
})

const processes = {
  globalSetup: ['testbed/src/build.ts', 'e2e/installation.ts'],
  isolate: false,
  pool: 'forks' as const,
  ...limits(900),
}

export default defineConfig({
  test: {
    globalSetup: ['testbed/src/engine-pool.ts'],
    // Many tests wait for processes. The database has connections for ten workers.
    maxWorkers: Math.min(availableParallelism() * 2, 10),
    // Vitest does not follow the imports of compiled code, so with --watch every rebuild reruns the chosen files.
    forceRerunTriggers: ['**/packages/*/dist/**/*.js'],
    projects: [
      {
        plugins: [compiledOrSource],
        test: {
          name: 'engine',
          include: ['packages/engine/**/*.test.ts'],
          server: { deps: built },
          isolate: false,
          ...limits(120),
        },
      },
      {
        plugins: [compiledOrSource],
        test: {
          name: 'server',
          include: ['packages/server/**/*.test.ts'],
          globalSetup: ['packages/server/test/app/database.ts'],
          server: { deps: built },
          isolate: false,
          pool: 'threads',
          ...limits(300),
        },
      },
      {
        plugins: [compiledOrSource],
        test: {
          name: 'agent-cli',
          include: ['packages/{cli,agent}/**/*.test.ts'],
          server: { deps: built },
          isolate: false,
          unstubEnvs: true,
          pool: 'forks',
          ...limits(300),
        },
      },
      {
        test: {
          name: 'web',
          include: ['packages/web/**/*.test.{ts,tsx}'],
          isolate: false,
          ...limits(120),
        },
      },
      {
        test: {
          name: 'tools',
          include: ['{tools,testbed}/**/*.test.ts'],
          isolate: false,
          pool: 'forks',
          sequence: { groupOrder: 1 },
          ...limits(300),
        },
      },
      {
        test: { name: 'journeys', include: ['e2e/journeys/**/*.test.ts'], ...processes },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          exclude: ['e2e/journeys/**', 'e2e/heavy/**'],
          ...processes,
          // The cases of agent-conformance.test.ts mostly wait.
          maxConcurrency: 16,
          // `npm run test:all` runs what `npm test` runs first.
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Tests that use all processors themselves run after the others, two at a time.
        test: {
          name: 'heavy',
          include: ['e2e/heavy/*.test.ts'],
          ...processes,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
