// After its checkout, the first job of a build sends the commit under its own meta-data key. A build for a branch or a
// short hash gets its commit, author and message from it.
import { sql } from 'kysely'
import { defer } from '../../db/batch.ts'
import type { Trx } from '../../db/pool.ts'
import { publishBuild } from '../../events/builds.ts'
import { readCommitText } from '../../lib/commit-text.ts'
import type { RunningJob } from '../tokens.ts'

export const commitKey = 'buildkite:git:commit'

export async function updateCommit(
  trx: Trx,
  { organizationId, buildId }: RunningJob,
  text: string,
  at: string,
): Promise<void> {
  const details = readCommitText(text)
  if (details === null) return
  const author = details.author === null ? null : JSON.stringify(details.author)
  await sql`
    update builds set commit = case when commit ~ '^[0-9a-f]{40}$' then commit else ${details.commit} end,
      author = coalesce(author, ${author}::jsonb), message = coalesce(message, ${details.message})
    where organization_id = ${organizationId} and id = ${buildId}`.execute(trx)
  await defer(trx, [publishBuild('build.changed', organizationId, buildId, at)])
}
