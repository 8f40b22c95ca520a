// Merge groups, releases, new refs, deployments, checks and forks at GitHub.
import { Type, type Static } from 'typebox'
import { ignored, type HostEvent } from '../events.ts'
import {
  authorOf,
  checkRefName,
  Commit,
  cutMessage,
  maybe,
  Number,
  reader,
  readRef,
  RefName,
  Text,
} from '../fields.ts'
import { githubEnv, HeadCommit, retryAction } from './fields.ts'

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

export function readMergeGroup(payload: object): HostEvent {
  const { action, merge_group: group } = readGroup(payload)
  const branch = readRef(group.head_ref)?.name ?? checkRefName(group.head_ref)
  if (action === 'destroyed') return { kind: 'merge_group_destroyed', branch }
  if (action !== 'checks_requested') return ignored(`merge_group ${action.slice(0, 100)} makes no builds.`)
  return {
    kind: 'commit',
    wants: { setting: 'build_merge_group_checks_requested' },
    branch,
    tag: null,
    commit: group.head_sha,
    // GitHub creates this branch in the repository.
    commitIsOf: 'own_repository',
    message: cutMessage(group.head_commit?.message),
    author: authorOf(group.head_commit?.author?.name, group.head_commit?.author?.email),
    mergeQueue: {
      baseBranch: readRef(group.base_ref)?.name ?? checkRefName(group.base_ref),
      baseCommit: group.base_sha,
    },
    env: githubEnv({ ACTION: action }),
  }
}

const newestCommit = {
  tag: null,
  // The newest commit of the branch or tag.
  commit: 'HEAD',
  commitIsOf: 'own_repository',
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

export function readRelease(payload: object): HostEvent {
  const { action, release } = readReleased(payload)
  const setting = Object.hasOwn(releases, action) ? releases[action as keyof typeof releases] : undefined
  if (setting === undefined) return ignored(`release ${action.slice(0, 100)} makes no builds.`)
  return {
    ...newestCommit,
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

export function readCreate(payload: object): HostEvent {
  const { ref: given, ref_type } = readCreated(payload)
  const named = readRef(given) ?? { ref: ref_type === 'tag' ? 'tag' : 'branch', name: given }
  return {
    ...newestCommit,
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
  // The ref may be a bare commit or the head of a pull request from a fork.
  commitIsOf: 'any_repository' as const,
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

export const readDeployment = (payload: object): HostEvent => ({
  ...deploymentOf(readDeployed(payload).deployment),
  wants: { mode: 'deployment' },
})

export function readDeploymentStatus(payload: object): HostEvent {
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

const App = maybe(Type.Object({ id: maybe(Number) }))
const Suite = { head_branch: maybe(RefName), app: App }

const readChecked = reader(
  Type.Object({
    action: Text,
    check_run: Type.Object({
      name: Text,
      head_sha: Commit,
      conclusion: maybe(Text),
      external_id: maybe(Text),
      app: App,
      check_suite: maybe(Type.Object(Suite)),
    }),
    requested_action: maybe(Type.Object({ identifier: maybe(Text) })),
  }),
)

export function readCheckRun(payload: object): HostEvent {
  const { action, check_run: run, requested_action: asked } = readChecked(payload)
  const isAgain =
    action === 'rerequested' || (action === 'requested_action' && asked?.identifier === retryAction)
  if (action !== 'completed' && !isAgain) return ignored(`check_run ${action.slice(0, 100)} makes no builds.`)
  return {
    ...newestCommit,
    kind: 'commit',
    wants: isAgain ? { again: true } : { setting: 'build_check_run_completed' },
    branch: run.check_suite?.head_branch ?? null,
    commit: run.head_sha,
    // Checks also run for pull requests from forks, whose branches may have the names of branches here.
    commitIsOf: 'any_repository',
    message: cutMessage(`Check ${run.name} ${isAgain ? 'requested again' : 'completed'}`),
    env: githubEnv({ ACTION: action, CHECK_RUN_NAME: run.name, CHECK_RUN_CONCLUSION: run.conclusion }),
    check: {
      name: run.name,
      appId: idOf((run.app ?? run.check_suite?.app)?.id),
      externalId: run.external_id ?? null,
    },
  }
}

const readCheckedSuite = reader(
  Type.Object({ action: Text, check_suite: Type.Object({ head_sha: Commit, ...Suite }) }),
)

export function readCheckSuite(payload: object): HostEvent {
  const { action, check_suite: suite } = readCheckedSuite(payload)
  if (action !== 'rerequested') return ignored(`check_suite ${action.slice(0, 100)} makes no builds.`)
  return {
    ...newestCommit,
    kind: 'commit',
    wants: { again: true },
    branch: suite.head_branch ?? null,
    commit: suite.head_sha,
    commitIsOf: 'any_repository',
    message: 'Checks requested again',
    env: githubEnv({ ACTION: action }),
    check: { name: null, appId: idOf(suite.app?.id), externalId: null },
  }
}

const idOf = (id: number | null | undefined): string | null => (id == null ? null : String(id))

export const readFork = (): HostEvent => ({
  ...newestCommit,
  kind: 'commit',
  wants: { mode: 'fork' },
  branch: null,
  message: 'Forked',
})
