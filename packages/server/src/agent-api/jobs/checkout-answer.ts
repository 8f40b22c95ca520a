// How the agent of a job gets at the repository: with a token of a GitHub App, through the server, or by itself.
import type { Env } from '@millrace/engine/environment.ts'
import type { Job } from '@millrace/protocol/jobs.ts'
import type { Command } from '../../conductor/environment.ts'
import { readSshAddress } from '../../lib/ssh-address.ts'
import { isAt, readHttpUrl } from '../../resources/pipelines/repository_connections/reading.ts'

interface CheckoutFacts {
  /** Of the server. */
  url: string
  jobId: string
  isFromFork: boolean
}

/** Agents that set git up for the relay themselves. */
const relayFeature = 'repository-relay'

export function checkoutAnswer(
  command: Command,
  { url, jobId, isFromFork }: CheckoutFacts,
): Pick<Job, 'env' | 'repository_relay'> {
  const { env, features, repository } = command
  const isOwn = env['BUILDKITE_REPO'] === repository && env[asksForCredentials] !== 'false'
  const way = isOwn ? wayTo(command, isFromFork) : 'none'
  if (way === 'none') return { env }
  if (way === 'token') return { env: { ...askingForCredentials, ...env } }
  if (features.includes(relayFeature)) return { env, repository_relay: true }
  return { env: withGitConfig(env, relayConfig(repository, `${url}/v3/jobs/${jobId}/repository.git`)) }
}

function wayTo(
  { connection, hasDeployKey, repository }: Command,
  isFromFork: boolean,
): 'token' | 'relay' | 'none' {
  if (readSshAddress(repository) !== null) return hasDeployKey ? 'relay' : 'none'
  const address = readHttpUrl(repository)
  if (connection === null || address === null || !isAt(connection, address)) return 'none'
  return connection.hasApp && !isFromFork ? 'token' : 'relay'
}

const asksForCredentials = 'BUILDKITE_USE_REPOSITORY_PROVIDER_GIT_CREDENTIALS'

/** Makes git ask the server for credentials; under the current and the former name of the variable. */
const askingForCredentials = {
  [asksForCredentials]: 'true',
  BUILDKITE_USE_GITHUB_APP_GIT_CREDENTIALS: 'true',
}

/**
 * git reads from the relay and writes to the repository. It keeps no password: the job's token is the password, and a variable of
 * every job.
 */
const relayConfig = (repository: string, relay: string): Array<[string, string]> => [
  [`url.${relay}.insteadOf`, repository],
  [`url.${repository}.pushInsteadOf`, repository],
  [`credential.${relay}.helper`, ''],
  [`credential.${relay}.helper`, relayHelper],
]

const relayHelper =
  '!f() { if [ "$1" = get ]; then printf "username=job\\npassword=%s\\n" "$BUILDKITE_AGENT_ACCESS_TOKEN"; fi; }; f'

function withGitConfig(env: Env, config: ReadonlyArray<[string, string]>): Env {
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0)
  const first = Number.isSafeInteger(given) && given > 0 ? given : 0
  return {
    ...env,
    ...Object.fromEntries(
      config.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${first + index}`, key],
        [`GIT_CONFIG_VALUE_${first + index}`, value],
      ]),
    ),
    GIT_CONFIG_COUNT: String(first + config.length),
  }
}
