import { Type, type Static } from 'typebox'
import { pullRequestChanged, type HostEvent, type Pull, type PullRequestReason } from '../events.ts'
import { authorOf, Commit, maybe, Number, reader, readRef, RefName, Short, Text } from '../fields.ts'
import { cloneAddress, Repository } from './address.ts'

const Side = Type.Object({
  id: Text,
  displayId: RefName,
  latestCommit: maybe(Text),
  repository: maybe(Repository),
})
const User = Type.Object({ name: maybe(Text), displayName: maybe(Text), emailAddress: maybe(Text) })

export const PullRequest = Type.Object({
  id: Number,
  title: Short,
  state: maybe(Text),
  draft: maybe(Type.Boolean()),
  fromRef: Side,
  toRef: Side,
  author: maybe(Type.Object({ user: maybe(User) })),
})

const readPulled = reader(
  Type.Object({
    pullRequest: PullRequest,
    previousTarget: maybe(Type.Object({ id: maybe(Text) })),
    comment: maybe(Type.Object({ text: maybe(Text) })),
  }),
)
const readCommit = reader(Type.Object({ latestCommit: Commit }))

const reasons: Readonly<Record<string, PullRequestReason>> = {
  'pr:opened': 'opened',
  'pr:from_ref_updated': 'pushed',
  'pr:to_ref_updated': 'other',
  'pr:modified': 'edited',
  'pr:merged': 'closed',
  'pr:declined': 'closed',
  'pr:deleted': 'closed',
  'pr:reviewer:updated': 'review_requested',
  'pr:reviewer:approved': 'review_submitted',
  'pr:reviewer:unapproved': 'other',
  'pr:reviewer:needs_work': 'review_submitted',
  'pr:reviewer:changes_requested': 'review_submitted',
  'pr:comment:added': 'comment',
  'pr:comment:edited': 'other',
  'pr:comment:deleted': 'other',
}

/** Null: the event is not of a pull request. */
export const reasonOf = (event: string): PullRequestReason | null =>
  (Object.hasOwn(reasons, event) ? reasons[event] : null) ?? null

export function readPullRequest(payload: object, known: PullRequestReason): HostEvent {
  const { pullRequest: given, previousTarget, comment } = readPulled(payload)
  const movesBase = Boolean(previousTarget?.id) && previousTarget?.id !== given.toRef.id
  const reason = known === 'edited' && movesBase ? 'base_branch_changed' : known
  return pullRequestChanged(given.id, reason, pullOf(given), {
    // The server does not say who may push, so no comment makes a build.
    comment: reason === 'comment' ? { text: comment?.text ?? '', isByTrusted: false } : null,
  })
}

export function pullOf(given: Static<typeof PullRequest>): Pull {
  const { fromRef: from, toRef: to } = given
  const [head, base] = [from.repository, to.repository]
  const user = given.author?.user
  return {
    title: given.title,
    isOpen: given.state === undefined || given.state === null || given.state === 'OPEN',
    branch: branchOf(from),
    commit: readCommit({ latestCommit: from.latestCommit ?? '' }).latestCommit,
    owner: head?.project.key ?? null,
    repository: head ? (cloneAddress(head, 'http') ?? cloneAddress(head, 'ssh')) : null,
    // A side is missing when its repository is gone, which counts as a fork.
    isFork: typeof head?.id !== 'number' || typeof base?.id !== 'number' || head.id !== base.id,
    base: branchOf(to),
    labels: [],
    isDraft: given.draft ?? null,
    author: authorOf(user?.displayName || user?.name, user?.emailAddress),
  }
}

const branchOf = ({ id, displayId }: Static<typeof Side>): string => readRef(id)?.name ?? displayId
