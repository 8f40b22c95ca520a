import type { Env } from '@millrace/engine/environment.ts'
import type { Static } from 'typebox'
import type { JobAddress } from '../../addresses/jobs.ts'
import type { Job } from '../../job/schema.ts'
import type { AllowedTeams } from './queries.ts'
import { mayUnblock } from './rules.ts'

/** `NAME=value`, a line each; a value with line ends is quoted, so that it cannot pass for another variable. */
export const envText = (env: Env): string =>
  Object.entries(env)
    .map(([name, value]) => `${name}=${/[\r\n]/.test(value) ? JSON.stringify(value) : value}\n`)
    .join('')

/** What the caller may do with the job, as `unblockJob` decides it. `teams` is null where the job is not manual. */
export const presentViewer = (
  job: JobAddress,
  teams: AllowedTeams | null,
): Required<Pick<Static<typeof Job>, 'viewer'>> => ({
  viewer: {
    may: { unblock: teams !== null && mayUnblock(job, teams) },
    unblock_teams: teams?.names ?? [],
  },
})
