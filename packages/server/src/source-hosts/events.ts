// The events that deliveries of source hosts are read into, the same for all hosts.

export type HostEvent = Pushed | Deleted | PullRequestChanged | CommitNamed | MergeGroupDestroyed | Ignored

export interface Author {
  name: string | null
  email: string | null
}

export interface Pushed {
  kind: 'pushed'
  ref: 'branch' | 'tag'
  name: string
  /** Where the ref was; null: it was created, or the sender does not say. */
  before: string | null
  /** Where the ref is: the commit, or the object of an annotated tag. */
  after: string
  commit: string
  /** Null where the sender does not say. */
  message: string | null
  author: Author | null
}

export interface Deleted {
  kind: 'deleted'
  ref: 'branch' | 'tag'
  name: string
  /** Null where the sender does not say. */
  before: string | null
}

export type PullRequestReason =
  | 'opened'
  | 'pushed'
  | 'closed'
  | 'reopened'
  | 'ready_for_review'
  | 'labels_changed'
  | 'base_branch_changed'
  | 'edited'
  | 'converted_to_draft'
  | 'review_requested'
  | 'review_submitted'
  | 'review_dismissed'
  | 'review_comment'
  | 'comment'
  | 'dequeued'
  | 'stacked'
  | 'other'

/** Stored as JSON in `pull_requests.data`. */
export interface Pull {
  title: string
  isOpen: boolean
  /** The branch of the head, as the head's repository names it. */
  branch: string
  commit: string
  /** The owner of the head's repository; null when that repository is gone. */
  owner: string | null
  repository: string | null
  /** Only from hosts that keep the commits of a fork nowhere else; null: the fork is gone. */
  fork?: Fork | null
  isFork: boolean
  base: string
  labels: readonly string[]
  isDraft: boolean | null
  author: Author | null
}

export interface Fork {
  name: string
  url: string
  isPrivate: boolean
}

export interface PullRequestChanged {
  kind: 'pull_request'
  reason: PullRequestReason
  number: string
  /** Null: the host sends only the number, so the pull request of an earlier delivery is used. */
  pull: Pull | null
  label: string | null
  comment: { text: string; isByTrusted: boolean } | null
  env: Readonly<Record<string, string>>
}

export const pullRequestChanged = (
  number: number,
  reason: PullRequestReason,
  pull: Pull | null,
  more: Partial<Pick<PullRequestChanged, 'label' | 'comment' | 'env'>> = {},
): PullRequestChanged => ({
  kind: 'pull_request',
  reason,
  number: String(number),
  pull,
  label: null,
  comment: null,
  env: {},
  ...more,
})

/** An event that names a commit and is built under a setting, or a trigger mode, of its own. */
export interface CommitNamed {
  kind: 'commit'
  wants:
    | { mode: 'deployment' | 'fork' }
    | {
        setting:
          | 'build_merge_group_checks_requested'
          | 'build_release_published'
          | 'build_release_created'
          | 'build_release_released'
          | 'build_check_run_completed'
          | 'build_deployment_status_created'
          | 'build_create_event'
      }
    /** Somebody asks for it at the host, whatever the settings. */
    | { again: true }
  /** Null: the pipeline's default branch. */
  branch: string | null
  tag: string | null
  commit: string
  /** `any_repository`: the commit may be of a fork, and the event does not say. */
  commitIsOf: 'own_repository' | 'any_repository'
  message: string | null
  author: Author | null
  mergeQueue: { baseBranch: string; baseCommit: string } | null
  env: Readonly<Record<string, string>>
  /** Only for events of checks. */
  check?: NamedCheck
}

/** A check, or all checks of an App at the commit. */
export interface NamedCheck {
  /** Null: all of the App. */
  name: string | null
  appId: string | null
  /** As whoever made the check has set it. */
  externalId: string | null
}

export interface MergeGroupDestroyed {
  kind: 'merge_group_destroyed'
  branch: string
}

/** The delivery is understood and never makes a build. */
export interface Ignored {
  kind: 'ignored'
  reason: string
}

export const ignored = (reason: string): Ignored => ({ kind: 'ignored', reason })
