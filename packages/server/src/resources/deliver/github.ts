// Deliveries of GitHub, and of Gitea and Forgejo, which speak alike and differ in some names.
import { Type } from 'typebox'
import type { HostKind, Received, Tiding } from './event.ts'
import {
  authorOf,
  Commit,
  cutMessage,
  isZero,
  maybe,
  reader,
  readRef,
  RefName,
  Short,
  strangeRef,
  Text,
} from './fields.ts'
import {
  readCheckRun,
  readCreate,
  readDeployment,
  readDeploymentStatus,
  readFork,
  readMergeGroup,
  readRelease,
} from './github-events.ts'
import { HeadCommit, Person, Repository } from './github-fields.ts'
import { readComment, readPullRequest, readReview, readReviewComment } from './github-pulls.ts'

const readAbout = reader(Type.Object({ action: maybe(Short), repository: maybe(Repository) }))

/** What every delivery says: the action, and the addresses of the repository. */
export function readGithubAbout(payload: object): { action: string | null; repositories: string[] } {
  const { action, repository } = readAbout(payload)
  const addresses = [repository?.clone_url, repository?.ssh_url]
  return { action: action ?? null, repositories: addresses.flatMap((address) => address ?? []) }
}

export function readGithub({ event, payload }: Received, host: HostKind): Tiding[] {
  switch (event) {
    case 'ping':
      return [{ kind: 'nothing', why: 'A ping: the webhook works.' }]
    case 'push':
      return [readPush(payload)]
    case 'delete':
      return [readDelete(payload)]
    case 'pull_request':
      return [readPullRequest(payload, host)]
    case 'pull_request_approved':
    case 'pull_request_rejected':
    case 'pull_request_review':
      return [readReview(payload)]
    case 'pull_request_review_comment':
    case 'pull_request_comment':
      return [readReviewComment(payload)]
    case 'issue_comment':
      return [readComment(payload)]
    case 'merge_group':
      return [readMergeGroup(payload)]
    case 'release':
      return [readRelease(payload)]
    case 'create':
      return [readCreate(payload)]
    case 'deployment':
      return [readDeployment(payload)]
    case 'deployment_status':
      return [readDeploymentStatus(payload)]
    case 'check_run':
      return [readCheckRun(payload)]
    case 'fork':
      return [readFork()]
    default:
      return [{ kind: 'nothing', why: `The event ${event} makes no builds.` }]
  }
}

const readPushed = reader(
  Type.Object({
    ref: Text,
    after: Text,
    deleted: maybe(Type.Boolean()),
    head_commit: maybe(HeadCommit),
    commits: maybe(Type.Array(Type.Object({ id: maybe(Text), message: maybe(Text), author: maybe(Person) }))),
  }),
)
const readAfter = reader(Type.Object({ after: Commit }))

function readPush(payload: object): Tiding {
  const push = readPushed(payload)
  const ref = readRef(push.ref)
  if (ref === null) return strangeRef(push.ref)
  if (push.deleted === true || isZero(push.after)) return { kind: 'deleted', ...ref }
  const { after: commit } = readAfter(payload)
  const head = push.head_commit ?? push.commits?.find(({ id }) => id === commit)
  return {
    kind: 'pushed',
    ...ref,
    commit,
    message: cutMessage(head?.message),
    author: authorOf(head?.author?.name, head?.author?.email),
  }
}

const readDeleted = reader(Type.Object({ ref: RefName, ref_type: Text }))

function readDelete(payload: object): Tiding {
  const { ref, ref_type } = readDeleted(payload)
  const named = readRef(ref) ?? { ref: ref_type === 'tag' ? 'tag' : 'branch', name: ref }
  return { kind: 'deleted', ...named }
}
