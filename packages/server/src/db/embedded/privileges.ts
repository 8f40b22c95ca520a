/*
 * PostgreSQL refuses to run as root. A runner is one way to start its programs; each requires a certain owner of the
 * database's files, which placement.ts changes before a start.
 */
import type { SpawnOptions } from 'node:child_process'
import { userInfo } from 'node:os'
import { type Command, run } from './processes.ts'

export interface Owner {
  uid: number
  gid: number
}

export interface Runner {
  how: string
  /** The required owner of the database's files; absent: the current user. */
  owner?: Owner
  command: (file: string, args: string[], options?: SpawnOptions) => Command
}

interface Privileges {
  /** False: do not use user namespaces, even if they are available. */
  canUnshare?: boolean
  /** The owner of existing files. */
  filesOwner?: Owner | undefined
}

/** The runners that may work here, best first. Each start determines them anew. */
export async function* listRunners({ canUnshare = true, filesOwner }: Privileges): AsyncGenerator<Runner> {
  if (!isRoot()) {
    const isNameless = findUserName() === undefined
    if (isNameless && canUnshare && (await works(namespaceOf('this user')))) yield namespaceOf('this user')
    else yield direct
    return
  }
  if (filesOwner && filesOwner.uid !== 0) {
    yield asUser(filesOwner, (await findNameOf(filesOwner.uid)) ?? String(filesOwner.uid))
  }
  if (canUnshare) yield { ...namespaceOf('root'), owner: { uid: 0, gid: 0 } }
  const nobody = await findNobody()
  if (nobody && nobody.uid !== filesOwner?.uid) yield asUser(nobody, 'nobody')
}

export function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Undefined for a user id without an entry in the user database; initdb refuses to run for one. */
function findUserName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}

export async function findNameOf(uid: number): Promise<string | undefined> {
  const { code, stdout } = await run(command('id', ['-un', String(uid)]))
  return code === 0 ? stdout.trim() : undefined
}

/** Whether the runner can enter the directory, which takes the search permission on all its parents. */
export async function reaches(runner: Runner, directory: string): Promise<boolean> {
  const { code } = await run(runner.command('/bin/sh', ['-c', 'cd "$1"', 'sh', directory]))
  return code === 0
}

const direct: Runner = { how: 'as the current user', command: (...call) => command(...call) }

/** Inside the namespace the current user is mapped to nobody; outside, files and signals remain those of the current user. */
function namespaceOf(user: string): Runner {
  const flags = ['--user', '--map-user=65534', '--map-group=65534', '--']
  return {
    how: `in a user namespace of ${user}`,
    command: (file, args, options) => command('unshare', [...flags, file, ...args], options),
  }
}

function asUser(owner: Owner, name: string): Runner {
  const how = `as the user ${name}`
  return { how, owner, command: (file, args, options) => command(file, args, { ...options, ...owner }) }
}

function command(file: string, args: string[], options: SpawnOptions = {}): Command {
  // Variables such as PGDATA, PGPORT or LC_MESSAGES must not reach the database.
  const env = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }
  return { file, args, options: { cwd: '/', ...options, env } }
}

export async function works(runner: Runner): Promise<boolean> {
  return (await run(runner.command('/bin/sh', ['-c', 'exit 0']))).code === 0
}

async function findNobody(): Promise<Owner | undefined> {
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run(command('id', [flag, 'nobody']))))
  if (uid?.code !== 0 || gid?.code !== 0) return undefined
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
}
