import { Type, type Static } from 'typebox'
import { pullRequestChanged, type HostEvent, type Pull, type PullRequestReason } from '../events.ts'
import {
  authorOf,
  checkRefName,
  Commit,
  cutLabels,
  maybe,
  Number,
  reader,
  readRef,
  Short,
  Text,
} from '../fields.ts'

export const Repository = Type.Object({
  id: maybe(Short),
  name: maybe(Short),
  remoteUrl: maybe(Short),
  webUrl: maybe(Short),
  sshUrl: maybe(Short),
  project: maybe(Type.Object({ name: maybe(Short) })),
})

export const PullRequest = Type.Object({
  pullRequestId: Number,
  title: maybe(Short),
  status: maybe(Text),
  isDraft: maybe(Type.Boolean()),
  sourceRefName: Text,
  targetRefName: Text,
  repository: maybe(Repository),
  forkSource: maybe(Type.Object({ repository: maybe(Repository) })),
  lastMergeSourceCommit: Type.Object({ commitId: Commit }),
  createdBy: maybe(Type.Object({ displayName: maybe(Text), uniqueName: maybe(Text) })),
  labels: maybe(Type.Array(Type.Object({ name: Text }))),
})

const readPulled = reader(Type.Object({ resource: PullRequest }))

export function readPullRequest(payload: object, reason: PullRequestReason): HostEvent {
  const { resource } = readPulled(payload)
  const pull = pullOf(resource)
  return pullRequestChanged(resource.pullRequestId, pull.isOpen ? reason : 'closed', pull)
}

const readComment = reader(
  Type.Object({
    resource: Type.Object({
      pullRequest: PullRequest,
      comment: maybe(Type.Object({ content: maybe(Text) })),
    }),
  }),
)

export function readCommented(payload: object): HostEvent {
  const { pullRequest, comment } = readComment(payload).resource
  return pullRequestChanged(pullRequest.pullRequestId, 'comment', pullOf(pullRequest), {
    // The host does not say who may push, so no comment makes a build.
    comment: { text: comment?.content ?? '', isByTrusted: false },
  })
}

export function pullOf(given: Static<typeof PullRequest>): Pull {
  const { forkSource, repository, createdBy } = given
  const head = forkSource ? forkSource.repository : repository
  const unique = createdBy?.uniqueName ?? ''
  return {
    title: given.title ?? '',
    isOpen: given.status === undefined || given.status === null || given.status === 'active',
    branch: branchOf(given.sourceRefName),
    commit: given.lastMergeSourceCommit.commitId,
    owner: head?.project?.name ?? null,
    repository: head?.remoteUrl ?? head?.webUrl ?? null,
    isFork: Boolean(forkSource),
    base: branchOf(given.targetRefName),
    labels: cutLabels((given.labels ?? []).map(({ name }) => name)),
    isDraft: given.isDraft ?? null,
    author: authorOf(createdBy?.displayName, /^[^\\\s]+@[^\\\s]+$/.test(unique) ? unique : null),
  }
}

const branchOf = (ref: string): string => readRef(ref)?.name ?? checkRefName(ref)
