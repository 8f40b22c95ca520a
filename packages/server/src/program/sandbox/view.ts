// What a job on a local agent sees of the machine: a list of what is there. A job sees nothing that is not in the list.
// bubblewrap.ts and namespaces.ts make the same sandbox of it, for servers that run as root and for others.
import { dirname, join } from 'node:path'
import type { JobFolder } from '../../config/process.ts'

export type Mount =
  /** A folder of the machine; an optional one may also be a file, or missing. A relative `from` is in the folder of the job. */
  | { kind: 'shared'; from: string; to: string; access: 'read' | 'write'; isOptional?: true }
  | { kind: 'link'; to: string; target: string }
  /** An empty file system in memory that the job can write to. */
  | { kind: 'memory'; to: string; megabytes: number; mode: string }
  /** The processes of the job. */
  | { kind: 'processes'; to: '/proc' }
  /** null, zero, full, random, urandom, tty, and the job's own pseudo-terminals. */
  | { kind: 'devices'; to: '/dev' }

export interface JobView {
  /** In the order in which they are mounted. */
  mounts: readonly Mount[]
}

/** An entry of the root directory that has programs or their settings. */
export type SystemEntry = { path: string; kind: 'folder' } | { path: string; kind: 'link'; target: string }

/** What the list depends on. */
export interface MachineFacts {
  system: readonly SystemEntry[]
  /** Parts of the Node installation and certificates that are not in the folders of the system. */
  alsoRead: readonly string[]
  /** The packages of the agent's program, by name. */
  program: readonly (readonly [name: string, folder: string])[]
  /** The folder of the locks' socket and of git's configuration. */
  common: string
}

/** Paths in the sandbox. */
export const inSandbox = {
  builds: '/builds',
  program: '/millrace/program',
  common: '/millrace/common',
} as const

/** `more` are folders that the operator gives to these jobs. */
export function viewOfJob(machine: MachineFacts, more: readonly JobFolder[]): JobView {
  return { mounts: [...base(machine), ...own, ...program(machine), ...more.map(given)] }
}

/** For the program that empties the folders of a job that has ended. */
export const viewOfCleaner = (machine: MachineFacts): JobView => ({ mounts: [...base(machine), ...own] })

const base = ({ system, alsoRead }: MachineFacts): Mount[] => [
  ...system.map((entry): Mount =>
    entry.kind === 'link' ? { kind: 'link', to: entry.path, target: entry.target } : readOnly(entry.path),
  ),
  { kind: 'processes', to: '/proc' },
  { kind: 'devices', to: '/dev' },
  { kind: 'memory', to: '/dev/shm', megabytes: 1024, mode: '1777' },
  { kind: 'memory', to: '/run', megabytes: 64, mode: '1777' },
  { kind: 'link', to: '/var/run', target: '../run' },
  { kind: 'link', to: '/var/tmp', target: '../tmp' },
  ...alsoRead.map((path) => given({ path, isWritable: false })),
]

const own: readonly Mount[] = [
  { kind: 'shared', from: 'tmp', to: '/tmp', access: 'write' },
  { kind: 'shared', from: 'builds', to: inSandbox.builds, access: 'write' },
]

const program = (machine: MachineFacts): Mount[] => [
  ...machine.program.map(([name, folder]) => readOnly(folder, join(inSandbox.program, 'node_modules', name))),
  readOnly(machine.common, inSandbox.common),
]

/** It may be made or deleted while the server runs. */
const given = ({ path, isWritable }: JobFolder): Mount => ({
  kind: 'shared',
  from: path,
  to: path,
  access: isWritable ? 'write' : 'read',
  isOptional: true,
})

const readOnly = (from: string, to = from): Mount => ({ kind: 'shared', from, to, access: 'read' })

/** The names in the root directory of the sandbox. `isThere` says whether the machine has an optional folder. */
export function topNames({ mounts }: JobView, isThere: (path: string) => boolean): string[] {
  const made = mounts.filter((mount) => mount.kind !== 'shared' || !mount.isOptional || isThere(mount.from))
  return [...new Set(made.map(({ to }) => topName(to)))].sort()
}

function topName(path: string): string {
  return dirname(path) === '/' ? path.slice(1) : topName(dirname(path))
}
