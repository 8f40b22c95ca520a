// Servers whose local agents run jobs of tests: started as root or as an ordinary user, with and without sandboxes.
import { execFileSync } from 'node:child_process'
import { accessSync, chmodSync, chownSync, constants, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { rootLacks } from '../testbed/src/needing.ts'
import {
  aDirectory,
  clientOf,
  copyEmptyInstallation,
  eventually,
  launch,
  program,
  startServer,
  type Client,
  type Json,
  type Server,
  type Settings,
} from './millrace.ts'

export const isRoot = process.getuid?.() === 0
/** An unused account that every system has. */
const daemon = { uid: 1, gid: 1 }
const adminToken = 'an-administrators-token-of-tests'

const asDaemon = ['--reuid', String(daemon.uid), '--regid', String(daemon.gid), '--clear-groups']

export const ordinaryUserLacks = whyNoOrdinaryUser()
export const namespacesLack = ordinaryUserLacks ?? whyNoNamespaces()

/** How a server is started. */
export interface JobMode {
  title: string
  lacks: string | null
  isRoot: boolean
  /** Programs for sandboxes that it finds, but that fail. */
  broken: readonly string[]
}

const rootLacksBubblewrap = rootLacks ?? bubblewrapLacks()
const userLacksBubblewrap = namespacesLack ?? bubblewrapLacks()
const rootLacksNamespaces =
  rootLacks ?? (works('unshare', ['-mpif', 'true']) ? null : 'root has no namespaces')

export const sandboxModes: readonly JobMode[] = [
  { title: 'of root by bubblewrap', lacks: rootLacksBubblewrap, isRoot: true, broken: [] },
  { title: 'of root by namespaces', lacks: rootLacksNamespaces, isRoot: true, broken: ['bwrap'] },
  { title: 'of a user by bubblewrap', lacks: userLacksBubblewrap, isRoot: false, broken: [] },
  { title: 'of a user by namespaces', lacks: namespacesLack, isRoot: false, broken: ['bwrap'] },
]

/** Starts a server in a home of its own. `again` starts it once more. */
export async function startIn({ isRoot: ofRoot, broken }: JobMode, more: Settings = {}) {
  const home = aHome(ofRoot)
  const dataDir = join(home, 'data')
  const settings: Settings = { HOME: home, PATH: pathWithBroken(broken), ...more }
  const how = ofRoot ? undefined : asOrdinaryUser
  const server = await start(dataDir, settings, how)
  const again = async (): Promise<Server> => {
    const next = await startServer({ ...ofInstallation(dataDir), ...settings }, 'up', how)
    return { ...next, ...clientOf({ ...next, token: server.token }) }
  }
  return { server, home, dataDir, again }
}

export const fromFork = {
  branch: 'somebody:main',
  pull_request_id: 1,
  pull_request_base_branch: 'main',
  pull_request_repository: 'https://git.example.com/somebody/fork.git',
}

export async function start(
  dataDir: string,
  settings: Settings,
  how?: (args: readonly string[], settings: Settings) => ReturnType<typeof launch>,
): Promise<Server> {
  copyEmptyInstallation(dataDir)
  if (how === asOrdinaryUser && isRoot) handOver(dataDir)
  return startServer({ ...ofInstallation(dataDir), ...settings }, 'up', how)
}

const ofInstallation = (dataDir: string): Settings => ({
  MILLRACE_DATA_DIR: dataDir,
  MILLRACE_ADMIN_TOKEN: adminToken,
})

export function asOrdinaryUser(args: readonly string[], settings: Settings): ReturnType<typeof launch> {
  const before = isRoot ? ['setpriv', ...asDaemon] : []
  const [file, ...rest] = [...before, process.execPath, program, ...args]
  return kept(launch(file, rest, settings))
}

export function kept(running: ReturnType<typeof launch>): ReturnType<typeof launch> {
  onTestFinished(async () => {
    running.signal('SIGTERM')
    await running.ended
  })
  return running
}

export async function aPipeline(server: Client, repository: string, command: string): Promise<string> {
  const name = `Pipeline ${Math.random().toString(36).slice(2)}`
  const skip = repository === 'none' ? { env: { BUILDKITE_SKIP_CHECKOUT: 'true' } } : {}
  // Dollar signs are for the shell.
  const step = { command: command.replaceAll(/\$+/g, '$$$$') }
  const configuration = JSON.stringify({ ...skip, steps: [step] })
  const made = await server.post('/v2/organizations/default/pipelines', { name, repository, configuration })
  expect(made.status).toBe(201)
  return String(made.body['slug'])
}

export async function build(
  server: Client,
  pipeline: string,
  more: object,
): Promise<{ state: string; log: string }> {
  const { builds, number } = await startBuild(server, pipeline, more)
  const findEnded = async () => {
    const { body } = await server.get(`${builds}/${number}`)
    return (body['finished_at'] as unknown) !== null && body
  }
  const body: Json = await eventually('the build ends', findEnded)
  const url = `${server.url}/v2/organizations/default/jobs/${String(body['jobs']?.['0']?.['id'])}/log.txt`
  const log = await fetch(url, { headers: { Authorization: `Bearer ${server.token}` } })
  return { state: String(body['state']), log: `\n${await log.text()}` }
}

/** Does not wait for its end. */
export async function startBuild(
  server: Client,
  pipeline: string,
  more: object,
): Promise<{ builds: string; number: string }> {
  const builds = `/v2/organizations/default/pipelines/${pipeline}/builds`
  const made = await server.post(builds, { commit: 'HEAD', branch: 'main', ...more })
  expect(made.status).toBe(201)
  return { builds, number: String(made.body['number']) }
}

/** Other users may enter it. */
export function aFolder(): string {
  const path = aDirectory()
  chmodSync(path, 0o755)
  return path
}

/** The home of the user that starts the server. Nobody else may enter it. */
export function aHome(ofRoot: boolean): string {
  const home = join(aFolder(), 'home')
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(join(home, '.netrc'), 'of the operator')
  if (isRoot && !ofRoot) chownSync(home, daemon.uid, daemon.gid)
  return home
}

export function handOver(path: string): void {
  execFileSync('chown', ['-R', `${daemon.uid}:${daemon.gid}`, path])
}

/** Programs of these names fail, as if they were not installed. */
export function pathWithBroken(names: readonly string[]): string {
  const folder = join(aFolder(), 'bin')
  mkdirSync(folder)
  for (const name of names) writeFileSync(join(folder, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  chmodSync(folder, 0o755)
  return `${folder}:${process.env['PATH'] ?? ''}`
}

/** The processes of the local agents. */
export const agentsOf = ({ pid }: Server): number[] =>
  childrenOf(pid).filter((child) => commandOf(child).includes('local.js'))

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)

const commandOf = (pid: number): string => readFileSync(`/proc/${pid}/cmdline`, 'utf8')

function whyNoOrdinaryUser(): string | null {
  if (!isRoot) return null
  try {
    accessSync('/usr/bin/setpriv', constants.X_OK)
  } catch {
    return 'root needs setpriv to start something as another user'
  }
  try {
    execFileSync('setpriv', [...asDaemon, process.execPath, program, '--version'], { stdio: 'pipe' })
    return null
  } catch {
    return 'another user cannot read this checkout'
  }
}

function whyNoNamespaces(): string | null {
  const before = isRoot ? ['setpriv', ...asDaemon] : []
  const [file, ...args] = [...before, 'unshare', '-Urmpf', '--mount-proc', 'true']
  return works(file, args) ? null : 'ordinary users have no namespaces here'
}

function bubblewrapLacks(): string | null {
  return works('bwrap', ['--ro-bind', '/', '/', 'true']) ? null : 'bubblewrap does not work here'
}

function works(file: string, args: readonly string[]): boolean {
  try {
    execFileSync(file, args, { stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}
