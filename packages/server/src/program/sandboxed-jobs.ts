// The jobs of local agents in sandboxes: the folders that they need, and the command lines that start them.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JobPaths, SandboxedJobs } from '@millrace/protocol/local-agents.ts'
import type { JobFolder } from '../config/process.ts'
import { isRoot, type Owner } from '../db/embedded/privileges.ts'
import { StartupError } from '../db/embedded/startup-error.ts'
import { agentFolder } from '../hosted/runner.ts'
import type { JobSeparation } from './agent-program.ts'
import { findJobProgram } from './job-program.ts'
import { findJobAccount, findJobUsers } from './job-users.ts'
import { findSandbox, type MakeSandbox } from './sandbox/find-sandbox.ts'
import { isWithin, readMachine } from './sandbox/machine.ts'
import { inSandbox, viewOfCleaner, viewOfJob, type MachineFacts } from './sandbox/view.ts'

interface SandboxSettings {
  /** The data directory. */
  data: string
  /** Folders of the database. They may be outside of the data directory. */
  databaseFolders: readonly string[]
  /** How many agents there are. */
  count: number
  /** Folders of the machine for trusted jobs. */
  jobFolders: readonly JobFolder[]
  /** Variables that jobs inherit. */
  inherited: Record<string, string>
}

/** Returns the reason where this is not possible. */
export async function sandboxJobs(settings: SandboxSettings): Promise<JobSeparation | string> {
  if (process.platform !== 'linux') return 'this system has no namespaces'
  const { data, databaseFolders, count, inherited, jobFolders } = settings
  const own = [data, ...databaseFolders]
  for (const { path } of jobFolders) for (const one of own) refuseFolder(path, one)
  const folder = makeFolder(join(data, 'jobs'), 0o700)
  makeFolder(join(folder, 'running'), 0o700)
  const socketsPath = makeCommon(folder)
  const machine = await readMachine(socketsPath, inherited, [...own, ...foldersOfUser()])
  const seen = machine.system.find(
    (entry) => entry.kind === 'folder' && own.some((path) => isWithin(path, entry.path)),
  )
  // Other users may not enter these folders.
  if (seen !== undefined && !isRoot()) return `the data of this server is in ${seen.path}, which jobs see`
  const account = isRoot() ? await findJobAccount() : undefined
  const users = isRoot() ? await findJobUsers(data, 2 * count) : []
  const home = account === undefined ? [] : [{ path: account.home, isWritable: false }]
  const kinds = Array.from({ length: count }, (_, index) => ({
    trusted: { user: account ?? users[2 * index] ?? null, more: [...home, ...jobFolders] },
    forks: { user: users[2 * index + 1] ?? null, more: [] },
  }))
  const program = join(inAgentPackage, findJobProgram())
  const trials = Object.values(kinds[0] ?? {}).map(({ user, more }) => ({
    view: viewOfJob(machine, more),
    user,
    program: [process.execPath, program],
  }))
  const make = await findSandbox(join(folder, 'running'), trials)
  if (typeof make === 'string') return make
  const paths = pathsOf(inherited, program)
  const agents = kinds.map(({ trusted, forks }) => ({
    trusted: { ...commandsOf(make, machine, trusted), ...paths, keepsWorkspaces: true },
    forks: { ...commandsOf(make, machine, forks), ...paths, keepsWorkspaces: false },
  }))
  return {
    program: { node: process.execPath, folder: agentFolder },
    socketsPath,
    environment: inherited,
    jobs: { kind: 'sandboxed', folder, agents },
  }
}

/** They may have keys and settings with passwords, and in a user namespace a job is this user. */
const foldersOfUser = (): string[] =>
  [homedir(), process.cwd()].filter((path) => existsSync(path)).map((path) => realpathSync(path))

interface KindOfJobs {
  user: Owner | null
  more: readonly JobFolder[]
}

const commandsOf = (make: MakeSandbox, machine: MachineFacts, { user, more }: KindOfJobs) => ({
  command: make(viewOfJob(machine, more), user),
  empty: make(viewOfCleaner(machine), user),
  optional: more.map(({ path }) => path),
  user: user === null ? null : { uid: user.uid, gid: user.gid },
})

const workspace = 'workspace'
const inAgentPackage = join(inSandbox.program, 'node_modules', '@millrace', 'agent')

function pathsOf(
  inherited: Record<string, string>,
  program: string,
): Pick<SandboxedJobs, 'workspace' | 'paths'> {
  const buildPath = join(inSandbox.builds, workspace)
  const environment = {
    ...inherited,
    HOME: join(buildPath, '.home'),
    GIT_CONFIG_SYSTEM: join(inSandbox.common, gitConfigName),
  }
  const common: JobPaths = { buildPath, environment, node: process.execPath, program }
  const missingHint =
    'Jobs of this agent see the system folders of its machine and no other. MILLRACE_JOB_FOLDERS of the server shows more to trusted jobs.'
  return { workspace, paths: { ...common, socketsPath: inSandbox.common, missingHint } }
}

/** A shared folder must not show what the sandbox hides. */
function refuseFolder(path: string, own: string): void {
  const real = existsSync(path) ? realpathSync(path) : path
  if (!isWithin(own, real) && !isWithin(real, own)) return
  throw new StartupError(
    `MILLRACE_JOB_FOLDERS names ${path}, but ${own} belongs to this server: name folders that neither contain it nor are in it.`,
  )
}

function makeFolder(path: string, mode: number): string {
  mkdirSync(path, { recursive: true, mode })
  chmodSync(path, mode)
  return path
}

const longestSocketPath = 107
/** Users of jobs may connect; only this user may make files. */
const commonMode = 0o711

/**
 * The folder that all jobs see: the socket of the locks and git's configuration. A new temporary folder if the path of the data
 * directory is too long for a socket.
 */
function makeCommon(folder: string): string {
  const usual = join(folder, 'common')
  const isShort = join(usual, 'agent-leader.election').length <= longestSocketPath
  const path = makeFolder(isShort ? usual : mkdtempSync(join(tmpdir(), 'millrace-common-')), commonMode)
  const gitConfig = join(path, gitConfigName)
  writeFileSync(gitConfig, GIT_CONFIG)
  chmodSync(gitConfig, 0o644)
  return path
}

const gitConfigName = 'gitconfig'
/** Repositories in folders of the machine mostly belong to another user than the job's, and git refuses those by default. */
const GIT_CONFIG = '[include]\n\tpath = /etc/gitconfig\n[safe]\n\tdirectory = *\n'
