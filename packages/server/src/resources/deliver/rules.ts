// Whether what a host tells of is to be built, and as what. Pure: what has been built before, and the filter
// condition, are asked afterwards.
import { matchesBranch } from '@millrace/engine/branches.ts'
import type { BuildRequest, BuildSourceEvent } from '../../conductor/build.ts'
import type { CommitOrigin } from '../../conductor/trust.ts'
import { locate, type HostSettings } from '../pipelines/provider.ts'
import type {
  CommitNamed,
  Deleted,
  Fork,
  HostKind,
  MergeGroupDestroyed,
  Pull,
  PullRequestChanged,
  PullRequestReason,
  Pushed,
  Tiding,
} from './event.ts'

/** What is wanted of a build; the rest is the same for all that come from hosts. */
export type Wanted = Pick<
  BuildRequest,
  | 'branch'
  | 'commit'
  | 'commitOrigin'
  | 'tag'
  | 'message'
  | 'author'
  | 'pullRequest'
  | 'env'
  | 'ignoreBranchFilters'
> & {
  label: string | null
  mergeQueue: BuildSourceEvent['mergeQueue']
  /** Which earlier build of the same commit makes this one superfluous. */
  unlessBuilt: 'on_any_branch' | 'on_this_branch' | null
}

export type Decision =
  | { kind: 'build'; wanted: Wanted }
  | { kind: 'cancel'; branch: string; reason: string }
  | { kind: 'ignore'; reason: string }

export interface Rules {
  host: HostKind
  settings: HostSettings
  defaultBranch: string
  repository: string
  /** The pipeline's branch filter. */
  branchFilter: string | null
}

export function decide(rules: Rules, tiding: Tiding, known: Known): Decision {
  switch (tiding.kind) {
    case 'nothing':
      return ignore(tiding.why)
    case 'deleted':
      return decideDeleted(rules, tiding)
    case 'merge_group_destroyed':
      return decideDestroyed(rules, tiding)
    case 'pushed':
      return decidePushed(rules, tiding, known.pull)
    case 'pull_request':
      return decidePullRequest(rules, tiding, known.pull)
    case 'commit':
      return decideCommit(rules, tiding, known)
  }
}

/** What earlier deliveries told. */
export interface Known {
  /** The pull request that is meant, the open one of the pushed branch, or that of a fork whose head the commit is. */
  pull: KnownPull | null
  /** Whether the commit has been seen on a branch or tag of the pipeline's own repository. */
  isOwnCommit: boolean
}

export interface KnownPull {
  number: string
  pull: Pull
}

const ignore = (reason: string): Decision => ({ kind: 'ignore', reason })

function decideDeleted({ settings }: Rules, { ref, name }: Deleted): Decision {
  if (ref === 'tag') return ignore(`The tag ${name} was deleted; nothing is built.`)
  if (!settings.cancel_deleted_branch_builds) {
    return ignore(`The branch ${name} was deleted, and cancel_deleted_branch_builds is off.`)
  }
  return { kind: 'cancel', branch: name, reason: `The branch ${name} was deleted` }
}

function decideDestroyed({ settings }: Rules, { branch }: MergeGroupDestroyed): Decision {
  if (!settings.cancel_when_merge_group_destroyed) {
    return ignore('The merge group is gone, and cancel_when_merge_group_destroyed is off.')
  }
  return { kind: 'cancel', branch, reason: 'The merge group is gone' }
}

function decidePushed(rules: Rules, push: Pushed, known: KnownPull | null): Decision {
  const { settings } = rules
  const refusal = refusePush(rules, push)
  if (refusal !== null) return ignore(refusal)
  if (hasSkipWord(push.message)) return ignore('The commit message asks for no build.')
  const pull = push.ref === 'branch' && settings.build_pull_requests ? known : null
  return {
    kind: 'build',
    wanted: {
      branch: push.name,
      commit: push.commit,
      commitOrigin: 'own',
      tag: push.ref === 'tag' ? push.name : null,
      message: push.message,
      author: push.author,
      pullRequest: pull && pullRequestOf(pull.number, pull.pull),
      env: {},
      ignoreBranchFilters: true,
      label: null,
      mergeQueue: null,
      unlessBuilt: settings.skip_builds_for_existing_commits ? 'on_any_branch' : null,
    },
  }
}

function refusePush(rules: Rules, { ref, name }: Pick<Pushed, 'ref' | 'name'>): string | null {
  const { settings } = rules
  if (settings.trigger_mode !== 'code')
    return `Pushes are not built: trigger_mode is ${settings.trigger_mode}.`
  if (ref === 'tag' && !settings.build_tags) return `The tag ${name} is not built: build_tags is off.`
  if (ref === 'branch' && !settings.build_branches) {
    return `The branch ${name} is not built: build_branches is off.`
  }
  if (settings.build_merge_group_checks_requested && name.startsWith('gh-readonly-queue/')) {
    return `${name} is built when its merge group asks for checks.`
  }
  return refuseByFilter(rules, name)
}

