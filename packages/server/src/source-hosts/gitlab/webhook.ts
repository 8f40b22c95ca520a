import { Type, type Static } from 'typebox'
import type { Webhook } from '../host.ts'
import { digest, headerOf, isSame } from '../signature.ts'
import { ignored, pullRequestChanged, type Pull, type PullRequestReason, type HostEvent } from '../events.ts'
import {
  authorOf,
  beforeOf,
  Commit,
  cutLabels,
  cutMessage,
  isZero,
  maybe,
  Number,
  reader,
  readRef,
  RefName,
  Short,
  unknownRef,
  Text,
} from '../fields.ts'

const Project = Type.Object({
  id: maybe(Number),
  path_with_namespace: maybe(Short),
  git_http_url: maybe(Short),
  git_ssh_url: maybe(Short),
})

const readCommon = reader(
  Type.Object({ project: maybe(Project), object_attributes: maybe(Type.Object({ action: maybe(Short) })) }),
)

export const webhook: Webhook = {
  identify(headers, body) {
    const event = headerOf(headers, 'x-gitlab-event')
    if (event === null) return null
    // Several deliveries that follow from one event share its UUID, so the body is part of the id.
    const uuid = headerOf(headers, 'x-gitlab-event-uuid')
    const id = uuid === null ? null : `${uuid} ${digest(body).toString('hex')}`
    return { event, id: headerOf(headers, 'idempotency-key') ?? id }
  },
  isGenuine: (headers, _body, secret) => isSame(headerOf(headers, 'x-gitlab-token') ?? '', secret),
  read({ event, json }) {
    const payload = json()
    const { project, object_attributes: attributes } = readCommon(payload)
    const addresses = [project?.git_http_url, project?.git_ssh_url]
    return {
      action: attributes?.action ?? null,
      repositories: addresses.flatMap((address) => address ?? []),
      events: [readEvent(event, payload)],
      env: {},
    }
  },
  findPullRequest(number, { commit, isFork }, settings) {
    const refs = `refs/merge-requests/${number}`
    if (settings.build_pull_request_merge) {
      return { commit: 'HEAD', env: { BUILDKITE_REFSPEC: `${refs}/merge` } }
    }
    return { commit, env: isFork ? { BUILDKITE_REFSPEC: `${refs}/head` } : {} }
  },
  canBeDisabled: false,
}

function readEvent(event: string, payload: object): HostEvent {
  switch (event) {
    case 'Push Hook':
    case 'Tag Push Hook':
      return readPush(payload)
    case 'Merge Request Hook':
      return readMergeRequest(payload)
    case 'Note Hook':
      return readNote(payload)
    default:
      return ignored(`The event ${event} makes no builds.`)
  }
}

const Person = Type.Object({ name: maybe(Text), email: maybe(Text) })

const readPushed = reader(
  Type.Object({
    ref: Text,
    before: maybe(Text),
    after: Text,
    /** The commit that a tag points to. */
    checkout_sha: maybe(Text),
    commits: maybe(Type.Array(Type.Object({ id: Text, message: maybe(Text), author: maybe(Person) }))),
    user_name: maybe(Text),
    user_email: maybe(Text),
  }),
)
const readCommit = reader(Type.Object({ commit: Commit }))

function readPush(payload: object): HostEvent {
  const push = readPushed(payload)
  const ref = readRef(push.ref)
  if (ref === null) return unknownRef(push.ref)
  const before = beforeOf(push.before)
  if (isZero(push.after)) return { kind: 'deleted', ...ref, before }
  const { commit } = readCommit({ commit: push.checkout_sha ?? push.after })
  const head = push.commits?.find(({ id }) => id === commit)
  return {
    kind: 'pushed',
    ...ref,
    before,
    after: push.after,
    commit,
    message: cutMessage(head?.message),
    author: authorOf(head?.author?.name, head?.author?.email) ?? authorOf(push.user_name, push.user_email),
  }
}

const Side = Type.Object({
  path_with_namespace: maybe(Short),
  git_http_url: maybe(Short),
})

const MergeRequest = Type.Object({
  iid: Number,
  title: Short,
  state: maybe(Text),
  source_branch: RefName,
  target_branch: RefName,
  source_project_id: maybe(Number),
  target_project_id: Number,
  draft: maybe(Type.Boolean()),
  work_in_progress: maybe(Type.Boolean()),
  last_commit: Type.Object({ id: Commit, message: maybe(Text), author: maybe(Person) }),
  source: maybe(Side),
  action: maybe(Text),
  oldrev: maybe(Text),
  labels: maybe(Type.Array(Type.Object({ title: Text }))),
})
const Labels = maybe(Type.Array(Type.Object({ title: Text })))
const readMerge = reader(
  Type.Object({
    object_attributes: MergeRequest,
    labels: Labels,
    changes: maybe(
      Type.Object({
        labels: maybe(Type.Unknown()),
        target_branch: maybe(Type.Unknown()),
        draft: maybe(Type.Object({ current: maybe(Type.Boolean()) })),
        reviewers: maybe(Type.Unknown()),
      }),
    ),
  }),
)

function pullOf(given: Static<typeof MergeRequest>, labels: Static<typeof Labels> | undefined): Pull {
  const path = given.source?.path_with_namespace ?? null
  return {
    title: given.title,
    isOpen: given.state === undefined || given.state === null || given.state === 'opened',
    branch: given.source_branch,
    commit: given.last_commit.id,
    owner: path?.split('/').slice(0, -1).join('/') || null,
    repository: given.source?.git_http_url ?? null,
    isFork: given.source_project_id !== given.target_project_id,
    base: given.target_branch,
    labels: cutLabels((given.labels ?? labels ?? []).map(({ title }) => title)),
    isDraft: given.draft ?? given.work_in_progress ?? null,
    author: authorOf(given.last_commit.author?.name, given.last_commit.author?.email),
  }
}

function readMergeRequest(payload: object): HostEvent {
  const { object_attributes: given, labels, changes } = readMerge(payload)
  return pullRequestChanged(given.iid, reasonOf(given, changes ?? {}), pullOf(given, labels))
}

type Changes = NonNullable<ReturnType<typeof readMerge>['changes']>

/** If one update has several changes, a push has precedence. */
function reasonOf(given: Static<typeof MergeRequest>, changes: Changes): PullRequestReason {
  switch (given.action ?? '') {
    case 'open':
      return 'opened'
    case 'reopen':
      return 'reopened'
    case 'close':
    case 'merge':
      return 'closed'
    case 'approved':
    case 'approval':
      return 'review_submitted'
    case 'update':
      if (given.oldrev) return 'pushed'
      if (changes.draft) return changes.draft.current === true ? 'converted_to_draft' : 'ready_for_review'
      if (changes.target_branch) return 'base_branch_changed'
      if (changes.labels) return 'labels_changed'
      return changes.reviewers ? 'review_requested' : 'edited'
    default:
      return 'other'
  }
}

const readNoted = reader(
  Type.Object({
    object_attributes: Type.Object({ note: Text, noteable_type: maybe(Text), action: maybe(Text) }),
    merge_request: maybe(MergeRequest),
  }),
)

function readNote(payload: object): HostEvent {
  const { object_attributes: note, merge_request: given } = readNoted(payload)
  if (!given) return ignored('The comment is not on a merge request.')
  const reason = note.action === 'update' ? 'other' : 'comment'
  // GitLab does not say who may push, so no comment makes a build.
  const comment = { text: note.note, isByTrusted: false }
  return pullRequestChanged(given.iid, reason, pullOf(given, null), { comment })
}
