// Builds the work tree as it is. The snapshot is pushed to a ref that is no branch, and the ref is deleted in the end.
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Build, Pipeline } from '@millrace/server/wire.ts'
import { git } from '../../run/checkout.ts'
import { Refused } from '../../refused.ts'
import { openApi, type Api } from '../api.ts'
import { commonBody, type CreateOptions } from '../build/create-request.ts'
import { buildName, type BuildName } from '../find-build.ts'
import { interruptSignal } from '../interrupt.ts'
import { findTarget } from '../find-target.ts'
import { repositoryKey } from '../repository-key.ts'
import { oneLine } from '../text.ts'
import { hasEnded, hasPassed, stageOf } from '../watch/graph.ts'
import type { WatchedBuild } from '../watch/model.ts'
import { openScreen } from '../watch/screen.ts'
import { INTERRUPTED, NOT_PASSED, NOT_WATCHED, PASSED, watchBuild } from '../watch/watch-build.ts'
import { takeSnapshot, type Snapshot } from './snapshot.ts'

export async function runPreflight(options: CreateOptions): Promise<void> {
  if (options.commit !== undefined) {
    throw new Refused('A preflight builds the work tree: leave --commit out.')
  }
  const api = await openApi(options)
  const root = await git(process.cwd(), 'rev-parse', '--show-toplevel')
  if (root === null)
    throw new Refused('A preflight builds a work tree: go to the folder of a git repository.')
  const target = await findTarget(api, options, root)
  const remote = options.remote ?? (await findRemote(api, target.pipeline, root))
  const branch = target.branch ?? 'HEAD'
  const message = options.message ?? `Preflight of ${branch}`
  const interrupt = interruptSignal()
  const snapshot = await takeSnapshot(root, message)
  const id = randomBytes(6).toString('hex')
  const ref = `refs/millrace/preflight/${id}`
  try {
    for (const path of snapshot.changedSubmodules) {
      console.error(
        `The changes in the submodule ${oneLine(path)} are not built, only its commit: commit and push them there.`,
      )
    }
    if (interrupt.signal.aborted) throw new Refused('Canceled.')
    await withRef(snapshot, remote, ref, async () => {
      const build = await api.post<Build>(`pipelines/${encodeURIComponent(target.pipeline)}/builds`, {
        ...bodyOf(options, { snapshot, branch, id, ref, message }),
      })
      const name = buildName(target.pipeline, build.number)
      await follow(api, { ...name, build, snapshot, ref }, options, interrupt.signal)
    })
  } finally {
    interrupt.end()
    await snapshot.close()
  }
}

interface Facts {
  snapshot: Snapshot
  branch: string
  id: string
  ref: string
  message: string
}

/**
 * The build has a branch of its own, so it is no build of the user's branch: steps for that branch do not run, and badges,
 * trends and superseded builds are not concerned. Agents fetch BUILDKITE_REFSPEC, then check the commit out.
 */
function bodyOf(options: CreateOptions, { snapshot, branch, id, ref, message }: Facts): object {
  const { env, meta_data: metaData, ...common } = commonBody(options)
  return {
    ...common,
    branch: `preflight/${branch}/${id}`,
    commit: snapshot.commit,
    message,
    ignore_pipeline_branch_filters: true,
    env: {
      ...(env as Record<string, string>),
      BUILDKITE_REFSPEC: ref,
      BUILDKITE_PREFLIGHT: 'true',
      BUILDKITE_PREFLIGHT_SOURCE_BRANCH: branch,
      BUILDKITE_PREFLIGHT_SOURCE_COMMIT: snapshot.base ?? '',
    },
    meta_data: {
      ...(metaData as Record<string, string>),
      'millrace:preflight': 'true',
      'millrace:preflight:branch': branch,
      'millrace:preflight:base': snapshot.base ?? '',
    },
  }
}

