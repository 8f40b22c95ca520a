// Checks out the build's commit, unless a hook does it or the job skips it.

import { mkdirSync } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasMetaData, setMetaData } from '../api/meta-data.ts'
import { prepareCache } from './cache.ts'
import { explainRefusal } from './explain-refusal.ts'
import { JobFailure, MissingRevision } from './failure.ts'
import { describeCommit, fetchAndCheckOut, refuseOptions, useCredentials } from './git.ts'
import { runHooks, runReplacement } from './hooks.ts'
import { useRelay } from './relay.ts'
import { isTrue } from './run.ts'
import type { JobRun } from './run.ts'

const ATTEMPTS = 3
const RETRY_SECONDS = 2
const COMMIT_KEY = 'buildkite:git:commit'

export async function runCheckoutPhase(run: JobRun): Promise<void> {
  await runHooks(run, 'pre-checkout', ['agent', 'plugin'])
  // A build of one fork must not see files of another's.
  if (isTrue(run.env['BUILDKITE_CLEAN_CHECKOUT']) || run.job.from_fork === true) {
    run.log.say('~~~ Removing the old checkout')
    await rm(run.checkoutPath, { recursive: true, force: true })
  }
  // Synchronous: this is faster than asynchronous calls, and the command waits for it.
  mkdirSync(run.checkoutPath, { recursive: true })
  run.cwd = run.checkoutPath
  if (isTrue(run.env['BUILDKITE_SKIP_CHECKOUT'])) {
    run.log.say('~~~ Leaving the checkout out')
  } else {
    const status = await runReplacement(run, 'checkout', ['plugin', 'agent'])
    if (status === null) await checkOut(run)
    else if (status !== 0) throw new JobFailure(`the checkout hook ended with status ${status}`, status)
    await shareCommit(run)
  }
  await prepareCache(run)
  await runHooks(run, 'post-checkout', ['agent', 'repository', 'plugin'])
}

async function checkOut(run: JobRun): Promise<void> {
  refuseOptions(run)
  await useCredentials(run)
  let endRelay = useRelay(run)
  run.log.say('~~~ Checking out the code')
  for (let attempt = 1; ; attempt += 1) {
    try {
      await fetchAndCheckOut(run)
      return
    } catch (error) {
      const isOver = attempt >= ATTEMPTS || run.cancel.requested !== null
      if (!(error instanceof JobFailure) || error instanceof MissingRevision) throw error
      if (isOver) {
        await explainRefusal(run)
        throw error
      }
      run.log.say(`# ${error.message}; trying again from an empty folder`)
      endRelay = alternate(run, endRelay)
      run.cwd = run.settings.buildPath
      await rm(run.checkoutPath, { recursive: true, force: true })
      await mkdir(run.checkoutPath, { recursive: true })
      run.cwd = run.checkoutPath
      await run.settings.clock.sleep(RETRY_SECONDS * 1000, run.cancel.over)
    }
  }
}

/** The agent may have credentials of its own, and a server that restarts is back for the third attempt. */
function alternate(run: JobRun, endRelay: (() => void) | null): (() => void) | null {
  if (endRelay === null) return useRelay(run)
  run.log.say('# This time without the server, which relayed the repository.')
  endRelay()
  return null
}

/** The first job with a checkout reports the build's commit. */
async function shareCommit(run: JobRun): Promise<void> {
  if (isTrue(run.env['BUILDKITE_COMMIT_RESOLVED']) || !(await isRepository(run.checkoutPath))) return
  try {
    const owner = { kind: 'jobs', id: run.job.id } as const
    if (await hasMetaData(run.api, owner, COMMIT_KEY)) return
    const value = await describeCommit(run)
    if (value !== null) await setMetaData(run.api, run.job.id, { key: COMMIT_KEY, value })
  } catch (error) {
    // The build continues without these details.
    run.log.say(`# The commit could not be shared: ${error instanceof Error ? error.message : String(error)}`)
  }
}

async function isRepository(folder: string): Promise<boolean> {
  return await stat(join(folder, '.git')).then(
    () => true,
    () => false,
  )
}
