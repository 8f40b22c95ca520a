// Shows a build until it ends.
import type { Api } from '../api.ts'
import { oneLine } from '../text.ts'
import type { BuildName } from '../find-build.ts'
import { findExcerpt } from './excerpt.ts'
import { followBuild, type FeedOptions } from './feed.ts'
import { hasPassed, stageOf, type WatchedJob } from './graph.ts'
import type { Change, WatchedBuild } from './model.ts'
import type { WatchScreen } from './screen.ts'
import { WaitingReasons } from './waiting.ts'

export const PASSED = 0
export const NOT_PASSED = 1
export const NOT_WATCHED = 3
/** As shells have it for SIGINT. */
export const INTERRUPTED = 130

/** Enough to begin with. All failures are in the summary. */
const MOST_EXCERPTS = 10

/**
 * null: the user does not want to watch any longer. The screen is left open, for the caller to close. Throws if the build
 * cannot be watched.
 */
export async function watchBuild(
  api: Api,
  build: BuildName,
  screen: WatchScreen,
  options: FeedOptions,
): Promise<WatchedBuild | null> {
  const failed = new Set<string>()
  let excerpts: Promise<void> = Promise.resolve()
  const show = (watched: WatchedBuild, job: WatchedJob): void => {
    failed.add(job.id)
    if (failed.size > MOST_EXCERPTS) {
      if (failed.size === MOST_EXCERPTS + 1)
        screen.say(`More jobs failed: see all with millrace build summary ${build.name}`)
      return
    }
    excerpts = excerpts.then(async () => {
      const excerpt = await findExcerpt(api, job.id)
      if (!options.signal.aborted) screen.fail(watched, job, excerpt)
    })
  }
  const waiting = new WaitingReasons(api, (text) => screen.say(text))
  const listener = {
    onOpen: (watched: WatchedBuild) => screen.open(watched),
    onProblem: (text: string | null) => screen.problem(text),
    onChanges(watched: WatchedBuild, changes: readonly Change[]) {
      waiting.expect(watched)
      screen.change(watched, changes)
      for (const change of changes) {
        if (change.kind !== 'job') continue
        const { job, before } = change
        if (hasJustFailed(watched, job, before) && !failed.has(job.id)) show(watched, job)
        const wasBlocked = before !== null && stageOf(before) === 'blocked'
        if (stageOf(job) === 'blocked' && !wasBlocked)
          screen.block(watched, job, unblockCommand(watched, build, job))
      }
    },
  }
  const watched = await followBuild(api, build.path, listener, options).finally(() => waiting.end())
  await excerpts
  return options.signal.aborted ? null : watched
}

export function exitCodeOf(watched: WatchedBuild | null): number {
  if (watched === null) return INTERRUPTED
  return hasPassed(watched.build) ? PASSED : NOT_PASSED
}

/** A job that is tried again, or whose failure does not count, is no failure of the build. A canceled one says nothing. */
function hasJustFailed(watched: WatchedBuild, job: WatchedJob, before: WatchedJob | null): boolean {
  if (watched.stepOf(job)?.kind !== 'command' || job.retriedIn !== null || job.state === 'canceled')
    return false
  return stageOf(job) === 'failed' && (before === null || stageOf(before) !== 'failed')
}

function unblockCommand(watched: WatchedBuild, { name }: BuildName, job: WatchedJob): string {
  const key = watched.stepOf(job)?.key
  const needsName = watched.blockedJobs().length > 1
  const step = key === null || key === undefined ? watched.nameOfJob(job) : oneLine(key)
  return `millrace build unblock ${name}${needsName ? ` --step ${quoted(step)}` : ''}`
}

/** For a shell. */
const quoted = (text: string) =>
  /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
