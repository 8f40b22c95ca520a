// What a webhook delivery tells of, in one vocabulary for all hosts.
import type { Author, BuildSourceEvent } from '../../conductor/build.ts'

export type HostKind = 'github' | 'gitea' | 'gitlab' | 'bitbucket' | 'git'

export interface WebhookDelivery {
  host: HostKind
  /** As the host names them. */
  event: string
  action: string | null
  /** Null: the sender gives its deliveries no names, so none can be known again. */
  id: string | null
  /** Which repository it is about: every address the host gives it. */
  repositories: readonly string[]
  tidings: readonly Tiding[]
}

/** One delivery may tell of several things: some hosts send all refs of a push together. */
export type Tiding = Pushed | Deleted | PullRequestChanged | CommitNamed | MergeGroupDestroyed | Nothing

export interface Pushed {
  kind: 'pushed'
  ref: 'branch' | 'tag'
  name: string
  commit: string
  /** Null where the sender does not say. */
  message: string | null
  author: Author | null
}

export interface Deleted {
  kind: 'deleted'
  ref: 'branch' | 'tag'
  name: string
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

export interface Pull {
  title: string
  isOpen: boolean
  /** Of the head, as its own repository names it. */
  branch: string
  commit: string
  /** Who owns the repository of the head; null when it is gone. */
  owner: string | null
  repository: string | null
  /** Of a host that keeps the commits of forks nowhere but there: the fork. */
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
  /** Null: the host tells only the number; what is known of it from before must do. */
  pull: Pull | null
  label: string | null
  comment: { text: string; isByTrusted: boolean } | null
  env: Readonly<Record<string, string>>
}

/** Something that names a commit and has a setting, or a mode, of its own. */
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
  /** Null: the pipeline's default branch. */
  branch: string | null
  tag: string | null
  commit: string
  /** `any_repository`: the event can name a commit of a fork too, and does not say whose it is. */
  commitIsOf: 'own_repository' | 'any_repository'
  message: string | null
  author: Author | null
  mergeQueue: BuildSourceEvent['mergeQueue']
  env: Readonly<Record<string, string>>
}

export interface MergeGroupDestroyed {
  kind: 'merge_group_destroyed'
  branch: string
}

/** Understood, and nothing that could make a build. */
export interface Nothing {
  kind: 'nothing'
  why: string
}

/** What the readers are given. */
export interface Received {
  event: string
  payload: object
}