const refuseByFilter = ({ branchFilter }: Rules, name: string): string | null =>
  branchFilter === null || matchesBranch(branchFilter, name)
    ? null
    : `${name} does not match the pipeline's branch filter "${branchFilter}".`

/** Anywhere in the message, however it is written. */
const hasSkipWord = (text: string | null): boolean => /\[(?:ci[ -]skip|skip[ -]ci)\]/i.test(text ?? '')

/** What must be switched on for a pull request to be built for more than its commits. */
const settingOf: Readonly<Partial<Record<PullRequestReason, keyof HostSettings>>> = {
  reopened: 'build_pull_request_reopened',
  ready_for_review: 'build_pull_request_ready_for_review',
  labels_changed: 'build_pull_request_labels_changed',
  base_branch_changed: 'build_pull_request_base_branch_changed',
  edited: 'build_pull_request_edited',
  converted_to_draft: 'build_pull_request_converted_to_draft',
  review_requested: 'build_pull_request_review_requested',
  review_submitted: 'build_pull_request_review_submitted',
  review_dismissed: 'build_pull_request_review_dismissed',
  review_comment: 'build_pull_request_review_comment_created',
  comment: 'build_issue_comment_created',
  dequeued: 'build_pull_request_dequeued',
  stacked: 'build_pull_request_stacks',
}

function decidePullRequest(rules: Rules, event: PullRequestChanged, known: KnownPull | null): Decision {
  const { settings } = rules
  const named = `Pull request #${event.number}`
  if (event.reason === 'closed') return ignore(`${named} was closed.`)
  if (event.reason === 'other') return ignore(`${named}: what changed makes no builds.`)
  if (settings.trigger_mode !== 'code') {
    return ignore(`${named} is not built: trigger_mode is ${settings.trigger_mode}.`)
  }
  if (!settings.build_pull_requests) return ignore(`${named} is not built: build_pull_requests is off.`)
  const setting = settingOf[event.reason]
  if (setting !== undefined && settings[setting] !== true) return ignore(`${named}: ${setting} is off.`)
  const refusal = refuseComment(settings, event)
  if (refusal !== null) return ignore(`${named}: ${refusal}`)
  const pull = event.pull ?? known?.pull
  if (pull === undefined)
    return ignore(`${named} is not known from an earlier delivery, so neither is its commit.`)
  const reason = refusePull(rules, event, pull)
  if (reason !== null) return ignore(`${named}: ${reason}`)
  return { kind: 'build', wanted: wantPull(rules, event, pull) }
}

/** Any word of a stranger is only a word. */
function refuseComment(settings: HostSettings, { reason, comment }: PullRequestChanged): string | null {
  if (comment === null) return null
  const isReview = reason === 'review_comment'
  const word = (isReview ? settings.review_comment_command_word : settings.issue_comment_command_word) ?? ''
  const mode = isReview ? settings.review_comment_match_mode : settings.issue_comment_match_mode
  const text = comment.text.trim()
  const isAsked = word !== '' && (mode === 'contains' ? text.includes(word) : text === word)
  if (!isAsked) return `the comment does not ask for a build with "${word}".`
  return comment.isByTrusted ? null : 'the comment is not by somebody whom the host says may push.'
}

function refusePull(rules: Rules, { reason }: PullRequestChanged, pull: Pull): string | null {
  const { settings, host } = rules
  if (!pull.isOpen && settings.skip_builds_for_closed_pull_requests) return 'it is closed.'
  if (pull.isFork && !settings.build_pull_request_forks) {
    return 'it comes from a fork, and build_pull_request_forks is off.'
  }
  if (pull.isFork && host === 'bitbucket' && !pull.fork) {
    return 'it comes from a fork that is gone, and Bitbucket keeps its commits nowhere else.'
  }
  if (settings.ignore_default_branch_pull_requests && pull.branch === rules.defaultBranch) {
    return `it is of the default branch, and ignore_default_branch_pull_requests is on.`
  }
  const filter = settings.pull_request_branch_filter_configuration
  if (settings.pull_request_branch_filter_enabled && filter && !matchesBranch(filter, pull.branch)) {
    return `${pull.branch} does not match the pull request branch filter "${filter}".`
  }
  const isBuiltByPush = refusePush(rules, { ref: 'branch', name: pull.branch }) === null
  if (reason === 'pushed' && !pull.isFork && isBuiltByPush) return `the push to ${pull.branch} is built.`
  return hasSkipWord(pull.title) ? 'its title asks for no build.' : null
}

