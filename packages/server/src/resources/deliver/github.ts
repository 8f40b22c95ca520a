// Deliveries of GitHub, and of Gitea and Forgejo, which speak alike and differ in some names.
import { Type, type Static } from 'typebox'
import type { HostKind, Pull, PullRequestReason, Received, Tiding } from './event.ts'
import {
  authorOf,
  checkRefName,
  Commit,
  cutLabels,
  cutMessage,
  isZero,
  maybe,
  Number,
  reader,
  readRef,
  RefName,
  Text,
} from './fields.ts'

const Repository = Type.Object({
  id: maybe(Number),
  full_name: maybe(Text),
  clone_url: maybe(Text),
  ssh_url: maybe(Text),
  owner: maybe(Type.Object({ login: maybe(Text) })),
})

const readAbout = reader(Type.Object({ action: maybe(Text), repository: maybe(Repository) }))

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
      return [{ ...namesNothing, kind: 'commit', wants: { mode: 'fork' }, branch: null, message: 'Forked' }]
    default:
      return [{ kind: 'nothing', why: `The event ${event} makes no builds.` }]
  }
}

const Person = Type.Object({ name: maybe(Text), email: maybe(Text) })
const HeadCommit = Type.Object({ message: maybe(Text), author: maybe(Person) })

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
  if (ref === null)
    return { kind: 'nothing', why: `The ref ${push.ref.slice(0, 200)} is neither branch nor tag.` }
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

