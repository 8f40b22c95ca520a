import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const resolve = { conditions: ['millrace-source'] }
const ssr = { resolve }

/** On a fresh clone the largest files go first; these take longer than they are large and would be left to the end. */
const slow = ['embedded/separate-process', 'embedded/server', 'http/bad-input', 'conductor/races']

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isSlow = ({ moduleId }: TestSpecification) =>
      slow.some((name) => moduleId.endsWith(`/${name}.test.ts`))
    const begin = sorted.findIndex(({ project }) => project.name === 'server')
    const server = sorted.splice(Math.max(begin, 0))
    return [...sorted, ...server.filter(isSlow), ...server.filter((file) => !isSlow(file))]
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    globalSetup: ['testbed/src/setup.ts'],
    sequence: { sequencer: SlowFirst },
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
          // The cases of agent-conformance.test.ts mostly wait, so many of them at once.
          maxConcurrency: 16,
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
