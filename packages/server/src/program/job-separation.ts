// Chooses how the jobs of local agents are kept away from this installation.
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { prepareDataDir } from '../db/embedded/data-dir.ts'
import { isRoot } from '../db/embedded/privileges.ts'
import { agentFolder } from '../hosted/runner.ts'
import type { JobSeparation } from './agent-program.ts'
import { deleteOldFolders, jobsOfAnotherUser } from './other-user.ts'
import { sandboxJobs } from './sandboxed-jobs.ts'

/** Tests at each start what this system allows. `databaseFolders` may be outside of the data directory. */
export async function separateJobs(
  { dataDir, localAgents: count, jobFolders }: Pick<Config, 'dataDir' | 'localAgents' | 'jobFolders'>,
  databaseFolders: readonly string[],
  say: (sentence: string) => void,
): Promise<JobSeparation> {
  const inherited = variables(common)
  const data = realpathSync(prepareDataDir(dataDir).path)
  const sandboxed = await sandboxJobs({ data, databaseFolders, count, jobFolders, inherited })
  if (typeof sandboxed !== 'string') {
    // An earlier start may have had no sandbox.
    if (isRoot()) await deleteOldFolders((owner) => owner === data || !existsSync(owner))
    return sandboxed
  }
  const reason = `there is no sandbox for them (${sandboxed})`
  const asUser = isRoot() ? await jobsOfAnotherUser(data, inherited, refusalOf('without a sandbox')) : null
  if (asUser !== null && typeof asUser !== 'string') {
    say(
      `Jobs of the local agent run as a user of their own and see this machine, because ${reason}: ` +
        'builds of forks are refused there, see docs/security.md.',
    )
    return asUser
  }
  say(
    `Jobs of the local agent run as the user of this server and can read its data, because ${reason}` +
      `${asUser === null ? '' : ` and ${asUser}`}: builds of forks are refused there, see docs/security.md.`,
  )
  const environment = variables(common, ofThisUser)
  return {
    program: { node: process.execPath, folder: agentFolder },
    socketsPath: null,
    environment,
    jobs: {
      kind: 'unprotected',
      paths: { buildPath: join(data, 'builds'), environment },
      refusal: refusalOf('as the user of its server'),
    },
  }
}

const refusalOf = (how: string) =>
  `This agent runs jobs ${how}, so it takes no builds of forks: use an agent on another machine.`

// None of these holds a secret of this process.
const common =
  /^(PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/
/** Useless to another user, and an escape from a sandbox. */
const ofThisUser = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|SSH_AUTH_SOCK|XDG_\w+)$/

function variables(...kinds: readonly RegExp[]): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && kinds.some((kind) => kind.test(name))) kept[name] = value
  }
  return kept
}
