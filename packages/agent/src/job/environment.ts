// The initial environment of a job: inherited variables, then the server's, then the agent's own. A job cannot override
// the agent's own variables; its log lists attempts.

import { createHash } from 'node:crypto'
import { delimiter, join } from 'node:path'
import type { Job } from '@millrace/protocol/jobs.ts'
import { headersToEnv } from '../http/session.ts'
import type { Session } from '../http/session.ts'
import type { Settings } from '../settings.ts'
import { isProtected } from './protected-variables.ts'
import { isHarmlessUnsigned } from './unsigned-variables.ts'

interface EnvironmentFacts {
  settings: Settings
  job: Job
  /** With the job's token. */
  session: Session
  /** The folder of the in-job commands. */
  binPath: string
  socket: { path: string; token: string }
  /** The variables that an accepted signature covers. null: nothing was verified, so all are taken. */
  signed: ReadonlySet<string> | null
}

interface JobEnvironment {
  env: Record<string, string>
  /** Variables of the job that were overridden. */
  ignored: string[]
  /** Variables of the job that were left out because nothing signs them. */
  unsigned: string[]
  /** Required variables that are missing. */
  missing: string[]
}

const REQUIRED = [
  'BUILDKITE_JOB_ID',
  'BUILDKITE_REPO',
  'BUILDKITE_COMMIT',
  'BUILDKITE_BRANCH',
  'BUILDKITE_AGENT_NAME',
  'BUILDKITE_ORGANIZATION_SLUG',
  'BUILDKITE_PIPELINE_SLUG',
  'BUILDKITE_PIPELINE_PROVIDER',
] as const

const MAX_MESSAGE_BYTES = 64 * 1024

export function prepareEnvironment(facts: EnvironmentFacts): JobEnvironment {
  const { settings, job, session, signed } = facts
  const own = { ...ownVariables(facts), ...headersToEnv(session.headers) }
  const given: Record<string, string> = {}
  const ignored: string[] = []
  const unsigned: string[] = []
  for (const [name, value] of Object.entries(job.env)) {
    if (isProtected(name, value, { settings, own })) {
      if (own[name] !== value && value !== '') ignored.push(name)
    } else if (signed === null || signed.has(name) || isHarmlessUnsigned(name, value)) given[name] = value
    else unsigned.push(name)
  }
  const message = given['BUILDKITE_MESSAGE']
  if (message !== undefined) given['BUILDKITE_MESSAGE'] = cutToBytes(message, MAX_MESSAGE_BYTES)
  const inherited = { PATH: '/usr/local/bin:/usr/bin:/bin', ...settings.environment }
  const env: Record<string, string> = { ...inherited, ...given, ...own }
  env['PATH'] = [facts.binPath, given['PATH'] ?? inherited.PATH].join(delimiter)
  if (ignored.length > 0) env['BUILDKITE_IGNORED_ENV'] = ignored.join(',')
  return { env, ignored, unsigned, missing: REQUIRED.filter((name) => (env[name] ?? '').trim() === '') }
}

/**
 * `<build path>/<agent>/<organization>/<pipeline>`: never shared by two agents. Builds of forks have a separate folder, because
 * files that they leave must not reach a trusted build.
 */
export function checkoutFolder(
  settings: Settings,
  env: Readonly<Record<string, string>>,
  isFromFork: boolean,
): string {
  const path = join(settings.buildPath, workspaceName(env))
  return isFromFork ? `${path}~fork` : path
}

/** A path that no two agents and no two pipelines share. */
export function workspaceName(env: Readonly<Record<string, string>>): string {
  const names = ['BUILDKITE_AGENT_NAME', 'BUILDKITE_ORGANIZATION_SLUG', 'BUILDKITE_PIPELINE_SLUG']
  return join(...names.map((name) => folderName(env[name] ?? '')))
}

function ownVariables({ settings, job, session, binPath, socket }: EnvironmentFacts): Record<string, string> {
  return {
    BUILDKITE_AGENT_ENDPOINT: session.endpoint,
    BUILDKITE_AGENT_ACCESS_TOKEN: session.token,
    BUILDKITE_AGENT_PID: String(process.pid),
    BUILDKITE_BIN_PATH: binPath,
    BUILDKITE_BUILD_PATH: settings.buildPath,
    BUILDKITE_HOOKS_PATH: settings.hooksPath ?? '',
    BUILDKITE_PLUGINS_PATH: settings.pluginsPath,
    BUILDKITE_SOCKETS_PATH: settings.socketsPath,
    MILLRACE_LOCK_TOKEN: job.from_fork === true ? '' : (settings.lockToken ?? ''),
    BUILDKITE_COMMAND_EVAL: 'true',
    BUILDKITE_PLUGINS_ENABLED: String(settings.plugins),
    BUILDKITE_LOCAL_HOOKS_ENABLED: String(settings.repositoryHooks),
    BUILDKITE_SHELL: settings.shell,
    BUILDKITE_REDACTED_VARS: settings.redactedVariables.join(','),
    BUILDKITE_CANCEL_GRACE_PERIOD: String(settings.cancelGraceSeconds),
    BUILDKITE_SIGNAL_GRACE_PERIOD_SECONDS: String(settings.cancelGraceSeconds - 1),
    BUILDKITE_CANCEL_SIGNAL: settings.cancelSignal,
    BUILDKITE_SECRETS_CONFIG: JSON.stringify(job.step?.secrets ?? []),
    BUILDKITE_AGENT_JOB_API_SOCKET: socket.path,
    BUILDKITE_AGENT_JOB_API_TOKEN: socket.token,
    ...(settings.signing === null
      ? {}
      : {
          BUILDKITE_AGENT_JWKS_FILE: settings.signing.jwksFile,
          BUILDKITE_AGENT_JWKS_KEY_ID: settings.signing.keyId,
        }),
  }
}

/** Two texts never have the same folder name. No name contains `~`. */
function folderName(text: string): string {
  if (/^(?!\.*$)[A-Za-z0-9._-]+$/.test(text)) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16)
  return `${text.replaceAll(/[^A-Za-z0-9._-]/g, '-').slice(0, 100)}~${hash}`
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  return bytes.length <= maxBytes
    ? text
    : new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/�+$/, '')
}