async function withRef(
  snapshot: Snapshot,
  remote: string,
  ref: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    // A push that is interrupted may have arrived all the same, so the ref is deleted in any case.
    await snapshot.push(remote, ref)
    await work()
  } finally {
    await snapshot.unpush(remote, ref).catch(async (error: unknown) => {
      console.error(`${error instanceof Error ? error.message : String(error)}
The ref ${ref} may be left: delete it with git push ${remote} :${ref}`)
    })
  }
}

interface Started extends BuildName {
  build: Build
  snapshot: Snapshot
  ref: string
}

/** Ends at the first failure and at a block step, because nothing can be checked out after the end. */
async function follow(
  api: Api,
  { build, snapshot, ref, ...name }: Started,
  options: CreateOptions,
  signal: AbortSignal,
): Promise<void> {
  const screen = openScreen(options, ending)
  if (options.json) {
    const { commit, base, changedFiles: files } = snapshot
    process.stdout.write(
      `${JSON.stringify({ type: 'preflight', commit, base, ref, changed_files: files, build })}\n`,
    )
  } else {
    screen.say(describeStart(build, snapshot))
  }
  try {
    const watched = await watchBuild(api, name, screen, {
      signal,
      isOver: (each) =>
        hasEnded(each.build) || each.build.blocked || (!options.keepGoing && hasFailure(each)),
    })
    if (watched === null || !hasEnded(watched.build)) {
      screen.say(whyItEnds(watched))
      await cancel(api, name, whyItEnds(watched))
    }
    const code = exitCodeOf(watched)
    process.exitCode = code
    screen.close(code)
  } catch (error) {
    screen.close(NOT_WATCHED)
    if (!(error instanceof Refused)) throw error
    await cancel(api, name, 'The preflight could not be watched.').catch(() => {})
    console.error(error.message)
    process.exitCode = NOT_WATCHED
  }
}

/** Its commit cannot be fetched after the end, so no job of it can be tried again. */
const ending = {
  interrupt: 'Ctrl-C cancels the build.',
  goesOn: null,
  failed: 'Change what failed, and run millrace build create --preflight again.',
}

function describeStart(build: Build, { changedFiles }: Snapshot): string {
  const files = changedFiles === 1 ? '1 changed file' : `${changedFiles} changed files`
  return `Build #${build.number} has the work tree with ${files}: ${oneLine(build.web_url)}`
}

function exitCodeOf(watched: WatchedBuild | null): number {
  if (watched === null) return INTERRUPTED
  return hasPassed(watched.build) && !hasFailure(watched) ? PASSED : NOT_PASSED
}

function whyItEnds(watched: WatchedBuild | null): string {
  if (watched === null) return 'The preflight was interrupted.'
  return hasFailure(watched)
    ? 'The preflight ends at the first failure.'
    : 'The preflight ends at a block step.'
}

const hasFailure = (watched: WatchedBuild) =>
  watched.steps.some((step) => watched.jobsOf(step).some((job) => stageOf(job) === 'failed'))

/** A build that has ended meanwhile cannot be canceled, and need not be. */
async function cancel(api: Api, { path }: BuildName, reason: string): Promise<void> {
  await api.put<Build>(`${path}/cancel`, { reason }).catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error
  })
}

/** The remote of the user's repository that the pipeline builds. */
async function findRemote(api: Api, slug: string, root: string): Promise<string> {
  const { repository } = await api.get<Pipeline>(`pipelines/${encodeURIComponent(slug)}`)
  const key = repositoryKey(repository, (path) => resolve(root, path))
  const names = ((await git(root, 'remote')) ?? '').split('\n').filter((name) => name !== '')
  for (const name of names) {
    const url = await git(root, 'remote', 'get-url', '--push', name)
    if (url !== null && repositoryKey(url, (path) => resolve(root, path)) === key) return name
  }
  throw new Refused(
    `No remote of ${root} is ${oneLine(repository)}, which ${oneLine(slug)} builds. ` +
      'Add one with git remote add, or name one whose commits agents can fetch with --remote.',
  )
}
