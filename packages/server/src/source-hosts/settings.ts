// The host of a repository, and the settings for that host's events. The table stores only settings that a user set;
// the host's defaults fill in the others.
import { checkCondition } from '@millrace/engine/conditions/check.ts'
import { nearestName } from '@millrace/engine/nearest-name.ts'
import type { FieldError } from '../lib/errors.ts'
import type { ProviderId } from './host.ts'

type Setting = boolean | string | null
export type Settings = Readonly<Record<string, Setting>>

const hosts: Readonly<Record<string, ProviderId>> = {
  'github.com': 'github',
  'gitlab.com': 'gitlab',
  'bitbucket.org': 'bitbucket',
  'dev.azure.com': 'azure_devops',
}

const common = {
  filter_enabled: false,
  filter_condition: null,
  build_branches: true,
  build_pull_requests: true,
  build_tags: false,
  publish_commit_status: true,
  publish_commit_status_per_step: false,
  publish_status_when_not_built: true,
  pull_request_branch_filter_enabled: false,
  pull_request_branch_filter_configuration: null,
  skip_pull_request_builds_for_existing_commits: true,
  ignore_default_branch_pull_requests: false,
}

/** For hosts whose pull request events are like GitHub's. */
const detailed = {
  trigger_mode: 'code',
  build_pull_request_forks: false,
  trust_pull_request_forks: false,
  prefix_pull_request_fork_branch_names: true,
  publish_blocked_as_pending: false,
  separate_pull_request_statuses: false,
  skip_builds_for_existing_commits: false,
  skip_builds_for_closed_pull_requests: true,
  cancel_deleted_branch_builds: false,
  use_step_key_as_commit_status: false,
  build_pull_request_base_branch_changed: false,
  build_pull_request_labels_changed: false,
  build_pull_request_ready_for_review: false,
  build_pull_request_reopened: false,
  build_pull_request_edited: false,
  build_pull_request_converted_to_draft: false,
  build_pull_request_review_requested: false,
  build_pull_request_review_submitted: false,
}

const github = {
  build_pull_request_review_dismissed: false,
  build_pull_request_review_comment_created: false,
  build_pull_request_dequeued: false,
  build_pull_request_stacks: false,
  build_pull_request_merge_commits: false,
  build_merge_group_checks_requested: false,
  cancel_when_merge_group_destroyed: false,
  use_merge_group_base_commit_for_git_diff_base: false,
  build_release_published: false,
  build_release_created: false,
  build_release_released: false,
  build_issue_comment_created: false,
  issue_comment_command_word: '/bk',
  issue_comment_match_mode: 'exact',
  review_comment_command_word: '/bk',
  review_comment_match_mode: 'exact',
  build_check_run_completed: false,
  build_deployment_status_created: false,
  build_create_event: false,
  prevent_custom_statuses_from_using_buildkite_prefix: false,
  github_workflow_access_tokens_enabled: false,
}

/** For hosts without checks, which would show the failing lines. */
const commented = { failure_comment: false }

const forked = {
  build_pull_request_forks: false,
  trust_pull_request_forks: false,
  prefix_pull_request_fork_branch_names: true,
}

const gitlab = { build_pull_request_merge: false }

const defaults: Readonly<Record<ProviderId, Settings>> = {
  github: { ...common, ...detailed, ...github },
  github_enterprise: { ...common, ...detailed, ...github },
  gitlab: { ...common, ...commented, ...gitlab },
  gitlab_ee: { ...common, ...commented, ...gitlab },
  bitbucket: { ...common, ...commented },
  bitbucket_server: { ...common, ...forked },
  azure_devops: { ...common, ...forked },
  gitea: { ...common, ...commented, ...detailed },
  forgejo: { ...common, ...commented, ...detailed },
  gogs: { ...common },
  private: {},
}

const everything = { ...common, ...commented, ...detailed, ...github, ...gitlab }
const known: Settings = everything

export type HostSettings = {
  readonly [Name in keyof typeof everything]: (typeof everything)[Name] extends boolean
    ? boolean
    : string | null
}

