// Tests that need something of the machine which not every machine has, such as a container engine. Where it is absent they
// are skipped, and their name ends with the reason: the summary of `npm test` counts skipped tests by it.
import { describe, it } from 'vitest'

/** As MILLRACE_TEST_REQUIRE names them, separated by commas. */
export type Requirement =
  | 'containers'
  | 'chromium'
  | 'public-agent'
  | 'pgbouncer'
  | 'root'
  | 'linux'
  | 'history'
  | 'programs'

interface Needing {
  describe(title: string, tests: () => void): void
  it(title: string, test: () => unknown): void
}

/** `lacks` says what is absent; null: nothing is. If MILLRACE_TEST_REQUIRE names the requirement, its absence is a failure. */
export function needing(requirement: Requirement, lacks: string | null): Needing {
  if (lacks === null) return { describe, it }
  const named = (title: string) => `${title} (needs ${requirement}: ${lacks})`
  const required = (process.env['MILLRACE_TEST_REQUIRE'] ?? '').split(',').includes(requirement)
  const fail = () => {
    throw new Error(`MILLRACE_TEST_REQUIRE names ${requirement}, but ${lacks}`)
  }
  return required
    ? { describe: (title) => it(named(title), fail), it: (title) => it(named(title), fail) }
    : {
        describe: (title, tests) => describe.skip(named(title), tests),
        it: (title, test) => it.skip(named(title), test),
      }
}
