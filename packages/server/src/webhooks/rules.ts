// Decides whether an event is built, and as which build. Pure: earlier builds of the commit and the filter condition are
// checked afterwards.
import { matchesBranch } from '@millrace/engine/branches.ts'
import type { BuildRequest } from '../conductor/build.ts'
import type { CommitOrigin } from '../conductor/trust.ts'
import { locate, type HostSettings } from '../source-hosts/settings.ts'
import type {
  CommitNamed,
  Deleted,
  Fork,
  HostEvent,
  MergeGroupDestroyed,
  Pull,
  PullRequestChanged,
  PullRequestReason,
  Pushed,
} from '../source-hosts/events.ts'
import type { SourceHost } from '../source-hosts/host.ts'

/** The fields of a build that depend on the event. */
export type Wanted = Pick<
  BuildRequest,
  'branch' | 'commit' | 'commitOrigin' | 'tag' | 'message' | 'author' | 'pullRequest' | 'env'
> & {
  label: string | null
  mergeQueue: CommitNamed['mergeQueue']
  /** No build is made if the commit was built there. */
  unlessBuilt: 'on_any_branch' | 'on_this_branch' | null
}

/** A commit of the repository itself. The author of a fork must not decide that no build is needed. */
export interface NotNeeded {
  commit: string
  isForPullRequest: boolean
}

type Decision =
  | { kind: 'build'; wanted: Wanted }
  | { kind: 'cancel'; branch: string; reason: string }
  /** `notNeeded`: a rule of the pipeline says that the commit needs no build. */
  | { kind: 'ignore'; reason: string; notNeeded: NotNeeded | null }

interface Rules {
  host: SourceHost
  settings: HostSettings
  defaultBranch: string
  repository: string
  /** The pipeline's branch filter. */
  branchFilter: string | null
}

export function decide(rules: Rules, event: HostEvent, known: Known): Decision {
  switch (event.kind) {
    case 'ignored':
      return ignore(event.reason)
    case 'deleted':
      return decideDeleted(rules, event)
    case 'merge_group_destroyed':
      return decideDestroyed(rules, event)
    case 'pushed':
      return decidePushed(rules, event, known.pull)
    case 'pull_request':
      return decidePullRequest(rules, event, known.pull)
    case 'commit':
      return decideCommit(rules, event, known)
  }
}

/** The data that earlier deliveries stored. */
export interface Known {
  /** The pull request of the event, the open one of the pushed branch, or the one from a fork whose head is the commit. */
  pull: KnownPull | null
  /** Whether the commit was on a branch or tag of the pipeline's own repository. */
  isOwnCommit: boolean
}

export interface KnownPull {
  number: string
  pull: Pull
}

const ignore = (reason: string, notNeeded: NotNeeded | null = null): Decision => ({
  kind: 'ignore',
  reason,
  notNeeded,
})

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
  const refusal = refusePushBySettings(rules, push)
  if (refusal !== null) return ignore(refusal)
  const filtered = refuseByFilter(rules, push.name)
  if (filtered !== null) {
    // The event of an open pull request decides about its newest commit.
    const isDecided = push.ref === 'branch' && !(settings.build_pull_requests && known !== null)
    return ignore(filtered, isDecided ? { commit: push.commit, isForPullRequest: false } : null)
  }
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
      label: null,
      mergeQueue: null,
      unlessBuilt: settings.skip_builds_for_existing_commits ? 'on_any_branch' : null,
    },
  }
}

const refusePush = (rules: Rules, push: Pick<Pushed, 'ref' | 'name'>): string | null =>
  refusePushBySettings(rules, push) ?? refuseByFilter(rules, push.name)

function refusePushBySettings(
  { settings }: Rules,
  { ref, name }: Pick<Pushed, 'ref' | 'name'>,
): string | null {
  if (settings.trigger_mode !== 'code')
    return `Pushes are not built: trigger_mode is ${settings.trigger_mode}.`
  if (ref === 'tag' && !settings.build_tags) return `The tag ${name} is not built: build_tags is off.`
  if (ref === 'branch' && !settings.build_branches) {
    return `The branch ${name} is not built: build_branches is off.`
  }
  if (settings.build_merge_group_checks_requested && name.startsWith('gh-readonly-queue/')) {
    return `${name} is built when its merge group asks for checks.`
  }
  return null
}

