// Tests that need something of the machine which not every machine has, such as a container engine. Where it is absent they
// are skipped, and their name ends with the reason: the summary of `npm test` counts skipped tests by it.
import { networkInterfaces } from 'node:os'
import { describe, it } from 'vitest'

/** As MILLRACE_TEST_REQUIRE names them, separated by commas. */
const requirements = [
  // A container engine that starts here, or a program that builds and runs images.
  'containers',
  // Images and packages of other hosts.
  'internet',
  'kubernetes',
  'chromium',
  'public-agent',
  'pgbouncer',
  'root',
  'not-root',
  'linux',
  // The address ::1.
  'ipv6',
  // Namespaces of Linux for ordinary users.
  'namespaces',
  // The commits of this clone.
  'history',
  // A version of Node that runs the bundler.
  'bundler',
  // Other installed programs, such as helm.
  'programs',
] as const

type Requirement = (typeof requirements)[number]

export interface Needing {
  describe(title: string, tests: () => void): void
  it(title: string, test: () => unknown): void
}

/** `lacks` says what is absent; null: nothing is. If MILLRACE_TEST_REQUIRE names the requirement, its absence is a failure. */
export function needing(requirement: Requirement, lacks: string | null): Needing {
  const isRequired = requiredNames().includes(requirement)
  if (lacks === null) return { describe, it }
  const named = (title: string) => `${title} (needs ${requirement}: ${lacks})`
  const fail = () => {
    throw new Error(`MILLRACE_TEST_REQUIRE names ${requirement}, but ${lacks}`)
  }
  return isRequired
    ? { describe: (title) => it(named(title), fail), it: (title) => it(named(title), fail) }
    : {
        describe: (title, tests) => describe.skip(named(title), tests),
        it: (title, test) => it.skip(named(title), test),
      }
}

function requiredNames(): string[] {
  const names = (process.env['MILLRACE_TEST_REQUIRE'] ?? '').split(',').filter((name) => name !== '')
  const unknown = names.filter((name) => !requirements.some((one) => one === name))
  if (unknown.length > 0)
    throw new Error(`MILLRACE_TEST_REQUIRE names ${unknown.join(', ')}. It knows ${requirements.join(', ')}.`)
  return names
}

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)

export const ipv6Lacks = hasIpv6 ? null : 'this machine has no address ::1'

export const linuxLacks = process.platform === 'linux' ? null : `this is ${process.platform}`

export const rootLacks = process.getuid?.() === 0 ? null : 'the tests run as an ordinary user'
