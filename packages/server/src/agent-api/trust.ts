import { isUntrusted } from '../conductor/trust.ts'
import type { Db } from '../db/pool.ts'
import { forbidden } from '../lib/errors.ts'
import type { RunningJob } from './tokens.ts'

export async function requireTrust(
  db: Db,
  { organizationId, buildId }: Pick<RunningJob, 'organizationId' | 'buildId'>,
  what: string,
): Promise<void> {
  if (!(await isUntrusted(db, organizationId, [buildId]))) return
  throw forbidden(
    `Builds of pull requests from forks get no ${what}, unless trust_pull_request_forks is on for the pipeline.`,
  )
}
