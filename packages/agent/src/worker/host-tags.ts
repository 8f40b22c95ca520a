import { arch, hostname, platform } from 'node:os'

/** Processor names as the protocol spells them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' }

const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows' }

export const processorName = (): string => ARCHITECTURES[arch()] ?? arch()

/** What every agent says of its machine, in the words that pipelines use. */
const hostTags = (): Array<readonly [key: string, value: string]> => [
  ['os', SYSTEMS[platform()] ?? platform()],
  ['arch', processorName()],
  ['hostname', hostname()],
]

/** The operator's tags, and those of the machine whose keys the operator has not used. */
export function withHostTags(given: readonly string[]): string[] {
  const keys = new Set(given.map((tag) => tag.trim().split('=', 1)[0]))
  const own = hostTags().filter(([key]) => !keys.has(key))
  return [...given, ...own.map(([key, value]) => `${key}=${value}`)]
}
