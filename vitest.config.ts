import { defineConfig } from 'vitest/config'

const resolve = { conditions: ['millrace-source'] }
const ssr = { resolve }

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        resolve,
        ssr,
        test: { name: 'engine', include: ['packages/engine/**/*.test.ts'], isolate: false },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'server',
          include: ['packages/server/**/*.test.ts'],
          globalSetup: ['packages/server/test/database.ts'],
          isolate: false,
          pool: 'threads',
          testTimeout: 20_000,
          hookTimeout: 60_000,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'cli',
          include: ['packages/{cli,agent}/**/*.test.ts'],
          // The commands inside a job run as they are built.
          globalSetup: ['e2e/build.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['e2e/**/*.test.ts'],
          globalSetup: ['e2e/build.ts', 'e2e/installation.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
