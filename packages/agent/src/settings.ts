// The settings of an agent, with their defaults.

import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { JobUser, SandboxedJobs } from '@millrace/protocol/local-agents.ts'
import { silentLog } from './agent-log.ts'
import type { AgentLog } from './agent-log.ts'
import { systemClock } from './clock.ts'
import type { Clock } from './clock.ts'
import { REDACTED_VARIABLES } from './log/secrets.ts'
import type { ProcessLimit } from './process-limit.ts'
import { SHELL_PATH } from './shell.ts'
import type { SignatureKey } from './signing/keys.ts'

export type PingMode = 'auto' | 'poll-only' | 'stream-only'

/** `block`: the job is refused. `warn`: it runs, and its log says so. */
type VerificationFailure = 'block' | 'warn'

export interface AgentOptions {
  /** With its path, such as `http://127.0.0.1:3000/v3`. */
  endpoint: string
  /** The registration token. */
  token: string
  /** How many agents to run; 1 when absent. */
  spawn?: number
  /** `%spawn` counts the agents; the server fills in `%hostname`, `%pid` and `%random`. */
  name?: string
  /** `key=value` or a bare key. */
  tags?: readonly string[]
  queue?: string
  priority?: number
  buildPath: string
  hooksPath?: string
  pluginsPath?: string
  /** Folder of the sockets of this machine's agents. Keep it short: socket paths are limited. */
  socketsPath?: string
  /** The token of the locks of trusted jobs. Absent: the one in `tokensPath`. */
  lockToken?: string
  /** Folder with that token's file, which jobs of forks must not read. Absent: the folder of sockets. */
  tokensPath?: string
  log?: AgentLog
  disconnectAfterJob?: boolean
  disconnectAfterIdleSeconds?: number
  /** An idle agent exits after its server has not answered for this long. */
  disconnectAfterSilenceSeconds?: number
  /** Run this one job and exit. */
  acquireJob?: string
  pingMode?: PingMode
  /** From the cancel signal to the forced end, at least 1. */
  cancelGraceSeconds?: number
  cancelSignal?: NodeJS.Signals
  /** The shell and its arguments; the command is added at the end. */
  shell?: string
  /** Variables that jobs inherit. Absent: a harmless subset of this process's environment. */
  environment?: Readonly<Record<string, string | undefined>>
  redactedVariables?: readonly string[]
  /** Patterns for a job's repository, plugins and variables; each must match one. Absent: no limit. */
  allowedRepositories?: readonly RegExp[]
  allowedPlugins?: readonly RegExp[]
  allowedVariables?: readonly RegExp[]
  /** Whether jobs may bring plugins; true when absent. */
  plugins?: boolean
  /** Whether hooks of the repository run; true when absent. */
  repositoryHooks?: boolean
  clock?: Clock
  /** The mount point of the cache volume. Absent: no caches. */
  cachePath?: string
  /** A folder of bare mirrors, named by `mirrorName`, for `git clone --reference`. */
  mirrorsPath?: string
  /** The Node program for in-job commands. Absent: the one of this process. */
  nodePath?: string
  /** The key that signs uploaded pipelines. The id may be empty if the file has one key. */
  signing?: { jwksFile: string; keyId: string }
  /** The keys that verify jobs. Absent: signed jobs are refused, others run. */
  verificationKeys?: readonly SignatureKey[]
  /** The action for a job without a valid signature; `block` when absent. */
  verificationFailure?: VerificationFailure
  /** For an agent that owns its machine or container. */
  processLimit?: ProcessLimit
  /** Run each job in a process of its own, for each agent. Absent: in this process. */
  separateJobs?: readonly SeparateJobs[]
  /** The reason for refusing jobs of forks. Absent: they run. */
  refuseForks?: string
  /** Whether this agent runs in a container of the image that its job asks for; false when absent. */
  hasJobImage?: boolean
  /** A line for the log of a job that does not find a program or a repository of this machine. */
  missingHint?: string
}

/** How to start the process of a job that must not reach its agent. */
export interface JobLaunch {
  /** Command line in front of Node. */
  command: readonly string[]
  /** null: the user of this process; the command may choose another. */
  user: JobUser | null
  /** null: the job uses the folders of its options. */
  sandbox: SandboxFolders | null
  node: string
  /** The path of the compiled `separate/program.js`, readable for that user. */
  program: string
  /** Options of the agent in that process. */
  options: Omit<AgentOptions, 'token' | 'log' | 'clock' | 'separateJobs'>
}

/** Where the folders of sandboxed jobs are, and how to empty them. */
export interface SandboxFolders extends Pick<
  SandboxedJobs,
  'empty' | 'optional' | 'user' | 'workspace' | 'keepsWorkspaces'
