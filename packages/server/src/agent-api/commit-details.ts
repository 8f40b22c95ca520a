// After its checkout, the first job of a build tells what the commit is, under a meta-data key of its own. A build
// that was made for a branch or a short hash learns its commit from it, and who wrote it, and why.
import { sql } from 'kysely'
import type { Trx } from '../db/pool.ts'
import { readCommitText } from '../lib/commit-text.ts'
import type { RunningJob } from './tokens.ts'

export const commitKey = 'buildkite:git:commit'

export async function noteCommit(
  trx: Trx,
  { organizationId, buildId }: RunningJob,
  text: string,
): Promise<void> {
  const details = readCommitText(text)
  if (details === null) return
  const author = details.author === null ? null : JSON.stringify(details.author)
  await sql`
    update builds set commit = case when commit ~ '^[0-9a-f]{40}$' then commit else ${details.commit} end,
      author = coalesce(author, ${author}::jsonb), message = coalesce(message, ${details.message})
    where organization_id = ${organizationId} and id = ${buildId}`.execute(trx)
}
