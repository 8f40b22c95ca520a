// Webhooks of GitHub. Gitea and Forgejo send the same payloads, except for a few names.
import { Type } from 'typebox'
import { ignored, type HostEvent } from '../events.ts'
import type { Webhook } from '../host.ts'
import { hasSignature, headerOf } from '../signature.ts'
import {
  authorOf,
  beforeOf,
  Commit,
  cutMessage,
  isZero,
  maybe,
  reader,
  readRef,
  RefName,
  Short,
  unknownRef,
  Text,
} from '../fields.ts'
import {
  readCheckRun,
  readCheckSuite,
  readCreate,
  readDeployment,
  readDeploymentStatus,
  readFork,
  readMergeGroup,
  readRelease,
} from './other-events.ts'
import { githubEnv, HeadCommit, Person, Repository } from './fields.ts'
import { readComment, readPullRequest, readReview, readReviewComment } from './pull-requests.ts'

export const webhook: Webhook = {
  identify(headers) {
    const event = headerOf(headers, 'x-github-event')
    return event === null ? null : { event, id: headerOf(headers, 'x-github-delivery') }
  },
  isGenuine: (headers, body, secret) => hasSignature(headers, ['x-hub-signature-256'], body, secret),
  read: ({ event, json }) => ({ ...readDelivery(event, json()), env: githubEnv({ EVENT: event }) }),
  findPullRequest(_number, { commit }, settings) {
    const isMerge = settings.build_pull_request_merge_commits
    return { commit, env: isMerge ? { BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC: 'true' } : {} }
  },
  canBeDisabled: true,
}

const readCommon = reader(
  Type.Object({
    action: maybe(Short),
    repository: maybe(Repository),
    sender: maybe(Type.Object({ login: maybe(Short), type: maybe(Short) })),
  }),
)

export function readDelivery(
  event: string,
  payload: object,
): { action: string | null; repositories: string[]; events: HostEvent[]; isOfBot: boolean } {
  const { action, repository, sender } = readCommon(payload)
  const addresses = [repository?.clone_url, repository?.ssh_url]
  return {
    action: action ?? null,
    repositories: addresses.flatMap((address) => address ?? []),
    // No person can have a name with brackets.
    isOfBot: sender?.type === 'Bot' || sender?.login?.endsWith('[bot]') === true,
    events: [readers.get(event)?.(payload) ?? ignored(`The event ${event} makes no builds.`)],
  }
}

const readers = new Map<string, (payload: object) => HostEvent>([
  ['ping', () => ignored('A ping: the webhook works.')],
  ['push', readPush],
  ['delete', readDelete],
  ['pull_request', readPullRequest],
  ['pull_request_approved', readReview],
  ['pull_request_rejected', readReview],
  ['pull_request_review', readReview],
  ['pull_request_review_comment', readReviewComment],
  ['pull_request_comment', readReviewComment],
  ['issue_comment', readComment],
  ['merge_group', readMergeGroup],
  ['release', readRelease],
  ['create', readCreate],
  ['deployment', readDeployment],
  ['deployment_status', readDeploymentStatus],
  ['check_run', readCheckRun],
  ['check_suite', readCheckSuite],
  ['fork', readFork],
])

const readPushed = reader(
  Type.Object({
    ref: Text,
    before: maybe(Text),
    after: Text,
    deleted: maybe(Type.Boolean()),
    head_commit: maybe(HeadCommit),
    commits: maybe(Type.Array(Type.Object({ id: maybe(Text), message: maybe(Text), author: maybe(Person) }))),
  }),
)
const readAfter = reader(Type.Object({ after: Commit }))

function readPush(payload: object): HostEvent {
  const push = readPushed(payload)
  const ref = readRef(push.ref)
  if (ref === null) return unknownRef(push.ref)
  const before = beforeOf(push.before)
  if (push.deleted === true || isZero(push.after)) return { kind: 'deleted', ...ref, before }
  const { after: commit } = readAfter(payload)
  // Gitea and Forgejo test a webhook with such a push.
  if (before === commit) return ignored('A push that moves nothing, as in a test: the webhook works.')
  const head = push.head_commit ?? push.commits?.find(({ id }) => id === commit)
  return {
    kind: 'pushed',
    ...ref,
    before,
    after: commit,
    commit,
    message: cutMessage(head?.message),
    author: authorOf(head?.author?.name, head?.author?.email),
  }
}

const readDeleted = reader(Type.Object({ ref: RefName, ref_type: Text }))

function readDelete(payload: object): HostEvent {
  const { ref, ref_type } = readDeleted(payload)
  const named = readRef(ref) ?? { ref: ref_type === 'tag' ? 'tag' : 'branch', name: ref }
  return { kind: 'deleted', ...named, before: null }
}