function wantPull(rules: Rules, event: PullRequestChanged, pull: Pull): Wanted {
  const { settings, host } = rules
  const ref = refOf(host, settings, event.number, pull)
  const isNews = event.reason === 'opened' || event.reason === 'pushed'
  return {
    branch: branchOf(rules, pull),
    commit: ref.commit,
    commitOrigin: originOf(pull),
    tag: null,
    message: pull.title || null,
    author: pull.author,
    pullRequest: {
      ...pullRequestOf(event.number, pull),
      ...(ref.commit === pull.commit ? {} : { head: pull.commit }),
      ...(host === 'bitbucket' && pull.isFork && pull.fork ? { checkout: addressOf(pull.fork, rules) } : {}),
    },
    env: { ...event.env, ...ref.env },
    ignoreBranchFilters: true,
    label: event.label,
    mergeQueue: null,
    // Labels, reviews and the like come without a new commit, and are asked for by name.
    unlessBuilt: !isNews
      ? null
      : settings.skip_builds_for_existing_commits
        ? 'on_any_branch'
        : settings.skip_pull_request_builds_for_existing_commits
          ? 'on_this_branch'
          : null,
  }
}

const originOf = ({ isFork }: Pull): CommitOrigin => (isFork ? 'fork' : 'own')

/** The repository of a fork may be gone, and with it the name of its owner. */
const prefixOf = ({ owner }: Pull) => owner?.replace(/^-+|[^\w./-]/g, '').slice(0, 80) || 'unknown'

/** One that all may read needs no key; another is asked for in the way in which the pipeline's repository is. */
function addressOf({ name, url, isPrivate }: Fork, { repository }: Rules): string {
  const path = locate(repository)?.path ?? ''
  const start = repository.lastIndexOf(path)
  if (!isPrivate || path === '') return url
  return repository.slice(0, start) + name + repository.slice(start + path.length)
}

/** Where an agent finds the commit: not every one is on a branch of the repository. */
function refOf(
  host: HostKind,
  settings: HostSettings,
  number: string,
  pull: Pull,
): { commit: string; env: Record<string, string> } {
  const { commit } = pull
  if (host === 'gitlab' && settings.build_pull_request_merge) {
    return { commit: 'HEAD', env: { BUILDKITE_REFSPEC: `refs/merge-requests/${number}/merge` } }
  }
  if (host === 'github' && settings.build_pull_request_merge_commits) {
    return { commit, env: { BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC: 'true' } }
  }
  if (!pull.isFork || host === 'github') return { commit, env: {} }
  if (host === 'bitbucket') return { commit, env: { BUILDKITE_REFSPEC: `refs/heads/${pull.branch}` } }
  const folder = host === 'gitlab' ? 'merge-requests' : 'pull'
  return { commit, env: { BUILDKITE_REFSPEC: `refs/${folder}/${number}/head` } }
}

const pullRequestOf = (number: string, pull: Pull) => ({
  id: number,
  base: pull.base,
  repository: pull.repository,
  labels: pull.labels,
  draft: pull.isDraft,
  fork: pull.isFork,
})

const branchOf = ({ settings }: Rules, pull: Pull): string =>
  pull.isFork && settings.prefix_pull_request_fork_branch_names
    ? `${prefixOf(pull)}:${pull.branch}`
    : pull.branch

function decideCommit(rules: Rules, event: CommitNamed, known: Known): Decision {
  const { settings } = rules
  const { wants, mergeQueue } = event
  const mode = 'mode' in wants ? wants.mode : 'code'
  if (settings.trigger_mode !== mode) return ignore(`trigger_mode is ${settings.trigger_mode}, not ${mode}.`)
  if ('setting' in wants && !settings[wants.setting]) return ignore(`${wants.setting} is off.`)
  const isOwn = event.commitIsOf === 'own_repository' || known.isOwnCommit
  const pull = isOwn ? null : known.pull
  if (pull !== null && !settings.build_pull_request_forks) {
    return ignore(
      `The commit is of pull request #${pull.number} from a fork, and build_pull_request_forks is off.`,
    )
  }
  const branch = pull === null ? branchOfCommit(rules, event, isOwn) : branchOf(rules, pull.pull)
  const refusal = mergeQueue === null && pull === null ? refuseByFilter(rules, branch) : null
  if (refusal !== null) return ignore(refusal)
  const setsBase = mergeQueue !== null && settings.use_merge_group_base_commit_for_git_diff_base
  const { tag, commit, message, author } = event
  return {
    kind: 'build',
    wanted: {
      branch,
      tag,
      commit,
      commitOrigin: isOwn ? 'own' : 'fork',
      message,
      author,
      pullRequest: pull && pullRequestOf(pull.number, pull.pull),
      env: { ...event.env, ...(setsBase ? { BUILDKITE_GIT_DIFF_BASE: mergeQueue.baseCommit } : {}) },
      ignoreBranchFilters: true,
      label: null,
      mergeQueue,
      unlessBuilt: null,
    },
  }
}

/** A commit that may be anybody's must not pass for one of the default branch. */
const branchOfCommit = ({ defaultBranch }: Rules, { branch, commit }: CommitNamed, isOwn: boolean): string =>
  branch ?? (isOwn ? defaultBranch : `unknown:${commit.slice(0, 12)}`)