const refuseByFilter = ({ branchFilter }: Rules, name: string): string | null =>
  branchFilter === null || matchesBranch(branchFilter, name)
    ? null
    : `${name} does not match the pipeline's branch filter "${branchFilter}".`

const hasSkipWord = (text: string | null): boolean => /\[(?:ci[ -]skip|skip[ -]ci)\]/i.test(text ?? '')

/** The settings under which events without a new commit are built. */
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
  if (reason !== null) {
    const isNotNeeded =
      reason === refusePullByFilter(rules, pull) && !pull.isFork && !isBuiltByPush(rules, pull)
    return ignore(`${named}: ${reason}`, isNotNeeded ? { commit: pull.commit, isForPullRequest: true } : null)
  }
  return { kind: 'build', wanted: wantPull(rules, event, pull) }
}

/** Only people who may push can ask for a build in a comment. */
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
  if (pull.isFork && pull.fork === null) {
    return `it comes from a fork that is gone, and ${host.name} keeps its commits nowhere else.`
  }
  const filtered = refusePullByFilter(rules, pull)
  if (filtered !== null) return filtered
  if (reason === 'pushed' && !pull.isFork && isBuiltByPush(rules, pull))
    return `the push to ${pull.branch} is built.`
  return hasSkipWord(pull.title) ? 'its title asks for no build.' : null
}

const isBuiltByPush = (rules: Rules, { branch }: Pull): boolean =>
  refusePush(rules, { ref: 'branch', name: branch }) === null

function refusePullByFilter({ settings, defaultBranch }: Rules, pull: Pull): string | null {
  if (settings.ignore_default_branch_pull_requests && pull.branch === defaultBranch) {
    return `it is of the default branch, and ignore_default_branch_pull_requests is on.`
  }
  const filter = settings.pull_request_branch_filter_configuration
  const isFiltered =
    settings.pull_request_branch_filter_enabled && filter && !matchesBranch(filter, pull.branch)
  return isFiltered ? `${pull.branch} does not match the pull request branch filter "${filter}".` : null
}

function wantPull(rules: Rules, event: PullRequestChanged, pull: Pull): Wanted {
  const { settings, host } = rules
  const found = host.webhook.findPullRequest(event.number, pull, settings)
  const mayHaveNewCommit = event.reason === 'opened' || event.reason === 'pushed'
  return {
    branch: branchOf(rules, pull),
    commit: found.commit,
    commitOrigin: originOf(pull),
    tag: null,
    message: pull.title || null,
    author: pull.author,
    pullRequest: {
      ...pullRequestOf(event.number, pull),
      ...(found.commit === pull.commit ? {} : { head: pull.commit }),
      ...(found.fork ? { checkout: addressOf(found.fork, rules) } : {}),
    },
    env: { ...event.env, ...found.env },
    label: event.label,
    mergeQueue: null,
    // Labels and reviews come without a new commit; the pipeline's settings ask for a build nevertheless.
    unlessBuilt: !mayHaveNewCommit
      ? null
      : settings.skip_builds_for_existing_commits
        ? 'on_any_branch'
        : settings.skip_pull_request_builds_for_existing_commits
          ? 'on_this_branch'
          : null,
  }
}

const originOf = ({ isFork }: Pull): CommitOrigin => (isFork ? 'fork' : 'own')

/** The owner is unknown when the fork is gone. */
const prefixOf = ({ owner }: Pull) => owner?.replace(/^-+|[^\w./-]/g, '').slice(0, 80) || 'unknown'

/** A private fork is cloned with the protocol and user of the pipeline's repository. */
function addressOf({ name, url, isPrivate }: Fork, { repository }: Rules): string {
  const path = locate(repository)?.path ?? ''
  const start = repository.lastIndexOf(path)
  if (!isPrivate || path === '') return url
  return repository.slice(0, start) + name + repository.slice(start + path.length)
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
  const mode = 'mode' in wants ? wants.mode : 'again' in wants ? settings.trigger_mode : 'code'
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
      label: null,
      mergeQueue,
      unlessBuilt: null,
    },
  }
}

/** A commit that may be of a fork must not be built as one of the default branch. */
const branchOfCommit = ({ defaultBranch }: Rules, { branch, commit }: CommitNamed, isOwn: boolean): string =>
  branch ?? (isOwn ? defaultBranch : `unknown:${commit.slice(0, 12)}`)
