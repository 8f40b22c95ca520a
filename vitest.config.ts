import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const resolve = { conditions: ['millrace-source'] }
const ssr = { resolve }

/** On a fresh clone the largest files go first; these take longer than they are large and would be left to the end. */
const slow = [
  // Those with a container engine go one after the other.
  'e2e/hosted',
  'hosted/docker',
  'hosted/conformance',
  'e2e/soak',
  'e2e/agent-conformance',
  'e2e/docs',
  'e2e/backup',
  'e2e/commands',
  'embedded/separate-process',
  'http/bad-input',
  'agent-api/pings',
  'notifications/delivery',
  'embedded/server',
  'conductor/races',
]

class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = slow.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return place === -1 ? slow.length : place
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

/*
 * Those that start processes wait for them much of the time, so more at once than there are cores; the others follow,
 * one more than there are cores, for some of them wait too.
 */
const waiting = { maxWorkers: 4, sequence: { groupOrder: 0 } }
const computing = { maxWorkers: 3, sequence: { groupOrder: 1 } }

export default defineConfig({
  test: {
    globalSetup: ['testbed/src/setup.ts'],
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        resolve,
        ssr,
        test: { ...computing, name: 'engine', include: ['packages/engine/**/*.test.ts'], isolate: false },
      },
      {
        resolve,
        ssr,
        test: {
          ...computing,
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
          ...waiting,
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
          ...waiting,
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
