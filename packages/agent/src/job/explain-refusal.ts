// git only says that it has no credentials. The server knows which ways there are to give it some.

import { askForAccess } from '../api/secrets.ts'
import { readAllOfGit } from './git-process.ts'
import type { JobRun } from './run.ts'

const REFUSED =
  /could not read (?:Username|Password)|Authentication failed|Permission denied|Repository not found|Host key verification failed|returned error: 40[134]/i

/** Says nothing if the repository can be read, or cannot for another reason. */
export async function explainRefusal(run: JobRun): Promise<void> {
  const repository = run.env['BUILDKITE_REPO'] ?? ''
  const isRemote = /^[a-z][a-z0-9+.-]*:\/\/|^[^/]+:/i.test(repository) && !/^file:/i.test(repository)
  if (!isRemote || run.cancel.requested !== null) return
  const said = await readAllOfGit(run, ['ls-remote', '--', repository, 'HEAD'])
  if (!REFUSED.test(said)) return
  // The log has git's words already.
  const answer = await askForAccess(run.api, run.job.id).catch(() => null)
  if (answer !== null) run.log.say(`^^^ +++\n\x1b[31m${answer.message}\x1b[0m`)
}