> {
  folder: string
}

export interface SeparateJobs {
  trusted: JobLaunch
  /** null: the trusted process refuses jobs of forks. */
  forks: JobLaunch | null
}

export interface Settings extends Required<
  Omit<
    AgentOptions,
    | 'queue'
    | 'priority'
    | 'acquireJob'
    | 'disconnectAfterIdleSeconds'
    | 'disconnectAfterSilenceSeconds'
    | 'environment'
    | 'hooksPath'
    | 'cachePath'
    | 'lockToken'
    | 'mirrorsPath'
    | 'processLimit'
    | 'signing'
    | 'verificationKeys'
    | 'separateJobs'
    | 'refuseForks'
    | 'missingHint'
    | 'allowedRepositories'
    | 'allowedPlugins'
    | 'allowedVariables'
  >
> {
  allowedRepositories: readonly RegExp[] | null
  allowedPlugins: readonly RegExp[] | null
  allowedVariables: readonly RegExp[] | null
  cachePath: string | null
  /** null: jobs have only the locks of forks. */
  lockToken: string | null
  mirrorsPath: string | null
  processLimit: ProcessLimit | null
  signing: { jwksFile: string; keyId: string } | null
  verificationKeys: readonly SignatureKey[] | null
  separateJobs: readonly SeparateJobs[] | null
  refuseForks: string | null
  missingHint: string | null
  priority: number | null
  hooksPath: string | null
  acquireJob: string | null
  disconnectAfterIdleSeconds: number | null
  disconnectAfterSilenceSeconds: number | null
  environment: Readonly<Record<string, string>>
}

/** Variables that jobs inherit by default. None of them has a secret of this process. */
const HARMLESS =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|SSH_AUTH_SOCK|XDG_\w+|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/

export const defaultSocketsPath = (): string => join(tmpdir(), `millrace-agent-${process.getuid?.()}`)

export function withDefaults(options: AgentOptions): Settings {
  const buildPath = resolve(options.buildPath)
  const queueTag = options.queue === undefined ? [] : [`queue=${options.queue}`]
  return {
    endpoint: options.endpoint,
    token: options.token,
    spawn: options.spawn ?? 1,
    name: options.name ?? '%hostname-%spawn',
    tags: [
      ...(options.tags ?? []).filter((tag) => queueTag.length === 0 || !tag.startsWith('queue=')),
      ...queueTag,
    ],
    priority: options.priority ?? null,
    buildPath,
    hooksPath: options.hooksPath === undefined ? null : resolve(options.hooksPath),
    pluginsPath: resolve(options.pluginsPath ?? join(buildPath, '.plugins')),
    socketsPath: options.socketsPath ?? defaultSocketsPath(),
    log: options.log ?? silentLog,
    disconnectAfterJob: options.disconnectAfterJob ?? false,
    disconnectAfterIdleSeconds: options.disconnectAfterIdleSeconds ?? null,
    disconnectAfterSilenceSeconds: options.disconnectAfterSilenceSeconds ?? null,
    acquireJob: options.acquireJob ?? null,
    pingMode: options.pingMode ?? 'auto',
    cancelGraceSeconds: Math.max(1, options.cancelGraceSeconds ?? 10),
    cancelSignal: options.cancelSignal ?? 'SIGTERM',
    shell: options.shell ?? `${SHELL_PATH} -e -c`,
    environment: options.environment === undefined ? harmless(process.env) : present(options.environment),
    redactedVariables: options.redactedVariables ?? REDACTED_VARIABLES,
    allowedRepositories: options.allowedRepositories ?? null,
    allowedPlugins: options.allowedPlugins ?? null,
    allowedVariables: options.allowedVariables ?? null,
    plugins: options.plugins ?? true,
    repositoryHooks: options.repositoryHooks ?? true,
    clock: options.clock ?? systemClock,
    cachePath: options.cachePath ?? null,
    lockToken: options.lockToken ?? null,
    tokensPath: options.tokensPath ?? options.socketsPath ?? defaultSocketsPath(),
    mirrorsPath: options.mirrorsPath ?? null,
    processLimit: options.processLimit ?? null,
    signing: options.signing ?? null,
    verificationKeys: options.verificationKeys ?? null,
    verificationFailure: options.verificationFailure ?? 'block',
    separateJobs: options.separateJobs ?? null,
    refuseForks: options.refuseForks ?? null,
    hasJobImage: options.hasJobImage ?? false,
    missingHint: options.missingHint ?? null,
    nodePath: options.nodePath ?? process.execPath,
  }
}

function harmless(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(present(env)).filter(([name]) => HARMLESS.test(name)))
}

function present(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) if (value !== undefined) kept[name] = value
  return kept
}