/** All settings, for reading a host's events: those that are set, and defaults for the others. */
export const hostSettings = (set: Settings): HostSettings => ({ ...everything, ...set })

const choices: Readonly<Record<string, readonly string[]>> = {
  trigger_mode: ['code', 'deployment', 'fork', 'none'],
  issue_comment_match_mode: ['exact', 'contains'],
  review_comment_match_mode: ['exact', 'contains'],
}

export function providerOf(repository: string): ProviderId {
  const host = hostOf(repository) ?? ''
  return (Object.hasOwn(hosts, host) ? hosts[host] : undefined) ?? 'private'
}

/** Aliases of a host count as one, as in the column `repository_host`. */
export function hostOf(repository: string): string | null {
  const host = locate(repository)?.host.toLowerCase() ?? null
  return (
    host?.replace(/^(?:www|ssh|altssh)\.(github\.com|gitlab\.com|bitbucket\.org|dev\.azure\.com)$/, '$1') ??
    null
  )
}

/** As in the column `repository_port`. Null: the address is not of http. */
export function portOf(repository: string): number | null {
  const [, protocol, port] =
    /^(https?):\/\/(?:[^@/]*@)?[^/:]*(?::0*(\d{1,5})(?=\/|$))?/i.exec(repository) ?? []
  if (protocol === undefined) return null
  return Number(port ?? (protocol.toLowerCase() === 'http' ? 80 : 443))
}

/** The settings that the API shows: the host's defaults, the stored settings, and the repository's name. */
export function showSettings(provider: string, repository: string, set: Settings): Record<string, Setting> {
  const name = locate(repository)?.path ?? null
  const host = (Object.hasOwn(defaults, provider) ? defaults[provider as ProviderId] : undefined) ?? {}
  return { ...host, ...set, ...(provider === 'private' ? {} : { repository: name }) }
}

/** Every host accepts every setting, so a repository can move to another host without losing any. */
export function checkSettings(given: Readonly<Record<string, unknown>>): FieldError[] {
  return Object.entries(given).flatMap(([name, value]) => {
    const code = problemOf(name, value)
    return code === null ? [] : [{ field: `provider_settings.${name}`, code }]
  })
}

/** The settings after a change. `repository` is read-only; bodies may repeat it. An empty choice is unset. */
export function changedSettings(
  before: Settings,
  given: Readonly<Record<string, Setting>>,
): Record<string, Setting> {
  const isUnset = (name: string) => Object.hasOwn(choices, name) && given[name] === ''
  const after = Object.entries({ ...before, ...given })
  return Object.fromEntries(after.filter(([name]) => name !== 'repository' && !isUnset(name)))
}

function problemOf(name: string, value: unknown): string | null {
  if (name === 'repository') return null
  if (!Object.hasOwn(known, name)) {
    const near = nearestName(name, Object.keys(known))
    return `is not a provider setting${near === null ? '' : `; did you mean ${near}?`}`
  }
  if (typeof known[name] === 'boolean') return typeof value === 'boolean' ? null : 'must be a boolean'
  const allowed = choices[name]
  if (allowed !== undefined) {
    return typeof value === 'string' && (value === '' || allowed.includes(value))
      ? null
      : `must be one of ${allowed.join(', ')}`
  }
  if (value !== null && typeof value !== 'string') return 'must be a string or null'
  return name === 'filter_condition' && value ? conditionProblem(value) : null
}

function conditionProblem(condition: string): string | null {
  const checked = checkCondition(condition, 'filter')
  return checked.ok ? null : `is not a condition: ${checked.message}, at character ${checked.offset + 1}`
}

/** `git@github.com:acme/app.git` and `https://github.com/acme/app.git` are both acme/app at github.com. */
export function locate(repository: string): { host: string; path: string } | null {
  const match =
    /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.*)$/i.exec(repository) ??
    /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.*)$/.exec(repository)
  if (match === null) return null
  const [, host = '', path = ''] = match
  return { host, path: path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '') }
}
