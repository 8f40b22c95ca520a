// The sizes of machines that hosted queues have. vCPUs and gigabytes of memory are in the name.
import type { Operations } from '../../api/operations.ts'

type NewQueue = NonNullable<Operations['POST /v2/organizations/{org}/clusters/{cluster}/queues']['body']>
export type Machine = NonNullable<NewQueue['hostedAgents']>['instanceShape']

export const machines = [
  'LINUX_AMD64_2X4',
  'LINUX_AMD64_4X16',
  'LINUX_AMD64_8X32',
  'LINUX_AMD64_16X64',
  'LINUX_AMD64_32X128',
  'LINUX_AMD64_64X256',
  'LINUX_ARM64_2X4',
  'LINUX_ARM64_4X16',
  'LINUX_ARM64_8X32',
  'LINUX_ARM64_16X64',
  'LINUX_ARM64_32X128',
  'LINUX_ARM64_64X256',
] as const satisfies readonly Machine[]

/** `LINUX_AMD64_2X4`: "2 CPUs, 4 GB, Linux amd64". */
export function describeMachine(name: string): string {
  const [, system = '', architecture = '', cpus, gigabytes] =
    /^([A-Z]+)_([A-Z0-9]+)_.*?(\d+)X(\d+)$/.exec(name) ?? []
  return cpus === undefined
    ? name
    : `${cpus} CPUs, ${gigabytes} GB, ${system === 'LINUX' ? 'Linux' : 'macOS'} ${architecture.toLowerCase()}`
}

/** A queue keeps its system and architecture. */
export const isSameKind = (a: string, b: string): boolean => kindOf(a) === kindOf(b)

const kindOf = (name: string) => name.split('_', 2).join('_')
