// The server can relay the repository of a job's pipeline, with credentials that stay there. git gets this by its configuration in
// the environment: the address is the repository's own everywhere else.

import { addGitConfig } from './git-process.ts'
import type { JobRun } from './run.ts'

/**
 * Returns what ends it; null: the server relays nothing. The password is the job's token, which is a variable of every job, and git
 * keeps it nowhere. An agent that verifies signatures relies on the repository's own address, which they cover.
 */
export function useRelay({ job, api, env, settings }: JobRun): (() => void) | null {
  if (job.repository_relay !== true || settings.verificationKeys !== null) return null
  const repository = env['BUILDKITE_REPO'] ?? ''
  const relay = `${api.session.endpoint}/jobs/${job.id}/repository.git`
  const before = env['GIT_CONFIG_COUNT']
  addGitConfig(env, `url.${relay}.insteadOf`, repository)
  addGitConfig(env, `url.${repository}.pushInsteadOf`, repository)
  if (/^https?:/i.test(repository)) addGitConfig(env, 'remote.origin.lfsurl', lfsUrlOf(repository))
  addGitConfig(env, `credential.${relay}.helper`, '')
  addGitConfig(env, `credential.${relay}.helper`, helper)
  return () => {
    if (before === undefined) Reflect.deleteProperty(env, 'GIT_CONFIG_COUNT')
    else env['GIT_CONFIG_COUNT'] = before
  }
}

/** As git-lfs derives it. */
const lfsUrlOf = (repository: string) => `${repository.replace(/(?:\.git)?\/*$/, '')}.git/info/lfs`

const helper =
  '!f() { if [ "$1" = get ]; then printf "username=job\\npassword=%s\\n" "$BUILDKITE_AGENT_ACCESS_TOKEN"; fi; }; f'
