// Variables that only the agent or its owner may set.

import { fileAt } from './file-at.ts'
import { join } from 'node:path'
import type { Settings } from '../settings.ts'

const PROTECTED = new Set(
  [
    'AGENT_TOKEN',
    'AGENT_DEBUG',
    'AGENT_DEBUG_HTTP',
    'AGENT_DISABLE_WARNINGS_FOR',
    'AGENT_EXPERIMENT',
    'AGENT_JOB_TIMEOUT_FILE',
    'AGENT_PROFILE',
    'AGENT_CACHE_PATHS',
    'AGENT_JWKS_FILE',
    'AGENT_JWKS_KEY_ID',
    'AGENT_AWS_KMS_KEY',
    'AGENT_GCP_KMS_KEY',
    'CONFIG_PATH',
    'ENV_FILE',
    'ENV_JSON_FILE',
    'JOB_LOG_TMPFILE',
    'JOB_LOGS_OTLP',
    'PTY',
    'ADDITIONAL_HOOKS_PATHS',
    'CHECKOUT_ATTEMPTS',
    'CHECKOUT_OVERRIDE_MODE',
    'GIT_CLONE_MIRROR_FLAGS',
    'GIT_SUBMODULE_CLONE_CONFIG',
    'NO_HTTP2',
    'STRICT_SINGLE_HOOKS',
    'SSH_KEYSCAN',
    'HOOKS_SHELL',
    'BUILD_CHECKOUT_PATH',
    'COMMAND_EXIT_STATUS',
    'LAST_HOOK_EXIT_STATUS',
    'JOB_CANCELLED',
    'JOB_TIMED_OUT',
  ].map((name) => `BUILDKITE_${name}`),
)
const PROTECTED_PREFIXES = ['BUILDKITE_REQUEST_HEADER_', 'BUILDKITE_GIT_MIRRORS_', 'BUILDKITE_TRACING_']

/**
 * Git flags that a job may choose: none of them names a program, a file or a configuration. Others, such as
 * `--upload-pack`, `--config` and `--template`, can run commands, so only the owner may set them.
 */
const COMMON_FLAGS = [
  '-[qv]+',
  '--quiet',
  '--verbose',
  '--progress',
  '--no-progress',
  '--depth[ =]\\d+',
  '--shallow-since=[\\w:.+-]+',
  '--filter=(?:blob:none|blob:limit=\\d+[kmg]?|tree:\\d+)',
  '--tags',
  '--no-tags',
  '--jobs[ =]\\d+',
  '-j ?\\d+',
]
const ALLOWED_FLAGS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries({
    BUILDKITE_GIT_CLONE_FLAGS: flagPattern([
      ...COMMON_FLAGS,
      '-n',
      '--no-checkout',
      '--single-branch',
      '--no-single-branch',
      '--sparse',
      '--dissociate',
    ]),
    BUILDKITE_GIT_FETCH_FLAGS: flagPattern([
      ...COMMON_FLAGS,
      '-[fnpPt]',
      '--force',
      '--prune',
      '--no-prune',
      '--prune-tags',
      '--unshallow',
      '--deepen=\\d+',
      '--update-shallow',
      '--refetch',
      '--no-recurse-submodules',
    ]),
    BUILDKITE_GIT_CHECKOUT_FLAGS: flagPattern([
      '-[fq]+',
      '--force',
      '--quiet',
      '--progress',
      '--no-progress',
      '--detach',
      '--no-recurse-submodules',
    ]),
    BUILDKITE_GIT_CLEAN_FLAGS: flagPattern([
      '-[dfnqxX]+',
      '--force',
      '--quiet',
      '--dry-run',
      '(?:-e |--exclude=)[\\w./*@+][\\w./*@+-]*',
    ]),
  }),
)

export const GIT_FLAG_VARIABLES: ReadonlySet<string> = new Set(ALLOWED_FLAGS.keys())

function flagPattern(flags: readonly string[]): RegExp {
  return new RegExp(`^(?: *(?:${flags.join('|')})(?= |$))* *$`)
}

/** Variables with which programs run commands, load code or trust another machine. */
const STEERS_PROGRAMS = new RegExp(
  `^(?:${[
    'PATH|HOME|SHELL|IFS|ENV|PS4|PROMPT_COMMAND|SHELLOPTS|BASHOPTS|BASH_ENV|BASH_FUNC_.*|ZDOTDIR|XDG_\\w+',
    'LD_\\w+|DYLD_\\w+|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH',
    'GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)$)\\w+|SSH_\\w+|PAGER|LESS\\w*|EDITOR|VISUAL|BROWSER',
    'NODE_\\w+|PERL\\w+|PYTHON\\w+|RUBY\\w+|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS',
    'SSL_CERT_(?:FILE|DIR)|CURL_\\w+|\\w+_(?:PROXY|proxy)',
  ].join('|')})$`,
)

interface VariableGuard {
  settings: Settings
  /** Variables that the agent sets. */
  own: Readonly<Record<string, string>>
}

export function isProtected(name: string, value: string, { settings, own }: VariableGuard): boolean {
  if (Object.hasOwn(own, name) || PROTECTED.has(name)) return true
  if (PROTECTED_PREFIXES.some((prefix) => name.startsWith(prefix))) return true
  const flags = ALLOWED_FLAGS.get(name)
  if (flags !== undefined) return !flags.test(value)
  // A job may request stricter verification than its agent, never weaker.
  if (name === 'BUILDKITE_GIT_COMMIT_VERIFICATION') return Object.hasOwn(settings.environment, name)
  return STEERS_PROGRAMS.test(name) && isRestricted(settings) && !isAllowed(name, settings)
}

/** Whether the owner limits jobs. A job that controls the agent's own programs could bypass the limits. */
function isRestricted(settings: Settings): boolean {
  const { allowedRepositories, allowedPlugins, allowedVariables, hooksPath } = settings
  const hasLists = [allowedRepositories, allowedPlugins, allowedVariables].some((list) => list !== null)
  const hasHook = hooksPath !== null && fileAt(join(hooksPath, 'pre-bootstrap')) !== null
  return hasLists || hasHook || !settings.plugins || !settings.repositoryHooks
}

function isAllowed(name: string, { allowedVariables }: Settings): boolean {
  return allowedVariables !== null && allowedVariables.some((pattern) => pattern.test(name))
}
