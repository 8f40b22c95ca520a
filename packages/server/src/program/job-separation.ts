// Chooses how the jobs of local agents are kept away from this installation.
import { join } from 'node:path'
import { isRoot } from '../db/embedded/privileges.ts'
import { agentFolder } from '../hosted/runner.ts'
import type { JobSeparation } from './agent-program.ts'
import { separateByNamespaces } from './job-namespaces.ts'
import { separateByUser } from './job-user.ts'

/** Tests at each start what this system allows. `databaseFolders` may be outside of the data directory. */
export async function separateJobs(
  dataDir: string,
  databaseFolders: readonly string[],
  say: (sentence: string) => void,
): Promise<JobSeparation> {
  const found = isRoot()
    ? await separateByUser(dataDir, variables(common))
    : await separateByNamespaces(dataDir, databaseFolders, variables(common))
  if (typeof found !== 'string') return found
  say(
    `Jobs of the local agent run as the user of this server and can read its data, because ${found}: ` +
      'builds of forks are refused there, see docs/security.md.',
  )
  const refusal =
    'This agent runs jobs as the user of its server, so it takes no builds of forks: use an agent on another machine.'
  const own = { buildPath: join(dataDir, 'builds'), environment: variables(common, ofThisUser) }
  const program = { node: process.execPath, folder: agentFolder }
  return { program, socketsPath: null, jobs: { kind: 'unprotected', own, refusal } }
}

// None of these holds a secret of this process.
const common =
  /^(PATH|LANG|LANGUAGE|LC_\w+|TZ|TERM|(HTTPS?|NO|ALL)_PROXY|(https?|no|all)_proxy|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/
/** Useless to another user, and an escape from a namespace. */
const ofThisUser = /^(HOME|USER|LOGNAME|SHELL|TMPDIR|SSH_AUTH_SOCK|XDG_\w+)$/

function variables(...kinds: readonly RegExp[]): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && kinds.some((kind) => kind.test(name))) kept[name] = value
  }
  return kept
}