const Side = Type.Object({
  ref: RefName,
  sha: Commit,
  repo: maybe(Repository),
  repo_id: maybe(Number),
})
const PullRequest = Type.Object({
  number: Number,
  title: Text,
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

function pullOf(given: Static<typeof PullRequest>): Pull {
  const { head, base, user } = given
  const sides = [head.repo?.id ?? head.repo_id ?? null, base.repo?.id ?? base.repo_id ?? null]
  return {
    title: given.title,
    isOpen: given.state !== 'closed',
    branch: head.ref,
    commit: head.sha,
    owner: head.repo?.owner?.login ?? null,
    repository: head.repo?.clone_url ?? null,
    // Where one side cannot be told, the head is somebody else's: its repository is gone.
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
    label: maybe(Type.Object({ name: maybe(Text) })),
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
}

function readPullRequest(payload: object, host: HostKind): Tiding {
  const { action, pull_request: given, label, changes } = readPulled(payload)
  const movesBase = Boolean(changes?.base ?? (host === 'gitea' ? changes?.ref : null))
  const known = Object.hasOwn(reasons, action) ? reasons[action] : undefined
  const reason = action === 'edited' && movesBase ? 'base_branch_changed' : (known ?? 'other')
  return { ...about(given), reason, label: label?.name ?? null, env: githubEnv({ ACTION: action }) }
}

const about = (given: Static<typeof PullRequest>) =>
  ({
    kind: 'pull_request',
    number: String(given.number),
    pull: pullOf(given),
    label: null,
    comment: null,
    env: {},
  }) as const

const readReviewed = reader(
  Type.Object({
    action: Text,
    pull_request: PullRequest,
    review: maybe(Type.Object({ id: maybe(Number), state: maybe(Text) })),
  }),
)

function readReview(payload: object): Tiding {
  const { action, pull_request: given, review } = readReviewed(payload)
  const reason = ['submitted', 'reviewed'].includes(action)
    ? 'review_submitted'
    : action === 'dismissed'
      ? 'review_dismissed'
      : 'other'
  const env = githubEnv({ ACTION: action, REVIEW_ID: review?.id, REVIEW_STATE: review?.state })
  return { ...about(given), reason, env }
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

function readReviewComment(payload: object): Tiding {
  const { action, pull_request: given, comment, review } = readReviewCommented(payload)
  const isNew = action === 'created' || action === 'reviewed'
  return {
    ...about(given),
    reason: isNew ? 'review_comment' : 'other',
    comment: commentOf(comment ?? { body: review?.content ?? '' }),
    env: githubEnv({ ACTION: action, COMMENT_ID: comment?.id }),
  }
}

const readCommented = reader(
  Type.Object({
    action: Text,
    issue: Type.Object({ number: Number, pull_request: maybe(Type.Object({})) }),
    is_pull: maybe(Type.Boolean()),
    comment: Comment,
  }),
)

function readComment(payload: object): Tiding {
  const { action, issue, is_pull: isPull, comment } = readCommented(payload)
  if (!issue.pull_request && isPull !== true) {
    return { kind: 'nothing', why: 'The comment is on an issue, not on a pull request.' }
  }
  return {
    kind: 'pull_request',
    reason: action === 'created' ? 'comment' : 'other',
    number: String(issue.number),
    pull: null,
    label: null,
    comment: commentOf(comment),
    env: githubEnv({ ACTION: action, COMMENT_ID: comment.id }),
  }
}

/** Anybody may write a comment; a build is made for those who could push. */
const trusted = ['OWNER', 'MEMBER', 'COLLABORATOR']

const commentOf = ({ body, author_association: author }: Static<typeof Comment>) => ({
  text: body,
  isByTrusted: trusted.includes(author ?? ''),
})

const readGroup = reader(
  Type.Object({
    action: Text,
    merge_group: Type.Object({
      head_sha: Commit,
      head_ref: Text,
      base_sha: Commit,
      base_ref: Text,
      head_commit: maybe(HeadCommit),
    }),
  }),
)

function readMergeGroup(payload: object): Tiding {
  const { action, merge_group: group } = readGroup(payload)
  const branch = readRef(group.head_ref)?.name ?? checkRefName(group.head_ref)
  if (action === 'destroyed') return { kind: 'merge_group_destroyed', branch }
  if (action !== 'checks_requested')
    return { kind: 'nothing', why: `merge_group ${action.slice(0, 100)} makes no builds.` }
  return {
    kind: 'commit',
    wants: { setting: 'build_merge_group_checks_requested' },
    branch,
    tag: null,
    commit: group.head_sha,
    message: cutMessage(group.head_commit?.message),
    author: authorOf(group.head_commit?.author?.name, group.head_commit?.author?.email),
    mergeQueue: {
      baseBranch: readRef(group.base_ref)?.name ?? checkRefName(group.base_ref),
      baseCommit: group.base_sha,
    },
    env: githubEnv({ ACTION: action }),
  }
}

const namesNothing = {
  tag: null,
  commit: 'HEAD',
  message: null,
  author: null,
  mergeQueue: null,
  env: {},
} as const

const readReleased = reader(
  Type.Object({
    action: Text,
    release: Type.Object({
      tag_name: RefName,
      name: maybe(Text),
      draft: maybe(Type.Boolean()),
      prerelease: maybe(Type.Boolean()),
      author: maybe(Type.Object({ login: maybe(Text) })),
    }),
  }),
)

const releases = {
  published: 'build_release_published',
  created: 'build_release_created',
  released: 'build_release_released',
} as const

function readRelease(payload: object): Tiding {
  const { action, release } = readReleased(payload)
  const setting = Object.hasOwn(releases, action) ? releases[action as keyof typeof releases] : undefined
  if (setting === undefined)
    return { kind: 'nothing', why: `release ${action.slice(0, 100)} makes no builds.` }
  return {
    ...namesNothing,
    kind: 'commit',
    wants: { setting },
    branch: release.tag_name,
    tag: release.tag_name,
    message: cutMessage(release.name) ?? `Release ${release.tag_name}`,
    author: authorOf(release.author?.login, null),
    env: githubEnv({
      ACTION: action,
      RELEASE_TAG: release.tag_name,
      RELEASE_DRAFT: release.draft,
      RELEASE_PRERELEASE: release.prerelease,
    }),
  }
}

const readCreated = reader(Type.Object({ ref: RefName, ref_type: Text }))

function readCreate(payload: object): Tiding {
  const { ref: given, ref_type } = readCreated(payload)
  const named = readRef(given) ?? { ref: ref_type === 'tag' ? 'tag' : 'branch', name: given }
  return {
    ...namesNothing,
    kind: 'commit',
    wants: { setting: 'build_create_event' },
    branch: named.name,
    tag: named.ref === 'tag' ? named.name : null,
    message: `Created ${named.ref} ${named.name}`,
  }
}

const Deployment = Type.Object({
  id: Number,
  sha: Commit,
  ref: RefName,
  task: maybe(Text),
  environment: maybe(Text),
  description: maybe(Text),
  payload: maybe(Type.Unknown()),
  creator: maybe(Type.Object({ login: maybe(Text) })),
})
const readDeployed = reader(Type.Object({ deployment: Deployment }))
const readDeployedStatus = reader(
  Type.Object({
    deployment: Deployment,
    deployment_status: Type.Object({ state: Text, environment: maybe(Text) }),
  }),
)

const deploymentOf = (deployment: Static<typeof Deployment>) => ({
  kind: 'commit' as const,
  branch: deployment.ref,
  tag: null,
  commit: deployment.sha,
  message: cutMessage(deployment.description) ?? `Deployment to ${deployment.environment ?? 'production'}`,
  author: authorOf(deployment.creator?.login, null),
  mergeQueue: null,
  env: githubEnv({
    DEPLOYMENT_ID: deployment.id,
    DEPLOYMENT_TASK: deployment.task,
    DEPLOYMENT_ENVIRONMENT: deployment.environment,
    DEPLOYMENT_PAYLOAD:
      typeof deployment.payload === 'string' ? deployment.payload : JSON.stringify(deployment.payload ?? {}),
  }),
})

const readDeployment = (payload: object): Tiding => ({
  ...deploymentOf(readDeployed(payload).deployment),
  wants: { mode: 'deployment' },
})

function readDeploymentStatus(payload: object): Tiding {
  const { deployment, deployment_status: status } = readDeployedStatus(payload)
  const given = deploymentOf(deployment)
  return {
    ...given,
    wants: { setting: 'build_deployment_status_created' },
    env: {
      ...given.env,
      ...githubEnv({
        DEPLOYMENT_STATUS_STATE: status.state,
        DEPLOYMENT_STATUS_ENVIRONMENT: status.environment,
      }),
    },
  }
}

const readChecked = reader(
  Type.Object({
    action: Text,
    check_run: Type.Object({
      name: Text,
      head_sha: Commit,
      conclusion: maybe(Text),
      check_suite: maybe(Type.Object({ head_branch: maybe(RefName) })),
    }),
  }),
)

function readCheckRun(payload: object): Tiding {
  const { action, check_run: run } = readChecked(payload)
  if (action !== 'completed')
    return { kind: 'nothing', why: `check_run ${action.slice(0, 100)} makes no builds.` }
  return {
    ...namesNothing,
    kind: 'commit',
    wants: { setting: 'build_check_run_completed' },
    branch: run.check_suite?.head_branch ?? null,
    commit: run.head_sha,
    message: cutMessage(`Check ${run.name} completed`),
    env: githubEnv({ ACTION: action, CHECK_RUN_NAME: run.name, CHECK_RUN_CONCLUSION: run.conclusion }),
  }
}

/** Variables that conditions and jobs know by these names. */
function githubEnv(
  values: Readonly<Record<string, string | number | boolean | null | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [`BUILDKITE_GITHUB_${name}`, cutMessage(String(value)) ?? '']),
  )
}
