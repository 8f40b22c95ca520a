import { availableParallelism } from 'node:os'
import { defineConfig, type Plugin } from 'vitest/config'

/** Tests run the compiled code that is shipped: imports of a package's `src/` resolve to its `dist/`. */
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

const built = { external: [/\/packages\/\w+\/dist\//] }
const build = 'testbed/src/build.ts'

/** The limits of time end tests that hang. A slow and busy machine does not reach them. */
const limits = (seconds: number) => ({
  testTimeout: seconds * 1000,
  hookTimeout: seconds * 1000,
  expect: { poll: { timeout: (seconds * 1000) / 3 } },
})

const processes = {
  globalSetup: [build, 'e2e/installation.ts'],
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
        plugins: [asBuilt],
        test: {
          name: 'engine',
          include: ['packages/engine/**/*.test.ts'],
          globalSetup: [build],
          server: { deps: built },
          isolate: false,
          ...limits(120),
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
          ...limits(300),
        },
      },
      {
        plugins: [asBuilt],
        test: {
          name: 'cli',
          include: ['packages/{cli,agent}/**/*.test.ts'],
          globalSetup: [build],
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
          globalSetup: [build],
          isolate: false,
          ...limits(120),
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          exclude: ['e2e/heavy/**'],
          ...processes,
          // The cases of agent-conformance.test.ts mostly wait.
          maxConcurrency: 16,
        },
      },
      {
        // Tests that use all processors themselves run after the others, two at a time.
        test: {
          name: 'heavy',
          include: ['e2e/heavy/*.test.ts'],
          ...processes,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
