// Pull requests, their reviews and comments, from GitHub, Gitea and Forgejo.
import { Type, type Static } from 'typebox'
import { ignored, pullRequestChanged, type Pull, type PullRequestReason, type HostEvent } from '../events.ts'
import { authorOf, Commit, cutLabels, maybe, Number, reader, RefName, Short, Text } from '../fields.ts'
import { githubEnv, Repository } from './fields.ts'

const Side = Type.Object({
  ref: RefName,
  sha: Commit,
  repo: maybe(Repository),
  repo_id: maybe(Number),
})
export const PullRequest = Type.Object({
  number: Number,
  title: Short,
  state: maybe(Text),
  draft: maybe(Type.Boolean()),
  user: maybe(Type.Object({ login: maybe(Text), full_name: maybe(Text), email: maybe(Text) })),
  labels: maybe(Type.Array(Type.Object({ name: Text }))),
  head: Side,
  base: Type.Object({
    ref: RefName,
    repo: maybe(Repository),
    repo_id: maybe(Number),
  }),
})

export function pullOf(given: Static<typeof PullRequest>): Pull {
  const { head, base, user } = given
  const sides = [head.repo?.id ?? head.repo_id ?? null, base.repo?.id ?? base.repo_id ?? null]
  return {
    title: given.title,
    isOpen: given.state !== 'closed',
    branch: head.ref,
    commit: head.sha,
    owner: head.repo?.owner?.login ?? null,
    repository: head.repo?.clone_url ?? null,
    // A side is missing when its repository is gone, which counts as a fork.
    isFork: sides[0] === null || sides[1] === null || sides[0] !== sides[1],
    base: base.ref,
    labels: cutLabels((given.labels ?? []).map(({ name }) => name)),
    isDraft: given.draft ?? null,
    author: authorOf(user?.full_name || user?.login, user?.email),
  }
}

const readPulled = reader(
  Type.Object({
    action: Text,
    pull_request: PullRequest,
    label: maybe(Type.Object({ name: maybe(Short) })),
    changes: maybe(Type.Object({ base: maybe(Type.Unknown()), ref: maybe(Type.Unknown()) })),
  }),
)

const reasons: Readonly<Record<string, PullRequestReason>> = {
  opened: 'opened',
  synchronize: 'pushed',
  synchronized: 'pushed',
  closed: 'closed',
  reopened: 'reopened',
  ready_for_review: 'ready_for_review',
  labeled: 'labels_changed',
  unlabeled: 'labels_changed',
  label_updated: 'labels_changed',
  label_cleared: 'labels_changed',
  edited: 'edited',
  converted_to_draft: 'converted_to_draft',
  review_requested: 'review_requested',
  dequeued: 'dequeued',
  // The pull request became part of a stack, in which each one is based on the branch of the one below.
  stacked: 'stacked',
}

export function readPullRequest(payload: object): HostEvent {
  const { action, pull_request: given, label, changes } = readPulled(payload)
  // Gitea calls it `ref`.
  const movesBase = Boolean(changes?.base ?? changes?.ref)
  const known = Object.hasOwn(reasons, action) ? reasons[action] : undefined
  const reason = action === 'edited' && movesBase ? 'base_branch_changed' : (known ?? 'other')
  const more = { label: label?.name ?? null, env: githubEnv({ ACTION: action }) }
  return pullRequestChanged(given.number, reason, pullOf(given), more)
}

const readReviewed = reader(
  Type.Object({
    action: Text,
    pull_request: PullRequest,
    review: maybe(Type.Object({ id: maybe(Number), state: maybe(Text) })),
  }),
)

export function readReview(payload: object): HostEvent {
  const { action, pull_request: given, review } = readReviewed(payload)
  const reason = ['submitted', 'reviewed'].includes(action)
    ? 'review_submitted'
    : action === 'dismissed'
      ? 'review_dismissed'
      : 'other'
  const env = githubEnv({ ACTION: action, REVIEW_ID: review?.id, REVIEW_STATE: review?.state })
  return pullRequestChanged(given.number, reason, pullOf(given), { env })
}

const Comment = Type.Object({ id: maybe(Number), body: Text, author_association: maybe(Text) })
const readReviewCommented = reader(
  Type.Object({
    action: Text,
    pull_request: PullRequest,
    comment: maybe(Comment),
    review: maybe(Type.Object({ content: maybe(Text) })),
  }),
)

export function readReviewComment(payload: object): HostEvent {
  const { action, pull_request: given, comment, review } = readReviewCommented(payload)
  const isNew = action === 'created' || action === 'reviewed'
  return pullRequestChanged(given.number, isNew ? 'review_comment' : 'other', pullOf(given), {
    comment: commentOf(comment ?? { body: review?.content ?? '' }),
    env: githubEnv({ ACTION: action, COMMENT_ID: comment?.id }),
  })
}

const readCommented = reader(
  Type.Object({
    action: Text,
    issue: Type.Object({ number: Number, pull_request: maybe(Type.Object({})) }),
    is_pull: maybe(Type.Boolean()),
    comment: Comment,
  }),
)

export function readComment(payload: object): HostEvent {
  const { action, issue, is_pull: isPull, comment } = readCommented(payload)
  if (!issue.pull_request && isPull !== true) {
    return ignored('The comment is on an issue, not on a pull request.')
  }
  return pullRequestChanged(issue.number, action === 'created' ? 'comment' : 'other', null, {
    comment: commentOf(comment),
    env: githubEnv({ ACTION: action, COMMENT_ID: comment.id }),
  })
}

/** Anybody may comment. Only comments of people who may push make builds. */
const trusted = new Set(['OWNER', 'MEMBER', 'COLLABORATOR'])

const commentOf = ({ body, author_association: author }: Static<typeof Comment>) => ({
  text: body,
  isByTrusted: trusted.has(author ?? ''),
})
