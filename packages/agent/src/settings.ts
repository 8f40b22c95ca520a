// What the owner of an agent decides, with every default filled in.

import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { silentLog } from './agent-log.ts'
import type { AgentLog } from './agent-log.ts'
import { systemClock } from './clock.ts'
import type { Clock } from './clock.ts'
import { REDACTED_VARIABLES } from './log/secrets.ts'
import type { ProcessLimit } from './process-limit.ts'
import type { SeparateJobs } from './separate/launch.ts'
import { SHELL_PATH } from './shell.ts'
import type { SignatureKey } from './signing/keys.ts'

export type PingMode = 'auto' | 'poll-only' | 'stream-only'

/** `block`: the job is refused. `warn`: it runs, and its log says so. */
export type VerificationFailure = 'block' | 'warn'

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
  /** For sockets of this machine's agents; keep it short. */
  socketsPath?: string
  log?: AgentLog
  disconnectAfterJob?: boolean
  disconnectAfterIdleSeconds?: number
  /** An idle agent ends when its server has not answered for so long. */
  disconnectAfterSilenceSeconds?: number
  /** Run this one job and end. */
  acquireJob?: string
  pingMode?: PingMode
  /** From the cancel signal to the end of everything, at least 1. */
  cancelGraceSeconds?: number
  cancelSignal?: NodeJS.Signals
  /** How a command is run: the command itself comes last. */
  shell?: string
  /** What jobs inherit. Absent: the harmless part of this process's environment. */
  environment?: Readonly<Record<string, string | undefined>>
  redactedVariables?: readonly string[]
  /** What a job's repository, its plugins and its own variables must each fit one of. Absent: anything. */
  allowedRepositories?: readonly RegExp[]
  allowedPlugins?: readonly RegExp[]
  allowedVariables?: readonly RegExp[]
  /** Whether jobs may bring plugins; true when absent. */
  plugins?: boolean
  /** Whether hooks of the repository run; true when absent. */
  repositoryHooks?: boolean
  clock?: Clock
  /** Where the volume lies that keeps what a step caches. Absent: caches are left out. */
  cachePath?: string
  /** A folder of bare mirrors, named by `mirrorName`, that clones may borrow from. */
  mirrorsPath?: string
  /** What runs the commands inside jobs; absent: what runs this. */
  nodePath?: string
  /** What pipelines that jobs upload are signed with. The id may be empty where the file holds one key. */
  signing?: { jwksFile: string; keyId: string }
  /** What the signatures of jobs are checked with. Absent: a signed job is refused, and any other taken. */
  verificationKeys?: readonly SignatureKey[]
  /** What happens to a job without a good signature; blocked when absent. */
  verificationFailure?: VerificationFailure
  /** For an agent that has its machine, or container, to itself. */
  processLimit?: ProcessLimit
  /** Carry out each job in a process of another identity. Absent: in this process. */
  separateJobs?: SeparateJobs
  /** Why jobs of forks are not run here. Absent: they are. */
  refuseForks?: string
  /** Whether this agent runs in a container of the image that its job asks for; false when absent. */
  hasJobImage?: boolean
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
    | 'mirrorsPath'
    | 'processLimit'
    | 'signing'
    | 'verificationKeys'
    | 'separateJobs'
    | 'refuseForks'
    | 'allowedRepositories'
    | 'allowedPlugins'
    | 'allowedVariables'
  >
> {
  allowedRepositories: readonly RegExp[] | null
  allowedPlugins: readonly RegExp[] | null
  allowedVariables: readonly RegExp[] | null
  cachePath: string | null
  mirrorsPath: string | null
  processLimit: ProcessLimit | null
  signing: { jwksFile: string; keyId: string } | null
  verificationKeys: readonly SignatureKey[] | null
  separateJobs: SeparateJobs | null
  refuseForks: string | null
  priority: number | null
  hooksPath: string | null
  acquireJob: string | null
  disconnectAfterIdleSeconds: number | null
  disconnectAfterSilenceSeconds: number | null
  environment: Readonly<Record<string, string>>
}

/** Names that jobs inherit when the owner says nothing: none of them carries a secret of this process. */
const HARMLESS =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|SSH_AUTH_SOCK|XDG_\w+|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/

export function settle(options: AgentOptions): Settings {
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
    socketsPath: options.socketsPath ?? join(tmpdir(), `millrace-agent-${process.getuid?.()}`),
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
    mirrorsPath: options.mirrorsPath ?? null,
    processLimit: options.processLimit ?? null,
    signing: options.signing ?? null,
    verificationKeys: options.verificationKeys ?? null,
    verificationFailure: options.verificationFailure ?? 'block',
    separateJobs: options.separateJobs ?? null,
    refuseForks: options.refuseForks ?? null,
    hasJobImage: options.hasJobImage ?? false,
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
